import { condition, getExternalWorkflowHandle, ParentClosePolicy, startChild } from '@temporalio/workflow';
import { versionOf, type Artifact } from '../../domain/artifact';
import { NO_TIME } from '../../domain/deploy/spans';
import type { DeployInput, DeployResult } from '../../domain/deploy/state';
import { deployId, releaseId, workflowIds } from '../../domain/ids';
import type { Admission } from '../../domain/pipeline/admission';
import { inputsOf } from '../../domain/release/graph';
import type { DeployAction } from '../../domain/spec/pipeline';
import type { deploy } from '../deploy';
import { messageOf } from '../deploy/dependable';
import { deployOverSignal, deployReadySignal } from '../messages';
import { tagPairs } from '../tags';
import type { ReleaseRun } from './run';

/** Waits for the pipeline's admission, then runs the deploy as a child; one release of a pipeline deploys at a time. */
export async function runDeployAction(run: ReleaseRun, name: string, action: DeployAction): Promise<void> {
  const { spec, artifacts: given } = run.input;
  const artifacts = inputsOf(spec.actions, name, given, (producer) => run.record.actions[producer]?.outputs ?? []);
  const admission = await admitted(run, name, artifacts);
  if (admission?.kind === 'granted') await unpaused(run, name);
  if (admission?.kind === 'granted' && !run.control.ending) await deployAdmitted(run, name, action, artifacts);
  else refused(run, name, admission, artifacts);
  await toPipeline(run, name);
}

async function admitted(run: ReleaseRun, name: string, artifacts: readonly Artifact[]): Promise<Admission | undefined> {
  const { spec, number, trigger } = run.input;
  run.patch(name, { state: 'blocked', blockedBy: 'waiting for its turn to deploy' });
  const ready = { release: number, action: name, artifacts, rollback: trigger.kind === 'rollback' };
  await getExternalWorkflowHandle(workflowIds.pipeline(spec.pipeline)).signal(deployReadySignal, ready);
  await condition(() => run.admissions.has(name) || run.control.ending !== null);
  return run.admissions.get(name);
}

/** No deploy begins while its release is paused. */
async function unpaused(run: ReleaseRun, name: string): Promise<void> {
  if (run.control.paused) run.patch(name, { blockedBy: 'the release is paused' });
  await condition(() => !run.control.paused || run.control.ending !== null);
}

function refused(
  run: ReleaseRun,
  name: string,
  admission: Admission | undefined,
  artifacts: readonly Artifact[],
): void {
  if (run.control.ending || admission === undefined || admission.kind === 'granted')
    return cancelledBeforeDeploy(run, name, artifacts);
  if (admission.kind === 'superseded') {
    run.because('superseded');
    return run.close(name, 'cancelled', `release ${admission.by} is newer and ready`);
  }
  run.because('bad-package');
  run.close(name, 'cancelled', admission.reason);
}

/** A revert that came before anything was deployed still says that the artifact is bad. */
function cancelledBeforeDeploy(run: ReleaseRun, name: string, artifacts: readonly Artifact[]): void {
  const { ending } = run.control;
  run.because('operator');
  run.close(
    name,
    'cancelled',
    `${ending?.revert ? 'reverted' : 'cancelled'} by ${ending?.actor ?? 'somebody'} before it began: ${ending?.reason ?? ''}`,
  );
  if (!ending?.revert) return;
  const result: DeployResult = {
    outcome: 'reverted',
    classification: 'good-failure',
    version: versionOf(artifacts),
    reason: `reverted by ${ending.actor} before anything was updated: ${ending.reason}`,
    reverted: { by: ending.actor, bad: !ending.notBad },
    spans: NO_TIME,
  };
  run.set({ ...run.record, deploys: [...run.record.deploys, { action: name, artifacts, result }] });
}

async function deployAdmitted(
  run: ReleaseRun,
  name: string,
  action: DeployAction,
  artifacts: readonly Artifact[],
): Promise<void> {
  const id = run.deployWorkflowId(name);
  run.patch(name, { state: 'running', blockedBy: null, deploying: true });
  try {
    const start = startChild<typeof deploy>('deploy', {
      workflowId: id,
      parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
      ...described(run, name, action, artifacts),
    });
    run.deployStarts(name, start);
    const child = await start;
    close(run, name, artifacts, await child.result());
  } catch (error) {
    run.close(name, 'failed', messageOf(error));
  }
}

function close(run: ReleaseRun, name: string, artifacts: readonly Artifact[], result: DeployResult): void {
  run.set({ ...run.record, deploys: [...run.record.deploys, { action: name, artifacts, result }] });
  if (result.outcome === 'succeeded') return run.close(name, 'succeeded', result.reason);
  if (result.outcome !== 'cancelled') return run.close(name, 'failed', result.reason);
  run.because('operator');
  run.close(name, 'cancelled', result.reason);
}

/** What the child is started with, and what the Web UI shows of it. */
function described(run: ReleaseRun, name: string, action: DeployAction, artifacts: readonly Artifact[]) {
  const { spec, number, trigger, settings, lastGood } = run.input;
  const version = versionOf(artifacts);
  const input: DeployInput = {
    pipeline: spec.pipeline,
    release: number,
    action: name,
    attempt: run.record.actions[name]?.attempt ?? 1,
    spec: action.with,
    artifacts,
    version,
    lastGood: lastGood[name] ?? null,
    rollback: trigger.kind === 'rollback',
    policy: run.policy,
    actor: trigger.actor,
    settings,
  };
  const tags = {
    ConveyorPipeline: spec.pipeline,
    ConveyorRelease: releaseId(spec.pipeline, number),
    ConveyorState: 'planning',
    ConveyorPushType: action.with.pushType,
    ConveyorArtifact: version,
  };
  return {
    args: [input] as [DeployInput],
    staticSummary: `${deployId(spec.pipeline, number, name)}: ${version} through ${action.with.pushType}`,
    typedSearchAttributes: tagPairs(tags),
  };
}

async function toPipeline(run: ReleaseRun, name: string): Promise<void> {
  const { spec, number } = run.input;
  await getExternalWorkflowHandle(workflowIds.pipeline(spec.pipeline)).signal(deployOverSignal, {
    release: number,
    action: name,
  });
}
