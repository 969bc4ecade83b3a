import { setTimeout as wait } from 'node:timers/promises';
import type { Context } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import type { ActivityInterceptors } from '@temporalio/worker';
import type { Clock } from '../../activities/clock';
import type { ConveyorWorker } from '../../workers/createWorker';
import { ActivityEnds, activityContext } from './activityEnds';

/**
 * The time of a time-skipping test server, corrected for miscounts of the server itself. It skips time while the number
 * of its locks is zero: each running task adds a lock, and each sleep removes one. Known errors of 1.32:
 * - a sleep that its activity no longer waits for still counts, so that time passes while tasks run;
 * - so does each of several sleeps of one activity, though it has only one lock;
 * - an activity that is cancelled before a worker took it, or whose workflow was terminated, keeps its lock for ever.
 */
export class VirtualTime {
  /** Sleeps that the server has not ended yet, including abandoned ones. */
  private readonly sleeps = new Set<Sleep>();
  /** By attempt of an activity: its sleeps. */
  private readonly sleepsInside = new WeakMap<Context, Set<Sleep>>();
  /** By attempt of an activity: how far virtual time is ahead; it stays so until the activity sleeps. */
  private readonly ahead = new WeakMap<Context, Promise<number>>();
  private readonly ends: ActivityEnds;
  private worker: ConveyorWorker | undefined;

  constructor(
    private readonly env: TestWorkflowEnvironment,
    client: Client,
  ) {
    this.ends = new ActivityEnds(client);
  }

  /** For activities and the simulated world. */
  readonly clock: Clock = {
    now: () => this.now(),
    sleep: (ms, signal) => this.sleepInside(ms, signal),
  };

  get interceptor(): () => ActivityInterceptors {
    return this.ends.interceptor;
  }

  /** Whether an activity has ever reached the worker. */
  received(runId: string, activityId: string): boolean {
    return this.ends.hasReceived(runId, activityId);
  }

  /** Whether it is at the worker now. */
  runs(runId: string, activityId: string): boolean {
    return this.ends.isRunning(runId, activityId);
  }

  /** The parts that may still act, to find out why a story stands still. */
  async standing(): Promise<string> {
    const activities = this.ends.running().join(', ') || 'none';
    return `at ${new Date(await this.now()).toISOString()}; worker ${JSON.stringify(this.worker?.getStatus())}; activities at it: ${activities}; asleep: ${this.sleepers()}`;
  }

  watch(worker: ConveyorWorker): void {
    this.worker = worker;
    this.ends.watch(worker);
  }

  async now(): Promise<number> {
    const context = activityContext();
    if (context === undefined) return Number(await this.env.currentTimeMs());
    const ahead = this.ahead.get(context) ?? this.aheadMs();
    this.ahead.set(context, ahead);
    return Math.floor((await ahead) + performance.now());
  }

  /** Lets time pass, as a test does. @throws TimeStoodStill */
  async sleep(ms: number): Promise<void> {
    const sleeping = await this.begin(ms);
    await Promise.race([sleeping.over, this.freeLostLocks(sleeping, () => this.isIdle())]);
    await sleeping.over;
  }

  /**
   * Resolves once all activities at the worker have ended, since a command in the middle of one may cross with its end
   * (activityEnds.ts). A call that a test delays does not end.
   */
  async settled(): Promise<void> {
    for (let [waitedMs, calmMs] = [0, 0]; calmMs < CALM_MS && waitedMs < HELD_MS; waitedMs += STEP_MS) {
      await wait(STEP_MS);
      calmMs = this.isIdle() ? calmMs + STEP_MS : 0;
    }
  }

  /** Lets every sleep end, once no worker works: a call that is cut off is made again, and no caller remains for the reason. */
  async end(): Promise<void> {
    const latest = Math.max(0, ...[...this.sleeps].map(({ untilMs }) => untilMs));
    const restMs = latest - (await this.now());
    if (restMs <= 0) return;
    const sleeping = await this.begin(restMs + 1);
    void this.freeLostLocks(sleeping, () => true).catch(() => undefined);
    await sleeping.over;
    await Promise.all([...this.sleeps].map(({ over }) => over));
  }

  /** Sleeps inside an activity, whose task holds a lock, or in a service that it calls, for which it stops waiting once it is cancelled. */
  private async sleepInside(ms: number, signal = activityContext()?.cancellationSignal): Promise<void> {
    if (signal?.aborted) return;
    const context = activityContext();
    this.ends.slept();
    this.forget();
    const own = this.sleepsOf(context);
    const sleeping = await this.begin(ms, true);
    const others = [...own];
    own.add(sleeping);
    await this.handOver(others);
    let wake = (): void => undefined;
    const aborted = new Promise<void>((resolve) => (wake = resolve));
    signal?.addEventListener('abort', wake);
    await Promise.race([sleeping.over, aborted]);
    signal?.removeEventListener('abort', wake);
    this.forget();
    own.delete(sleeping);
    await this.handOver([sleeping, ...own]);
    if (context && own.size > 0) void this.sleepOn(context, own);
  }

