import type { WorkflowExecutionInfo } from '@temporalio/client';
import type { ArchiveRow } from '../domain/archive/row';
import { deployRows, releaseRows, type ClosedRun, type EndedDeploy, type EndedRelease } from '../domain/archive/rows';
import { classifyCadence } from '../domain/calendar/cadence';
import { NO_TIME } from '../domain/deploy/spans';
import type { DeployInput, DeployResult } from '../domain/deploy/state';
import { conveyorError } from '../domain/errors';
import { deployEndedOutside, releaseEndedOutside, type EndedOutside } from '../domain/outside';
import type { ReleaseInput, ReleaseResult } from '../domain/release/state';
import type { DeployStatus, DeploySummary, ReleaseStatus, ReleaseSummary } from '../domain/views';
import { isUnanswered, WORKER_TIMEOUT_MS, type Temporal } from './connection';
import { describeOutsideEnd } from './outside';
import { listClosedRuns } from './visibility';
import { readPolling } from './readiness';
import { workflowInput } from './recovery';

/** A release or deploy that Temporal has closed. */
interface ClosedRunSource extends ClosedRun {
  rows(): Promise<readonly ArchiveRow[]>;
  remains(): Promise<readonly ArchiveRow[]>;
}

/** The time limit for a page of a list, and for all calls about one run. */
const CALL_MS = 60_000;

/** Ended releases and deploys for an archive: from visibility, and from the input, result and status of each run. */
export function temporalEndings(temporal: Temporal, taskQueue: string, signal?: AbortSignal) {
  const { client } = temporal;
  const call = <T>(ask: () => Promise<T>): Promise<T> => {
    const inTime = () => client.withDeadline(Date.now() + CALL_MS, ask);
    return signal === undefined ? inTime() : underOwnSignal(signal, (own) => client.withAbortSignal(own, inTime));
  };
  return {
    origin: () => call(() => fetchOrigin(temporal)),
    polledMs: async (): Promise<number | null> => {
      const { lastPollAt } = await call(() => readPolling(temporal, taskQueue));
      return lastPollAt === null ? null : Date.parse(lastPollAt);
    },
    isUnanswered,
    closed: async function* (sinceMs: number, untilMs: number): AsyncGenerator<ClosedRunSource> {
      const runs = listClosedRuns(client, taskQueue, sinceMs, untilMs)[Symbol.asyncIterator]();
      for (let next = await call(() => runs.next()); !next.done; next = await call(() => runs.next())) {
        const info = next.value;
        const rows = info.type === 'release' ? readReleaseRows : readDeployRows;
        yield {
          ...toClosedRun(info),
          rows: () => call(() => rows(temporal, info, () => queryStatus(temporal, info))),
          remains: () => call(() => rows(temporal, info, () => Promise.resolve(undefined))),
        };
      }
    },
  };
}

/**
 * Temporal's client adds a listener for each call and removes none, so a long-lived signal would collect all of them.
 */
async function underOwnSignal<T>(signal: AbortSignal, call: (own: AbortSignal) => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  const own = new AbortController();
  const abort = (): void => own.abort(signal.reason);
  signal.addEventListener('abort', abort);
  try {
    return await call(own.signal);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** The id of the namespace, and for how long it keeps ended workflows. */
export async function fetchOrigin({ client, namespace }: Temporal): Promise<{ name: string; retentionMs: number }> {
  const { namespaceInfo, config } = await client.workflowService.describeNamespace({ namespace });
  const seconds = Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0);
  return { name: `${namespace}/${namespaceInfo?.id ?? ''}`, retentionMs: seconds * 1000 };
}

/** The status of a run, or undefined to use only the lists. */
type StatusQuery = () => Promise<unknown>;

const queryStatus = ({ client }: Temporal, { workflowId, runId }: WorkflowExecutionInfo): Promise<unknown> =>
  client.withDeadline(Date.now() + WORKER_TIMEOUT_MS, () =>
    client.workflow.getHandle(workflowId, runId).query('status'),
  );

async function readReleaseRows(
  temporal: Temporal,
  info: WorkflowExecutionInfo,
  ask: StatusQuery,
): Promise<readonly ArchiveRow[]> {
  const input = await fetchRunInput<ReleaseInput>(temporal, info);
  const said = ((await ask()) ?? readMemoSummary<ReleaseSummary>(info)) as ReleaseStatus | undefined;
  if (input === null || said === undefined) throw createUnknownEndError(info);
  const outside = await readOutsideEnd(temporal, info);
  const whole = { ...said, actions: said.actions ?? [], commands: said.commands ?? [], timeline: said.timeline ?? [] };
  const ended: EndedRelease = {
    ...toClosedRun(info),
    input,
    status: outside ? releaseEndedOutside(whole, outside) : whole,
    deploys: (await fetchRunResult<ReleaseResult>(temporal, info))?.deploys ?? [],
    cadence: classifyCadence(input.spec),
  };
  return releaseRows(ended);
}

async function readDeployRows(
  temporal: Temporal,
  info: WorkflowExecutionInfo,
  ask: StatusQuery,
): Promise<readonly ArchiveRow[]> {
  const input = await fetchRunInput<DeployInput>(temporal, info);
  const said = ((await ask()) ?? readMemoSummary<DeploySummary>(info)) as DeployStatus | undefined;
  // A canary is an action of its release; its change of a few tasks does not count as a deploy.
  if (input?.canary) return [];
  if (input === null || said === undefined) throw createUnknownEndError(info);
  const spans = said.spans ?? (await fetchRunResult<DeployResult>(temporal, info))?.spans ?? NO_TIME;
  const [outside, none] = [
    await readOutsideEnd(temporal, info),
    { phases: [], health: [], commands: [], timeline: [] },
  ];
  const whole = { ...none, ...said, revert: said.revert ?? null, spans };
  const ended: EndedDeploy = {
    ...toClosedRun(info),
    input,
    status: outside ? deployEndedOutside(whole, outside) : whole,
  };
  return deployRows(ended);
}

const createUnknownEndError = ({ workflowId }: WorkflowExecutionInfo): Error =>
  new Error(`only the end of ${workflowId} is known`);

const readMemoSummary = <T>({ memo }: WorkflowExecutionInfo): T | undefined => memo?.['summary'] as T | undefined;

const fetchRunInput = <T>({ client }: Temporal, { workflowId, runId }: WorkflowExecutionInfo): Promise<T | null> =>
  workflowInput<T>(client, workflowId, runId);

/** Undefined for a run that was ended from outside. */
async function fetchRunResult<T>({ client }: Temporal, info: WorkflowExecutionInfo): Promise<T | undefined> {
  if (info.status.name !== 'COMPLETED') return undefined;
  return client.workflow.result<() => Promise<T>>(info.workflowId, info.runId, { followRuns: false });
}

function readOutsideEnd(temporal: Temporal, info: WorkflowExecutionInfo): Promise<EndedOutside | undefined> {
  const { status, closeTime, runId, workflowId } = info;
  const over = { pending: [], untakenSinceMs: null, status: status.name, closedAt: closeTime, runId };
  return describeOutsideEnd(temporal, workflowId, over);
}

function toClosedRun({ workflowId, runId, closeTime }: WorkflowExecutionInfo): ClosedRun {
  if (closeTime === undefined)
    throw conveyorError('internal', { detail: `${workflowId} is listed as closed, but without a time` });
  return { workflowId, runId, closedMs: closeTime.getTime() };
}
