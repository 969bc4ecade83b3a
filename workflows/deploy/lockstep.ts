import { patched } from '@temporalio/workflow';
import type { Ending } from '../../domain/deploy/outcome';
import { addCounts, NOTHING_COUNTED, type Counted } from '../../domain/deploy/counts';
import type { TaskCounts } from '../../domain/deploy/lockstep';
import type { PhasePlan } from '../../domain/deploy/plan';
import type { RevertRequest } from '../../activities/reverts';
import type { PlannedStride } from '../../activities/strides';
import type { PhaseWork, Traffic } from '../../activities/updates';
import type { Selection } from '../../domain/deploy/snapshot';
import { askedAgain, dependable, insist, resumed } from './dependable';
import type { DeployRun } from './run';
import type { UpdateControl } from './updateControl';

/** Lockstep (Conveyor §3.3): the traffic goes with the tasks, stride by stride (`domain/deploy/lockstep.ts`). */

/** Whether the push type can do it, asked before anything is touched. @returns why the deploy ends, if it cannot. */
export async function cannotShift(run: DeployRun): Promise<Ending | undefined> {
  if (!run.input.spec.lockstep) return undefined;
  const nothing = { snapshot: { units: [] }, parts: [] };
  const answer = await shift(run, { step: 'plan', selection: nothing, percent: 0 }, () => run.stop() !== null);
  if (answer === undefined || ('value' in answer && answer.value)) return undefined;
  if ('refused' in answer) return { kind: 'failed', reason: answer.refused, fault: 'conveyor' };
  const reason = `${run.input.spec.pushType} has no shiftTraffic, which lockstep needs`;
  return { kind: 'failed', reason, fault: 'change' };
}

/** What is sent next; `isLast` when nothing is left to send after it. */
export interface Part {
  /** How many tasks of which units; left out: all that is wanted. */
  readonly counts?: TaskCounts;
  readonly isLast: boolean;
}

/** What the parts of a phase, or of a revert, have done together, for people. */
export class Tally {
  private before = NOTHING_COUNTED;
  private seen = NOTHING_COUNTED;

  constructor(private readonly run: DeployRun) {}

  /** @returns all parts together, of which `now` is the present one. */
  with({ totals, units }: Counted): Counted {
    const now = { totals, units };
    this.seen = this.run.input.spec.lockstep ? addCounts(this.before, now) : now;
    return this.seen;
  }

  /** The present part is through. */
  keep(): void {
    this.before = this.seen;
  }
}

/** Rounding may leave nothing to do. */
export const isEmpty = ({ counts }: Part): boolean => counts !== undefined && Object.keys(counts).length === 0;

/** The units that a part is about, of those that are wanted. */
export const unitsOfPart = (selection: Selection, { counts }: Part): Selection =>
  counts ? { ...selection, only: Object.keys(counts) } : selection;

/**
 * As much of a phase as the traffic lets be updated now, which is shifted first; without lockstep all of it.
 * @returns undefined when the phase is left.
 */
export async function nextPart(
  run: DeployRun,
  phase: PhasePlan,
  work: PhaseWork,
  nth: number,
  control: UpdateControl,
): Promise<Part | undefined> {
  if (!run.input.spec.lockstep) return { isLast: true };
  if (nth === 1) run.shifted = null;
  const planned = await plan(run, work, control.leave);
  if (planned === undefined) return undefined;
  await shiftForward(run, shiftOf(planned, work.selection, `${phase.key}/${nth}`), control);
  return control.leave() ? undefined : planned;
}

/** A phase bakes with as much of the traffic on the new version as of the tasks; after the completion that is all. */
export async function settleTraffic(
  run: DeployRun,
  phase: PhasePlan,
  work: PhaseWork,
  control: UpdateControl,
): Promise<void> {
  if (!run.input.spec.lockstep) return;
  const planned = await plan(run, work, control.leave);
  if (planned === undefined) return;
  await shiftForward(run, shiftOf(planned, work.selection, `${phase.key}/end`), control);
  if (!control.leave())
    run.note('traffic-shifted', `${shown(planned.percent)}% of the traffic goes to ${run.input.version}`);
}

/**
 * As much of a revert as the traffic lets be taken back now, once that has left for the old version as far as it is there. Without
 * counts, or with traffic that stays, requests would go where nothing is up: what is refused is asked for again by the revert.
 * @returns undefined when a person has ended the revert.
 */
