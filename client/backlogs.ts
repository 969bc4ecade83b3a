import { isGrpcServiceError } from '@temporalio/client';
import type { QueueBacklog } from '../domain/metrics';
import { DEPLOYMENT, SIDE_QUEUES, sideQueue } from '../domain/taskQueues';
import type { Temporal } from './connection';
import { GRPC } from './grpcStatus';

/** Task queues have workflow and activity tasks; workflow tasks are only on the main queue. */
const TASK_QUEUE_TYPES = { workflow: 1, activity: 2 } as const;

/** The state of one queue in Temporal; fields are missing if nothing waits. */
interface QueueStats {
  readonly approximateBacklogCount?: unknown;
  readonly approximateBacklogAge?: { readonly seconds?: unknown; readonly nanos?: number | null } | null;
}

/** A queue, without its backlog. */
type OneQueue = Pick<QueueBacklog, 'queue' | 'kind'> & { readonly name: string };

type QueueCounter = Pick<Temporal, 'client' | 'namespace'>;

/**
 * The backlog of task queues and its age, from Temporal itself, so it is known without workers and with overloaded
 * ones. Each build has its own rows, because no other build takes its work; rows without a build belong to workers
 * without one. A Temporal server that does not count gives no rows.
 */
export async function queueBacklogs(temporal: QueueCounter, main: string): Promise<QueueBacklog[]> {
  const queues = listQueues(main);
  const builds = await buildsAtWork(temporal);
  const ofBuilds = (await Promise.all(builds.map((build) => backlogsOfBuild(temporal, queues, build)))).flat();
  const rest = await Promise.all(queues.map((queue) => backlogWithoutBuild(temporal, queue, ofBuilds)));
  return [...rest.flat(), ...ofBuilds];
}

const listQueues = (main: string): OneQueue[] => [
  { queue: 'main', kind: 'workflow', name: main },
  { queue: 'main', kind: 'activity', name: main },
  ...SIDE_QUEUES.map((side) => ({ queue: side, kind: 'activity' as const, name: sideQueue(main, side) })),
];

/** A value of temporal.api.enums.v1.WorkerDeploymentVersionStatus: no workflow runs on such a build any more. */
const DRAINED = 5;

/** A hundred at most, unless Temporal is configured otherwise (matching.maxVersionsInDeployment). */
export async function buildsAtWork({ client, namespace }: QueueCounter): Promise<string[]> {
  const asked = { namespace, deploymentName: DEPLOYMENT };
  const answer = await client.workflowService.describeWorkerDeployment(asked).catch(noneKnown);
  return (answer?.workerDeploymentInfo?.versionSummaries ?? [])
    .filter(({ status }) => status !== DRAINED)
    .flatMap(({ deploymentVersion }) => deploymentVersion?.buildId ?? []);
}

async function backlogsOfBuild(
  { client, namespace }: QueueCounter,
  queues: readonly OneQueue[],
  build: string,
): Promise<QueueBacklog[]> {
  const deploymentVersion = { deploymentName: DEPLOYMENT, buildId: build };
  const asked = { namespace, deploymentVersion, reportTaskQueueStats: true };
  const answer = await client.workflowService.describeWorkerDeploymentVersion(asked).catch(noneKnown);
  return (answer?.versionTaskQueues ?? []).flatMap(({ name, type, stats }) => {
    const queue = queues.find((one) => one.name === name && TASK_QUEUE_TYPES[one.kind] === Number(type));
    return queue && stats ? [toQueueBacklog(queue, build, stats)] : [];
  });
}

/** Work without a build. Temporal knows only the age of the oldest task of all builds. */
async function backlogWithoutBuild(
  { client, namespace }: QueueCounter,
  queue: OneQueue,
  builds: readonly QueueBacklog[],
): Promise<QueueBacklog[]> {
  const asked = { namespace, taskQueue: { name: queue.name }, taskQueueType: TASK_QUEUE_TYPES[queue.kind] };
  const { stats } = await client.workflowService.describeTaskQueue({ ...asked, reportStats: true });
  if (!stats) return [];
  const all = toQueueBacklog(queue, '', stats);
  const others = builds.filter((one) => one.queue === queue.queue && one.kind === queue.kind);
  const ofOthers = others.reduce((sum, { tasks }) => sum + tasks, 0);
  const tasks = Math.max(0, all.tasks - ofOthers);
  return [{ ...all, tasks, ageMs: tasks === 0 && others.length > 0 ? 0 : all.ageMs }];
}

function toQueueBacklog(
  { queue, kind }: OneQueue,
  build: string,
  { approximateBacklogCount, approximateBacklogAge }: QueueStats,
): QueueBacklog {
  const { seconds, nanos } = approximateBacklogAge ?? {};
  const ageMs = Number(seconds ?? 0) * 1000 + (nanos ?? 0) / 1e6;
  return { queue, kind, build, tasks: Number(approximateBacklogCount ?? 0), ageMs };
}

/** Returns undefined if no worker has a build, or the server is too old for builds. */
function noneKnown(error: unknown): undefined {
  if (isGrpcServiceError(error) && (error.code === GRPC.NOT_FOUND || error.code === GRPC.UNIMPLEMENTED))
    return undefined;
  throw error;
}
