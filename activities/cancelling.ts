import { Context } from '@temporalio/activity';
import { beating } from './clock';

/** A cancel reaches an activity with the answer to one of its heartbeats. */
export const CANCEL_BEAT_MS = 1_000;

/** Wraps work that its workflow may cancel, and waits for. */
export function heedingCancel<T>(work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  return beating(CANCEL_BEAT_MS, () => context.heartbeat(), work);
}
