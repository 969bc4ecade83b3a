import { ScheduleNotFoundError, WorkflowFailedError, type ScheduleDescription } from '@temporalio/client';
import { conveyorError } from '../domain/errors';
import { finderView, type FinderFacts, type SweepSchedule, type UnderWay } from '../domain/finder/health';
import type { SweepCounts } from '../domain/finder/sweep';
import type { FinderView } from '../domain/views';
import type { Temporal } from './connection';
import type { Workflows } from './workflows';

/** Whoever looks at a pipeline does not wait longer for how its finders stand. */
const ANSWER_MS = 2_000;

/** Every finder that some worker has swept for, by name. */
export function listFinders(workflows: Workflows): Promise<FinderView[]> {
  const { temporal } = workflows;
  const notFound = () => conveyorError('internal', { detail: 'a Temporal Schedule vanished while it was listed' });
  return workflows.asking(
    'list finders',
    async () => {
      const names: string[] = [];
      for await (const { scheduleId } of temporal.client.schedule.list())
        if (scheduleId.startsWith(PREFIX)) names.push(scheduleId.slice(PREFIX.length));
      return finders(temporal, names.sort());
    },
    { notFound },
  );
}

/** The health of these finders, of what their Schedules and last sweeps left at the server: neither finder nor worker is asked. */
export const finders = (temporal: Temporal, names: readonly string[]): Promise<FinderView[]> =>
  temporal.client.withDeadline(Date.now() + ANSWER_MS, () =>
    Promise.all(names.map(async (name) => finderView(await factsOf(temporal, name), Date.now()))),
  );

const PREFIX = 'sweep/';

async function factsOf({ client }: Temporal, finder: string): Promise<FinderFacts> {
  const none = { finder, schedule: null, underWay: null, report: null, failure: null };
  const described = await client.schedule
    .getHandle(`${PREFIX}${finder}`)
    .describe()
    .catch((error: unknown) => {
      if (error instanceof ScheduleNotFoundError) return undefined;
      throw error;
    });
  if (described === undefined) return none;
  const sweeps = sweepsIn(described);
  const last = sweeps.at(-1);
  const { status, ...facts } = last ? await lastOf(client, last) : {};
  const upToDate = last && status ? [...sweeps.slice(0, -1), { ...last, status }] : sweeps;
  return { ...none, schedule: scheduleOf(described, upToDate), ...facts };
}

interface Sweep {
  readonly atMs: number;
  readonly workflowId: string;
  readonly status: SweepSchedule['sweeps'][number]['status'];
}

/** The last ten. Servers that do not say how they ended leave the oldest of these to have been completed. */
function sweepsIn({ raw, info }: ScheduleDescription): Sweep[] {
  const recent = raw.info?.recentActions ?? [];
  return info.recentActions.map(({ takenAt, action }, at) => ({
    atMs: takenAt.getTime(),
    workflowId: action.workflow.workflowId,
    status: STATUS[recent[at]?.startWorkflowStatus ?? 0] ?? 'failed',
  }));
}

/** Of temporal.api.enums.v1.WorkflowExecutionStatus; unspecified is what older servers say. */
const STATUS: readonly Sweep['status'][] = ['completed', 'running', 'completed'];

function scheduleOf(
  { state: { paused, note = '' }, info }: ScheduleDescription,
  sweeps: readonly Sweep[],
): SweepSchedule {
  return { pausedBecause: paused ? note : null, nextAtMs: info.nextActionTimes[0]?.getTime() ?? null, sweeps };
}

type Last = Partial<Pick<FinderFacts, 'underWay' | 'report' | 'failure'> & Pick<Sweep, 'status'>>;

/** The newest sweep: what it is at, what it reported, or why it failed. Its Schedule learns of its end a while later. */
async function lastOf(client: Temporal['client'], { workflowId, status }: Sweep): Promise<Last> {
  const handle = client.workflow.getHandle(workflowId);
  try {
    if (status === 'running') {
      const { status: now, raw } = await handle.describe();
      if (now.name === 'RUNNING') return { underWay: underWayIn(raw) };
    }
    return { status: 'completed', report: (await handle.result()) as SweepCounts };
  } catch (error) {
    if (error instanceof WorkflowFailedError) return { status: 'failed', failure: reasonOf(error) };
    return status === 'failed' ? { failure: 'its last sweep failed' } : {};
  }
}

type Described = Awaited<ReturnType<ReturnType<Temporal['client']['workflow']['getHandle']>['describe']>>['raw'];

function underWayIn({ pendingActivities }: Described): UnderWay {
  const [sweep] = pendingActivities ?? [];
  if (!sweep) return { isTaken: false, failure: null, nextTryMs: null };
  const { lastFailure, lastStartedTime, nextAttemptScheduleTime: next } = sweep;
  return {
    isTaken: Boolean(lastStartedTime) || Boolean(lastFailure),
    failure: lastFailure?.message ?? null,
    nextTryMs: next ? Number(next.seconds ?? 0) * 1_000 : null,
  };
}

/** What the finder said is at the bottom: the workflow failed because its activity did. */
function reasonOf(error: unknown): string {
  let reason: unknown = error;
  while (reason instanceof Error && reason.cause instanceof Error) reason = reason.cause;
  return reason instanceof Error ? reason.message : String(reason);
}
