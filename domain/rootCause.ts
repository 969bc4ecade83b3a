interface Failure {
  readonly message?: unknown;
  readonly code?: unknown;
  readonly cause?: unknown;
}

/** An error may be its own cause. */
const DEPTH = 10;

/**
 * The message of the root cause: `fetch failed` explains nothing, its cause does (`connect ECONNREFUSED
 * 127.0.0.1:4400`). A cause without a message, as when several addresses were tried, gives its code. Errors are
 * recognised by shape, because some come from another realm.
 */
export const rootCause = (error: unknown): string => findDeepestMessage(error, DEPTH) || String(error);

function findDeepestMessage(error: unknown, depth: number): string {
  if (typeof error !== 'object' || error === null) return '';
  const { message, code, cause } = error as Failure;
  const deeper = depth > 0 ? findDeepestMessage(cause, depth - 1) : '';
  const own = [message, code].find((it): it is string => typeof it === 'string' && it !== '');
  return deeper || (own ?? '');
}
