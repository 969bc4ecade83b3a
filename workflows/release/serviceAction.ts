import { patched } from '@temporalio/workflow';
import { resolveInputs } from '../../domain/release/graph';
import type { ActionEnd, ActionRun } from '../../activities/actionService';
import type { ActionSpec } from '../../domain/spec/pipeline';
import { followRun, STOPPED_RUN } from '../actionRuns';
import { getFailureMessage, isRefusal } from '../deploy/calls';
import { actionStoppers, actionWatchers } from '../proxies';
import { waitOut } from '../waitFor';
import { runAttempts } from './attempts';
import type { ReleaseSession } from './session';

/** Runs an action through the action service of its type (or of `with.service`). Each attempt has its own run id. */
export function runServiceAction(run: ReleaseSession, name: string, action: ActionSpec): Promise<void> {
  return runAttempts(run, name, action, async (attempt, summary) => {
    const of = serviceRun(run, name, action, attempt);
    const watchers = actionWatchers(run.input.settings);
    const follow = () => watchers.runAction.executeWithOptions({ summary }, [of]);
    return withOutputs(await followAgain(follow, () => stopServiceRun(run, of)), action);
  });
}

const MOST_ASKED = 6;
const ASK_AGAIN_MS = 5_000;

/** After a refusal the same run is asked for a few times more: it may have ended before its stop, and would be repeated. */
async function followAgain(follow: () => Promise<ActionEnd>, stop: () => Promise<void>): Promise<ActionEnd> {
  try {
    return await followRun(follow, stop);
  } catch (refusal) {
    if (!isRefusal(refusal) || !patched('stop-leaves-ended-run')) throw refusal;
    for (let asked = 1; ; asked += 1) {
      const end = await follow().catch((error: unknown) => {
        if (!isRefusal(error)) throw error;
        return null;
      });
      if (end?.message === STOPPED_RUN || asked === MOST_ASKED) throw refusal;
      if (end) return end;
      await waitOut({ afterMs: ASK_AGAIN_MS, summary: 'ask for the run again' });
    }
  }
}

/** While a run may continue, no other attempt replaces it. A run that cannot be stopped is left to people. */
async function stopServiceRun(run: ReleaseSession, of: ActionRun): Promise<void> {
  const { action, attempt, service } = of;
  const blockedBy = `${service} has not said that it stopped attempt ${attempt}; it is asked until it does`;
  run.patch(action, { state: 'blocked', blockedBy, until: null });
  const summary = `${action}, attempt ${attempt}: stop it`;
  try {
    await actionStoppers(run.input.settings).cancelAction.executeWithOptions({ summary }, [of]);
  } catch (error) {
    const text = `${service} did not stop attempt ${attempt} of ${action}, which may still run: ${getFailureMessage(error)}`;
    run.log('not-stopped', text);
  }
}

/**
 * An action that succeeds without its declared outputs would leave its dependents with nothing. Undeclared outputs have
 * no dependents, so the release does not carry them.
 */
function withOutputs({ outputs: made, ...ended }: ActionEnd, { outputs }: ActionSpec): ActionEnd {
  const end = { ...ended, outputs: made.filter(({ name }) => outputs.includes(name)) };
  const missing = outputs.filter((output) => !end.outputs.some(({ name }) => name === output));
  if (!end.succeeded || missing.length === 0) return end;
  return { ...end, succeeded: false, message: `it ended without making ${missing.join(', ')}: ${end.message}` };
}

function serviceRun(run: ReleaseSession, name: string, action: ActionSpec, attempt: number): ActionRun {
  const { spec, number, artifacts, trigger, settings } = run.input;
  return {
    service: action.type === 'custom' ? action.with.service : action.type,
    runId: `${spec.pipeline}/${number}/${name}/${attempt}`,
    pipeline: spec.pipeline,
    release: number,
    action: name,
    attempt,
    actor: trigger.actor,
    inputs: resolveInputs(spec.actions, name, artifacts, (producer) => run.record.actions[producer]?.outputs ?? []),
    with: { ...action.with, outputs: action.outputs },
    intervalMs: settings.progressIntervalMs,
    heartbeatTimeoutMs: settings.heartbeatTimeoutMs,
    ...run.behalf,
  };
}
