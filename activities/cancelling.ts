import { Context } from '@temporalio/activity';
import { beating } from './clock';

/** A cancel reaches an activity with one of its heartbeats. */
export const CANCEL_BEAT_MS = 1_000;

/** Work that its workflow cancels and waits for. */
export function heedingCancel<T>(work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  return beating(CANCEL_BEAT_MS, () => context.heartbeat(), work);
}
