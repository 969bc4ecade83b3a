import { request as requestHttp, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { request as requestHttps, type RequestOptions } from 'node:https';

/** HTTP requests of the agent: one at a time, without redirects, each with limits of time and size. */

export interface TlsFiles {
  readonly ca?: Buffer | undefined;
  readonly cert?: Buffer | undefined;
  readonly key?: Buffer | undefined;
}

export interface AgentRequest {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly tls: TlsFiles;
  /** Ends the request and its answer. */
  readonly signal: AbortSignal;
}

export interface SmallAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** The beginning of an answer. @throws Error if the server cannot be reached before the signal */
export function openAnswer({ method, url, headers, body, tls, signal }: AgentRequest): Promise<IncomingMessage> {
  const options: RequestOptions = {
    ...{ method, signal, agent: false, headers: { 'accept-encoding': 'identity', connection: 'close', ...headers } },
    ...(url.protocol === 'https:' && tls),
  };
  return new Promise((resolve, reject) => {
    const sent = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, options, resolve);
    sent.on('error', (error) => reject(signal.aborted ? toError(signal.reason) : error));
    sent.end(body);
  });
}

/** A whole answer of at most `mostBytes`. @throws Error if it is longer, or not there in time */
export async function requestAnswer(
  request: Omit<AgentRequest, 'signal'>,
  { timeoutMs, mostBytes }: { readonly timeoutMs: number; readonly mostBytes: number },
): Promise<SmallAnswer> {
  const patience = limitTime(timeoutMs, `${request.url.host} did not answer within ${timeoutMs} ms`);
  try {
    const answer = await openAnswer({ ...request, signal: patience.signal });
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > mostBytes) throw new Error(`${request.url.host} answered with more than ${mostBytes} bytes`);
      chunks.push(chunk);
    }
    return { status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks) };
  } catch (error) {
    throw patience.signal.aborted ? toError(patience.signal.reason) : error;
  } finally {
    patience.end();
  }
}

/** A signal that aborts after a time, by a clock that is never set. `end` has to be called. */
export function limitTime(ms: number, message: string): { readonly signal: AbortSignal; end(): void } {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(new Error(message)), ms);
  return {
    signal: abort.signal,
    end: () => {
      clearTimeout(timer);
      // Also ends an answer that was not read to its end.
      abort.abort(new Error(message));
    },
  };
}

const toError = (reason: unknown): Error => (reason instanceof Error ? reason : new Error(String(reason)));

const OWN_MACHINE = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Why a URL is not used: without TLS others could read the token. */
export function whyNotUrl(url: URL, allowsHttp: boolean): string | undefined {
  if (url.protocol === 'https:') return undefined;
  if (url.protocol !== 'http:') return `${url.protocol.slice(0, -1)} is neither https nor http`;
  if (allowsHttp || OWN_MACHINE.test(url.hostname)) return undefined;
  return `${url.origin} is not encrypted: use https, or --allow-http in a network that you trust`;
}

/**
 * The seconds of `Retry-After`; undefined without one. A date counts from the `Date` of the same answer, because the clock of this machine may be
 * wrong.
 */
export function readRetryAfter(headers: IncomingHttpHeaders): number | undefined {
  const text = headers['retry-after'];
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const [then, now] = [Date.parse(text), Date.parse(headers.date ?? '')];
  return Number.isFinite(then - now) ? Math.max(0, (then - now) / 1000) : undefined;
}
