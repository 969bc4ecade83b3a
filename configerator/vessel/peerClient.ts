import type { Bits } from '../domain/vessel/bits';
import { sizeOfPiece, type Package } from '../domain/vessel/package';
import { readUpTo } from '../../sdk/bodyLimit';
import { readBits } from './bitsOnWire';
import { HAVE } from './peerApp';

/** Requests to other hosts. Every method throws if a host is gone, late, or gives an invalid answer. */
export interface PeerClient {
  /** The pieces that a peer offers; `busy` if it is overloaded. */
  fetchBits(peer: string, wanted: WantedPackage, signal: AbortSignal): Promise<Bits | 'busy'>;
  /** An unverified piece, and the list of pieces that the peer has. */
  fetchPiece(peer: string, wanted: WantedPackage, piece: number, signal: AbortSignal): Promise<PeerAnswer | 'busy'>;
}

/** A package and the key under which it is stored; several packages may name one digest. */
export interface WantedPackage {
  readonly pack: Package;
  readonly key: string;
}

export interface PeerAnswer {
  readonly bytes: Uint8Array;
  readonly has: Bits | undefined;
}

/** How long a peer may take to list its pieces. */
const ANSWER_MS = 3000;
/** How long a piece may take. A slower peer is of no use. */
const PIECE_MS = 20_000;

export function createPeerClient(fetchIt: typeof fetch = fetch): PeerClient {
  const get = async (url: string, signal: AbortSignal): Promise<Response | 'busy'> => {
    const response = await fetchIt(url, { signal, redirect: 'error' });
    if (response.ok) return response;
    await response.body?.cancel();
    if (response.status === 503 || response.status === 404) return 'busy';
    throw new Error(`HTTP status ${response.status}`);
  };
  return {
    fetchBits: async (peer, { pack: { digest, pieces }, key }, ending) => {
      const signal = AbortSignal.any([ending, AbortSignal.timeout(ANSWER_MS)]);
      const response = await get(`${peer}/v1/have/${digest}?package=${key}`, signal);
      if (response === 'busy') return 'busy';
      const text = await readPeerBytes(response, pieces.length + 1000, signal);
      const { have } = JSON.parse(text.toString('utf8')) as { readonly have?: unknown };
      const bits = readBits(have, pieces.length);
      if (bits === undefined) throw new Error('it does not say which pieces it has');
      return bits;
    },
    fetchPiece: async (peer, { pack, key }, piece, ending) => {
      const signal = AbortSignal.any([ending, AbortSignal.timeout(PIECE_MS)]);
      const response = await get(`${peer}/v1/pieces/${pack.digest}/${piece}?package=${key}`, signal);
      if (response === 'busy') return 'busy';
      const bytes = await readPeerBytes(response, sizeOfPiece(pack, piece), signal);
      return { bytes, has: readBits(response.headers.get(HAVE), pack.pieces.length) };
    },
  };
}

/** Reads at most `most` bytes; a larger answer is invalid and abandoned. Throws if it is late. */
async function readPeerBytes({ body }: Response, most: number, signal: AbortSignal): Promise<Buffer> {
  const bytes = body === null ? 'too-large' : await readUpTo(body, most, { signal });
  signal.throwIfAborted();
  return typeof bytes === 'string' ? Buffer.alloc(0) : bytes;
}
