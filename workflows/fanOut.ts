import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  ParentClosePolicy,
  setWorkflowOptions,
  startChild,
  workflowInfo,
} from '@temporalio/workflow';
import {
  advanceStage,
  isFanOutOver,
  listMissingArtifacts,
  endWithoutChildren,
  withChildren,
  SELECTING,
  shardStarted,
  startableShards,
  type FanOutInput,
  type FanOutState,
  type ShardRecord,
} from '../domain/children/fanOut';
import { childrenView } from '../domain/children/view';
import { releaseId } from '../domain/ids';
import type { ChildrenView } from '../domain/views';
import { FanOutRun } from './fanOut/run';
import type { fanOutShard } from './fanOut/shard';
import { childActivities as asking } from './proxies';
import { retag, tagPairs } from './tags';
import { buildVersioningOptions } from './versioning';

/**
 * The children of a release that succeeded (docs/design/pipeline.md#finders-and-children). It finds the children, and has shards start their
 * releases, those of the first stage first. It keeps numbers, never lists of the progress of ten thousand children.
 */
export async function fanOut(input: FanOutInput, carried: FanOutState = SELECTING): Promise<ChildrenView> {
  const run = new FanOutRun(input, carried);
  const cancelled = () => CancellationScope.nonCancellable(() => Promise.resolve(run.cancelRequested()));
  CancellationScope.current().cancelRequested.catch(cancelled);
  return CancellationScope.nonCancellable(async () => {
    if (run.state.stage === 'selecting') await select(run);
    for (await advanceFanOut(run); !isFanOutOver(run.state); await advanceFanOut(run)) {
      if (workflowInfo().continueAsNewSuggested && allHandlersFinished())
        await continueAsNew<typeof fanOut>(input, run.state);
      const changed = await condition(() => run.takeChange(), input.settings.reconcileIntervalMs, {
        summary: 'check that the shards still run',
      });
      if (!changed) await run.look();
    }
    await run.drain();
    const view = childrenView(run.state);
    retag({ ConveyorState: view.state, ConveyorOutcome: view.state });
    return view;
  });
}
setWorkflowOptions(buildVersioningOptions('fanOut'), fanOut);

async function select(run: FanOutRun): Promise<void> {
  const { pipeline, number, children } = run.input;
  const missing = listMissingArtifacts(run.input);
  if (missing.length > 0) {
    const why = `${releaseId(pipeline, number)} made no ${missing.join(', ')}, so there is nothing to pass to its children`;
    return run.set((state) => endWithoutChildren(state, why));
  }
  const selection = await asking.selectChildren(pipeline, children);
  run.set((state) => withChildren(state, selection, children, Date.now()));
}

/** Begins the next stage when the one before has ended, then starts or stops the shards that are due. */
async function advanceFanOut(run: FanOutRun): Promise<void> {
  run.set((state) => advanceStage(state, Date.now()));
  await run.sendStop();
  for (const shard of startableShards(run.state, run.input.children))
    if (run.state.stop === null) await startShard(run, shard);
}

/** Starts a shard as a child that outlives this run, or adopts one that was started already. */
async function startShard(run: FanOutRun, { index, names, share, stage, size }: ShardRecord): Promise<void> {
  const { pipeline, number, children, artifacts, settings } = run.input;
  const parent = releaseId(pipeline, number);
  try {
    const shard = await startChild<typeof fanOutShard>('fanOutShard', {
      workflowId: run.shardId(index),
      args: [
        {
          ...{ index, names, share, parent, artifacts, settings },
          owners: run.input.policy.owners,
          ...(run.input.startedBy === undefined ? {} : { startedBy: run.input.startedBy }),
          root: workflowInfo().workflowId,
          jitterMs: children.jitter,
          originMs: run.state.stageStartedAtMs,
          stopOnFailure: stage === 'first',
          reportIntervalMs: settings.progressIntervalMs * run.state.shards.length,
        },
      ],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      staticSummary: `children of ${parent}: ${size}${stage === 'first' ? ', before all others' : ''}`,
      typedSearchAttributes: tagPairs({ ConveyorPipeline: pipeline, ConveyorRelease: parent }),
    });
    run.follow(index, shard.result());
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
  run.set((state) => shardStarted(state, index));
}
