import { ScheduleNotFoundError, WorkflowFailedError, type ScheduleDescription } from '@temporalio/client';
import { finderView, type FinderFacts, type SweepSchedule } from '../domain/finder/health';
import type { SweepReport, SweepSeen } from '../domain/finder/sweepLifetime';
import { sweepId } from '../domain/ids';
import { isOpenStatus } from '../domain/openStatus';
import { rootCause } from '../domain/rootCause';
import type { FinderView } from '../domain/views';
import type { Temporal } from './connection';
import { serverView, type ServerView } from './live';

/** The status of a pipeline waits at most this long for the state of its finders. */
const BESIDE_MS = 2_000;

/**
 * The health of these finders, from their Schedules and last sweeps on the server: neither finder nor worker is asked.
 */
export const findersHealth = (
  temporal: Temporal,
  names: readonly string[],
  answerMs: number = BESIDE_MS,
): Promise<FinderView[]> =>
  temporal.client.withDeadline(Date.now() + answerMs, () =>
    Promise.all(names.map(async (name) => finderView(await fetchFinderFacts(temporal, name), Date.now()))),
  );

async function fetchFinderFacts({ client }: Temporal, finder: string): Promise<FinderFacts> {
  const none = { finder, schedule: null, underWay: null, last: null, failure: null };
  const described = await client.schedule
    .getHandle(sweepId(finder))
    .describe()
    .catch((error: unknown) => {
      if (error instanceof ScheduleNotFoundError) return undefined;
      throw error;
    });
  if (described === undefined) return none;
  const sweeps = sweepsIn(described);
  const newest = sweeps.at(-1);
  const { status, ...facts } = newest ? await newestSweep(client, newest) : {};
  const upToDate = newest && status ? [...sweeps.slice(0, -1), { ...newest, status }] : sweeps;
  const last = facts.last ?? (await lastReport(client, upToDate));
  return { ...none, schedule: scheduleFacts(described, upToDate), ...facts, last };
}

interface Sweep {
  readonly atMs: number;
  readonly workflowId: string;
  readonly status: SweepSchedule['sweeps'][number]['status'];
}

/** The last ten. If the server does not report their results, the oldest of these count as completed. */
function sweepsIn({ raw, info }: ScheduleDescription): Sweep[] {
  const recent = raw.info?.recentActions ?? [];
  return info.recentActions.map(({ takenAt, action }, at) => ({
    atMs: takenAt.getTime(),
    workflowId: action.workflow.workflowId,
    status: SWEEP_STATUS[recent[at]?.startWorkflowStatus ?? 0] ?? 'failed',
  }));
}

/**
 * Values of temporal.api.enums.v1.WorkflowExecutionStatus; older servers report `unspecified`, and the last means
 * paused.
 */
const SWEEP_STATUS: Readonly<Record<number, Sweep['status']>> = {
  ...{ 0: 'completed', 1: 'running', 2: 'completed', 8: 'running' },
};

function scheduleFacts(
  { state: { paused, note = '' }, info }: ScheduleDescription,
  sweeps: readonly Sweep[],
): SweepSchedule {
  return { pausedBecause: paused ? note : null, nextAtMs: info.nextActionTimes[0]?.getTime() ?? null, sweeps };
}

type Newest = Partial<Pick<FinderFacts, 'underWay' | 'last' | 'failure'> & Pick<Sweep, 'status'>>;

/** The state, report or failure of the newest workflow. Its Schedule learns of its end only later. */
async function newestSweep(client: Temporal['client'], { workflowId, status }: Sweep): Promise<Newest> {
  const handle = client.workflow.getHandle(workflowId);
  try {
    if (status === 'running') {
      const seen = await serverView(handle);
      if (isOpenStatus(seen.status)) return underWayIn(seen);
    }
    return { status: 'completed', last: (await handle.result()) as SweepReport | null };
  } catch (error) {
    // The workflow failed because its activity did, which failed because the finder did.
    if (error instanceof WorkflowFailedError) return { status: 'failed', failure: rootCause(error) };
    return status === 'failed' ? { failure: 'its last sweep failed' } : {};
  }
}

function underWayIn({ pending: [sweep], untakenSinceMs }: ServerView): Newest {
  // Before the first sweep, and between two.
  if (!sweep)
    return {
      underWay: { dueMs: untakenSinceMs, isTaken: untakenSinceMs === null, failure: null, nextTryMs: null },
    };
  const { stage, failure, nextMs, heartbeat } = sweep;
  const { report = null, dueMs = null } = (heartbeat ?? {}) as Partial<SweepSeen>;
  const underWay = { dueMs, isTaken: stage === 'runs' || failure !== null, failure, nextTryMs: nextMs };
  return { underWay, last: report };
}

/** The report of the newest successful workflow, if the newest of all has no answer yet. */
async function lastReport(client: Temporal['client'], sweeps: readonly Sweep[]): Promise<SweepReport | null> {
  const ended = sweeps.findLast(({ status }) => status === 'completed');
  if (ended === undefined) return null;
  const report = await client.workflow
    .getHandle(ended.workflowId)
    .result()
    .catch(() => null);
  return report as SweepReport | null;
}
