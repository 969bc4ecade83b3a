import { rootCause } from '../domain/rootCause';
import { readUpTo } from './bodyLimit';

/**
 * Sends a request. `fetch` sends a copy of it, and a copy forgets the signal of its original at the next garbage collection (nodejs/undici issue
 * 4068): pass the signal in addition to the request, or the call waits for a silent service without end.
 */
export type Fetch = (request: Request, init?: { readonly signal: AbortSignal }) => Promise<Response>;

export interface RequestOptions {
  /** Default: that of Node. */
  readonly fetch?: Fetch | undefined;
  /** ms until the whole answer is there. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** The largest body that is read; with 0 none is. */
  readonly maxBytes: number;
}

export interface HttpAnswer {
  readonly status: number;
  readonly ok: boolean;
  readonly headers: Headers;
  /** Undefined if the body is larger than allowed, or not wanted. */
  readonly text: string | undefined;
}

/** No answer came, or not all of it; the message says why, and may hold an address. */
export class NoAnswer extends Error {
  /** The code of the network error, such as `ECONNREFUSED`; it holds no address. */
  readonly code: string;

  constructor(
    message: string,
    readonly isLate: boolean,
    cause: unknown,
  ) {
    super(message, { cause });
    const { name, cause: inner } = Object(cause) as { readonly name?: unknown; readonly cause?: unknown };
    this.code = String((Object(inner) as { readonly code?: unknown }).code ?? name);
  }
}

/**
 * One request with a deadline; no retries, and no redirection is followed unless `init` says so. A body that is not
 * read to its end is cancelled, which frees its connection. If `signal` aborts, throws its reason.
 * @throws NoAnswer
 */
export async function sendRequest(
  address: string | URL | Request,
  init: RequestInit,
  { fetch: send = fetch, timeoutMs, signal: caller, maxBytes }: RequestOptions,
): Promise<HttpAnswer> {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(new DOMException('it took too long', 'TimeoutError')), timeoutMs);
  const signal = caller ? AbortSignal.any([deadline.signal, caller]) : deadline.signal;
  try {
    const response = await send(new Request(address, { redirect: 'manual', ...init, signal }), { signal });
    const text = await readBoundedText(response, maxBytes, signal);
    const { status, ok, headers } = response;
    return { status, ok, headers, text };
  } catch (error) {
    if (caller?.aborted) throw caller.reason;
    const isLate = deadline.signal.aborted;
    throw new NoAnswer(isLate ? `no answer within ${timeoutMs} ms` : rootCause(error), isLate, error);
  } finally {
    clearTimeout(timer);
  }
}

/** The decompressed text. */
async function readBoundedText({ body }: Response, maxBytes: number, signal: AbortSignal): Promise<string | undefined> {
  if (maxBytes === 0) {
    void body?.cancel().catch(() => undefined);
    return undefined;
  }
  const bytes = body === null ? new Uint8Array() : await readUpTo(body, maxBytes, { signal });
  signal.throwIfAborted();
  return typeof bytes === 'string' ? undefined : new TextDecoder().decode(bytes);
}
