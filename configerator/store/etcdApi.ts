import { whyNotStoreUrls } from '../domain/storeUrl';
import { ConveyorError, conveyorError } from '../../domain/errors';
import { EtcdLogin, requireToken, type Login } from './etcdLogin';
import { tlsFetch, type Tls } from './tlsFetch';
import { rootCause } from '../../domain/rootCause';
import { textUpTo } from '../../sdk/bodyLimit';
import { readLines } from '../../sdk/lines';
import { sendRequest, type Fetch } from '../../sdk/request';
import {
  type KeyRange,
  type RangeRequest,
  type KeyValue,
  type EtcdOperation,
  type RangeAnswer,
  type TxnAnswer,
  type WatchLine,
  base64,
  decodeKeyValue,
  encodeKeyRange,
  encodeRange,
  encodeOperation,
} from './etcdWire';

export interface EtcdOptions {
  /** `http://127.0.0.1:2379`; for a cluster several URLs, separated by commas. */
  readonly url: string;
  /** The user to log in as; without one, etcd has to be open. */
  readonly login?: Login;
  readonly tls?: Tls;
  /** How long an answer may take, in ms. Default 5000. */
  readonly timeoutMs?: number;
  readonly fetch?: Fetch;
}

export interface TransactionResult {
  readonly succeeded: boolean;
  readonly revision: number;
  /** One list for each operation that ran; empty for those that read nothing. */
  readonly ranges: readonly (readonly KeyValue[])[];
}

/** Ends of a watch that its caller can handle; all other errors are ConveyorErrors. */
export class EtcdWatchEnd extends Error {
  constructor(readonly kind: 'compacted' | 'no-lease') {
    super(kind);
  }
}

const TIMEOUT_MS = 5000;
/** More than a look at 100 values of the largest size. */
const MOST_ANSWER = 256 * 1024 * 1024;
/** How much of an error text is read. */
const MOST_WORDS = 64 * 1024;
const AUTHENTICATE = '/v3/auth/authenticate';
const JSON_TYPE = { 'content-type': 'application/json' };

export class EtcdApi {
  private readonly urls: readonly string[];
  /** The index of the member that answered last. */
  private at = 0;
  private readonly fetch: Fetch | undefined;
  private readonly login: EtcdLogin;

  /** @throws ConveyorError `usage` for a URL with a password */
  constructor(private readonly options: EtcdOptions) {
    const { url, login, tls, fetch: own } = options;
    const why = whyNotStoreUrls(url);
    if (why !== undefined)
      throw conveyorError('usage', { text: `the address of a store: ${why}`, hint: 'docs/guides/secure.md shows how' });
    this.urls = url.split(',').map((one) => one.trim().replace(/\/+$/, ''));
    this.fetch = own ?? (tls && tlsFetch(tls));
    this.login = new EtcdLogin(login, async ({ user, password }) =>
      requireToken(this.url, await this.askAs<{ token?: unknown }>({}, AUTHENTICATE, { name: user, password })),
    );
  }

  /** Runs the operations if the key was last changed at that revision (0: it does not exist); without a key, runs them in any case. */
  async transact(
    operations: readonly EtcdOperation[],
    unless?: { key: string; modRevision: number },
  ): Promise<TransactionResult> {
    const compare = unless && [
      { key: base64(unless.key), target: 'MOD', result: 'EQUAL', mod_revision: String(unless.modRevision) },
    ];
    const answer = await this.ask<TxnAnswer>('/v3/kv/txn', { compare, success: operations.map(encodeOperation) });
    const ranges = (answer.responses ?? []).map(({ response_range: range }) => (range?.kvs ?? []).map(decodeKeyValue));
    return { succeeded: answer.succeeded === true, revision: Number(answer.header?.revision ?? 0), ranges };
  }

  async range(request: RangeRequest): Promise<{ readonly kvs: readonly KeyValue[]; readonly revision: number }> {
    const answer = await this.ask<RangeAnswer>('/v3/kv/range', encodeRange(request));
    return { kvs: (answer.kvs ?? []).map(decodeKeyValue), revision: Number(answer.header?.revision ?? 0) };
  }

  /** Creates a lease of this many seconds; resolves to its id. */
  async grant(seconds: number): Promise<string> {
    return (await this.ask<{ ID: string }>('/v3/lease/grant', { TTL: String(seconds) })).ID;
  }

  /** @throws EtcdWatchEnd `no-lease` if it has run out */
  async keepAlive(lease: string): Promise<void> {
    const { result } = await this.ask<{ result?: { TTL?: string } }>('/v3/lease/keepalive', { ID: lease });
    if (Number(result?.TTL ?? 0) <= 0) throw new EtcdWatchEnd('no-lease');
  }

