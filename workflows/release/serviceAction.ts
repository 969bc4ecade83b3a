import { inputsOf } from '../../domain/release/graph';
import type { ActionEnd } from '../../activities/actionService';
import type { ActionSpec } from '../../domain/spec/pipeline';
import { actionWatchers } from '../proxies';
import { runAttempts } from './attempts';
import type { ReleaseRun } from './run';

/** Runs an action through the action service of its type (or of `with.service`), each attempt under a run id of its own. */
export function runServiceAction(run: ReleaseRun, name: string, action: ActionSpec): Promise<void> {
  return runAttempts(run, name, action, async (attempt, summary) => {
    const watchers = actionWatchers(run.input.settings);
    const end = await watchers.runAction.executeWithOptions({ summary }, [actionRun(run, name, action, attempt)]);
    return withOutputs(end, action);
  });
}

/** Success without what the action declares would leave those that need it with nothing. */
function withOutputs(end: ActionEnd, { outputs }: ActionSpec): ActionEnd {
  const missing = outputs.filter((output) => !end.outputs.some(({ name }) => name === output));
  if (!end.succeeded || missing.length === 0) return end;
  return { ...end, succeeded: false, message: `it ended without making ${missing.join(', ')}: ${end.message}` };
}

function actionRun(run: ReleaseRun, name: string, action: ActionSpec, attempt: number) {
  const { spec, number, artifacts, trigger, settings } = run.input;
  return {
    service: action.type === 'custom' ? action.with.service : action.type,
    runId: `${spec.pipeline}/${number}/${name}/${attempt}`,
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
