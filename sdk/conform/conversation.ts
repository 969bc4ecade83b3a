import { callExtension, type RawAnswer } from '../client';
import { sendRequest, type Fetch } from '../request';
import { MIB, type CallContext, type Protocol, type RequestInput, type ResponseOf } from '../protocol/common';

/** The address of a service under test, and how to call it. */
export interface Reachable {
  readonly fetch: Fetch;
  readonly url: string;
  readonly token?: string;
  /** ms that one call may take. Default 5 s. */
  readonly timeoutMs?: number;
}

/** One call and its answer, for finding the fault. */
export interface Exchange {
  readonly method: string;
  readonly key: string | null;
  /** The body, without the context. */
  readonly sent: unknown;
  /** Null if no answer came. */
  readonly status: number | null;
  /** The body of the answer, cut after 4,000 characters; else the error. */
  readonly answer: string;
}

export interface ConformCall<P extends Protocol, M extends keyof P & string> {
  readonly protocol: P;
  readonly method: M;
  readonly request: RequestInput<P[M]>;
  readonly context: CallContext | null;
  readonly key?: string | undefined;
}

const CONFORM_TIMEOUT_MS = 5_000;
const MAX_SHOWN_CHARACTERS = 4_000;

/** The calls of one check, as Conveyor would make them, all recorded. */
export class Conversation {
  readonly calls: Exchange[] = [];

  constructor(private readonly subject: Reachable) {}

  /** @throws ConveyorError as `callExtension` */
  async ask<P extends Protocol, M extends keyof P & string>(call: ConformCall<P, M>): Promise<ResponseOf<P[M]>> {
    const { method, request, context, key } = call;
    const { fetch, url, token, timeoutMs = CONFORM_TIMEOUT_MS } = this.subject;
    let received: RawAnswer | undefined;
    const record = (otherwise: string): void => this.record(method, key, request, received, otherwise);
    try {
      const answer = await callExtension<P, M>({
        service: { name: 'the service', url, timeoutMs, ...(token === undefined ? {} : { token }) },
        ...{ protocol: call.protocol, method, context, fetch, request: request as never },
        ...(key === undefined ? {} : { key }),
        onAnswer: (raw) => (received = raw),
      });
      record('');
      return answer;
    } catch (error) {
      record((error as Error).message);
      throw error;
    }
  }

  /** Sends a body unchanged, which need not be JSON; the status of the answer, or null if none came. */
  async post(method: string, body: string): Promise<number | null> {
    const { fetch, url, token, timeoutMs = CONFORM_TIMEOUT_MS } = this.subject;
    const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
    try {
      const address = `${url.replace(/\/+$/, '')}/${method}`;
      const init = { method: 'POST', headers, body };
      const received = await sendRequest(address, init, { fetch, timeoutMs, maxBytes: MIB });
      this.record(method, undefined, body, received, '');
      return received.status;
    } catch (error) {
      this.record(method, undefined, body, undefined, (error as Error).message);
      return null;
    }
  }

  private record(
    method: string,
    key: string | undefined,
    sent: unknown,
    received: RawAnswer | undefined,
    otherwise: string,
  ): void {
    const answer = received ? (received.text ?? 'more than the protocol allows') : otherwise;
    const cut =
      answer.length > MAX_SHOWN_CHARACTERS
        ? `${answer.slice(0, MAX_SHOWN_CHARACTERS)}… (${answer.length} characters)`
        : answer;
    this.calls.push({ method, key: key ?? null, sent, status: received?.status ?? null, answer: cut });
  }
}
