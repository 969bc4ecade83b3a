import { patched } from '@temporalio/workflow';
import type { Ending } from '../../domain/deploy/outcome';
import { addCounts, NOTHING_COUNTED, type Counted } from '../../domain/deploy/counts';
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

/** Lockstep (Conveyor §3.3): the traffic goes with the tasks, stride by stride (`domain/deploy/lockstep.ts`). */

/** Whether the push type can do it, asked before anything is touched. @returns why the deploy ends, if it cannot. */
export async function cannotShift(run: DeploySession): Promise<Ending | undefined> {
  if (!run.input.spec.lockstep) return undefined;
  const nothing = { snapshot: { units: [] }, parts: [] };
  const answer = await shift(run, { step: 'plan', selection: nothing, percent: 0 });
  if (answer === undefined || ('value' in answer && answer.value)) return undefined;
  if ('refused' in answer) return { kind: 'failed', reason: answer.refused, fault: 'conveyor' };
  const reason = `${run.input.spec.pushType} has no shiftTraffic, which lockstep needs`;
  return { kind: 'failed', reason, fault: 'change' };
}

/** What is sent next; `isLast` when nothing is left to send after it. */
export interface StridePart {
  /** How many tasks of which units; left out: all that is wanted. */
  readonly counts?: TaskCounts;
  readonly isLast: boolean;
}

export interface Refused {
  readonly refused: string;
}

/** Rounding may leave nothing to do. */
export const isEmpty = ({ counts }: StridePart): boolean => counts !== undefined && Object.keys(counts).length === 0;

/** The units that a part is about, of those that are wanted. */
export const unitsOfPart = (selection: Selection, { counts }: StridePart): Selection =>
  counts ? { ...selection, only: Object.keys(counts) } : selection;

/** The units of a revert: those that there were and those that joined, of which it is known what they ran before. */
export const unitsOfRevert = ({ snapshot, now, parts, rules }: RevertRequest): Selection => ({
  ...{ snapshot, parts },
  back: { rules, ...(now ? { now } : {}) },
});

/** The parts of a phase, or of a revert, one after the other, and what they have done together. Without lockstep there is one. */
export class Strides {
  private before = NOTHING_COUNTED;
  private seen = NOTHING_COUNTED;
  /** Where the traffic goes since it was shifted last, as far as is known. */
  private shifted: string | null = null;

  constructor(private readonly run: DeploySession) {}

  /** @returns all parts together, for people, of which `now` is the present one. */
  counted({ totals, units }: Counted): Counted {
    const now = { totals, units };
    this.seen = this.run.input.spec.lockstep ? addCounts(this.before, now) : now;
    return this.seen;
  }

  /** The present part is through. */
  through(): void {
    this.before = this.seen;
  }

  /**
   * As much of a phase as the traffic lets be updated now, which is shifted first; without lockstep all of it.
   * @returns undefined when the phase is left.
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
    await this.shiftForward(shiftOf(planned, work.selection, `${phase.key}/${nth}`), hold);
    return this.run.isLeft() ? undefined : planned;
  }

  /** A phase bakes with as much of the traffic on the new version as of the tasks; after the completion that is all. */
  async settle(phase: PhasePlan, work: PhaseWork, hold: UpdateControl['hold']): Promise<void> {
    const { run } = this;
    if (!run.input.spec.lockstep) return;
    const planned = await planStride(run, work);
    if (planned === undefined) return;
    await this.shiftForward(shiftOf(planned, work.selection, `${phase.key}/end`), hold);
    if (!run.isLeft())
      run.note('traffic-shifted', `${shownPercent(planned.percent)}% of the traffic goes to ${run.input.version}`);
  }

  /**
   * As much of a revert as the traffic lets be taken back now, once that has left for the old version as far as it is there. Without
   * counts, or with traffic that stays, requests would go where nothing is up: the revert asks again for a refused shift.
   * @returns undefined when a person has ended the revert.
   */
  async nextBack(request: RevertRequest, nth: number): Promise<StridePart | Refused | undefined> {
    const { run } = this;
    const { version, spec } = run.input;
    if (!spec.lockstep) return { isLast: true };
    const call = (push: Push) => push.planStrideBack(run.call, request);
    const counted = await answerBack(run, 'needsPush', () => callUntilAnswered(run, 'needsPush', call));
    if (counted === undefined || 'refused' in counted) return counted;
    const planned = 'value' in counted ? counted.value : ALL_AT_ONCE;
    const traffic = shiftOf(planned, unitsOfRevert(request), `revert/${nth}`);
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

  /** What goes there already is not shifted again, nor is the traffic of no unit. */
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

/** `without`: of reverts that began before 0.3, which did without an answer. */
async function answerBack<T>(
  run: DeploySession,
  what: string,
  ask: () => ReturnType<typeof callUntilAnswered<T>>,
): Promise<{ value: T } | Refused | { without: true } | undefined> {
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

/** `shifts` are left out where it is the traffic of all. */
type Planned = Omit<PlannedStride, 'shifts'> & Partial<Pick<PlannedStride, 'shifts'>>;

const ALL_AT_ONCE: Planned = { percent: 0, isLast: true };

const shiftOf = ({ percent, shifts }: Planned, selection: Selection, step: string): Shift => ({
  ...{ step, percent },
  selection: shifts ? { ...selection, only: shifts } : selection,
});

const shownPercent = (percent: number): number => Math.round(percent * 10) / 10;

async function planStride(run: DeploySession, work: PhaseWork) {
  return (await callOrPause(run, 'needsPush', (push) => push.planStride(run.call, work)))?.value;
}

type Shift = Omit<Traffic, 'toVersion'>;

/** What was on its way when it is left is waited for, so that nothing overtakes it. */
async function shift(run: DeploySession, traffic: Shift, wake = run.isLeft) {
  const options = {
    summary: `${shownPercent(traffic.percent)}% of the traffic`,
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
