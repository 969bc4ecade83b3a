import { Hono, type Context } from 'hono';
import { z } from 'zod';
import { parseNestedJson } from '../domain/json';
import { limitBody } from './bodyLimit';
import { actionServiceProtocol, type ActionServiceProtocol } from './protocol/actionService';
import { artifactFinderProtocol, type ArtifactFinderProtocol } from './protocol/artifactFinder';
import { bodySchema, MIB, type CallContext, type Method, type Protocol, type RequestOf } from './protocol/common';
import { dataSourceProtocol, type DataSourceProtocol } from './protocol/dataSource';
import { dependencyGraphProtocol, type DependencyGraphProtocol } from './protocol/dependencyGraph';
import { pushTypeProtocol, type PushTypeProtocol } from './protocol/pushType';
import {
  taskControllerProtocol,
  type TaskControlAnswer,
  type TaskControllerProtocol,
  type TaskControlRequest,
} from './protocol/taskController';
import { ticketProtocol, type TicketProtocol } from './protocol/tickets';
import { openApi } from './openapi';

/** The most bytes in the body of an extension call (docs/reference/protocols.md#rules-for-all). */
const MAX_BODY_BYTES = MIB;

/** The parts of every call other than its request. */
export interface Call {
  readonly context: CallContext;
  /** The `Idempotency-Key`: always present for methods that change something. */
  readonly key: string | null;
  /** `X-Conveyor-Run`: the calling workflow. */
  readonly run: string | null;
  readonly traceparent: string | null;
}
/** The parts of a call to a method that changes something: the key is always present. */
export interface MutatingCall extends Call {
  readonly key: string;
}

type Handler<M extends Method> = (
  request: RequestOf<M>,
  call: M extends { contextFree: true } ? Omit<Call, 'context'> : M['mutates'] extends true ? MutatingCall : Call,
) => Promise<z.input<M['response']>> | z.input<M['response']>;
type OptionalOf<P extends Protocol> = { [M in keyof P]: P[M] extends { optional: true } ? M : never }[keyof P];

/** One function per method; optional methods of the protocol may be left out. */
export type Implementation<P extends Protocol> = {
  readonly [M in Exclude<keyof P, OptionalOf<P>>]: Handler<P[M]>;
} & { readonly [M in OptionalOf<P>]?: Handler<P[M]> };

/** Options of `serveProtocol` and of the functions for each protocol, such as `servePushType`. */
export interface ServeOptions {
  /** If given, every call must carry `Authorization: Bearer <token>`. */
  readonly token?: string;
  /** Default 1 MiB, which is the most that Conveyor sends (docs/reference/protocols.md#rules-for-all). */
  readonly maxBodyBytes?: number;
}

/** Thrown by an implementation to refuse a call; any other error becomes a retryable 500. */
export class ExtensionError extends Error {
  override readonly name = 'ExtensionError';
  readonly retryable: boolean;
  readonly status: number;

  /** `status` defaults to 400, or to 503 if `retryable`. */
  constructor(
    readonly code: string,
    message: string,
    options: { readonly retryable?: boolean; readonly status?: number } = {},
  ) {
    super(message);
    this.retryable = options.retryable ?? false;
    this.status = options.status ?? (this.retryable ? 503 : 400);
  }
}

/**
 * Turns an implementation into an HTTP app: `POST /<method>` for each method, `GET /openapi.json`. Requests are checked
 * against the protocol before the implementation sees them. A call that changes something must carry an
 * `Idempotency-Key`, which is passed on: the implementation has to remember keys, since only it can do so atomically
 * with the effect.
 */
export function serveProtocol<P extends Protocol>(
  protocol: P,
  name: string,
  implementation: Implementation<P>,
  options: ServeOptions = {},
): Hono {
  const app = new Hono();
  const handlers = implementation as Readonly<Record<string, Handler<Method> | undefined>>;
  app.onError((error, c) => answerError(c, error));
  app.notFound((c) =>
    answerError(c, new ExtensionError('unknown-method', `${name} has no ${c.req.path}`, { status: 404 })),
  );
  app.get('/openapi.json', (c) => c.json(openApi(protocol, name)));
  const maxSize = options.maxBodyBytes ?? MAX_BODY_BYTES;
  const tooLarge = new ExtensionError('too-large', `a body is at most ${maxSize / MAX_BODY_BYTES} MiB`, {
    status: 413,
  });
  app.use(limitBody({ maxSize, onError: (c) => answerError(c, tooLarge) }));
  for (const [method, definition] of Object.entries(protocol)) {
    const handler = handlers[method];
    if (handler === undefined) continue;
    app.post(`/${method}`, async (c) => {
      authorize(c, options.token);
      const { request, call } = await readCall(c, method, definition);
      return c.json(await handler(request, call));
    });
  }
  return app;
}

/** A push type in ten lines: `servePushType('hosts', { validateConfig: …, … })`. */
export const servePushType = (
  name: string,
  implementation: Implementation<PushTypeProtocol>,
  options?: ServeOptions,
): Hono => serveProtocol(pushTypeProtocol, name, implementation, options);

