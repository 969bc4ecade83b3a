import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { ConveyorError, conveyorError, type ErrorCode } from '../domain/errors';
import { escapeUnsafe } from '../domain/plainText';

/** Codes whose status is not derived from the exit code of the command line. */
const STATUS_BY_CODE: Partial<Readonly<Record<ErrorCode, FailureStatus>>> = {
  unauthorized: 401,
  'bad-signature': 401,
  'wrong-key': 403,
  'not-in-scope': 403,
  'not-permitted': 403,
  'sign-in-refused': 403,
  'form-refused': 403,
  unsigned: 403,
  'invalid-state': 409,
  'key-reused': 409,
  'not-rerunnable': 409,
  'known-bad': 409,
  'digest-changed': 409,
  'emergency-full': 409,
  'ambiguous-deploy': 409,
  'config-conflict': 409,
  'config-unchanged': 409,
  'config-path-taken': 409,
  'config-rejected': 422,
  'offers-cycle': 422,
  'config-value-refused': 422,
  'config-validator-failed': 422,
  'config-programs-unprotected': 503,
  'config-program-failed': 422,
  'config-not-deterministic': 422,
  'config-import-refused': 422,
  'too-slow': 408,
  'too-large': 413,
  'over-limit': 413,
  'missing-artifact': 422,
  'unknown-artifact': 422,
  'plan-impossible': 422,
};
type FailureStatus = 400 | 401 | 403 | 404 | 408 | 409 | 413 | 422 | 500 | 503;

/** Seconds after which a request that failed because of a dependency is worth a retry. */
export const RETRY_AFTER = '5';

/** `{ "error": { "code", "message", "hint", "retryable", "exit" } }` with the status of the code. */
export function answerFailure(context: Context, error: unknown): Response {
  const { status, ...words } = describeFailure(context, error);
  return context.json({ error: words }, status);
}

/** The words of a failure and its status; sets the headers that belong to it. Unexpected errors are logged. */
export function describeFailure(context: Context, error: unknown) {
  const known = error instanceof ConveyorError ? error : undefined;
  if (known === undefined)
    process.stderr.write(
      `${callerTrace(context)}${escapeUnsafe(error instanceof Error ? (error.stack ?? error.message) : String(error), '\n')}\n`,
    );
  const { code, message, hint } = known ?? {
    ...conveyorError('internal', { detail: '' }),
    code: 'internal',
    message: 'something went wrong inside Conveyor',
  };
  const status = known === undefined ? 500 : httpStatus(known);
  if (status === 503) context.header('retry-after', RETRY_AFTER);
  if (status === 401) context.header('www-authenticate', 'Bearer');
  if (isBodyLeft(context)) context.header('connection', 'close');
  const { retryable, exit } = known ?? { retryable: false, exit: 1 };
  return { status, code, message, hint, retryable, exit };
}

/** The rest of the body stays unread. Node's server soon closes such a connection, and any further request on it would be lost. */
function isBodyLeft(context: Context): boolean {
  const { incoming } = (context.env ?? {}) as Partial<HttpBindings>;
  return incoming?.complete === false;
}

/** The trace id of a request, if its caller sent one (W3C trace context). */
function callerTrace(context: Context): string {
  const given = context.req.header('traceparent') ?? '';
  return /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/.test(given) ? `traceparent ${given}: ` : '';
}

/** The status of an error: 503 if a retry may help, 404 and 400 by the exit code of the command line. */
function httpStatus({ code, retryable, exit }: Pick<ConveyorError, 'code' | 'retryable' | 'exit'>): FailureStatus {
  const own = STATUS_BY_CODE[code];
  if (own !== undefined) return own;
  if (retryable) return 503;
  return exit === 4 ? 404 : exit === 2 ? 400 : 500;
}
