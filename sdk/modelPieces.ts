import { sizeOfPiece, type Package } from '../configerator/domain/vessel/package';
import { modelPackageKey } from './modelKey';
import { badAnswer } from './ownProxy';
import { sha256 } from './digest';

interface Reading {
  readonly url: string;
  readonly signal: AbortSignal;
  readonly silenceMs: number;
  readonly fetch: typeof fetch;
}

/** The proxy does not have the package yet. */
export class NotYet extends Error {}

/**
 * The pieces of a package from a given one on, each once it is complete and matches its digest. All of them come in the same buffer, so only one is
 * in memory. Ends where the proxy ends; throws if the proxy does not answer, falls silent, or sends a piece that does not match.
 */
export async function* readPieces(
  path: string,
  pack: Package,
  from: number,
  buffer: Uint8Array,
  { url, signal, silenceMs, fetch: fetchIt }: Reading,
): AsyncGenerator<Uint8Array> {
  const silence = new AbortController();
  const either = AbortSignal.any([signal, silence.signal]);
  const listen = (): NodeJS.Timeout => setTimeout(() => silence.abort(new Error('it fell silent')), silenceMs).unref();
  let timer = listen();
  try {
    const asked = `${url}/v1/package-data/${pack.digest}?from=${from}&package=${modelPackageKey(path, pack)}`;
    const response = await fetchIt(asked, { signal: either });
    if (response.status === 404) throw new NotYet(await badAnswer(response));
    if (!response.ok || !response.body) throw new Error(await badAnswer(response));
    let [piece, filled] = [from, 0];
    for await (const chunk of streamChunks(response.body, either)) {
      clearTimeout(timer);
      for (let at = 0; at < chunk.length;) {
        const size = sizeOfPiece(pack, piece);
        const part = chunk.subarray(at, at + size - filled);
        buffer.set(part, filled);
        [at, filled] = [at + part.length, filled + part.length];
        if (filled < size) continue;
        const bytes = buffer.subarray(0, size);
        if (sha256(bytes) !== pack.pieces[piece]) throw new Error(`piece ${piece} does not fit its digest`);
        yield bytes;
        [piece, filled] = [piece + 1, 0];
      }
      timer = listen();
    }
  } finally {
    clearTimeout(timer);
    silence.abort();
  }
}

/** Ends when the signal is aborted: a body that has already arrived in full does not always notice it. */
async function* streamChunks(body: ReadableStream<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  const cancel = (): void => void reader.cancel(signal.reason).catch(() => undefined);
  signal.addEventListener('abort', cancel, { once: true });
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value;
    signal.throwIfAborted();
  } finally {
    signal.removeEventListener('abort', cancel);
    cancel();
  }
}