/**
 * Serves an action service (docs/reference/protocols.md#action-service):
 * `serveActionService('build', { startRun: …, getRunProgress: …, cancelRun: … })`.
 */
export const serveActionService = (
  name: string,
  implementation: Implementation<ActionServiceProtocol>,
  options?: ServeOptions,
): Hono => serveProtocol(actionServiceProtocol, name, implementation, options);

/** An artifact finder has one method: `serveArtifactFinder('tags', { getArtifacts: … })`. */
export const serveArtifactFinder = (
  name: string,
  implementation: Implementation<ArtifactFinderProtocol>,
  options?: ServeOptions,
): Hono => serveProtocol(artifactFinderProtocol, name, implementation, options);

/** Serves a data source, which has one method (docs/reference/protocols.md#data-source): `serveDataSource('metrics', { query: … })`. */
export const serveDataSource = (
  name: string,
  implementation: Implementation<DataSourceProtocol>,
  options?: ServeOptions,
): Hono => serveProtocol(dataSourceProtocol, name, implementation, options);

/** A dependency graph has one method: `serveDependencyGraph('builds', { getDependents: … })`. */
export const serveDependencyGraph = (
  name: string,
  implementation: Implementation<DependencyGraphProtocol>,
  options?: ServeOptions,
): Hono => serveProtocol(dependencyGraphProtocol, name, implementation, options);

/** A service of tickets: `serveTickets('tracker', { openTicket: …, updateTicket: …, closeTicket: … })`. */
export const serveTickets = (
  name: string,
  implementation: Implementation<TicketProtocol>,
  options?: ServeOptions,
): Hono => serveProtocol(ticketProtocol, name, implementation, options);

/**
 * A task controller has one method: `serveTaskController('leader-last', { process: … })`. It remembers the last call of
 * each job, so that a repeated call gets the same answer.
 */
export function serveTaskController(
  name: string,
  { process }: { readonly process: (request: TaskControlRequest) => Promise<TaskControlAnswer> | TaskControlAnswer },
  options?: ServeOptions,
): Hono {
  const last = new Map<string, { readonly request: TaskControlRequest; readonly answer: Promise<TaskControlAnswer> }>();
  const implementation: Implementation<TaskControllerProtocol> = {
    process: (request) => {
      const known = last.get(request.jobHandle);
      if (known && isSameCall(known.request, request)) return known.answer;
      const answer = Promise.resolve(request).then(process);
      last.set(request.jobHandle, { request, answer });
      // A failure is not an answer.
      answer.catch(() => last.get(request.jobHandle)?.answer === answer && last.delete(request.jobHandle));
      return answer;
    },
  };
  return serveProtocol(taskControllerProtocol, name, implementation, options);
}

/** `targets.0.unit`, or `body` for the whole body: the name of a field in problems, here and in the client. */
export const formatFieldPath = (path: readonly PropertyKey[]): string =>
  path.length > 0 ? path.map(String).join('.') : 'body';

/** A number alone is not enough: a restarted cluster manager counts from 1 again. */
const isSameCall = (one: TaskControlRequest, other: TaskControlRequest): boolean =>
  one.sequenceNumber === other.sequenceNumber && JSON.stringify(one) === JSON.stringify(other);

function authorize(c: Context, token: string | undefined): void {
  if (token === undefined || c.req.header('authorization') === `Bearer ${token}`) return;
  throw new ExtensionError('unauthorized', 'the bearer token is missing or wrong', { status: 401 });
}

async function readCall(
  c: Context,
  method: string,
  definition: Method,
): Promise<{ request: Record<string, unknown>; call: MutatingCall }> {
  const body = await c.req
    .text()
    .then(parseNestedJson)
    .catch((error: Error) => {
      throw new ExtensionError('invalid-request', `body: ${error.message}`);
    });
  const parsed = bodySchema(definition).safeParse(body);
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => `${formatFieldPath(issue.path)}: ${issue.message}`);
    throw new ExtensionError('invalid-request', problems.join('; '));
  }
  const key = c.req.header('idempotency-key') ?? null;
  if (definition.mutates && (key === null || key === ''))
    throw new ExtensionError('missing-key', `${method} changes something, so it needs an Idempotency-Key`);
  const { context, ...input } = parsed.data as { context: CallContext };
  const request = (definition.expand?.(input as never) ?? input) as Record<string, unknown>;
  const run = c.req.header('x-conveyor-run') ?? null;
  const traceparent = c.req.header('traceparent') ?? null;
  // The key is null only for methods that change nothing, and the context is undefined only for those without one:
  // their handlers are typed to expect that.
  return { request, call: { context, key: key as string, run, traceparent } };
}

function answerError(c: Context, error: Error): Response {
  const known = error instanceof ExtensionError ? error : undefined;
  const { code, retryable, status } = known ?? { code: 'internal', retryable: true, status: 500 };
  return c.json({ error: { code, message: error.message, retryable } }, status as 400);
}
