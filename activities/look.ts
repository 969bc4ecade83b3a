import { ApplicationFailure, Context } from '@temporalio/activity';
import { backOff } from '../domain/backoff';
import { isAnew, KEEPS_FAILING, looksSince } from '../domain/looks';
import { withHeartbeats, type Clock } from './clock';
import { isNonRetryable, stillWaiting } from './failure';

/** The result of one look: the answer, or the heartbeat until the next look; `message` is for people who look at the activity. */
export type ActivityLookResult<T, H extends object> =
  { readonly done: T } | { readonly seen: H; readonly message: string; readonly waitMs?: number };

/** Kept between two looks, together with their results: the attempt that made them. Later attempts have failed. */
interface LookAttempt {
  readonly since: number;
}

/**
 * Looks once. While there is no answer, the activity fails and gives the time of its next try. The wait is a timer of the server: it
 * takes no worker's time, no slot and no room in the history, and ends at once if the activity is cancelled. Results go into the
 * heartbeat, so that `status` can show them and the next look, on any worker, continues from them.
 * @throws still-waiting, or `keeps-failing` once so many looks in a row have failed that a person should know.
 */
export async function look<T, H extends object>(
  { clock, intervalMs, heartbeatTimeoutMs }: { clock: Clock; intervalMs: number; heartbeatTimeoutMs: number },
  ask: (now: number, before: H | undefined) => Promise<ActivityLookResult<T, H>>,
): Promise<T> {
  const context = Context.current();
  const { attempt, heartbeatDetails } = context.info;
  const before = (heartbeatDetails ?? undefined) as (H & LookAttempt) | undefined;
  const now = await clock.now();
  // An answer may take longer than the heartbeat timeout.
  const beat = (): void => context.heartbeat(before);
  const looked = await withHeartbeats(heartbeatTimeoutMs / 3, beat, () => ask(now, before)).catch((error: unknown) => {
    if (context.cancellationSignal.aborted) throw error;
    const since = before?.since ?? 0;
    // Failures are counted from here. Otherwise a later attempt could have the same number as the one that made the
    // results.
    if (before !== undefined && isAnew(attempt, since)) context.heartbeat({ ...before, since: 0 });
    throw withFailureCount(error, looksSince(attempt, since));
  });
  if ('done' in looked) return looked.done;
  context.heartbeat({ ...looked.seen, since: attempt });
  const waitMs = now + (looked.waitMs ?? intervalMs) - (await clock.now());
  throw stillWaiting(looked.message, Math.max(1, waitMs));
}

const MAX_FAILURES = 5;
const [FIRST_RETRY_MS, LAST_RETRY_MS] = [1_000, 30_000];

/** The server counts successful looks as attempts too, so the failures in a row are counted here. */
function withFailureCount(error: unknown, failures: number): unknown {
  if (!(error instanceof Error) || isNonRetryable(error)) return error;
  const { type, details } = error instanceof ApplicationFailure ? error : { type: error.name, details: [] };
  return ApplicationFailure.create({
    message: error.message,
    type: failures >= MAX_FAILURES ? KEEPS_FAILING : (type ?? error.name),
    details: details ?? [],
    nextRetryDelay: backOff(FIRST_RETRY_MS, failures, LAST_RETRY_MS),
    cause: error,
  });
}
