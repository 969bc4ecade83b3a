import type { Hono } from 'hono';
import type { z } from 'zod';
import { ConveyorError, conveyorError } from '../domain/errors';
import { parseNestedJson } from '../domain/json';
import { redactUrl, withShownUrls } from '../domain/redactUrl';
import { contradictionIn } from './protocol/contradictions/rules';
import { errorBodySchema, MIB, type CallContext, type Protocol, type ResponseOf } from './protocol/common';
import { NoAnswer, sendRequest, type Fetch } from './request';
import { excerptNotJson, explainViolation } from './schemaViolation';
import { createTraceparent } from './trace';

/**
 * The address of an extension; from the platform's settings, never from a pipeline file
 * (docs/design/overview.md#trust).
 */
export interface ServiceEndpoint {
  readonly name: string;
  readonly url: string;
  readonly token?: string;
  /** ms that one call may take. */
  readonly timeoutMs: number;
  /** Called with each call once it is over, for metrics. */
  readonly observe?: (call: ObservedCall) => void;
}

export interface ObservedCall {
  readonly method: string;
  /** The status of the answer; `none` if no answer came, or the caller gave up. */
  readonly code: string;
  readonly tookMs: number;
  /** As sent. */
  readonly traceparent: string;
  readonly context: CallContext | null;
}

/** A call of one method of an extension, for `callExtension`. */
export interface ExtensionCall<P extends Protocol, M extends keyof P & string> {
  readonly service: ServiceEndpoint;
  readonly protocol: P;
  readonly method: M;
  /** Without the context. */
  readonly request: z.input<P[M]['request']>;
  /** Null for methods without one. */
  readonly context: CallContext | null;
  /** `Idempotency-Key`; required by methods that change something. */
  readonly key?: string;
  /** Workflow id, sent as `X-Conveyor-Run`. */
  readonly runId?: string;
  /** W3C trace context of the caller; by default one of the release that the context names. */
  readonly traceparent?: string;
  /** Default: that of Node. `viaApp` makes one for an app in the same process. */
  readonly fetch?: Fetch;
  /** Ends the call when it aborts. */
  readonly signal?: AbortSignal;
  /** Receives every raw answer before it is checked; without the text if it is larger than the method allows. */
  readonly onAnswer?: (answer: RawAnswer) => void;
}

export interface RawAnswer {
  readonly status: number;
  readonly text: string | undefined;
}

/**
 * One HTTP call of one method, with a deadline. It does not retry; Temporal does. Throws `extension-lacks-method` (it
 * lacks an optional method), `extension-rejected` (4xx other than 408 and 429, or a 5xx that says it is not retryable),
 * `extension-protocol` (an answer that violates its schema, contradicts itself or its request, or is too large) and
 * `extension-unavailable` (network, deadline, 408, 429, 5xx: the only one worth retrying). If `signal` aborts, throws
 * its reason.
 */
export async function callExtension<P extends Protocol, M extends keyof P & string>(
  call: ExtensionCall<P, M>,
): Promise<ResponseOf<P[M]>> {
  const answer = await sendCall(call);
  call.onAnswer?.(answer);
  const { status, text } = answer;
  if (status < 200 || status > 299) throw callRefusal(call, status, text ?? '');
  if (text === undefined) throw violation(call, 'body', `it is larger than ${answerLimit(call) / MIB} MiB`);
  const body = parseJson(text);
  if (body === undefined) throw violation(call, 'body', `not JSON: ${excerptNotJson(text)}`);
  const parsed = getMethodDefinition(call).response.safeParse(body);
  if (parsed.success) return withoutContradiction(call, parsed.data as ResponseOf<P[M]>);
  const { field, detail } = explainViolation(body, parsed.error);
  throw violation(call, field, detail);
}

/**
 * A fetch that calls an app in the same process, without a socket. An abort ends the call as it ends a real one (the
 * app itself continues, as a server would).
 */
export function viaApp(app: Pick<Hono, 'fetch'>): Fetch {
  return async (request, init) => {
    const signal = init?.signal ?? request.signal;
    if (signal.aborted) throw signal.reason;
    let stop = (): void => undefined;
    const aborted = new Promise<never>((_, reject) => {
      stop = () => reject(signal.reason as Error);
      signal.addEventListener('abort', stop, { once: true });
    });
    try {
      return await Promise.race([Promise.resolve(app.fetch(request)), aborted]);
    } finally {
      signal.removeEventListener('abort', stop);
    }
  };
}

