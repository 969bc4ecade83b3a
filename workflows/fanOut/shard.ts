import {
  CancellationScope,
  condition,
  continueAsNew,
  getExternalWorkflowHandle,
  setHandler,
  setWorkflowOptions,
  workflowInfo,
} from '@temporalio/workflow';
import type { ChildAnswer, ChildAnswers, ChildOrder } from '../../activities/children';
import type { Artifact } from '../../domain/artifact';
import { childrenDetails, shardView } from '../../domain/children/view';
import {
  childBegun,
  due,
  isShardIdle,
  newWindow,
  recordChildNumber,
  shardReport,
  childEnded,
  withoutNewStarts,
  wakeAtMs,
  type ChildEnd,
  type ShardReport,
  type WindowPlan,
  type ShardState,
} from '../../domain/children/window';
import { isChildEnd } from '../../domain/messageShapes';
import type { Settings } from '../../domain/settings';
import { getFailureMessage } from '../deploy/calls';
import { showDetails } from '../details';
import { onSignal } from '../inbox';
import { childOverSignal, statusQuery } from '../messages';
import { childActivities, childStarts } from '../proxies';
import { buildVersioningOptions } from '../versioning';
import { Alarm } from './alarm';
import { shardReportSignal, stopSignal } from './messages';

/** The input that a fan-out gives to one of its shards. */
export interface ShardInput extends WindowPlan {
  readonly index: number;
  /** The workflow of the fan-out. */
  readonly root: string;
  readonly artifacts: readonly Artifact[];
  /** The owners of the parent. */
  readonly owners?: readonly string[];
  /** The person or program that started the parent's release. */
  readonly startedBy?: string;
  /** The interval at which it reports its progress while something changes. */
  readonly reportIntervalMs: number;
  readonly settings: Settings;
}

/**
 * A sliding window over some of a release's children: a limited number run at once, each is started once, and each end
 * makes room for the next. It outlives its fan-out.
 */
export async function fanOutShard(input: ShardInput, carried: ShardState | null = null): Promise<ShardReport> {
  const run = new ShardRun(input, carried ?? newWindow(input));
  CancellationScope.current().cancelRequested.catch(() => run.stop());
  return CancellationScope.nonCancellable(async () => {
    run.askAgain();
    while (!isShardIdle(run.window)) {
      // Continues as new before the work under way has ended: a child that does not answer would delay the others.
      if (workflowInfo().continueAsNewSuggested) {
        // The next history does not know the reports to the fan-out.
        while (run.hasNews()) await run.report(false);
        await continueAsNew<typeof fanOutShard>({ ...input, names: [] }, run.window);
      }
      run.step();
      await condition(() => run.takeChange());
    }
    run.asksNoMore();
    await run.drain();
    await run.report(true);
    return shardReport(run.window);
  });
}
setWorkflowOptions(buildVersioningOptions('fanOutShard'), fanOutShard);

/** One shard under way: its window, its inbox, and the work that it waits for. */
class ShardRun {
  private changed = true;
  private readonly running = new Set<Promise<void>>();
  private readonly asking = new CancellationScope();
  private readonly alarm = new Alarm(() => (this.changed = true));
  private reported: { readonly atMs: number; readonly window: ShardState };
  private lookAtMs: number;

  constructor(
    private readonly input: ShardInput,
    public window: ShardState,
  ) {
    this.reported = { atMs: Date.now(), window };
    this.lookAtMs = Date.now() + input.settings.reconcileIntervalMs;
    const { workflowId } = workflowInfo();
    const view = () => shardView(shardReport(this.window));
    showDetails(() => childrenDetails(workflowId, view(), []));
    setHandler(statusQuery, view);
    onSignal(childOverSignal, (end) => this.recordEnd(end), isChildEnd);
    onSignal(stopSignal, () => this.stop());
  }

  takeChange(): boolean {
    const { changed } = this;
    this.changed = false;
    return changed;
  }

  stop(): void {
    this.set(withoutNewStarts(this.window));
  }

  /**
   * Asks again for children whose answer did not come before the last history ended. A child that was started is not
   * started again.
   */
  askAgain(): void {
    this.startAll(this.window.running.flatMap(({ pipeline, number }) => (number === null ? pipeline : [])));
  }

  /** All children have ended, so an answer that is still on its way carries no news. */
  asksNoMore(): void {
    this.asking.cancel();
  }

