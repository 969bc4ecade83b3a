import type { Ending } from '../../domain/deploy/outcome';
import { addCounts, NOTHING_COUNTED, type UpdateUnitCounts } from '../../domain/deploy/counts';
import type { TaskCounts } from '../../domain/deploy/lockstep';
import type { PhasePlan } from '../../domain/deploy/plan';
import type { RevertRequest } from '../../activities/reverts';
import { unitsWithoutPast } from '../../domain/deploy/planRevert';
import type { PlannedStride } from '../../activities/strides';
import type { PhaseWork, Traffic } from '../../activities/updates';
import type { Selection } from '../../domain/deploy/snapshot';
import { refusalWords } from '../../domain/text';
import { runInterruptible } from '../interrupts';
import { askAgain, callUntilAnswered, type Answer, type PushCall } from './calls';
import { callOrPause, pauseRefused } from './refusals';
import type { PushCaller, UpdateRunner } from './needs';
import type { UpdateControl } from './update';

/** Lockstep (Conveyor §3.3): the traffic moves with the tasks, stride by stride (`domain/deploy/lockstep.ts`). */

/** Checks, before any update, that the push type supports lockstep. @returns the ending if it does not. */
export async function checkLockstep(run: PushCaller): Promise<Ending | undefined> {
  if (!run.input.spec.lockstep) return undefined;
  const nothing = { snapshot: { units: [] }, parts: [] };
  const answer = await shift(run, { step: 'plan', selection: nothing, percent: 0 });
  if ('value' in answer && answer.value) return undefined;
  if ('refused' in answer) return { kind: 'failed', reason: answer.refused, fault: 'conveyor' };
  const reason = `${run.input.spec.pushType} has no shiftTraffic, which lockstep needs`;
  return { kind: 'failed', reason, fault: 'change' };
}

/** The next part to send; `isLast` if nothing is left to send after it. */
export interface StridePart {
  /** The number of tasks of each unit; left out if the part has all that is wanted. */
  readonly counts?: TaskCounts;
  readonly isLast: boolean;
}

/** Rounding may leave nothing to do. */
export const isEmpty = ({ counts }: StridePart): boolean => counts !== undefined && Object.keys(counts).length === 0;

/** The units of a part, among those that are wanted. */
export const unitsOfPart = (selection: Selection, { counts }: StridePart): Selection =>
  counts ? { ...selection, only: Object.keys(counts) } : selection;

/** The units of a revert: those of the snapshot, and those that joined and whose earlier version is known. */
export const unitsOfRevert = ({ snapshot, now, parts, rules }: RevertRequest): Selection => ({
  ...{ snapshot, parts },
  back: { rules, ...(now ? { now } : {}) },
});

/** Splits a phase or a revert into parts, one after the other, and adds up their counts. Without lockstep there is one part. */
export class Strides {
  private before = NOTHING_COUNTED;
  private seen = NOTHING_COUNTED;
  /** The last known split of the traffic since it was shifted; null if unknown. */
  private shifted: string | null = null;

  constructor(private readonly run: UpdateRunner) {}

  /** @param now the counts of the present part. @returns the counts of all parts together, for display. */
  addCounts({ totals, units }: UpdateUnitCounts): UpdateUnitCounts {
    const now = { totals, units };
    this.seen = this.run.input.spec.lockstep ? addCounts(this.before, now) : now;
    return this.seen;
  }

  /** The present part is complete. */
  completePart(): void {
    this.before = this.seen;
  }

  /**
   * The part of a phase that may be updated now, after the traffic has been shifted for it; without lockstep the whole
   * phase.
   */
  async planNext(
    phase: PhasePlan,
    work: PhaseWork,
    nth: number,
    awaitGo: UpdateControl['awaitGo'],
  ): Promise<StridePart> {
    if (!this.run.input.spec.lockstep) return { isLast: true };
    const planned = await planStride(this.run, work);
    await this.shiftForward(buildShift(planned, work.selection, `${phase.key}/${nth}`), awaitGo);
    return planned;
  }

