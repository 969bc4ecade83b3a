import type { Context, MiddlewareHandler } from 'hono';

interface BodyLimit {
  /** In bytes. */
  readonly maxSize: number;
  readonly onError: (context: Context) => Response;
}

/**
 * Refuses bodies that are too large, even without a stated length. It replaces `bodyLimit` of Hono, which cannot
 * rebuild a request of Node's server with a chunked body, or without a body if the method allows one, such as a DELETE.
 */
export const limitBody =
  ({ maxSize, onError }: BodyLimit): MiddlewareHandler =>
  async (context, next) => {
    const { raw } = context.req;
    if (raw.body === null) return next();
    const length = raw.headers.get('content-length');
    if (length !== null && !raw.headers.has('transfer-encoding'))
      return Number(length) > maxSize ? onError(context) : next();
    const body = await readUpTo(raw.body, maxSize);
    if (typeof body === 'string') return onError(context);
    const { method, headers, signal } = raw;
    context.req.raw = new Request(raw.url, { method, headers, signal, body });
    return next();
  };

/** Limits and callbacks for reading a body. */
export interface BodyReading {
  readonly patienceMs?: number;
  /** Called with the size of every part. */
  readonly took?: (bytes: number) => void;
  /** Aborts when the body is no longer needed. */
  readonly signal?: AbortSignal;
}

type BodyRefusal = 'too-large' | 'too-slow' | 'unwanted';

/** The decompressed text of an answer; undefined if it is larger than the given number of bytes. */
export async function textUpTo({ body }: Pick<Response, 'body'>, maxSize: number): Promise<string | undefined> {
  const bytes = body === null ? new Uint8Array() : await readUpTo(body, maxSize);
  return typeof bytes === 'string' ? undefined : new TextDecoder().decode(bytes);
}

/** Reads a whole body. Stops reading if it is larger than allowed, takes longer than `patienceMs`, or is no longer needed. */
export async function readUpTo(
  stream: ReadableStream<Uint8Array>,
  maxSize: number,
  { patienceMs, took, signal }: BodyReading = {},
): Promise<Buffer | BodyRefusal> {
  const reader = stream.getReader();
  let refused: BodyRefusal | undefined;
  const refuse = (why: BodyRefusal): void => {
    refused = why;
    void reader.cancel(why).catch(() => undefined);
  };
  const patience = patienceMs === undefined ? undefined : setTimeout(() => refuse('too-slow'), patienceMs);
  const unwanted = (): void => refuse('unwanted');
  signal?.addEventListener('abort', unwanted, { once: true });
  if (signal?.aborted) unwanted();
  const parts: Uint8Array[] = [];
  let size = 0;
  try {
    // A cancelled stream looks like an ended one.
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      size += part.value.length;
      if (size > maxSize) refuse('too-large');
      else {
        parts.push(part.value);
        took?.(part.value.length);
      }
    }
  } finally {
    clearTimeout(patience);
    signal?.removeEventListener('abort', unwanted);
  }
  return refused ?? Buffer.concat(parts, size);
}
