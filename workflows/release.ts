import {
  CancellationScope,
  condition,
  getExternalWorkflowHandle,
  setWorkflowOptions,
  workflowInfo,
} from '@temporalio/workflow';
import { hasActionEnded, nextActions } from '../domain/release/nextActions';
import { findCarriedOver } from '../domain/release/rerun';
import { endReason, releaseResult } from '../domain/release/outcome';
import { releaseState, getActionStates, type ReleaseInput, type ReleaseResult } from '../domain/release/state';
import { workflowIds } from '../domain/ids';
import { releaseMeasures } from '../domain/metrics';
import { releaseTrace } from '../domain/trace';
import { releaseStatus } from '../domain/release/view';
import type { ActionSpec } from '../domain/spec/pipeline';
import { childOverSignal, releaseOverSignal } from './messages';
import { getFailureMessage } from './deploy/calls';
import { measure } from './measure';
import { fulfilAction } from './release/actionWishes';
import { startChildren } from './release/children';
import { runCanary } from './release/canaryTurn';
import { runDeployAction } from './release/deployAction';
import { ReleaseSession } from './release/session';
import { guardAction } from './release/guards';
import { handleMessages } from './release/messages';
import { notify } from './release/notices';
import { recall } from './release/recall';
import { runPickAction } from './release/pickAction';
import { rollBackSucceeded } from './release/rollBack';
import { runScriptAction } from './release/scriptAction';
import { runServiceAction } from './release/serviceAction';
import { runWaitAction } from './release/waitAction';
import { retag } from './tags';
import { traceEnded } from './trace';
import { buildVersioningOptions } from './versioning';

/**
 * One run of a pipeline. It asks `nextActions`, starts the actions that can start, and records their results, until
 * every action has ended. Its deploys are children that acknowledge their own commands; the release forwards commands
 * to them.
 */
export async function release(input: ReleaseInput): Promise<ReleaseResult> {
  const run = new ReleaseSession(input);
  handleMessages(run);
  return CancellationScope.nonCancellable(async () => {
    if (input.rerunOf !== undefined) await recall(run, input.rerunOf);
    while (!Object.values(getActionStates(run.record)).every(hasActionEnded)) {
      advanceRelease(run);
      run.summarise();
      await condition(() => run.takeChange());
    }
    return finishRelease(run);
  });
}
setWorkflowOptions(buildVersioningOptions('release'), release);

/**
 * Starts or skips every action that is due. None starts while the release is paused, and none at all once it is ending.
 */
function advanceRelease(run: ReleaseSession): void {
  if (run.control.ending) return run.cancelWaiting();
  if (run.hindrance() !== undefined) return;
  for (const decision of nextActions({
    spec: run.input.spec,
    states: getActionStates(run.record),
    artifacts: run.input.artifacts,
    outputs: Object.fromEntries(Object.entries(run.record.actions).map(([name, { outputs }]) => [name, outputs])),
    previous: run.previous,
  })) {
    if (decision.kind === 'skip') run.skip(decision.action, decision.reason);
    else startAction(run, decision.action);
  }
}

function startAction(run: ReleaseSession, name: string): void {
  const action = run.input.spec.actions[name];
  if (action === undefined) return;
  const carried = run.recalled && findCarriedOver(run.recalled, run.input, run.record, name);
  if (carried) return run.carry(name, carried);
  run.begin(name);
  run.track(
    runAction(run, name, action).catch((error: unknown) => run.close(name, 'failed', getFailureMessage(error))),
  );
}

/** A deploy asks for all that it needs at once; other actions take their groups and windows first. */
function runAction(run: ReleaseSession, name: string, action: ActionSpec): Promise<void> {
  switch (action.type) {
    case 'deploy':
      return runDeployAction(run, name, action);
    case 'canary':
      return runCanary(run, name, action);
    case 'manual-pick':
      return guardAction(run, name, action, () => runPickAction(run, name, action));
    case 'custom-script':
      return fulfilAction(run, name, action, (filled) =>
        guardAction(run, name, filled, () => runScriptAction(run, name, filled)),
      );
    case 'wait-for':
      return guardAction(run, name, action, () => runWaitAction(run, name, action));
    default:
      return fulfilAction(run, name, action, (filled) =>
        guardAction(run, name, filled, () => runServiceAction(run, name, filled)),
      );
  }
}

async function finishRelease(run: ReleaseSession): Promise<ReleaseResult> {
  const { input } = run;
  const state = releaseState(run.record, input.spec);
  run.end();
  run.summarise();
  retag({
    ConveyorState: state,
    ...(run.record.cause ? { ConveyorOutcome: run.record.cause } : { ConveyorOutcome: state }),
  });
  const result = releaseResult(run.record, input, Date.now());
  measure(...releaseMeasures(result, Date.now() - run.record.startedAtMs));
  traceEnded(releaseTrace(releaseStatus(run.record, input)));
  await run.workEnded();
  await startChildren(run);
  const reported = report(run, result);
  await getExternalWorkflowHandle(workflowIds.pipeline(input.spec.pipeline))
    .signal(releaseOverSignal, result)
    .catch(() => undefined);
  await reported;
  await rollBackSucceeded(run);
  await notify(run, result.state, {
    id: workflowInfo().workflowId,
    artifacts: result.artifacts,
    reason: endReason(run.record),
    actor: input.trigger.actor,
  });
  await run.notified();
  return result;
}

/** Reports its end to the workflow that started it as a child. */
async function report({ input }: ReleaseSession, { number, state }: ReleaseResult): Promise<void> {
  if (input.reportTo === undefined) return;
  await getExternalWorkflowHandle(input.reportTo)
    .signal(childOverSignal, { pipeline: input.spec.pipeline, number, state })
    .catch(() => undefined);
}
