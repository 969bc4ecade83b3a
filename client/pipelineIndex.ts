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

/** How long a pipeline without a memo may take to say what it wants. */
const SUBSCRIPTION_TIMEOUT_MS = 2_000;

/** The port over Temporal's visibility. What was changed in the last seconds may be missing. */
export function createPipelineIndex(client: Client): PipelineIndex {
  return {
    subscriptions: (finder) => subscriptions(client, finder),
    labelled: (labels) => labelled(client, labels),
    releases: () => releases(client),
    pipelines: () => everyPipeline(client),
  };
}

/** The port for a program that answers people: it fails in words of the table of errors. */
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
    const wanted = memoed ?? (await remembered(client, workflowId));
    if (wanted === undefined) continue;
    // A pipeline that continued as new moves to the front of the list, and may be missing in one that is under way.
    const subscribedAtMs = Math.max(wanted.atMs, startTime.getTime());
    const owners = info.typedSearchAttributes.get(OWNERS);
    const known = { pipeline: pipelineOfWorkflow(workflowId), ...(owners ? { owners } : {}) };
    yield { ...known, subscribedAtMs, subscriptions: ofFinder(wanted, finder) };
  }
}

/**
 * What a pipeline wants that has no memo of it, because it was applied before there were any or its history continued
 * without: it says so itself. Undefined when it does not answer; whoever waits for it would keep the others waiting.
 */
async function remembered(client: Client, workflowId: string): Promise<SubscriptionsMemo | undefined> {
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

async function* labelled(client: Client, labels: Readonly<Record<string, string>>): AsyncGenerator<string> {
  const all = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  // Whoever names no label does not mean every pipeline there is.
  if (all.length === 0) return;
  for await (const { workflowId } of pipelinesWith(client, 'ConveyorLabels', all)) yield pipelineOfWorkflow(workflowId);
}

/** As their memos have it: one that was terminated, or failed, is neither of the two. */
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
    const summary = listedPipeline(info);
    if (summary !== undefined) yield summary;
  }
}

/** A workflow that was never applied, or is of a time before it left a summary, is nothing to list. */
export function listedPipeline(info: WorkflowExecutionInfo): PipelineSummary | undefined {
  const summary = memoSummary<PipelineSummary>(info);
  return summary && (hasClosed(info) ? { ...summary, ended: true } : summary);
}

export const memoSummary = <T>({ memo }: Pick<WorkflowExecutionInfo, 'memo'>): T | undefined =>
  memo?.['summary'] as T | undefined;

/** Each running pipeline once that has all of these words under an attribute. */
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

/** What every store takes in a query. Quotes and backslashes it does not, so the others are looked for in the answer. */
const QUERYABLE = /^[\p{L}\p{N}][\p{L}\p{N}_=.:@/ -]*$/u;

const pipelineOfWorkflow = (workflowId: string): string => workflowId.slice(workflowId.indexOf('/') + 1);

const ofFinder = ({ artifacts }: SubscriptionsMemo, finder: string): PipelineSubscriptions['subscriptions'] =>
  Object.entries(artifacts).flatMap(([artifact, wanted]) =>
    wanted.finder === finder ? [{ artifact, with: wanted.with }] : [],
  );
