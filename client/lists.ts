import { defineSearchAttributeKey } from '@temporalio/common';
import type { WorkflowExecutionInfo } from '@temporalio/client';
import { stateOfTag } from '../domain/deploy/stateTag';
import { ConveyorError, conveyorError } from '../domain/errors';
import { sweepId } from '../domain/ids';
import type { DeploySummary, FinderView, PipelineSummary, ReleaseSummary } from '../domain/views';
import { withUndone } from '../domain/pipeline/undone';
import { formatTime } from '../domain/text';
import type { ListQuery } from './api';
import { findersHealth } from './finders';
import { withPauses } from './pauses';
import { toPipelineSummary, memoSummary } from './pipelineIndex';
import { findWorkflowProblems } from './problems';
import { stateCondition } from './stateCondition';
import { temporalUnreachable } from './unreachable';
import { hasClosed, index, type ListedKind } from './visibility';
import type { Workflows } from './workflows';

/**
 * Lists come newest first, from visibility alone: from the memo and search attributes of workflows. No workflow is
 * asked, so a silent one delays no list; it is shown in its last known state, with its `problem`. Events of the last
 * second may be missing.
 */
export const listPipelines = (workflows: Workflows, query: ListQuery): Promise<PipelineSummary[]> =>
  listWorkflows(workflows, 'pipeline', query, toPipelineSummary);

export const listReleases = async (workflows: Workflows, query: ListQuery): Promise<ReleaseSummary[]> =>
  withPauses(workflows.temporal.client, withUndone(await listWorkflows(workflows, 'release', query, toReleaseSummary)));

export const listDeploys = (workflows: Workflows, query: ListQuery): Promise<DeploySummary[]> =>
  listWorkflows(workflows, 'deploy', query, toDeploySummary);

/** A release ended from outside could not record it. */
export function toReleaseSummary(info: WorkflowExecutionInfo): ReleaseSummary | undefined {
  const summary = memoSummary<ReleaseSummary>(info);
  if (summary === undefined || summary.endedAt !== null || !hasClosed(info)) return summary;
  return { ...summary, state: 'failed', endedAt: formatCloseTime(info) };
}

export function toDeploySummary(info: WorkflowExecutionInfo): DeploySummary | undefined {
  const summary = memoSummary<DeploySummary>(info);
  if (summary === undefined) return undefined;
  if (summary.endedAt !== null) return { ...summary, state: 'ended' };
  const state = stateOfTag(info.typedSearchAttributes.get(STATE) ?? 'planning');
  if (!hasClosed(info)) return { ...summary, state };
  const ended = { state: 'ended', outcome: 'failed', classification: 'bad-failure', paused: null } as const;
  return { ...summary, ...ended, endedAt: formatCloseTime(info) };
}

const STATE = defineSearchAttributeKey('ConveyorState', 'KEYWORD');

const formatCloseTime = ({ closeTime, startTime }: WorkflowExecutionInfo): string =>
  formatTime((closeTime ?? startTime).getTime());

async function listWorkflows<T extends { readonly state: string }>(
  workflows: Workflows,
  kind: ListedKind,
  { pipeline, state, limit }: ListQuery,
  rowOf: (info: WorkflowExecutionInfo) => T | undefined,
): Promise<T[]> {
  const found: { readonly info: WorkflowExecutionInfo; readonly row: T }[] = [];
  const { client } = workflows.temporal;
  const listing = index(client, kind, {
    ...(pipeline === undefined ? {} : { pipeline }),
    ...(state === undefined ? {} : { condition: stateCondition(kind, state) }),
    pageSize: Math.min(MAX_PAGE, limit + RATHER_MORE),
  });
  const read = async (): Promise<void> => {
    for await (const info of listing) {
      const row = rowOf(info);
      if (row !== undefined && (state === undefined || row.state === state)) found.push({ info, row });
      if (found.length >= limit) return;
    }
  };
  await readVisibility(workflows, kind, read);
  const problemOf = await findWorkflowProblems(
    workflows.temporal,
    found.map(({ info }) => info),
  );
  return found.map(({ info, row }) => {
    const problem = problemOf(info);
    return problem === undefined ? row : { ...row, problem };
  });
}

/** Reads lists of workflows, with errors in our words. They need no worker: if no answer comes in time, the server is silent. */
export function readVisibility<T>(workflows: Workflows, kind: string, read: () => Promise<T>): Promise<T> {
  const notFound = () => conveyorError('internal', { detail: `a ${kind} vanished while it was listed` });
  return workflows.withWording(`list ${kind}s`, read, { notFound }).catch(async (error: unknown) => {
    if (!(error instanceof ConveyorError) || error.code !== 'no-worker') throw error;
    throw await temporalUnreachable(workflows.temporal, 'it takes too long to answer');
  });
}

/** The server's limit. */
const MAX_PAGE = 1_000;
/** Extra rows, because earlier runs and attempts are found, too. */
const RATHER_MORE = 10;

const SWEEPS = sweepId('');
/** A list of finders may take longer, because the user waits only for that. */
const FINDERS_MS = 10_000;

/** Every finder that a worker has ever swept, by name. */
export function listFinders(workflows: Workflows): Promise<FinderView[]> {
  const { temporal } = workflows;
  const notFound = () => conveyorError('internal', { detail: 'a Temporal Schedule vanished while it was listed' });
  return workflows.withWording(
    'list finders',
    async () => {
      const names: string[] = [];
      for await (const { scheduleId } of temporal.client.schedule.list())
        if (scheduleId.startsWith(SWEEPS)) names.push(scheduleId.slice(SWEEPS.length));
      return findersHealth(temporal, names.sort(), FINDERS_MS);
    },
    { notFound },
  );
}