export async function nextPartBack(
  run: DeployRun,
  request: RevertRequest,
  nth: number,
  leave: () => boolean,
): Promise<Part | Refused | undefined> {
  const { version, spec } = run.input;
  if (!spec.lockstep) return { isLast: true };
  if (nth === 1) run.shifted = null;
  const call = (push: Push) => push.planStrideBack(run.call, request);
  const counted = await answerBack(run, 'needsPush', () => insist(run, 'needsPush', call, leave), leave);
  if (counted === undefined || 'refused' in counted) return counted;
  const planned = 'value' in counted ? counted.value : ALL_AT_ONCE;
  const traffic = shiftOf(planned, unitsOfRevert(request), `revert/${nth}`);
  const shifted = await answerBack(run, 'shiftTraffic', () => shiftOnce(run, traffic, leave), leave);
  if (shifted && 'refused' in shifted) return shifted;
  if (shifted && 'value' in shifted && planned.percent === 0 && planned.isLast)
    run.note('traffic-shifted', `no traffic goes to ${version} any more`);
  return leave() ? undefined : planned;
}

export interface Refused {
  readonly refused: string;
}

/** `without`: of reverts that began before 0.3.0, which did without an answer. */
async function answerBack<T>(
  run: DeployRun,
  what: string,
  ask: () => ReturnType<typeof insist<T>>,
  leave: () => boolean,
): Promise<{ value: T } | Refused | { without: true } | undefined> {
  let answer = await ask();
  if (answer === undefined || 'value' in answer) return answer;
  if (!patched('revert-waits-for-lockstep')) {
    run.note('trouble', `${what} was refused: ${answer.refused}`);
    return { without: true };
  }
  answer = await askedAgain(run, ask, leave);
  return answer && 'refused' in answer
    ? { refused: `${run.input.spec.pushType} refused ${what}: ${answer.refused}` }
    : answer;
}

type Push = Parameters<Parameters<typeof insist>[2]>[0];

/** `shifts` are left out where it is the traffic of all. */
type Planned = Omit<PlannedStride, 'shifts'> & Partial<Pick<PlannedStride, 'shifts'>>;

const ALL_AT_ONCE: Planned = { percent: 0, isLast: true };

/** The units of a revert, by the newest that is known of them. */
export const unitsOfRevert = ({ snapshot, now, parts }: RevertRequest): Selection => ({
  snapshot: now ?? snapshot,
  parts,
});

const shiftOf = ({ percent, shifts }: Planned, selection: Selection, step: string): Shift => ({
  ...{ step, percent },
  selection: shifts ? { ...selection, only: shifts } : selection,
});

const shown = (percent: number): number => Math.round(percent * 10) / 10;

async function plan(run: DeployRun, work: PhaseWork, leave: () => boolean) {
  const call = (push: Push) => push.planStride(run.call, work);
  return (await dependable(run, 'needsPush', call, leave))?.value;
}

type Shift = Omit<Traffic, 'toVersion'>;

async function shiftForward(run: DeployRun, traffic: Shift, control: UpdateControl): Promise<void> {
  const { leave, closed, hold } = control;
  const stands = () => leave() || closed() || run.paused?.by === 'operator';
  for (;;) {
    await hold();
    if (leave()) return;
    const answer = await shiftOnce(run, traffic, stands);
    if (answer === undefined) continue;
    if ('value' in answer) return;
    run.pause('dependency', `${run.input.spec.pushType} refused shiftTraffic: ${answer.refused}`);
    await resumed(run, leave);
  }
}

/** What goes there already is not shifted again, nor is the traffic of no unit. */
async function shiftOnce(run: DeployRun, traffic: Shift, leave: () => boolean) {
  const { only } = traffic.selection;
  const goes = `${traffic.percent}% of ${only ? only.join() : 'all'}`;
  if (run.shifted === goes || only?.length === 0) return { value: true };
  run.shifted = null;
  const answer = await shift(run, traffic, leave);
  if (answer && 'value' in answer) run.shifted = goes;
  return answer;
}

/** What was on its way when it is left is waited for, so that nothing overtakes it. */
async function shift(run: DeployRun, traffic: Shift, leave: () => boolean) {
  const options = {
    summary: `${shown(traffic.percent)}% of the traffic`,
    cancellationType: 'WAIT_CANCELLATION_COMPLETED' as const,
  };
  const request = { ...traffic, toVersion: run.input.version };
  let shifting: Promise<unknown> = Promise.resolve();
  const answer = await insist(
    run,
    'shiftTraffic',
    (push) => {
      const call = push.shiftTraffic.executeWithOptions(options, [run.call, request]);
      shifting = call;
      return call;
    },
    leave,
  );
  if (answer === undefined) await shifting.catch(() => undefined);
  return answer;
}