  /** Starts the children that are due, reports progress, looks at silent children, and then sets the alarm. */
  step(): void {
    const now = Date.now();
    const children = due(this.window, this.input, now);
    for (const child of children) this.set(childBegun(this.window, child));
    this.startAll(children);
    const { reportIntervalMs, settings } = this.input;
    const unsaid = this.hasNews();
    if (unsaid && now >= this.reported.atMs + reportIntervalMs) this.track(this.report(false));
    else if (unsaid) this.alarm.set(this.reported.atMs + reportIntervalMs, 'say where it stands');
    if (now >= this.lookAtMs) {
      this.lookAtMs = now + settings.reconcileIntervalMs;
      this.track(this.look());
    }
    this.alarm.set(this.lookAtMs, 'check that the running children still run');
    const next = wakeAtMs(this.window, this.input);
    if (next !== undefined) this.alarm.set(next, `start ${this.window.waiting[0] ?? ''}`);
  }

  /** Whether its progress differs from its last report. */
  hasNews(): boolean {
    return this.window !== this.reported.window;
  }

  /** Reports the progress of this shard to the fan-out, unless the fan-out was terminated. */
  async report(over: boolean): Promise<void> {
    this.reported = { atMs: Date.now(), window: this.window };
    const { root, index } = this.input;
    await getExternalWorkflowHandle(root)
      .signal(shardReportSignal, { index, report: shardReport(this.window), over })
      .catch(() => undefined);
  }

  /** Resolves when all work that runs in parallel with the loop has ended. */
  async drain(): Promise<void> {
    while (this.running.size > 0) await Promise.all(this.running);
  }

  private startAll(children: readonly string[]): void {
    // One activity starts all children that are due at the same moment.
    if (children.length > 1) this.track(this.startTogether(children));
    else for (const child of children) this.track(this.start(child));
  }

  /** Each child that does not answer soon is asked again, alone, for as long as it takes. */
  private async startTogether(children: readonly string[]): Promise<void> {
    const { startChildReleases } = childStarts(this.input.settings);
    const summary = `${children.length} children`;
    const ask = () => startChildReleases.executeWithOptions({ summary }, [{ ...this.order(), children }]);
    const answers = await this.asking.run(ask).catch((): ChildAnswers => ({}));
    for (const child of children) {
      const answer = answers[child];
      if (answer) this.answered(child, answer);
      else if (this.isUnanswered(child)) this.track(this.start(child));
    }
  }

  private async start(child: string): Promise<void> {
    const { startChildRelease } = childStarts(this.input.settings);
    const ask = () => startChildRelease.executeWithOptions({ summary: child }, [{ ...this.order(), child }]);
    try {
      this.answered(child, await this.asking.run(ask));
    } catch (error) {
      this.recordEnd({ pipeline: child, number: null, state: 'failed', reason: getFailureMessage(error) });
    }
  }

  private order(): ChildOrder {
    const { parent, owners = [], artifacts, settings, startedBy } = this.input;
    return {
      ...{ owners, parent, artifacts },
      ...(startedBy === undefined ? {} : { startedBy }),
      reportTo: workflowInfo().workflowId,
      heartbeatTimeoutMs: settings.heartbeatTimeoutMs,
    };
  }

  private answered(child: string, answer: ChildAnswer): void {
    if (answer.kind === 'started') this.set(recordChildNumber(this.window, child, answer.number));
    else this.recordEnd({ pipeline: child, number: null, state: 'failed', reason: answer.reason });
  }

  private isUnanswered(child: string): boolean {
    return this.window.running.some(({ pipeline, number }) => pipeline === child && number === null);
  }

  /**
   * Looks at silent children: a terminated release cannot report, and a signal may be lost. Its place becomes free
   * either way.
   */
  private async look(): Promise<void> {
    const running = this.window.running.flatMap(({ pipeline, number }) =>
      number === null ? [] : { pipeline, number },
    );
    if (running.length === 0) return;
    for (const end of await childActivities.childrenOver(running)) this.recordEnd(end);
  }

  private recordEnd(end: ChildEnd): void {
    this.set(childEnded(this.window, end, this.input));
  }

  private set(window: ShardState): void {
    if (window === this.window) return;
    this.window = window;
    this.changed = true;
  }

  private track(work: Promise<void>): void {
    this.running.add(work);
    void work.then(() => this.running.delete(work));
  }
}
