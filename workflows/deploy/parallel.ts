import type { HealthReport } from '../../activities/pushType';
import type { GroupNames } from '../../activities/updateCommands';
import { isParallel, otherGroups } from '../../domain/deploy/groups';
import { HEALTH_DATA } from '../../domain/deploy/outcome';
import type { PhasePlan } from '../../domain/deploy/plan';
import type { HealthFold } from '../../domain/health/fold';
import { formatSummary } from '../../domain/markdown';
import { runBeside } from '../interrupts';
import { until, type WaitOutcome } from '../waitFor';
import { callUntilAnswered } from './calls';
import { toHealthReport, watch, canWatch } from './health';
import { whilePaused } from './pause';
import type { UpdateRunner } from './needs';
import { commandUpdates, runUpdates } from './updates';
import type { GroupControl, UpdateControl, UpdateOrder, UpdateEnd } from './update';
import { revertOrPause } from './verdicts';

/**
 * Runs the updates of a phase. In parallel mode, health is checked meanwhile, and an unhealthy group is paused by
 * itself until it is healthy again (Conveyor §5.2).
 */
export async function runGuarded(
  run: UpdateRunner,
  phase: PhasePlan,
  order: UpdateOrder,
  control: UpdateControl,
): Promise<UpdateEnd> {
  if (!isParallel(run.input)) return runUpdates(run, phase, order, control);
  const guard = new Guard(run, phase, order, control);
  return runBeside(
    () => guard.watch(),
    () => runUpdates(run, phase, order, { ...control, groups: guard }),
  );
}

/** While a group is paused, no update is sent and no phase ends, because an update begins in all groups at once. */
export async function untilNoGroupPaused(
  run: UpdateRunner,
  awaitGo: () => Promise<void> = () => whilePaused(run),
): Promise<void> {
  while (run.record.pausedGroups.length > 0) {
    const { skippedChecks } = run.record.control;
    const wake = () => run.paused !== null || run.record.control.skippedChecks !== skippedChecks;
    const waited = await watch(run, { summary: 'until no group is paused', ...TO_ITS_END }, wake);
    if (waited.kind !== 'woken') judge(run, waited);
    await awaitGo();
  }
}

const TO_ITS_END = { until: null, stopAt: ['unhealthy'], stopAtChange: true } as const;

/** If too many groups are unhealthy, or they cannot be checked at all, nothing continues. */
function judge(run: UpdateRunner, waited: Exclude<WaitOutcome<HealthReport>, { kind: 'woken' }>): void {
  const report = toHealthReport(waited);
  if (waited.kind !== 'done') return run.pauseOn(report.reason, { on: HEALTH_DATA });
  if (report.verdict === 'unhealthy') revertOrPause(run, report);
}

/** Watches the groups during the updates, and makes the fleet follow their verdicts whenever the updates allow it. */
class Guard implements GroupControl {
  /** The groups that are paused by themselves in the fleet. */
  private paused: readonly string[] = [];
  private fold: HealthFold | undefined;

  constructor(
    private readonly run: UpdateRunner,
    private readonly phase: PhasePlan,
    private readonly order: UpdateOrder,
    private readonly control: UpdateControl,
  ) {}

  /** Never ends by itself. It rests while the updates are halted, because another watch is active then. */
  async watch(): Promise<never> {
    const { run } = this;
    const mayWatch = () => canWatch(run) && !run.isHalted;
    for (;;) {
      await until(mayWatch);
      const { skippedChecks } = run.record.control;
      const wake = () => !mayWatch() || run.record.control.skippedChecks !== skippedChecks;
      const options = { summary: formatSummary(`${this.phase.name}: health of each group`), ...TO_ITS_END };
      this.take(await watch(run, { ...options, updating: true, fold: this.fold }, wake));
    }
  }

  readonly differs = (): boolean => otherGroups(this.paused, this.wanted());

  readonly hasPausedGroups = (): boolean => this.paused.length > 0;

  async applyPauses(): Promise<void> {
    const [before, wanted] = [this.paused, this.wanted()];
    this.paused = wanted;
    const fresh = wanted.filter((name) => !before.includes(name));
    const gone = before.filter((name) => !wanted.includes(name));
    const refused = await this.command('pauseUpdates', fresh);
    if (refused) this.run.pause('health', `${fresh.join(', ')} cannot be paused alone: ${refused}`);
    // The step that resumes the updates resumes these groups too.
    if (this.run.isHalted) return void (this.paused = [...wanted, ...gone]);
    await this.command('resumeUpdates', gone);
  }

  /**
   * A group may have become unhealthy during the halt without being paused, so nothing continues before a new
   * evaluation.
   */
  async refresh(): Promise<void> {
    const { run, control } = this;
    while (canWatch(run)) {
      const options = { summary: 'health before updates continue', until: Date.now(), stopAt: [], updating: true };
      this.take(await watch(run, { ...options, fold: this.fold }, () => run.isHalted));
      if (!run.isHalted) return;
      await control.awaitGo();
    }
  }

  async resumeOthers(nth: number): Promise<void> {
    this.paused = this.wanted();
    if (this.paused.length === 0) return commandUpdates(this.run, 'resumeUpdates', [this.order.updateId], nth);
    await this.command('resumeUpdates', this.paused, { but: true });
  }

  untilNonePaused(): Promise<void> {
    this.paused = [];
    return untilNoGroupPaused(this.run, this.control.awaitGo);
  }

  private take(waited: WaitOutcome<HealthReport>): void {
    if (waited.kind === 'woken') return;
    if (waited.kind === 'done') this.fold = waited.value.fold;
    judge(this.run, waited);
  }

  private wanted(): string[] {
    return this.run.record.pausedGroups.map(({ group }) => group);
  }

  /** Applies to the units of these groups in this update, or to all others. @returns why the push type refused, if it did. */
  private async command(
    method: 'pauseUpdates' | 'resumeUpdates',
    names: GroupNames['names'],
    others: { readonly but?: true } = {},
  ): Promise<string | undefined> {
    if (names.length === 0) return undefined;
    const { run, order } = this;
    const { pauseBy } = run.input.spec;
    const nth = run.updates.count('groups', order.updateId);
    const groups = { selection: order.selection, pauseBy, names, ...others };
    const answer = await callUntilAnswered(run, method, (push) =>
      push[method](run.call, [order.updateId], nth, groups),
    );
    if ('value' in answer) return undefined;
    run.note('trouble', `${method} was refused: ${answer.refused}`);
    return answer.refused;
  }
}
