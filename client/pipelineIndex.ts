import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { defineSearchAttributeKey } from '@temporalio/common';
import { conveyorError, type ConveyorError } from '../domain/errors';
import type {
  IndexedRelease,
  PipelineIndex,
  PipelineSubscriptions,
  SubscriptionsMemo,
} from '../domain/pipeline/pipelineIndex';
import { isOpenStatus } from '../domain/openStatus';
import type { PipelineState } from '../domain/pipeline/state';
import type { PipelineSummary, ReleaseSummary } from '../domain/views';
import { translate, type Temporal } from './connection';
import { hasClosed, index } from './visibility';

/** How long a pipeline without a memo may take to report its subscriptions. */
const SUBSCRIPTION_TIMEOUT_MS = 2_000;

/** Implements the port with Temporal's visibility. Changes of the last seconds may be missing. */
export function createPipelineIndex(client: Client): PipelineIndex {
  return {
    subscriptions: (finder) => subscriptions(client, finder),
    labelled: (labels) => listLabelledPipelines(client, labels),
    releases: () => releases(client),
    pipelines: () => everyPipeline(client),
  };
}

/** The port for a program with users: it fails with errors from the table. */
export function frontIndex({ client, address }: Temporal): Pick<PipelineIndex, 'subscriptions'> {
  const internal = (): ConveyorError => conveyorError('internal', { detail: 'the pipelines cannot be listed' });
  return {
    subscriptions: async function* (finder) {
      try {
        yield* subscriptions(client, finder);
      } catch (error) {
        throw translate(error, { id: finder, address, notFound: internal, refused: internal });
      }
    },
  };
}

const OWNERS = defineSearchAttributeKey('ConveyorOwners', 'KEYWORD_LIST');

async function* subscriptions(client: Client, finder: string): AsyncGenerator<PipelineSubscriptions> {
  for await (const info of pipelinesWith(client, 'ConveyorFinders', [finder])) {
    const { workflowId, startTime, memo } = info;
    const memoed = memo?.['subscriptions'] as SubscriptionsMemo | undefined;
    const wanted = memoed ?? (await querySubscriptions(client, workflowId));
    if (wanted === undefined) continue;
    // A pipeline that continues as new moves to the front of the list, and may be missing from a listing in progress.
    const subscribedAtMs = Math.max(wanted.atMs, startTime.getTime());
    const owners = info.typedSearchAttributes.get(OWNERS);
    const known = { pipeline: pipelineOfWorkflow(workflowId), ...(owners ? { owners } : {}) };
    yield { ...known, subscribedAtMs, subscriptions: ofFinder(wanted, finder) };
  }
}

/**
 * Asks a pipeline without a memo for its subscriptions: it is older than memos, or its history continued without one.
 * Undefined if it does not answer in time, because waiting for it would delay the others.
 */
async function querySubscriptions(client: Client, workflowId: string): Promise<SubscriptionsMemo | undefined> {
  const handle = client.workflow.getHandle(workflowId);
  try {
    const state = await client.withDeadline(Date.now() + SUBSCRIPTION_TIMEOUT_MS, () =>
      handle.query<PipelineState | null>('pipeline'),
    );
    return state === null ? undefined : { atMs: 0, artifacts: state.spec.artifacts };
  } catch {
    return undefined;
  }
}

async function* listLabelledPipelines(
  client: Client,
  labels: Readonly<Record<string, string>>,
): AsyncGenerator<string> {
  const all = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  // A selector without labels selects no pipelines.
  if (all.length === 0) return;
  for await (const { workflowId } of pipelinesWith(client, 'ConveyorLabels', all)) yield pipelineOfWorkflow(workflowId);
}

/** From their memos: a terminated or failed release is neither running nor successful. */
async function* releases(client: Client): AsyncGenerator<IndexedRelease> {
  const query = `WorkflowType = 'release' AND (ExecutionStatus = 'Running' OR ConveyorOutcome = 'succeeded')`;
  for await (const { memo, status, typedSearchAttributes } of client.workflow.list({ query })) {
    const summary = memoSummary<ReleaseSummary>({ memo });
    if (summary === undefined) continue;
    const { id, pipeline, number, startedAt, artifacts } = summary;
    const owners = typedSearchAttributes.get(OWNERS) ?? [];
    yield { id, pipeline, number, startedAt, artifacts, runs: isOpenStatus(status.name), owners };
  }
}

async function* everyPipeline(client: Client): AsyncGenerator<PipelineSummary> {
  for await (const info of index(client, 'pipeline')) {
    const summary = toPipelineSummary(info);
    if (summary !== undefined) yield summary;
  }
}

/** A workflow that was never applied, or is too old to have a summary, is not listed. */
export function toPipelineSummary(info: WorkflowExecutionInfo): PipelineSummary | undefined {
  const summary = memoSummary<PipelineSummary>(info);
  return summary && (hasClosed(info) ? { ...summary, ended: true } : summary);
}

export const memoSummary = <T>({ memo }: Pick<WorkflowExecutionInfo, 'memo'>): T | undefined =>
  memo?.['summary'] as T | undefined;

/** Each running pipeline with all of these words in an attribute, once. */
async function* pipelinesWith(
  client: Client,
  attribute: 'ConveyorFinders' | 'ConveyorLabels',
  words: readonly string[],
): AsyncGenerator<WorkflowExecutionInfo> {
  const key = defineSearchAttributeKey(attribute, 'KEYWORD_LIST');
  const asked = words.filter((word) => QUERYABLE.test(word)).map((word) => `${attribute} = '${word}'`);
  const query = [`WorkflowType = 'pipeline'`, `ExecutionStatus = 'Running'`, ...asked].join(' AND ');
  const seen = new Set<string>();
  for await (const info of client.workflow.list({ query })) {
    const has = info.typedSearchAttributes.get(key) ?? [];
    if (seen.has(info.workflowId) || !words.every((word) => has.includes(word))) continue;
    seen.add(info.workflowId);
    yield info;
  }
}

/**
 * Characters that every store accepts in a query. Quotes and backslashes are not among them, so such words are matched
 * in the answer.
 */
const QUERYABLE = /^[\p{L}\p{N}][\p{L}\p{N}_=.:@/ -]*$/u;

const pipelineOfWorkflow = (workflowId: string): string => workflowId.slice(workflowId.indexOf('/') + 1);

const ofFinder = ({ artifacts }: SubscriptionsMemo, finder: string): PipelineSubscriptions['subscriptions'] =>
  Object.entries(artifacts).flatMap(([artifact, wanted]) =>
    wanted.finder === finder ? [{ artifact, with: wanted.with }] : [],
  );
