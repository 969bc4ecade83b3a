import {
  CancellationScope,
  condition,
  continueAsNew,
  getExternalWorkflowHandle,
  setCurrentDetails,
  setHandler,
  setWorkflowOptions,
  workflowInfo,
} from '@temporalio/workflow';
import type { Artifact } from '../../domain/artifact';
import { childrenDetails, shardView } from '../../domain/children/view';
import {
  begun,
  due,
  isEmpty,
  newWindow,
  numbered,
  reportOf,
  settled,
  stopped,
  wakeAtMs,
  type ChildEnd,
  type ShardReport,
  type WindowPlan,
  type WindowState,
} from '../../domain/children/window';
import type { Settings } from '../../domain/settings';
import { messageOf } from '../deploy/dependable';
import { onSignal } from '../inbox';
import { childOverSignal, statusQuery } from '../messages';
import { children, childStarts } from '../proxies';
import { versioned } from '../versioning';
import { Alarm } from './alarm';
import { shardReportSignal, stopSignal } from './messages';

/** What a fan-out gives one of its shards. */
export interface ShardInput extends WindowPlan {
  readonly index: number;
  /** The workflow of the fan-out. */
  readonly root: string;
  readonly artifacts: readonly Artifact[];
  /** Of the parent. */
  readonly owners?: readonly string[];
  /** The person or program that started the parent's release. */
  readonly startedBy?: string;
  /** How often it says where it stands while something changes. */
  readonly reportIntervalMs: number;
  readonly settings: Settings;
}

/**
 * A sliding window over some of a release's children: so many run at once, each is started once, and whoever ends makes
 * room for the next. It outlives its fan-out.
 */
export async function fanOutShard(input: ShardInput, carried: WindowState | null = null): Promise<ShardReport> {
  const run = new ShardRun(input, carried ?? newWindow(input));
  CancellationScope.current().cancelRequested.catch(() => run.stop());
  return CancellationScope.nonCancellable(async () => {
    run.askAgain();
    while (!isEmpty(run.window)) {
      // Not after all that is under way: a child that does not answer would keep the others waiting.
      if (workflowInfo().continueAsNewSuggested) {
        // The next history knows no more what the fan-out has heard.
        while (run.hasNews()) await run.tell(false);
        await continueAsNew<typeof fanOutShard>({ ...input, names: [] }, run.window);
      }
      run.step();
      await condition(() => run.takeChange());
    }
    run.asksNoMore();
    await run.drained();
    await run.tell(true);
    return reportOf(run.window);
  });
}
setWorkflowOptions(versioned('PINNED'), fanOutShard);

/** One shard under way: its window, its inbox, and what it waits for. */
class ShardRun {
  private changed = true;
  private readonly running = new Set<Promise<void>>();
  private readonly asking = new CancellationScope();
  private readonly alarm = new Alarm(() => (this.changed = true));
  private told: { readonly atMs: number; readonly window: WindowState };
  private lookAtMs: number;

  constructor(
    private readonly input: ShardInput,
    public window: WindowState,
  ) {
    this.told = { atMs: Date.now(), window };
    this.lookAtMs = Date.now() + input.settings.reconcileIntervalMs;
    setHandler(statusQuery, () => shardView(reportOf(this.window)));
    onSignal(childOverSignal, (end) => this.settle(end));
    onSignal(stopSignal, () => this.stop());
  }

  takeChange(): boolean {
    const { changed } = this;
    this.changed = false;
    return changed;
  }

  stop(): void {
    this.set(stopped(this.window));
  }

  /** Children whose answer did not come before the last history ended; one that was started is not started again. */
  askAgain(): void {
    for (const { pipeline, number } of this.window.running) if (number === null) this.track(this.start(pipeline));
  }

  /** All have ended: an answer that is still to come says nothing new. */
  asksNoMore(): void {
    this.asking.cancel();
  }

  /** Starts what is due, says where it stands, looks after those that are silent; then sets the alarm. */
  step(): void {
    const now = Date.now();
    for (const child of due(this.window, this.input, now)) {
      this.set(begun(this.window, child));
      this.track(this.start(child));
    }
    const { reportIntervalMs, settings } = this.input;
    const unsaid = this.hasNews();
    if (unsaid && now >= this.told.atMs + reportIntervalMs) this.track(this.tell(false));
    else if (unsaid) this.alarm.set(this.told.atMs + reportIntervalMs, 'say where it stands');
    if (now >= this.lookAtMs) {
      this.lookAtMs = now + settings.reconcileIntervalMs;
      this.track(this.look());
    }
    this.alarm.set(this.lookAtMs, 'check that the running children still run');
    const next = wakeAtMs(this.window, this.input);
    if (next !== undefined) this.alarm.set(next, `start ${this.window.waiting[0] ?? ''}`);
  }

  /** Whether it stands elsewhere than it said last. */
  hasNews(): boolean {
    return this.window !== this.told.window;
  }

  /** Tells the fan-out where this shard stands; one that was terminated need not know. */
  async tell(over: boolean): Promise<void> {
    this.told = { atMs: Date.now(), window: this.window };
    const { root, index } = this.input;
    await getExternalWorkflowHandle(root)
      .signal(shardReportSignal, { index, report: reportOf(this.window), over })
      .catch(() => undefined);
  }

  /** All that runs beside the loop has ended. */
  async drained(): Promise<void> {
    while (this.running.size > 0) await Promise.all(this.running);
  }

  private async start(child: string): Promise<void> {
    const { parent, owners = [], artifacts, settings, startedBy } = this.input;
    const request = {
      child,
      owners,
      parent,
      ...(startedBy === undefined ? {} : { startedBy }),
      artifacts,
      reportTo: workflowInfo().workflowId,
      heartbeatTimeoutMs: settings.heartbeatTimeoutMs,
    };
    try {
      const ask = () => childStarts(settings).startChildRelease.executeWithOptions({ summary: child }, [request]);
      const answer = await this.asking.run(ask);
      if (answer.kind === 'started') this.set(numbered(this.window, child, answer.number));
      else this.settle({ pipeline: child, number: null, state: 'failed', reason: answer.reason });
    } catch (error) {
      this.settle({ pipeline: child, number: null, state: 'failed', reason: messageOf(error) });
    }
  }

  /** A release that was terminated can say nothing, and a word may be lost: its place is free again all the same. */
  private async look(): Promise<void> {
    const running = this.window.running.flatMap(({ pipeline, number }) =>
      number === null ? [] : { pipeline, number },
    );
    if (running.length === 0) return;
    for (const end of await children.childrenOver(running)) this.settle(end);
  }

  private settle(end: ChildEnd): void {
    this.set(settled(this.window, end, this.input));
  }

  private set(window: WindowState): void {
    if (window === this.window) return;
    this.window = window;
    this.changed = true;
    setCurrentDetails(childrenDetails(workflowInfo().workflowId, shardView(reportOf(window)), []));
  }

  private track(work: Promise<void>): void {
    this.running.add(work);
    void work.then(() => this.running.delete(work));
  }
}
