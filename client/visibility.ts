import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { isOpenStatus } from '../domain/openStatus';
import { splitPortions } from '../domain/portions';

/**
 * Conveyor's workflows in Temporal's visibility (docs/design/workflows.md#finding-pipelines). Changes of the last
 * seconds may be missing.
 */

/**
 * Pipelines, releases, deploys or offers in Temporal's visibility, newest first; all of them, or those that match a condition
 * of its query language. The latest attempt of a deploy replaces the earlier ones.
 */
export async function* index(
  client: Client,
  kind: ListedKind | 'offers',
  {
    pipeline,
    condition,
    pageSize,
  }: { readonly pipeline?: string; readonly condition?: string; readonly pageSize?: number } = {},
): AsyncGenerator<WorkflowExecutionInfo> {
  const seen = new Set<string>();
  // Runs that continued as new do not count on their own, and may differ from the last one.
  const wanted = condition === undefined ? '' : ` AND ${condition} AND ExecutionStatus != 'ContinuedAsNew'`;
  const found = queryWorkflows(client, kind, pipeline, wanted, pageSize);
  for await (const info of condition === undefined ? found : withoutEarlier(client, kind, found)) {
    const key = getListedKey(kind, info);
    if (seen.has(key)) continue;
    seen.add(key);
    yield info;
  }
}

export type ListedKind = 'pipeline' | 'release' | 'deploy';

const getListedKey = (kind: ListedKind | 'offers', { workflowId }: WorkflowExecutionInfo): string =>
  kind === 'deploy' ? workflowId.slice(0, workflowId.lastIndexOf('/')) : workflowId;

/** A condition may match an earlier run or attempt but not the later one that counts. */
async function* withoutEarlier(
  client: Client,
  kind: ListedKind | 'offers',
  found: AsyncIterable<WorkflowExecutionInfo>,
): AsyncGenerator<WorkflowExecutionInfo> {
  for await (const some of splitPortions(found, ASKED_AT_ONCE)) {
    const newest = new Map<string, string>();
    const closed = some.filter(hasClosed);
    const ids = new Set(closed.map(({ workflowId }) => (kind === 'deploy' ? releaseOfDeploy(workflowId) : workflowId)));
    const among = ` AND ${kind === 'deploy' ? 'ConveyorRelease' : 'WorkflowId'} IN (${queryWords(ids)})`;
    if (closed.length > 0)
      for await (const info of queryWorkflows(client, kind, undefined, among))
        if (!newest.has(getListedKey(kind, info))) newest.set(getListedKey(kind, info), info.runId);
    yield* some.filter((info) => !hasClosed(info) || newest.get(getListedKey(kind, info)) === info.runId);
  }
}

/** `PIPELINE/NUMBER` from `deploy/PIPELINE/NUMBER/ACTION/ATTEMPT`. */
const releaseOfDeploy = (workflowId: string): string => workflowId.split('/').slice(1, -2).join('/');

/** Numbers of a pipeline's newest releases in visibility, running or not. */
export async function newestReleases(client: Client, pipeline: string): Promise<number[]> {
  const numbers: number[] = [];
  for await (const { workflowId } of queryWorkflows(client, 'release', pipeline)) {
    numbers.push(Number(workflowId.split('/').at(-1)));
    if (numbers.length >= NEWEST) break;
  }
  return numbers.sort((a, b) => a - b);
}

/** As many as a pipeline keeps in its records. */
const NEWEST = 100;

function queryWorkflows(
  client: Client,
  kind: ListedKind | 'offers',
  pipeline: string | undefined,
  condition = '',
  pageSize?: number,
): AsyncIterable<WorkflowExecutionInfo> {
  const ofPipeline = pipeline === undefined ? '' : ` AND ConveyorPipeline = ${queryWords([pipeline])}`;
  const query = `WorkflowType = '${kind}'${ofPipeline}${condition}`;
  return client.workflow.list({ query, ...(pageSize === undefined ? {} : { pageSize }) });
}

/** For a query, as words of a list. */
export const queryWords = (words: Iterable<string>): string =>
  [...words].map((word) => `'${word.replace(/['"\\]/g, '')}'`).join(', ');

/** The deploys of these releases. */
export async function* listDeploysWithin(
  client: Client,
  releases: readonly string[],
): AsyncGenerator<WorkflowExecutionInfo> {
  for (let at = 0; at < releases.length; at += ASKED_AT_ONCE) {
    const ids = queryWords(releases.slice(at, at + ASKED_AT_ONCE));
    yield* client.workflow.list({ query: `WorkflowType = 'deploy' AND ConveyorRelease IN (${ids})` });
  }
}

/** The running ones of these releases, by id; or their running deploys. */
export async function* listRunningWorkflows(
  client: Client,
  kind: 'release' | 'deploy',
  releases: readonly string[],
): AsyncGenerator<WorkflowExecutionInfo> {
  for (let at = 0; at < releases.length; at += ASKED_AT_ONCE) {
    const ids = queryWords(releases.slice(at, at + ASKED_AT_ONCE));
    const query = `WorkflowType = '${kind}' AND ExecutionStatus = 'Running' AND ConveyorRelease IN (${ids})`;
    yield* client.workflow.list({ query });
  }
}

/** The number of ids that fit into a query. */
const ASKED_AT_ONCE = 50;

/**
 * Runs of releases and deploys that Temporal closed in a period (ms since the epoch, end excluded), on one task queue,
 * whose workers know them.
 */
export function listClosedRuns(
  client: Client,
  taskQueue: string,
  sinceMs: number,
  untilMs: number,
): AsyncIterable<WorkflowExecutionInfo> {
  const [since, until] = [sinceMs, untilMs].map((atMs) => new Date(atMs).toISOString());
  const over = `ExecutionStatus != 'Running' AND ExecutionStatus != 'ContinuedAsNew'`;
  const when = `CloseTime >= '${since}' AND CloseTime < '${until}'`;
  return client.workflow.list({
    query: `WorkflowType IN ('release', 'deploy') AND TaskQueue = ${queryWords([taskQueue])} AND ${over} AND ${when}`,
  });
}

export const hasClosed = ({ status }: WorkflowExecutionInfo): boolean => !isOpenStatus(status.name);
