import { ApplicationFailure, Context } from '@temporalio/activity';
import { isAnew, KEEPS_FAILING, looksSince } from '../domain/looks';
import { beating, type Clock } from './clock';
import { isNonRetryable, stillWaiting } from './failure';

/** What one look came to: the answer, or what to heartbeat until the next; `message` is for people who look at the activity. */
export type Looked<T, H extends object> =
  { readonly done: T } | { readonly seen: H; readonly message: string; readonly waitMs?: number };

/** Kept between two looks, beside what was seen: the attempt that saw it. Those after it have failed. */
interface Kept {
  readonly since: number;
}

/**
 * Looks once. While there is no answer, the activity fails and says when to be tried again: the wait is a timer of the server,
 * which takes no worker's time, no slot and no room in the history, and ends at once when the activity is cancelled. Results are
 * heartbeaten, so that `status` can show them and the next look, on whatever worker, continues from them.
 * @throws still-waiting, or `keeps-failing` once so many looks in a row have failed that a person should know.
 */
export async function look<T, H extends object>(
  { clock, intervalMs, heartbeatTimeoutMs }: { clock: Clock; intervalMs: number; heartbeatTimeoutMs: number },
  ask: (now: number, before: H | undefined) => Promise<Looked<T, H>>,
): Promise<T> {
  const context = Context.current();
  const { attempt, heartbeatDetails } = context.info;
  const before = (heartbeatDetails ?? undefined) as (H & Kept) | undefined;
  const now = await clock.now();
  // An answer may take longer than a worker may be silent.
  const beat = (): void => context.heartbeat(before);
  const looked = await beating(heartbeatTimeoutMs / 3, beat, () => ask(now, before)).catch((error: unknown) => {
    if (context.cancellationSignal.aborted) throw error;
    const since = before?.since ?? 0;
    // The next attempts are counted from here; otherwise one of them would be taken for the one that saw something.
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

/** The server counts good looks as attempts as well, so how patient to be is counted here. */
function withFailureCount(error: unknown, failures: number): unknown {
  if (!(error instanceof Error) || isNonRetryable(error)) return error;
  const { type, details } = error instanceof ApplicationFailure ? error : { type: error.name, details: [] };
  return ApplicationFailure.create({
    message: error.message,
    type: failures >= MAX_FAILURES ? KEEPS_FAILING : (type ?? error.name),
    details: details ?? [],
    nextRetryDelay: Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** (failures - 1)),
    cause: error,
  });
}
