import { request as overHttp } from 'node:http';
import { request as overHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import { Readable } from 'node:stream';
import type { Fetch } from '../sdk/request';

export interface Address {
  readonly address: string;
  readonly family: number;
}

/**
 * A fetch that connects to addresses that were resolved and checked before, since a name may resolve to another one a moment later. The
 * certificate and the `Host` still use the name. Answers have no body
 * unless bytes of it are wanted, and redirections are not followed.
 */
export const fetchAt =
  (addresses: readonly Address[], maxBytes = 0): Fetch =>
  async (request, { signal } = request) => {
    const body = Buffer.from(await request.arrayBuffer());
    const url = new URL(request.url);
    const options = {
      method: request.method,
      headers: Object.fromEntries(request.headers),
      signal,
      lookup: createPinnedLookup(addresses),
    };
    return new Promise((resolve, reject) => {
      const sent = (url.protocol === 'https:' ? overHttps : overHttp)(url, options, (answer) => {
        const wait = answer.headers['retry-after'];
        const init = { status: answer.statusCode ?? 0, ...(wait ? { headers: { 'retry-after': wait } } : {}) };
        if (maxBytes > 0) return resolve(new Response(Readable.toWeb(answer) as ReadableStream<Uint8Array>, init));
        // The body is not read, however long it is.
        answer.destroy();
        resolve(new Response(null, init));
      });
      sent.on('error', (cause) =>
        reject(signal.aborted ? (signal.reason as Error) : new TypeError('fetch failed', { cause })),
      );
      sent.end(body);
    });
  };

const createPinnedLookup =
  (addresses: readonly Address[]): LookupFunction =>
  (_host, { all }, found) => {
    const [first] = addresses;
    if (all) found(null, [...addresses]);
    else found(null, first?.address ?? '', first?.family);
  };
