import { patched } from '@temporalio/workflow';
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
import { askAgain, callUntilAnswered } from './calls';
import { callOrPause, pauseRefused } from './refusals';
import type { DeploySession } from './session';
import type { UpdateControl } from './update';

/** Lockstep (Conveyor §3.3): the traffic moves with the tasks, stride by stride (`domain/deploy/lockstep.ts`). */

/**
 * Checks that the push type supports lockstep, before anything is updated. @returns why the deploy ends, if it does
 * not.
 */
export async function cannotShift(run: DeploySession): Promise<Ending | undefined> {
  if (!run.input.spec.lockstep) return undefined;
  const nothing = { snapshot: { units: [] }, parts: [] };
  const answer = await shift(run, { step: 'plan', selection: nothing, percent: 0 });
  if (answer === undefined || ('value' in answer && answer.value)) return undefined;
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

export interface LockstepRefusal {
  readonly refused: string;
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

  constructor(private readonly run: DeploySession) {}

  /** @param now the counts of the present part. @returns the counts of all parts together, for display. */
  counted({ totals, units }: UpdateUnitCounts): UpdateUnitCounts {
    const now = { totals, units };
    this.seen = this.run.input.spec.lockstep ? addCounts(this.before, now) : now;
    return this.seen;
  }

  /** The present part is complete. */
  through(): void {
    this.before = this.seen;
  }

  /**
   * The part of a phase that may be updated now, after the traffic has been shifted for it; without lockstep the whole
   * phase.
   * @returns undefined if the phase is left.
   */
  async next(
    phase: PhasePlan,
    work: PhaseWork,
    nth: number,
    hold: UpdateControl['hold'],
  ): Promise<StridePart | undefined> {
    if (!this.run.input.spec.lockstep) return { isLast: true };
    const planned = await planStride(this.run, work);
    if (planned === undefined) return undefined;
    await this.shiftForward(buildShift(planned, work.selection, `${phase.key}/${nth}`), hold);
    return this.run.isLeft() ? undefined : planned;
  }

  /**
   * Before a phase bakes, the new version gets the same share of the traffic as of the tasks; after the completion that
   * is all of it.
   */
  async settle(phase: PhasePlan, work: PhaseWork, hold: UpdateControl['hold']): Promise<void> {
    const { run } = this;
    if (!run.input.spec.lockstep) return;
    const planned = await planStride(run, work);
    if (planned === undefined) return;
    await this.shiftForward(buildShift(planned, work.selection, `${phase.key}/end`), hold);
    if (!run.isLeft())
      run.note('traffic-shifted', `${roundForDisplay(planned.percent)}% of the traffic goes to ${run.input.version}`);
  }

  /**
   * The part of a revert that may be taken back now, after its traffic has moved to the old version as far as that has tasks. Without
   * counts, or if traffic stayed, requests would reach tasks that are down. So the revert asks again if a shift is refused.
   * @returns undefined if a person has ended the revert.
   */
  async nextBack(request: RevertRequest, nth: number): Promise<StridePart | LockstepRefusal | undefined> {
    const { run } = this;
    const { version, spec } = run.input;
    if (!spec.lockstep) return { isLast: true };
    const call = (push: Push) => push.planStrideBack(run.call, request);
    const counted = await answerBack(run, 'needsPush', () => callUntilAnswered(run, 'needsPush', call));
    if (counted === undefined || 'refused' in counted) return counted;
    const planned = 'value' in counted ? counted.value : ALL_AT_ONCE;
    const traffic = buildShift(planned, unitsOfRevert(request), `revert/${nth}`);
    const shifted = await answerBack(run, 'shiftTraffic', () => this.shiftOnce(traffic));
    if (shifted && 'refused' in shifted) return shifted;
    const isAll = planned.percent === 0 && planned.isLast && unitsWithoutPast(run.record).length === 0;
    if (shifted && 'value' in shifted && isAll) run.note('traffic-shifted', `no traffic goes to ${version} any more`);
    return run.isLeft() ? undefined : planned;
  }

  private async shiftForward(traffic: Shift, hold: UpdateControl['hold']): Promise<void> {
    const { run } = this;
    const stands = () => run.isLeft() || run.isClosed || run.paused?.by === 'operator';
    for (;;) {
      await hold();
      if (run.isLeft()) return;
      const answer = await this.shiftOnce(traffic, stands);
      if (answer === undefined) continue;
      if ('value' in answer) return;
      await pauseRefused(run, `${run.input.spec.pushType} refused shiftTraffic: ${answer.refused}`);
    }
  }

  /** Traffic that already goes there is not shifted again. With no units there is nothing to shift. */
  private async shiftOnce(traffic: Shift, wake = this.run.isLeft) {
    const { only } = traffic.selection;
    const goes = `${traffic.percent}% of ${only ? only.join() : 'all'}`;
    if (this.shifted === goes || only?.length === 0) return { value: true };
    this.shifted = null;
    const answer = await shift(this.run, traffic, wake);
    if (answer && 'value' in answer) this.shifted = goes;
    return answer;
  }
}

/** `without`: reverts that began before 0.3 continued without an answer. */
async function answerBack<T>(
  run: DeploySession,
  what: string,
  ask: () => ReturnType<typeof callUntilAnswered<T>>,
): Promise<{ value: T } | LockstepRefusal | { without: true } | undefined> {
  let answer = await ask();
  if (answer === undefined || 'value' in answer) return answer;
  if (!patched('revert-waits-for-lockstep')) {
    run.note('trouble', `${what} was refused: ${answer.refused}`);
    return { without: true };
  }
  answer = await askAgain(run, ask);
  return answer && 'refused' in answer
    ? { refused: refusalWords(run.input.spec.pushType, what, answer.refused) }
    : answer;
}

type Push = Parameters<Parameters<typeof callUntilAnswered>[2]>[0];

/** `shifts` is left out if the traffic of all units moves. */
type ShiftPlan = Omit<PlannedStride, 'shifts'> & Partial<Pick<PlannedStride, 'shifts'>>;

const ALL_AT_ONCE: ShiftPlan = { percent: 0, isLast: true };

const buildShift = ({ percent, shifts }: ShiftPlan, selection: Selection, step: string): Shift => ({
  ...{ step, percent },
  selection: shifts ? { ...selection, only: shifts } : selection,
});

const roundForDisplay = (percent: number): number => Math.round(percent * 10) / 10;

async function planStride(run: DeploySession, work: PhaseWork) {
  return (await callOrPause(run, 'needsPush', (push) => push.planStride(run.call, work)))?.value;
}

type Shift = Omit<Traffic, 'toVersion'>;

/** If the deploy leaves this step, a shift already on its way is waited for, so that no later call overtakes it. */
async function shift(run: DeploySession, traffic: Shift, wake = run.isLeft) {
  const options = {
    summary: `${roundForDisplay(traffic.percent)}% of the traffic`,
    cancellationType: 'WAIT_CANCELLATION_COMPLETED' as const,
  };
  const request = { ...traffic, toVersion: run.input.version };
  let shifting: Promise<unknown> = Promise.resolve();
  const answer = await callUntilAnswered(
    run,
    'shiftTraffic',
    (push) => {
      const call = push.shiftTraffic.executeWithOptions(options, [run.call, request]);
      shifting = call;
      return call;
    },
    wake,
  );
  if (answer === undefined) await shifting.catch(() => undefined);
  return answer;
}