type AnyCall = ExtensionCall<Protocol, string>;

function withoutContradiction<P extends Protocol, M extends keyof P & string>(
  call: ExtensionCall<P, M>,
  answer: ResponseOf<P[M]>,
): ResponseOf<P[M]> {
  const found = contradictionIn(getMethodDefinition(call).contradictions ?? {}, call.request, answer);
  if (found) throw violation(call, found.field, found.detail);
  return answer;
}

function getMethodDefinition<P extends Protocol, M extends keyof P & string>(
  call: Pick<ExtensionCall<P, M>, 'protocol' | 'method'>,
): P[M] {
  return call.protocol[call.method];
}

/** Limits answers, so that one service cannot exhaust a worker's memory. */
function answerLimit<P extends Protocol, M extends keyof P & string>(
  call: Pick<ExtensionCall<P, M>, 'protocol' | 'method'>,
): number {
  return getMethodDefinition(call).maxAnswerBytes ?? MIB;
}

async function sendCall<P extends Protocol, M extends keyof P & string>(call: ExtensionCall<P, M>): Promise<RawAnswer> {
  const { service, method, signal, fetch: send, context, traceparent = createTraceparent(context) } = call;
  const { timeoutMs } = service;
  const sending = { fetch: send, timeoutMs, signal, maxBytes: answerLimit(call) };
  const sentMs = performance.now();
  let code = 'none';
  try {
    const answer = await sendRequest(
      `${service.url.replace(/\/+$/, '')}/${method}`,
      buildRequestInit(call, traceparent),
      sending,
    );
    code = String(answer.status);
    return answer;
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    throw extensionUnavailable(call, `${withShownUrls(error.message)} (${redactUrl(service.url)})`);
  } finally {
    service.observe?.({ method, code, tookMs: performance.now() - sentMs, traceparent, context });
  }
}

function buildRequestInit<P extends Protocol, M extends keyof P & string>(
  call: ExtensionCall<P, M>,
  traceparent: string,
): RequestInit {
  const { service, key, runId } = call;
  return {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json',
      ...(service.token === undefined ? {} : { authorization: `Bearer ${service.token}` }),
      ...(key === undefined ? {} : { 'idempotency-key': key }),
      ...(runId === undefined ? {} : { 'x-conveyor-run': runId }),
      traceparent,
    },
    body: JSON.stringify({ ...(call.request as object), ...(call.context && { context: call.context }) }),
  };
}

function callRefusal(
  call: Pick<AnyCall, 'service' | 'method' | 'protocol'>,
  status: number,
  text: string,
): ConveyorError {
  const { service, method } = call;
  const body = errorBodySchema.safeParse(parseJson(text));
  const detail = body.success ? `${body.data.error.code}: ${body.data.error.message}` : excerpt(text);
  if (status < 400) return violation(call, 'status', `${status} instead of an answer`);
  const isMissing =
    status === 404 ? !body.success || body.data.error.code === 'unknown-method' : [405, 501].includes(status);
  if (isMissing && getMethodDefinition(call).optional)
    return conveyorError('extension-lacks-method', { service: service.name, method });
  const final = status < 500 ? status !== 408 && status !== 429 : body.success && !body.data.error.retryable;
  if (final) return conveyorError('extension-rejected', { service: service.name, method, status, detail });
  return extensionUnavailable(call, `${`${status} ${detail}`.trim()} (${redactUrl(service.url)})`);
}

const violation = (
  { service, method }: Pick<AnyCall, 'service' | 'method'>,
  field: string,
  detail: string,
): ConveyorError =>
  conveyorError('extension-protocol', { service: service.name, method, field, detail: excerpt(detail, MAX_DETAIL) });

const extensionUnavailable = (
  { service, method }: Pick<AnyCall, 'service' | 'method'>,
  detail: string,
): ConveyorError => conveyorError('extension-unavailable', { service: service.name, method, detail });

/** Undefined if it is not JSON, or is nested too deeply. */
export function parseJson(text: string): unknown {
  try {
    return parseNestedJson(text);
  } catch {
    return undefined;
  }
}

/** Cuts messages: a value in an answer may be as long as the answer. */
const MAX_DETAIL = 500;

const excerpt = (text: string, max = 200): string => (text.length > max ? `${text.slice(0, max)}…` : text);
