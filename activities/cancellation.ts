import { Context } from '@temporalio/activity';
import { withHeartbeats } from './clock';

/** A cancel reaches an activity with the answer to one of its heartbeats. */
export const CANCEL_BEAT_MS = 1_000;

/** Wraps work that its workflow may cancel, and waits for. */
export function runCancellable<T>(work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  return withHeartbeats(CANCEL_BEAT_MS, () => context.heartbeat(), work);
}
