import { defineSearchAttributeKey } from '@temporalio/common';
import type { WorkflowExecutionInfo } from '@temporalio/client';
import { noWorkerWords, workerCommand } from '../domain/builds';
import { lastPollWords } from '../domain/text';
import type { ReleaseSummary } from '../domain/views';
import { getListedBuild } from './builds';
import type { Temporal } from './connection';
import { judgePolling, workersWithin, type QueueWorkers } from './readiness';
import { hasClosed, listRunningWorkflows } from './visibility';

/** If this takes longer, the status omits them. */
const PROBLEMS_TIMEOUT_MS = 2_000;

/** Releases, with the problems that keep running ones from continuing. */
export async function withProblems<T extends Pick<ReleaseSummary, 'id' | 'endedAt'>>(
  temporal: Temporal,
  releases: readonly T[],
): Promise<(T & Pick<ReleaseSummary, 'problem'>)[]> {
  const running = releases.flatMap(({ id, endedAt }) => (endedAt === null ? [id] : []));
  const found = await temporal.client
    .withDeadline(Date.now() + PROBLEMS_TIMEOUT_MS, () => findProblems(temporal, running))
    .catch((): ReadonlyMap<string, string> => new Map());
  return releases.map((release) => {
    const problem = found.get(release.id);
    return problem === undefined ? release : { ...release, problem };
  });
}

/** Problems by release id. */
async function findProblems(temporal: Temporal, releases: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const infos: WorkflowExecutionInfo[] = [];
  for await (const info of listRunningWorkflows(temporal.client, 'release', releases)) infos.push(info);
  const problemOf = await findWorkflowProblems(temporal, infos);
  return new Map(
    infos.flatMap((info) => {
      const problem = problemOf(info);
      return problem === undefined ? [] : [[info.workflowId.replace(/^release\//, ''), problem] as const];
    }),
  );
}

/** Problems of running workflows; none if the server does not answer. Each task queue is checked once. */
export async function findWorkflowProblems(
  temporal: Temporal,
  infos: readonly WorkflowExecutionInfo[],
): Promise<(info: WorkflowExecutionInfo) => string | undefined> {
  const open = infos.filter((info) => !hasClosed(info));
  const queues = [...new Set(open.map(({ taskQueue }) => taskQueue))];
  const workers = new Map(
    await Promise.all(queues.map(async (queue) => [queue, await workersWithin(temporal, queue)] as const)),
  );
  return (info) =>
    hasClosed(info) ? undefined : (taskProblem(info) ?? whyUnpolled(info, workers.get(info.taskQueue)));
}

/** A workflow pinned to a build waits for a worker of that build, even if others poll. */
function whyUnpolled(info: WorkflowExecutionInfo, workers: QueueWorkers | undefined): string | undefined {
  if (workers === undefined) return undefined;
  const { isPolled, build, lastPollAt } = judgePolling(workers, getListedBuild(info));
  return isPolled
    ? undefined
    : `${noWorkerWords(build)} polls its task queue ${info.taskQueue}${lastPollWords(lastPollAt)}${build === undefined ? '' : `: ${workerCommand(build)}`}`;
}

const PROBLEMS = defineSearchAttributeKey('TemporalReportedProblems', 'KEYWORD_LIST');

/** The server marks workflows whose tasks fail again and again, within a minute; an older one does not. */
function taskProblem({ typedSearchAttributes }: WorkflowExecutionInfo): string | undefined {
  const reported = typedSearchAttributes.get(PROBLEMS) ?? [];
  if (reported.length === 0) return undefined;
  const cause = reported
    .find((one) => one.startsWith('cause='))
    ?.replace(/^cause=(WorkflowTask(Failed|TimedOut)Cause)?/, '');
  return `its workflow is stuck${cause ? ` (${cause})` : ''}`;
}
