import type { Context } from 'hono';
import { conveyorError, ConveyorError, unfitError } from '../../domain/errors';
import { over } from '../../domain/excess';
import type { Limit } from '../../domain/limits';

/** @throws ConveyorError `over-limit` */
export function refuseMore(limit: Limit, count: number): void {
  const excess = over(limit, count);
  if (excess) throw unfitError(excess);
}

const STATUS: Readonly<Record<string, number>> = {
  'over-limit': 413,
  'too-large': 413,
  'not-found': 404,
  'store-unavailable': 503,
  'store-forged': 503,
  overloaded: 503,
};

/** The error response of every route of a proxy. */
export function answerError(c: Pick<Context, 'json'>, error: Error): Response {
  const known =
    error instanceof ConveyorError ? error : conveyorError('internal', { detail: error.message || String(error) });
  const { code, message, hint, retryable } = known;
  const status = STATUS[code] ?? (code === 'internal' ? 500 : 400);
  return c.json({ error: { code, message, hint, retryable } }, status as 400);
}