  /**
   * Before a phase bakes, the new version gets the same share of the traffic as of the tasks; after the completion that
   * is all of it.
   */
  async shiftForBake(phase: PhasePlan, work: PhaseWork, awaitGo: UpdateControl['awaitGo']): Promise<void> {
    const { run } = this;
    if (!run.input.spec.lockstep) return;
    const planned = await planStride(run, work);
    await this.shiftForward(buildShift(planned, work.selection, `${phase.key}/end`), awaitGo);
    run.note('traffic-shifted', `${roundForDisplay(planned.percent)}% of the traffic goes to ${run.input.version}`);
  }

  /**
   * The part of a revert that may be taken back now, after its traffic has moved to the old version as far as that has tasks. Without
   * counts, or if traffic stayed, requests would reach tasks that are down. So the revert asks again if a shift is refused.
   */
  async planNextBack(request: RevertRequest, nth: number): Promise<Answer<StridePart>> {
    const { run } = this;
    const { version, spec } = run.input;
    if (!spec.lockstep) return { value: { isLast: true } };
    const counted = await answerBack(run, 'needsPush', () =>
      callUntilAnswered(run, 'needsPush', (push) => push.planStrideBack(run.call, request)),
    );
    if ('refused' in counted) return counted;
    const planned = counted.value;
    const traffic = buildShift(planned, unitsOfRevert(request), `revert/${nth}`);
    const shifted = await answerBack(run, 'shiftTraffic', () => this.shiftOnce(traffic));
    if ('refused' in shifted) return shifted;
    const isAll = planned.percent === 0 && planned.isLast && unitsWithoutPast(run.record).length === 0;
    if (isAll) run.note('traffic-shifted', `no traffic goes to ${version} any more`);
    return { value: planned };
  }

  private async shiftForward(traffic: Shift, awaitGo: UpdateControl['awaitGo']): Promise<void> {
    const { run } = this;
    for (;;) {
      await awaitGo();
      const shifted = await runInterruptible(run.findCallStop, () => this.shiftOnce(traffic));
      if (shifted.kind === 'interrupted') continue;
      const { value: answer } = shifted;
      if ('value' in answer) return;
      await pauseRefused(run, refusalWords(run.input.spec.pushType, 'shiftTraffic', answer.refused));
    }
  }

  /** Traffic that already goes there is not shifted again. With no units there is nothing to shift. */
  private async shiftOnce(traffic: Shift): Promise<Answer<boolean>> {
    const { only } = traffic.selection;
    const goes = `${traffic.percent}% of ${only ? only.join() : 'all'}`;
    if (this.shifted === goes || only?.length === 0) return { value: true };
    this.shifted = null;
    const answer = await shift(this.run, traffic);
    if ('value' in answer) this.shifted = goes;
    return answer;
  }
}

/** Asks a few times; a refusal that remains is worded for people. */
async function answerBack<T>(run: UpdateRunner, what: string, ask: () => Promise<Answer<T>>): Promise<Answer<T>> {
  const answer = await askAgain(ask);
  return 'refused' in answer ? { refused: refusalWords(run.input.spec.pushType, what, answer.refused) } : answer;
}

const buildShift = ({ percent, shifts }: PlannedStride, selection: Selection, step: string): Shift => ({
  ...{ step, percent },
  selection: shifts ? { ...selection, only: shifts } : selection,
});

const roundForDisplay = (percent: number): number => Math.round(percent * 10) / 10;

const planStride = (run: UpdateRunner, work: PhaseWork) =>
  callOrPause(run, 'needsPush', (push) => push.planStride(run.call, work));

type Shift = Omit<Traffic, 'toVersion'>;

/** A shift already on its way is waited for, so that no later call overtakes it. */
function shift(run: PushCaller, traffic: Shift): Promise<Answer<boolean>> {
  const options = {
    summary: `${roundForDisplay(traffic.percent)}% of the traffic`,
    cancellationType: 'WAIT_CANCELLATION_COMPLETED' as const,
  };
  const request = { ...traffic, toVersion: run.input.version };
  const call: PushCall<boolean> = (push) => push.shiftTraffic.executeWithOptions(options, [run.call, request]);
  return callUntilAnswered(run, 'shiftTraffic', call, { awaitsEnd: true });
}
