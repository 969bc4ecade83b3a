import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { ParentClosePolicy, startChild } from '@temporalio/workflow';
import { formatIdentity } from '../../domain/artifact';
import { releaseId, workflowIds } from '../../domain/ids';
import { queueMeasure } from '../../domain/metrics';
import { lastRanOn } from '../../domain/pipeline/recordOutcome';
import { inFull } from '../../domain/pipeline/recordLimits';
import { badOutputs } from '../../domain/pipeline/knownBad';
import { isLeftAlone } from '../../domain/pipeline/replacement';
import { toPolicy } from '../../domain/pipeline/refusal';
import { findRestoredDeploys } from '../../domain/pipeline/rollback';
import { goesBackTo, markReleaseRunning, type ActiveRelease, type PipelineState } from '../../domain/pipeline/state';
import { emergencySpec, followOnSpec, newRelease, rollbackSpec, type ReleaseInput } from '../../domain/release/state';
import { releaseSummary } from '../../domain/release/view';
import { isUrgent } from '../../domain/release/urgent';
import type { PipelineSpec } from '../../domain/spec/pipeline';
import { formatSummary } from '../../domain/markdown';
import type { release } from '../release';
import { measure } from '../measure';
import { summaryMemo } from '../summary';
import { tagPairs } from '../tags';
import type { PipelineRun } from './run';

/** Starts a release as a child that outlives this run of the pipeline, or adopts one that was started already. */
export async function startRelease(run: PipelineRun, queued: ActiveRelease): Promise<void> {
  const { state } = run;
  if (state === null) return;
  const { pipeline } = state.spec;
  const id = releaseId(pipeline, queued.number);
  const input = buildReleaseInput(state, queued);
  // Recorded before the server has it, so that a release on its way cannot be taken from the queue.
  run.decided((current) => markReleaseRunning(current, queued.number));
  measure(queueMeasure(Date.now() - Date.parse(queued.createdAt)));
  const identities = queued.artifacts.map(formatIdentity).join(', ');
  try {
    const child = await startChild<typeof release>('release', {
      workflowId: workflowIds.release(pipeline, queued.number),
      args: [input],
      ...summaryMemo(releaseSummary(newRelease(input, Date.now()), input)),
      parentClosePolicy: ParentClosePolicy.ABANDON,
      ...pickReleasePriority(state, queued),
      staticSummary: formatSummary(`${id}: ${identities}, ${queued.trigger.kind} by ${queued.trigger.actor}`),
      typedSearchAttributes: tagPairs({
        ConveyorPipeline: pipeline,
        ConveyorRelease: id,
        ConveyorState: 'running',
        ConveyorOwners: state.spec.owners,
      }),
    });
    run.follow(queued.number, child.result());
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
  run.catchUp(queued.number, state);
}

/**
 * The actions of a rollback: those that deployed a good version. An action that never succeeded, or whose version another pipeline has replaced
 * since, is left out.
 */
const inProduction = ({ good }: PipelineState, { artifacts }: ActiveRelease): string[] =>
  Object.entries(good).flatMap(([action, deploys]) =>
    deploys.length > 0 && !isLeftAlone(deploys, artifacts) ? [action] : [],
  );

function buildReleaseInput(state: PipelineState, release: ActiveRelease): ReleaseInput {
  const { number, artifacts, trigger, reportTo, emergency, followOn, rerunOf, place } = release;
  const lastGood = Object.entries(state.good).flatMap(([action, good]) => {
    const version = goesBackTo(state, good.at(-1));
    return version === null ? [] : [[action, version] as const];
  });
  return {
    number,
    spec: pickReleaseSpec(state, release),
    artifacts: inFull(state, artifacts),
    previous: lastRanOn(state),
    trigger,
    lastGood: Object.fromEntries(lastGood),
    policy: toPolicy(state),
    settings: state.settings,
    ...(state.frozen ? { frozen: state.frozen } : {}),
    ...(reportTo === undefined ? {} : { reportTo }),
    ...(emergency === undefined ? {} : { emergency }),
    ...(followOn === undefined ? {} : { followOn }),
    ...badOutputs(state),
    ...(state.offered || state.spec.offers ? { offered: true } : {}),
    ...(trigger.kind === 'rollback' ? { restores: findRestoredDeploys(state, artifacts) } : {}),
    ...(rerunOf === undefined ? {} : { rerunOf }),
    ...(place === undefined ? {} : { place }),
  };
}

/** Rollbacks and emergencies come first (in Temporal, 1 is the highest of 5). */
function pickReleasePriority({ spec }: PipelineState, { trigger }: ActiveRelease) {
  const priorityKey = isUrgent(trigger) ? 1 : PRIORITIES[spec.priority];
  return { priority: { priorityKey, fairnessKey: spec.pipeline } };
}

const PRIORITIES = { critical: 2, high: 3, normal: 4, low: 5 } as const;

function pickReleaseSpec(state: PipelineState, release: ActiveRelease): PipelineSpec {
  const { trigger, emergency, followOn } = release;
  if (followOn) return followOnSpec(state.spec, followOn.action);
  if (emergency) return emergencySpec(state.spec, emergency.action);
  return trigger.kind === 'rollback' ? rollbackSpec(state.spec, inProduction(state, release)) : state.spec;
}
