import type { Context, MiddlewareHandler } from 'hono';

interface Limit {
  /** In bytes. */
  readonly maxSize: number;
  readonly onError: (context: Context) => Response;
}

/**
 * Refuses bodies that are too large, also those whose length nobody says. As `bodyLimit` of Hono, which cannot rebuild a
 * request of Node's server whose body came in chunks, or that may have one and has none, such as a DELETE.
 */
export const limitBody =
  ({ maxSize, onError }: Limit): MiddlewareHandler =>
  async (context, next) => {
    const { raw } = context.req;
    if (raw.body === null) return next();
    const length = raw.headers.get('content-length');
    if (length !== null && !raw.headers.has('transfer-encoding'))
      return Number(length) > maxSize ? onError(context) : next();
    const body = await readUpTo(raw.body, maxSize);
    if (body === undefined) return onError(context);
    const { method, headers, signal } = raw;
    context.req.raw = new Request(raw.url, { method, headers, signal, body });
    return next();
  };

async function readUpTo(stream: ReadableStream<Uint8Array>, maxSize: number): Promise<Buffer | undefined> {
  const parts: Uint8Array[] = [];
  let size = 0;
  const reader = stream.getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    size += part.value.length;
    if (size > maxSize) {
      void reader.cancel('too large').catch(() => undefined);
      return undefined;
    }
    parts.push(part.value);
  }
  return Buffer.concat(parts, size);
}
