import { setTimeout as wait } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import type { ActivityInterceptors, Worker } from '@temporalio/worker';
import type { Clock } from '../../activities/clock';

/**
 * The time of a time-skipping test server, kept right where the server itself loses count. It skips while the number of
 * its locks is zero: a lock for each task under way, one less for each sleep. Known to go wrong in 1.32:
 * - a sleep that its activity no longer waits for goes on counting, so that time runs while tasks are under way;
 * - an activity that is cancelled before a worker took it, or whose workflow was terminated, keeps its lock for ever;
 * - an activity that fails while it is asked to cancel is forgotten without a word to its workflow.
 */
export class VirtualTime {
  /** Sleeps that the server has not ended yet, also those that nobody waits for. */
  private readonly sleeps = new Set<Sleep>();
  /** Activities that sleep. */
  private sleepers = 0;
  private worker: Worker | undefined;

  constructor(
    private readonly env: TestWorkflowEnvironment,
    private readonly client: Client,
  ) {}

  /** For activities and the simulated world. */
  readonly clock: Clock = {
    now: () => this.now(),
    sleep: (ms, signal) => this.sleepInside(ms, signal),
  };

  readonly interceptor = (): ActivityInterceptors => ({
    inbound: {
      execute: async (input, next) => {
        try {
          return await next(input);
        } catch (error) {
          await this.heedCancel();
          throw error;
        }
      },
    },
  });

  watch(worker: Worker): void {
    this.worker = worker;
  }

  async now(): Promise<number> {
    return Number(await this.env.currentTimeMs());
  }

  /** Lets time pass, as a test does. */
  async sleep(ms: number): Promise<void> {
    const sleeping = await this.begin(ms);
    void this.freeLostLocks(sleeping, () => this.isIdle());
    await sleeping.over;
  }

  /** Lets every sleep end, once no worker works: a call that is cut off is made again, and nobody is there to hear why not. */
  async end(): Promise<void> {
    const latest = Math.max(0, ...[...this.sleeps].map(({ untilMs }) => untilMs));
    const restMs = latest - (await this.now());
    if (restMs <= 0) return;
    const sleeping = await this.begin(restMs + 1);
    void this.freeLostLocks(sleeping, () => true);
    await sleeping.over;
    await Promise.all([...this.sleeps].map(({ over }) => over));
  }

  /** As an activity does, whose task holds a lock. */
  private async sleepInside(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return;
    this.sleepers += 1;
    const sleeping = await this.begin(ms);
    let wake = (): void => undefined;
    const aborted = new Promise<void>((resolve) => (wake = resolve));
    signal?.addEventListener('abort', wake);
    await Promise.race([sleeping.over, aborted]);
    signal?.removeEventListener('abort', wake);
    this.sleepers -= 1;
    if (!sleeping.isOver) await this.handOver(sleeping);
  }

  private async begin(ms: number): Promise<Sleep> {
    const sleep: Sleep = { untilMs: (await this.now()) + ms, isOver: false, over: Promise.resolve() };
    this.sleeps.add(sleep);
    sleep.over = this.env.sleep(ms).finally(() => {
      sleep.isOver = true;
      this.sleeps.delete(sleep);
    });
    return sleep;
  }

  /** What is left of a sleep that nobody waits for unlocks nothing any more. */
  private async handOver({ over }: Sleep): Promise<void> {
    await this.server.lockTimeSkipping({});
    void over.then(() => this.server.unlockTimeSkipping({})).catch(() => undefined);
  }

  /** Time that stands, or goes as it really does, while nothing is under way waits for a lock that nobody will ever free. */
  private async freeLostLocks(sleep: Sleep, isIdle: () => boolean): Promise<void> {
    let [seen, idleMs] = [await this.now(), 0];
    for (;;) {
      await wait(LOOK_MS);
      if (sleep.isOver) return;
      const now = await this.now();
      idleMs = isIdle() && now - seen <= 2 * LOOK_MS ? idleMs + LOOK_MS : 0;
      seen = now;
      if (idleMs < IDLE_MS) continue;
      await this.server.unlockTimeSkipping({}).catch(() => undefined);
      idleMs = 0;
    }
  }

  private isIdle(): boolean {
    const status = this.worker?.getStatus();
    return status?.numInFlightWorkflowActivations === 0 && status.numInFlightActivities === this.sleepers;
  }

  /** An activity that failed says that it was cancelled, where it is asked to cancel, or is about to be. */
  private async heedCancel(): Promise<void> {
    do await wait(SETTLE_MS);
    while (this.worker?.getStatus().numInFlightWorkflowActivations !== 0);
    const { info, cancelled, heartbeat } = Context.current();
    const execution = { workflowId: info.workflowExecution?.workflowId, runId: info.workflowExecution?.runId };
    const { pendingActivities } = await this.client.workflowService.describeWorkflowExecution({
      namespace: info.namespace,
      execution,
    });
    const own = pendingActivities.find(({ activityId }) => activityId === info.activityId);
    if (own?.state !== CANCEL_REQUESTED) return;
    heartbeat(info.heartbeatDetails);
    await Promise.race([cancelled, wait(IDLE_MS)]);
  }

  private get server() {
    const { testService } = this.env.connection;
    if (testService === undefined) throw new Error('not a test server');
    return testService;
  }
}

interface Sleep {
  readonly untilMs: number;
  isOver: boolean;
  over: Promise<void>;
}

const LOOK_MS = 100;
/** Longer than a worker takes to take up what is waiting for it. */
const IDLE_MS = 2_000;
/** How long a command that was just given takes to be asked of an activity. */
const SETTLE_MS = 15;
/** PENDING_ACTIVITY_STATE_CANCEL_REQUESTED */
const CANCEL_REQUESTED = 3;
