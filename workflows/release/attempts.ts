import { condition } from '@temporalio/workflow';
import type { ActionEnd } from '../../activities/actionService';
import type { ActionSpec } from '../../domain/spec/pipeline';
import { formatDuration, formatTime } from '../../domain/text';
import { getFailureMessage } from '../deploy/calls';
import { BackgroundTasks, waitFor } from '../waitFor';
import { awaitUnhindered } from './guards';
import type { ReleaseSession } from './session';

/** One attempt, as an activity; the Web UI shows `summary` next to it. */
type Work = (attempt: number, summary: string) => Promise<ActionEnd>;

/** Runs an action until an attempt succeeds or none is left. Each attempt has its own deadline (docs/design/pipeline.md#retry). */
export async function runAttempts(run: ReleaseSession, name: string, action: ActionSpec, work: Work): Promise<void> {
  const first = run.record.actions[name]?.attempt ?? 1;
  const last = first + action.retry.attempts - 1;
  for (let attempt = first; ; attempt += 1) {
    run.patch(name, { attempt, state: 'running', blockedBy: null, until: null });
    const end = await runAttempt(run, name, action, () => work(attempt, `${name}, attempt ${attempt}`));
    if (end === 'cancelled') return run.closeCancelled(name, run.endedBy());
    const { message, outputs, url } = end;
    const link = url === undefined ? {} : { url };
    if (end.succeeded) return run.close(name, 'succeeded', message, { outputs, ...link });
    if (attempt >= last) return run.close(name, 'failed', message, link);
    await backOff(run, name, action, `attempt ${attempt} failed: ${message}`);
    await awaitUnhindered(run, name);
    if (run.control.ending) return run.closeCancelled(name, run.endedBy());
  }
}

async function runAttempt(
  run: ReleaseSession,
  name: string,
  action: ActionSpec,
  work: () => Promise<ActionEnd>,
): Promise<ActionEnd | 'cancelled'> {
  const background = new BackgroundTasks();
  const timeout = action.timeout === undefined ? undefined : { afterMs: action.timeout, summary: `${name}: timeout` };
  const waited = await waitFor(background, work, { wake: () => run.control.ending !== null, timeout });
  await background.drain();
  if (waited.kind === 'woken') return 'cancelled';
  if (waited.kind === 'done') return waited.value;
  const message =
    waited.kind === 'timeout'
      ? `it took longer than ${formatDuration(action.timeout ?? 0)}`
      : getFailureMessage(waited.error);
  return { succeeded: false, message, outputs: [] };
}

/** Waits before the next attempt, and shows the reason. */
export async function backOff(run: ReleaseSession, name: string, action: ActionSpec, why: string): Promise<void> {
  const { backoff } = action.retry;
  run.patch(name, { state: 'blocked', blockedBy: `retry: ${why}`, until: formatTime(Date.now() + backoff) });
  if (backoff > 0) await condition(() => run.control.ending !== null, backoff, { summary: `${name}: retry` });
}
