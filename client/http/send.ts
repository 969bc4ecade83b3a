import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { conveyorError } from '../../domain/errors';
import { rootCause } from '../../domain/rootCause';
import { isJsonObject } from '../../domain/json';
import { REQUEST_LIMITS } from '../../domain/limits';
import { formatBytes } from '../../domain/size';
import { textUpTo } from '../../sdk/bodyLimit';
import type { RequestParts, RouteRow } from '../operations/row';
import { failureIn } from './failure';
import { routeRequest, type RoutedRequest } from './path';

/**
 * One request, with the parts of `fetch` that are needed. A token is only for that server, so redirects are not
 * followed.
 */
export interface ServerRequest {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
  readonly redirect: 'manual';
  readonly signal: AbortSignal;
}

export type ServerFetch = (url: string, request: ServerRequest) => Promise<Pick<Response, 'status' | 'body'>>;

export interface HttpOptions {
  /** As `serverUrl` returns it (url.ts). */
  readonly url: string;
  /** The bearer token, or a function that returns the present one; null if readers need none. */
  readonly token: string | null | (() => Promise<string>);
  readonly fetch?: ServerFetch;
  /** Waits between two tries. */
  readonly sleep?: (ms: number) => Promise<void>;
}

/** Longer than a request waits at a server, first in its queue and then for a worker. */
const REQUEST_TIMEOUT_MS = 60_000;
const RETRY_DELAYS_MS = [250, 1_000];
const MOST_SERVER_ANSWER = REQUEST_LIMITS.answer.max;
/** The answer of a proxy whose server is gone for a moment. */
const GATEWAY: readonly number[] = [502, 503, 504];

/** The result of one try: an answer in the form of Conveyor, or none. */
export type RequestAttempt = { readonly status: number; readonly body: unknown } | UnansweredRequest;

/**
 * `away`: no connection; `silent`: no answer in time; `proxy`: a proxy got no answer from its server; `stranger`:
 * another program answered.
 */
export interface UnansweredRequest {
  readonly why: 'away' | 'silent' | 'proxy' | 'stranger';
  readonly detail: string;
  /** Whether another try may get an answer. */
  readonly isWorthAnother: boolean;
}

/**
 * Sends a request to a server. Requests that only read, or have a key, are repeated if no server answered, which cannot
 * change anything twice. @throws ConveyorError the server's error, with its code, message, hint and exit code;
 * `server-unreachable`
 */
export async function askServer(options: HttpOptions, row: RouteRow, asked: RequestParts): Promise<unknown> {
  const ownKey = asked.key === null ? randomUUID() : undefined;
  const key = ownKey ?? asked.key;
  const body = key == null ? asked.body : { ...asked.body, idempotencyKey: key };
  const request = { ...routeRequest(row, asked), body };
  const isSafe = request.method === 'GET' || key != null;
  const token = await resolveToken(options);
  let tried = await attemptRequest({ ...options, token }, request, REQUEST_TIMEOUT_MS);
  let isAgain = false;
  for (const pauseMs of isSafe ? RETRY_DELAYS_MS : []) {
    if ('status' in tried || !tried.isWorthAnother) break;
    await (options.sleep ?? wait)(pauseMs);
    tried = await attemptRequest({ ...options, token }, request, REQUEST_TIMEOUT_MS);
    isAgain = true;
  }
  if ('detail' in tried) throw conveyorError('server-unreachable', { url: options.url, detail: tried.detail });
  const failure = failureIn(tried);
  if (failure) throw failure;
  return ownKey !== undefined && isAgain ? asFirst(tried.body) : tried.body;
}

/** The key is unique, so a release that already exists for it comes from our own try whose answer was lost. */
const asFirst = (body: unknown): unknown =>
  isJsonObject(body) && 'duplicate' in body ? { ...body, duplicate: false } : body;

/** @throws the error of a renewal */
const resolveToken = async ({ token }: Pick<HttpOptions, 'token'>): Promise<string | null> =>
  typeof token === 'function' ? token() : token;

/** One request, which ends within `withinMs`. Never throws. */
export async function attemptRequest(
  { url, token, fetch: ask = fetch }: Pick<HttpOptions, 'url' | 'fetch'> & { readonly token: string | null },
  { method, path, body }: RoutedRequest & { readonly body?: object | undefined },
  withinMs: number,
): Promise<RequestAttempt> {
  try {
    const response = await ask(`${url}${path}`, {
      method,
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      redirect: 'manual',
      signal: AbortSignal.timeout(withinMs),
    });
    const text = await textUpTo(response, MOST_SERVER_ANSWER);
    if (text !== undefined) return serverAnswerIn(response.status, text);
    return {
      why: 'stranger',
      detail: `its answer is larger than ${formatBytes(MOST_SERVER_ANSWER)}`,
      isWorthAnother: false,
    };
  } catch (error) {
    if (error instanceof Error && error.name === 'TimeoutError')
      return { why: 'silent', detail: `no answer within ${withinMs / 1_000} s`, isWorthAnother: false };
    const detail = rootCause(error);
    // A refusal of an invalid header would quote its value.
    return { why: 'away', detail: token === null ? detail : detail.replaceAll(token, '…'), isWorthAnother: true };
  }
}

/** A body that is not JSON, or an error in another form, did not come from a Conveyor server. */
function serverAnswerIn(status: number, text: string): RequestAttempt {
  const isWorthAnother = GATEWAY.includes(status);
  const detail = `it answered ${status}, but not like a Conveyor server`;
  const strange: UnansweredRequest = { why: isWorthAnother ? 'proxy' : 'stranger', detail, isWorthAnother };
  try {
    const body = JSON.parse(text) as unknown;
    const isOurs = status < 300 || (isJsonObject(body) && ('error' in body || 'checks' in body));
    return isOurs ? { status, body } : strange;
  } catch {
    return strange;
  }
}
