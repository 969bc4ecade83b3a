import { Context } from '@temporalio/activity';
import { beating, type Clock } from './clock';

/**
 * Asks again and again until there is an answer, heartbeating what it saw last so that `status` can show it and a
 * crashed worker's successor can go on from it. `look` returns the result, or what to heartbeat.
 * @throws CancelledFailure when the workflow cancels it.
 */
export async function poll<T, H>(
  { clock, intervalMs, heartbeatTimeoutMs }: { clock: Clock; intervalMs: number; heartbeatTimeoutMs: number },
  look: (now: number, signal: AbortSignal) => Promise<{ done: T } | { seen: H; waitMs?: number }>,
): Promise<T> {
  const context = Context.current();
  let now = await clock.now();
  let seen: unknown = context.info.heartbeatDetails;
  for (;;) {
    // An answer may take longer than a worker may be silent.
    const beat = () => context.heartbeat(seen);
    const looked = await beating(heartbeatTimeoutMs / 3, beat, () => look(now, context.cancellationSignal));
    if ('done' in looked) return looked.done;
    seen = looked.seen;
    const until = now + (looked.waitMs ?? intervalMs);
    while (now < until) {
      context.heartbeat(looked.seen);
      const slice = Math.max(1, Math.min(until - now, heartbeatTimeoutMs / 3));
      await Promise.race([clock.sleep(slice, context.cancellationSignal), context.cancelled]);
      now = await clock.now();
    }
  }
}
