import { CancellationScope } from '@temporalio/workflow';
import type { ActionEnd, ActionRun } from '../../activities/actionService';
import type { Authority } from '../../activities/authority';
import { stepName, type StepFacts, type StepRun } from '../../domain/deploy/steps';
import { logBytes } from '../../domain/scriptLog';
import { formatDuration } from '../../domain/text';
import { formatSummary } from '../../domain/markdown';
import { followRun } from '../actionRuns';
import { promptActions, scriptWatchers, stepWatchers } from '../proxies';
import { isRefusal, getFailureMessage } from './calls';
import type { StepRunner } from './needs';

/**
 * How an attempt of a step ended. `refused` and `unavailable` are faults of the service that should have run it, not verdicts. An
 * unavailable service may recover. A refused run may continue (`mayRun`) if the service did not confirm that it was stopped.
 */
export type StepEnd =
  | { readonly kind: 'passed' | 'failed' | 'unavailable'; readonly message: string }
  | { readonly kind: 'refused'; readonly message: string; readonly mayRun: boolean };

/**
 * One attempt of a step around a phase. If the deploy is interrupted, the step is stopped; `run.steps.awaitLast` waits for that.
 */
export async function performStep(run: StepRunner, of: StepRun, facts: StepFacts): Promise<StepEnd> {
  const { timeoutMs, title } = of;
  const timeout = timeoutMs === null ? undefined : { afterMs: timeoutMs, summary: formatSummary(`${title}: timeout`) };
  let mayRun = false;
  const stopped = (isStopped: boolean) => void (mayRun = !isStopped);
  const waited = await run.waitFor(() => run.steps.begin(start(run, of, facts, stopped)), { timeout });
  if (waited.kind === 'done')
    return { kind: waited.value.succeeded ? 'passed' : 'failed', message: waited.value.message };
  if (waited.kind === 'failed') {
    const message = getFailureMessage(waited.error);
    return isRefusal(waited.error) ? { kind: 'refused', message, mayRun } : { kind: 'unavailable', message };
  }
  await run.steps.awaitLast();
  return { kind: 'failed', message: `it took longer than ${formatDuration(timeoutMs ?? 0)}` };
}

function start(
  run: StepRunner,
  of: StepRun,
  facts: StepFacts,
  stopped: (isStopped: boolean) => void,
): Promise<ActionEnd> {
  const { call, runId, timeoutMs } = of;
  const summary = formatSummary(of.title);
  const { action, settings } = run.input;
  if ('service' in call) {
    const follow = () =>
      stepWatchers(settings).runAction.executeWithOptions({ summary }, [buildActionRun(run, of, facts)]);
    return followRun(follow, async () => stopped(await stop(run, of, facts)));
  }
  const { heartbeatTimeoutMs } = settings;
  return scriptWatchers(settings).runScript.executeWithOptions({ summary }, [
    {
      ...{ runId, action, command: call.command, env: [], facts, timeoutMs, heartbeatTimeoutMs },
      logBytes: logBytes(run.steps.countScript()),
      ...buildStepAuthority(run, of),
    },
  ]);
}

/** The run of the action service for a step. In addition to its `with` it receives the phase and the units. */
export function buildActionRun(run: StepRunner, of: StepRun, { phase, selection }: StepFacts): ActionRun {
  const { call, runId, attempt } = of;
  const { pipeline, release, action, actor, artifacts, settings } = run.input;
  return {
    service: stepName(call),
    ...{ runId, pipeline, release, action, attempt, actor },
    inputs: artifacts,
    with: 'service' in call ? call.with : {},
    step: { phase, selection },
    intervalMs: settings.progressIntervalMs,
    heartbeatTimeoutMs: settings.heartbeatTimeoutMs,
    ...buildStepAuthority(run, of),
  };
}

const buildStepAuthority = (run: StepRunner, { back }: StepRun): Authority => ({
  ...run.authority,
  ...(back ? { back } : {}),
});

/** Stops a run that was begun but is no longer followed, because its service did not answer. */
export function abandonStep(run: StepRunner, of: StepRun, facts: StepFacts): void {
  const stopping = CancellationScope.nonCancellable(() => run.settle(() => stop(run, of, facts)));
  void run.steps.begin(stopping);
}

/**
 * Tries for a limited time, since a deploy must end even if a service does not answer. @returns whether the service confirmed the
 * stop
 */
async function stop(run: StepRunner, of: StepRun, facts: StepFacts): Promise<boolean> {
  try {
    await promptActions(run.input.settings).cancelAction(buildActionRun(run, of, facts));
    return true;
  } catch (error) {
    run.note('not-stopped', `${of.title} was not stopped, and may still run: ${getFailureMessage(error)}`);
    return false;
  }
}