  /**
   * Calls `onChange` for every change of these ranges from a revision on. It ends only with an error: the connection
   * has ended, the leader is lost, the revision is compacted (EtcdWatchEnd), or the signal was aborted.
   */
  async watch(ranges: readonly KeyRange[], from: number, onChange: () => void, signal: AbortSignal): Promise<never> {
    const create = (range: KeyRange) =>
      JSON.stringify({ create_request: { ...encodeKeyRange(range), start_revision: String(from) } });
    const headers = await this.login.headers();
    const { url } = this;
    const response = await this.stream(url, headers, ranges.map(create).join('\n'), signal);
    if (!response.ok || response.body === null)
      throw this.toWatchEnd(url, headers, response.status, (await textUpTo(response, MOST_WORDS)) ?? '');
    try {
      for await (const line of readLines(response.body)) {
        const { result, error } = JSON.parse(line) as WatchLine;
        if (error) throw this.toWatchEnd(url, headers, response.status, JSON.stringify(error));
        if (result?.compact_revision !== undefined) throw new EtcdWatchEnd('compacted');
        if (result?.canceled) throw this.toWatchEnd(url, headers, 500, result.cancel_reason ?? 'it ended a watch');
        if (result?.events) onChange();
      }
    } catch (error) {
      const isOurs = error instanceof ConveyorError || error instanceof EtcdWatchEnd || signal.aborted;
      throw isOurs ? error : unavailable(url, rootCause(error));
    }
    throw unavailable(url, 'it ended a watch');
  }

  /** Sends one request of any kind. @throws ConveyorError */
  async ask<T>(path: string, body: object): Promise<T> {
    const headers = await this.login.headers();
    try {
      return await this.askAs<T>(headers, path, body);
    } catch (error) {
      if (!(error instanceof ConveyorError) || !this.login.isStale(error.message, headers)) throw error;
      return this.askAs<T>(await this.login.headers(), path, body);
    }
  }

  private async askAs<T>(headers: Readonly<Record<string, string>>, path: string, body: object): Promise<T> {
    const { timeoutMs = TIMEOUT_MS } = this.options;
    const { url, fetch } = this;
    const init = { method: 'POST', headers: { ...JSON_TYPE, ...headers }, body: JSON.stringify(body) };
    const sending = { fetch, timeoutMs, maxBytes: MOST_ANSWER };
    const { status, ok, text } = await sendRequest(`${url}${path}`, init, sending).catch((error: unknown) => {
      throw this.switchMember(url, rootCause(error));
    });
    if (text === undefined)
      throw conveyorError('store-refused', {
        store: url,
        detail: `it answers with more than ${MOST_ANSWER} bytes`,
      });
    if (!ok) throw this.toRequestError(url, status, text);
    try {
      return JSON.parse(text) as T;
    } catch {
      throw conveyorError('store-refused', { store: url, detail: 'the answer is not JSON' });
    }
  }

  /** The answer to a watch, which ends with the signal. */
  private async stream(
    url: string,
    own: Readonly<Record<string, string>>,
    body: string,
    signal: AbortSignal,
  ): Promise<Response> {
    const headers = { ...JSON_TYPE, ...own, 'grpc-metadata-hasleader': 'true' };
    try {
      const request = new Request(`${url}/v3/watch`, { method: 'POST', body, signal, headers });
      return await (this.fetch ?? fetch)(request, { signal });
    } catch (error) {
      // The caller aborted the request, so the member is not at fault.
      throw (error as Error).name === 'AbortError' ? error : this.switchMember(url, rootCause(error));
    }
  }

  /** If the token has expired, the next request gets a new one. */
  private toWatchEnd(url: string, headers: Readonly<Record<string, string>>, status: number, text: string): Error {
    this.login.isStale(text, headers);
    return this.toRequestError(url, status, text);
  }

  private toRequestError(url: string, status: number, text: string): Error {
    const detail = parseDetail(text) || `HTTP status ${status}`;
    if (detail.includes('has been compacted')) return new EtcdWatchEnd('compacted');
    if (detail.includes('lease not found')) return new EtcdWatchEnd('no-lease');
    if (detail.includes('space exceeded')) return conveyorError('store-full', { store: url });
    if (status >= 500 || PASSING.test(detail)) return this.switchMember(url, detail);
    return conveyorError('store-refused', { store: url, detail });
  }

  /** Sends the next request to the next member; if several requests fail at once, only the first switches. */
  private switchMember(url: string, detail: string): ConveyorError {
    if (url === this.url) this.at = (this.at + 1) % this.urls.length;
    return unavailable(url, detail);
  }

  /** The address of the current member. */
  get url(): string {
    return this.urls[this.at] ?? '';
  }
}

const unavailable = (url: string, detail: string): ConveyorError =>
  conveyorError('store-unavailable', { store: url, detail });

/** Errors of a cluster that has no leader, is overloaded or is shutting down. */
const PASSING = /no leader|leader changed|timed out|too many requests|stopped|deadline|unavailable|not capable/i;

function parseDetail(answer: string): string {
  try {
    const { error, message } = JSON.parse(answer) as { error?: unknown; message?: unknown };
    return typeof message === 'string' ? message : typeof error === 'string' ? error : answer.slice(0, 200);
  } catch {
    return answer.slice(0, 200).trim();
  }
}
