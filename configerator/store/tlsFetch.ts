import { Agent, request as sendOver } from 'node:https';
import { Readable } from 'node:stream';
import type { ReadableStream as WebStream } from 'node:stream/web';
import type { Fetch } from '../../sdk/request';

/** PEM. Without an authority, Node's own authorities count. */
export interface Tls {
  readonly ca?: string;
  /** The certificate and key of this side. */
  readonly cert?: string;
  readonly key?: string;
}

/** `fetch` with private certificates, which Node's `fetch` does not accept (docs/adr/0054-the-store-has-a-lock.md). */
export function tlsFetch(tls: Tls): Fetch {
  const agent = new Agent({ ...tls, keepAlive: true });
  return async (request, { signal } = { signal: request.signal }) => {
    const body = Buffer.from(await request.arrayBuffer());
    const { method, url } = request;
    const headers = { ...Object.fromEntries(request.headers), 'content-length': String(body.length) };
    return new Promise((resolve, reject) => {
      const sent = sendOver(url, { agent, method, headers, signal }, (answer) => {
        const stream = Readable.toWeb(answer) as WebStream<Uint8Array>;
        resolve(new Response(stream as ReadableStream<Uint8Array>, { status: answer.statusCode ?? 500 }));
      });
      sent.on('error', reject);
      sent.end(body);
    });
  };
}
