import type { WorkflowExecutionInfo } from '@temporalio/client';
import { defineSearchAttributeKey } from '@temporalio/common';
import type { temporal as api } from '@temporalio/proto';
import { FOLLOWING_TYPES, followsBuilds, type Build, type BuildsView, type StuckOnBuild } from '../domain/builds';
import { splitPortions } from '../domain/portions';
import { DEPLOYMENT } from '../domain/taskQueues';
import { buildsAtWork } from './backlogs';
import { connectTemporal, type ConnectionOptions, type Temporal } from './connection';
import { isRecent, workersAt } from './readiness';

const VERSION = defineSearchAttributeKey('TemporalWorkerDeploymentVersion', 'KEYWORD');
const BEHAVIOUR = defineSearchAttributeKey('TemporalWorkflowVersioningBehavior', 'KEYWORD');

type VersioningInfo = api.api.workflow.v1.IWorkflowExecutionVersioningInfo;

/** Values of temporal.api.enums.v1.VersioningBehavior, and of WorkflowExecutionOptions' PinnedOverrideBehavior. */
const PINNED = 1;

/** The build that alone may run the next step of a workflow; undefined if that is the current one. */
export function getPinnedBuild(info: VersioningInfo | null | undefined): Build | undefined {
  const { versioningOverride: over, behavior, deploymentVersion } = info ?? {};
  if (over?.pinned) return over.pinned.version?.buildId ?? undefined;
  return over?.autoUpgrade || Number(behavior) !== PINNED ? undefined : (deploymentVersion?.buildId ?? undefined);
}

/** The same for a workflow in a list. */
export function getListedBuild({ typedSearchAttributes }: WorkflowExecutionInfo): Build | undefined {
  const [, build] = typedSearchAttributes.get(VERSION)?.split(`${DEPLOYMENT}:`) ?? [];
  return typedSearchAttributes.get(BEHAVIOUR) === 'Pinned' ? build : undefined;
}

/** Inspects the builds of a task queue's workers, and moves workflows that are stuck on them. */
export interface Builds {
  /** Null if no worker ever had a build. */
  look(): Promise<BuildsView | null>;
  /** Moves stuck workflows to the workers that get new work, and returns their ids. Moves none if these workers do not run. */
  repair(): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** @throws ConveyorError `temporal-unreachable` */
export async function openBuilds(taskQueue: string, options: ConnectionOptions): Promise<Builds> {
  const temporal = await connectTemporal(options);
  return {
    look: () => lookAtBuilds(temporal, taskQueue),
    repair: () => moveStuck(temporal, taskQueue),
    close: () => temporal.connection.close(),
  };
}

/** Null if no worker ever had a build. */
export async function lookAtBuilds(
  temporal: Temporal,
  taskQueue: string,
  nowMs = Date.now(),
): Promise<BuildsView | null> {
  const [builds, { current, lastPolls }] = await Promise.all([buildsAtWork(temporal), workersAt(temporal, taskQueue)]);
  if (builds.length === 0) return null;
  const polled = lastPolls.filter(([, atMs]) => isRecent(atMs, nowMs)).map(([build]) => build);
  const stuck = await Promise.all(
    builds
      .filter((build) => build !== current)
      .map((build) => stuckOn(temporal, taskQueue, { build, isPolled: polled.includes(build) })),
  );
  return { taskQueue, current, polled, stuck: stuck.filter(({ count }) => count > 0) };
}

const SOME = 5;

async function stuckOn(
  { client }: Temporal,
  taskQueue: string,
  { build, isPolled }: Pick<StuckOnBuild, 'build' | 'isPolled'>,
): Promise<StuckOnBuild> {
  const query = stuckQuery(taskQueue, build, isPolled);
  const { count } = await client.workflow.count(query);
  const some: string[] = [];
  if (count > 0)
    for await (const { workflowId } of client.workflow.list({ query, pageSize: SOME })) {
      if (some.push(workflowId) === SOME) break;
    }
  return { build, isPolled, count, some };
}

/** For a build without workers, all workflows that wait for it; for a build with workers, only those that should follow the current build. */
function stuckQuery(taskQueue: string, build: string, isPolled: boolean): string {
  const types = FOLLOWING_TYPES.map((type) => `'${type}'`).join(', ');
  return [
    `TaskQueue = '${taskQueue}' AND ExecutionStatus = 'Running'`,
    `TemporalWorkerDeploymentVersion = '${DEPLOYMENT}:${build}' AND TemporalWorkflowVersioningBehavior = 'Pinned'`,
    ...(isPolled ? [`WorkflowType IN (${types})`] : []),
  ].join(' AND ');
}

const MOVED_AT_ONCE = 10;

async function moveStuck(temporal: Temporal, taskQueue: string): Promise<readonly string[]> {
  const view = await lookAtBuilds(temporal, taskQueue);
  if (view === null || !view.polled.includes(view.current)) return [];
  const moved: string[] = [];
  for (const { build, isPolled } of view.stuck) {
    const query = stuckQuery(taskQueue, build, isPolled);
    for await (const some of splitPortions(temporal.client.workflow.list({ query }), MOVED_AT_ONCE)) {
      await Promise.all(some.map(({ workflowId, type }) => moveTo(temporal, view.current, { workflowId, type })));
      moved.push(...some.map(({ workflowId }) => workflowId));
    }
  }
  return moved;
}

/** A deploy stays on the build that it is moved to, as if it had begun there. */
async function moveTo(
  { client, namespace }: Temporal,
  current: Build,
  { workflowId, type }: { readonly workflowId: string; readonly type: string },
): Promise<void> {
  const version = { deploymentName: DEPLOYMENT, buildId: current };
  const stays = current !== null && !followsBuilds(type);
  await client.workflowService.updateWorkflowExecutionOptions({
    ...{ namespace, workflowExecution: { workflowId }, updateMask: { paths: ['versioning_override'] } },
    workflowExecutionOptions: {
      versioningOverride: stays ? { pinned: { behavior: PINNED, version } } : { autoUpgrade: true },
    },
  });
}
