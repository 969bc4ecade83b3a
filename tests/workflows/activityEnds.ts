import { setTimeout as wait } from 'node:timers/promises';
import { ApplicationFailure, Context, type Info } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import type { ActivityInterceptors } from '@temporalio/worker';
import { STILL_WAITING } from '../../domain/looks';
import type { ConveyorWorker } from '../../workers/createWorker';

/**
 * Delays the end of an activity if the test server would misinterpret it. Known errors of 1.32:
 * - an activity that fails while it is asked to cancel is forgotten without a report to its workflow;
 * - a workflow task that asks an activity to cancel which has ended since the task began is refused halfway: its
 *   earlier effects remain, so its next attempt is refused as well, for ever, and its lock on the time is never freed.
 */
export class ActivityEnds {
  private worker: ConveyorWorker | undefined;
  /** Activities that slept: as for one that is retried, their end arrives at the same moment as a cancel, for example from a timer. */
  private readonly sleepers = new WeakSet<Context>();
  /** Attempts whose end is known, though it may not be reported yet. */
  private readonly returned = new WeakSet<Context>();
  /** By workflow run, the activity that ended last, once it may report that. */
  private readonly last = new Map<string, Promise<Info>>();
  /** By workflow run, the activities at the worker, and how often that has changed. */
  private readonly companies = new Map<string, Company>();
  /** The results that reached the worker, by run and activity. */
  private readonly received = new Set<string>();

  constructor(private readonly client: Client) {}

  watch(worker: ConveyorWorker): void {
    this.worker = worker;
  }

  /** Called by sleepers. */
  slept(): void {
    const context = activityContext();
    if (context) this.sleepers.add(context);
  }

  readonly interceptor = (): ActivityInterceptors => ({
    inbound: {
      execute: async (input, next) => {
        const context = Context.current();
        const { info } = context;
        const company = this.companyOf(info);
        this.received.add(`${info.workflowExecution?.runId}/${info.activityId}`);
        company.activities.add(info.activityId);
        const changes = (company.changes += 1);
        try {
          const value = await next(input).finally(() => this.returned.add(context));
          const wasAlone = company.activities.size === 1 && company.changes === changes;
          const comesAlone = wasAlone && this.isIdle();
          if (this.sleepers.has(context) || info.attempt > 1 || !comesAlone) await this.awaitTurn(context);
          return value;
        } catch (error) {
          // An attempt that will be retried has not ended.
          if (!isWaiting(error)) await this.awaitTurn(context);
          await this.heedCancel(context);
          throw error;
        } finally {
          company.activities.delete(info.activityId);
          company.changes += 1;
        }
      },
    },
  });

  hasReturned(context: Context): boolean {
    return this.returned.has(context);
  }

  /** Whether an activity has ever reached the worker. */
  hasReceived(runId: string, activityId: string): boolean {
    return this.received.has(`${runId}/${activityId}`);
  }

  /** Whether an attempt of it is at the worker. */
  isRunning(runId: string, activityId: string): boolean {
    return this.companies.get(runId)?.activities.has(activityId) ?? false;
  }

  /** The activities at the worker: RUN/ACTIVITY. */
  running(): string[] {
    return [...this.companies].flatMap(([run, { activities }]) => [...activities].map((id) => `${run}/${id}`));
  }

  private companyOf({ workflowExecution }: Info): Company {
    const run = workflowExecution?.runId ?? '';
    const company = this.companies.get(run) ?? { activities: new Set<string>(), changes: 0 };
    this.companies.set(run, company);
    return company;
  }

  /** Lets activities end one after the other, and none during a workflow task. An activity that was asked to cancel cannot be asked again. */
  private async awaitTurn(context: Context): Promise<void> {
    const { info, cancellationSignal } = context;
    const run = info.workflowExecution?.runId ?? '';
    const before = this.last.get(run);
    const turn = this.untilCalm(info, before, cancellationSignal).then(
      () => info,
      () => info,
    );
    this.last.set(run, turn);
    await turn;
  }

  private async untilCalm(info: Info, before: Promise<Info> | undefined, cancelled: AbortSignal): Promise<void> {
    const previous = await before;
    for (let waitedMs = 0; waitedMs < TURN_MS && !cancelled.aborted; waitedMs += SETTLE_MS) {
      await wait(SETTLE_MS);
      if (this.isIdle() && !(await this.isUnderWay(info)) && !(previous && (await this.pending(previous)))) return;
    }
  }

  private isIdle(): boolean {
    return this.worker?.getStatus().numInFlightWorkflowActivations === 0;
  }

  /** Whether a task of its workflow is waiting for a worker or is with one. */
  private async isUnderWay(info: Info): Promise<boolean> {
    const request = { namespace: info.namespace, execution: executionOf(info) };
    const { history } = await this.client.workflowService.getWorkflowExecutionHistory(request);
    const last = history?.events?.findLast(({ eventType }) => ENDS_TASK[eventType ?? 0] !== undefined);
    return ENDS_TASK[last?.eventType ?? 0] === false;
  }

  /** The attempt of an activity as the server knows it, until the server knows its end. */
  private async pending(info: Info) {
    const request = { namespace: info.namespace, execution: executionOf(info) };
    const { pendingActivities } = await this.client.workflowService.describeWorkflowExecution(request);
    const own = pendingActivities.find(({ activityId }) => activityId === info.activityId);
    return own?.state === SCHEDULED || own?.attempt !== info.attempt ? undefined : own;
  }

  /** A failed activity reports that it was cancelled, if it was asked to cancel. */
  private async heedCancel({ info, cancelled, heartbeat }: Context): Promise<void> {
    if ((await this.pending(info))?.state !== CANCEL_REQUESTED) return;
    heartbeat(info.heartbeatDetails);
    await Promise.race([cancelled, wait(TURN_MS, undefined, { ref: false })]);
  }
}

interface Company {
  readonly activities: Set<string>;
  changes: number;
}

const isWaiting = (error: unknown): boolean => error instanceof ApplicationFailure && error.type === STILL_WAITING;

/** Undefined outside an activity, as in a test. */
export function activityContext(): Context | undefined {
  try {
    return Context.current();
  } catch {
    return undefined;
  }
}

const executionOf = ({ workflowExecution }: Info) => ({
  workflowId: workflowExecution?.workflowId,
  runId: workflowExecution?.runId,
});

/** How long a new command takes to reach an activity. */
const SETTLE_MS = 15;
/** An activity waits no longer than this for its turn to report its end. */
export const TURN_MS = 2_000;
/** PENDING_ACTIVITY_STATE_SCHEDULED, …_CANCEL_REQUESTED */
const [SCHEDULED, CANCEL_REQUESTED] = [1, 3];
/** EVENT_TYPE_WORKFLOW_TASK_SCHEDULED, …_STARTED, …_COMPLETED, …_TIMED_OUT, …_FAILED */
const ENDS_TASK: Readonly<Record<number, boolean>> = { 5: false, 6: false, 7: true, 8: true, 9: true };
