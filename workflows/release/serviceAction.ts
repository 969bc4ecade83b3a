import { condition } from '@temporalio/workflow';
import type { ActionEnd } from '../../activities/actionService';
import { inputsOf } from '../../domain/release/graph';
import type { ActionSpec } from '../../domain/spec/pipeline';
import { formatDuration, formatTime } from '../../domain/text';
import { messageOf } from '../deploy/dependable';
import { actionWatchers } from '../proxies';
import { Leftovers, waitFor } from '../waiting';
import type { ReleaseRun } from './run';

/** Runs an action through the action service of its type (or of `with.service`), each attempt under a run id of its own. */
export async function runServiceAction(run: ReleaseRun, name: string, action: ActionSpec): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    run.patch(name, { attempt, state: 'running', blockedBy: null, until: null });
    const end = await runAttempt(run, name, action, attempt);
    if (end === 'cancelled') return run.closeCancelled(name, `cancelled by ${run.control.ending?.actor ?? 'somebody'}`);
    if (end.succeeded) return run.close(name, 'succeeded', end.message, { outputs: end.outputs });
    if (attempt >= action.retry.attempts) return run.close(name, 'failed', end.message);
    await backOff(run, name, action, `attempt ${attempt} failed: ${end.message}`);
    if (run.control.ending) return run.closeCancelled(name, `cancelled by ${run.control.ending.actor}`);
  }
}

async function runAttempt(
  run: ReleaseRun,
  name: string,
  action: ActionSpec,
  attempt: number,
): Promise<ActionEnd | 'cancelled'> {
  const leftovers = new Leftovers();
  const service = action.type === 'custom' ? action.with.service : action.type;
  const { settings } = run.input;
  const timeout = action.timeout === undefined ? undefined : { afterMs: action.timeout, summary: `${name}: timeout` };
  const waited = await waitFor(
    leftovers,
    () =>
      actionWatchers(settings).runAction.executeWithOptions({ summary: `${name}, attempt ${attempt}` }, [
        actionRun(run, name, action, attempt, service),
      ]),
    () => run.control.ending !== null,
    timeout,
  );
  await leftovers.drained();
  if (waited.kind === 'woken') return 'cancelled';
  if (waited.kind === 'done') return waited.value;
  const message =
    waited.kind === 'timeout' ? `it took longer than ${formatDuration(action.timeout ?? 0)}` : messageOf(waited.error);
  return { succeeded: false, message, outputs: [] };
}

function actionRun(run: ReleaseRun, name: string, action: ActionSpec, attempt: number, service: string) {
  const { spec, number, artifacts, trigger, settings } = run.input;
  const id = `${spec.pipeline}/${number}/${name}/${attempt}`;
  return {
    service,
    runId: id,
    pipeline: spec.pipeline,
    release: number,
    action: name,
    attempt,
    actor: trigger.actor,
    inputs: inputsOf(spec.actions, name, artifacts, (producer) => run.record.actions[producer]?.outputs ?? []),
    with: { ...action.with, outputs: action.outputs },
    intervalMs: settings.progressIntervalMs,
    heartbeatTimeoutMs: settings.heartbeatTimeoutMs,
  };
}

async function backOff(run: ReleaseRun, name: string, action: ActionSpec, why: string): Promise<void> {
  const { backoff } = action.retry;
  run.patch(name, { state: 'blocked', blockedBy: `retry: ${why}`, until: formatTime(Date.now() + backoff) });
  if (backoff > 0) await condition(() => run.control.ending !== null, backoff, { summary: `${name}: retry` });
}
