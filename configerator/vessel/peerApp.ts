import { Hono, type Context } from 'hono';
import { conveyorError } from '../../domain/errors';
import { VESSEL_LIMITS } from '../../domain/limits';
import { hasBit, type Bits } from '../domain/vessel/bits';
import { isSha256Digest } from '../domain/vessel/package';
import { answerError } from '../proxy/answers';
import { writeBits } from './bitsOnWire';
import type { Throttle } from './throttle';

/** A source of pieces for other hosts. */
export interface PieceProvider {
  /** The pieces of a package that it can give now; undefined for an unknown package. Older hosts do not send the key. */
  getBits(digest: string, key?: string): { readonly pieces: number; readonly have: Bits } | undefined;
  /** A verified piece; undefined if it is not there after all. */
  read(digest: string, piece: number, key?: string): Promise<Uint8Array | undefined>;
}

/** Set by Node's server; absent when the app is called directly. */
interface Bindings {
  readonly outgoing?: { once(event: 'close', listener: () => void): unknown; readonly destroyed: boolean };
}

type C = Context<{ Bindings: Bindings | undefined }>;

/**
 * The protocol between hosts (docs/guides/config-proxy.md#between-hosts): lists of pieces, and pieces. It serves
 * nothing else, and limits the number of concurrent requests.
 */
export function createPeerApp(giver: PieceProvider, throttle?: Throttle): { readonly fetch: Hono['fetch'] } {
  const app = new Hono<{ Bindings: Bindings | undefined }>();
  const uploads = new RequestRoom(VESSEL_LIMITS.uploads.max);
  const questions = new RequestRoom(VESSEL_LIMITS.questions.max);
  app.onError((error, c) => answerError(c, error));
  app.notFound((c) => answerError(c, conveyorError('not-found', { what: `${c.req.method} ${c.req.path}` })));
  app.get('/v1/have/:digest', (c) => {
    questions.enter(c);
    const { pieces, have } = requirePackage(giver, c.req.param('digest'), c.req.query('package'));
    return c.json({ pieces, have: writeBits(have) });
  });
  app.get('/v1/pieces/:digest/:piece', async (c) => {
    uploads.enter(c);
    const [digest, piece, key] = [c.req.param('digest'), c.req.param('piece'), c.req.query('package')];
    const { have } = requirePackage(giver, digest, key);
    const bytes =
      /^\d{1,5}$/.test(piece) && hasBit(have, Number(piece)) ? await giver.read(digest, Number(piece), key) : null;
    if (!bytes) throw conveyorError('not-found', { what: `piece ${piece} of ${digest}` });
    await throttle?.take(bytes.length);
    return c.body(bytes as Uint8Array<ArrayBuffer>, 200, {
      'content-type': 'application/octet-stream',
      [HAVE]: writeBits(giver.getBits(digest, key)?.have ?? have),
    });
  });
  return { fetch: app.fetch as Hono['fetch'] };
}

/** Each piece carries the list of the others, which saves a request. */
export const HAVE = 'conveyor-have';

/** Counts requests until their response was sent or the client has left. */
class RequestRoom {
  private taken = 0;

  constructor(private readonly most: number) {}

  /** @throws ConveyorError `overloaded` */
  enter(c: C): void {
    if (this.taken >= this.most) throw conveyorError('overloaded', { waiting: this.taken });
    const outgoing = c.env?.outgoing;
    if (outgoing === undefined || outgoing.destroyed) return;
    this.taken += 1;
    outgoing.once('close', () => (this.taken -= 1));
  }
}

function requirePackage(giver: PieceProvider, digest: string, key: string | undefined) {
  const found = isSha256Digest(digest) ? giver.getBits(digest, key) : undefined;
  if (found === undefined) throw conveyorError('not-found', { what: `package ${digest.slice(0, 64)}` });
  return found;
}