  private sleepsOf(context: Context | undefined): Set<Sleep> {
    const own = (context && this.sleepsInside.get(context)) ?? new Set();
    if (context) this.sleepsInside.set(context, own);
    return own;
  }

  /** An activity that has not returned soon after one of its sleeps waits for another. */
  private async sleepOn(context: Context, own: ReadonlySet<Sleep>): Promise<void> {
    await wait(AWAKE_MS);
    const next = [...own].find(({ isOver }) => !isOver);
    const isAwake = next === undefined || this.ends.hasReturned(context);
    if (isAwake || [...own].some(({ isOver, isLocked }) => !isOver && !isLocked)) return;
    next.isLocked = false;
    await this.server.unlockTimeSkipping({});
  }

  private forget(): void {
    const context = activityContext();
    if (context) this.ahead.delete(context);
  }

  private async begin(ms: number, isInside = false): Promise<Sleep> {
    const untilMs = (await this.now()) + ms;
    const sleep: Sleep = { untilMs, isInside, isOver: false, isLocked: false, over: Promise.resolve() };
    this.sleeps.add(sleep);
    sleep.over = this.env.sleep(ms).finally(() => {
      sleep.isOver = true;
      this.sleeps.delete(sleep);
      // The server locks at the end of each sleep.
      if (sleep.isLocked) void this.server.unlockTimeSkipping({}).catch(() => undefined);
    });
    return sleep;
  }

  /** The rest of these sleeps no longer unlocks anything. */
  private async handOver(sleeps: readonly Sleep[]): Promise<void> {
    const unlocking = sleeps.filter(({ isOver, isLocked }) => !isOver && !isLocked);
    for (const sleep of unlocking) sleep.isLocked = true;
    await Promise.all(unlocking.map(() => this.server.lockTimeSkipping({})));
  }

  /** The number of sleeping activities. */
  private sleepers(): number {
    return [...this.sleeps].filter(({ isInside, isLocked }) => isInside && !isLocked).length;
  }

  /** If time stands still, or passes in real time, while no task runs, it waits for a lock that will never be freed. */
  private async freeLostLocks(sleep: Sleep, isIdle: () => boolean): Promise<void> {
    let [aheadMs, stoodMs, idleMs] = [await this.aheadMs(), 0, 0];
    for (;;) {
      await wait(LOOK_MS);
      if (sleep.isOver) return;
      // On a busy machine much real time passes between two looks; that means nothing.
      const now = await this.aheadMs();
      stoodMs = now - aheadMs <= LOOK_MS ? stoodMs + LOOK_MS : 0;
      idleMs = isIdle() && stoodMs > 0 ? idleMs + LOOK_MS : 0;
      aheadMs = now;
      if (stoodMs > STOOD_MS) throw new TimeStoodStill(JSON.stringify(this.worker?.getStatus()));
      if (idleMs < IDLE_MS) continue;
      await this.server.unlockTimeSkipping({}).catch(() => undefined);
      idleMs = 0;
    }
  }

  /** How far virtual time is ahead of this process's clock: it grows when time is skipped, and stays the same while real time passes. */
  private async aheadMs(): Promise<number> {
    return Number(await this.env.currentTimeMs()) - performance.now();
  }

  private isIdle(): boolean {
    const status = this.worker?.getStatus();
    return status?.numInFlightWorkflowActivations === 0 && status.numInFlightActivities === this.sleepers();
  }

  private get server() {
    const { testService } = this.env.connection;
    if (testService === undefined) throw new Error('not a test server');
    return testService;
  }
}

/** The test server has miscounted in a way that this class cannot correct: no verdict about the tested code. */
class TimeStoodStill extends Error {
  constructor(worker: string) {
    super(`virtual time stands still: ${worker}`);
  }
}

interface Sleep {
  readonly untilMs: number;
  readonly isInside: boolean;
  isOver: boolean;
  /** Whether a lock of ours makes up for it. */
  isLocked: boolean;
  over: Promise<void>;
}

const LOOK_MS = 100;
/** Longer than an activity takes to return after a sleep. */
const AWAKE_MS = 50;
const STEP_MS = 10;
/** Longer than an activity takes to reach its worker. */
const CALM_MS = 40;
/** Longer than a call takes that no test delays. */
const HELD_MS = 1_000;
/** Longer than a worker takes to take a waiting task. */
const IDLE_MS = 2_000;
/** Longer than anything takes in reality. */
const STOOD_MS = 45_000;
