import type { PhaseWork } from '../../activities/updates';
import { wantOf, type DeployPlan, type PhasePlan } from '../../domain/deploy/plan';
import { totalsOf, withCounts, type Counted } from '../../domain/deploy/counts';
import { phaseOver } from '../../domain/deploy/control';
import { withSent } from '../../domain/deploy/planRevert';
import type { Earlier } from '../../domain/deploy/progress';
import { change, withPhase } from '../../domain/deploy/state';
import { CURRENT, phaseUnits, UNITS_AWAY, whyNoneMet } from '../../domain/deploy/unavailable';
import { updateId } from '../../domain/ids';
import { retryAfterMs } from '../../domain/settings';
import { formatTime, plural, withReason } from '../../domain/text';
import type { PhaseState } from '../../domain/views';
import { bake } from './bake';
import { dependable, resumed } from './dependable';
import { joinAsGuest } from './guests';
import { passGates, whileHalted } from './gates';
import { isEmpty, nextPart, settleTraffic, Tally, unitsOfPart, type Part } from './lockstep';
import { bakeMsOf, runGuarded, untilNoGroupPaused } from './parallel';
import { whilePaused } from './pause';
import { besidePrefetch } from './prefetch';
import type { DeployRun } from './run';
import { runSteps } from './steps';
import { undoSkipped } from './undo';
import { cameUp } from './transient';
import { earlierTries, type Tried } from './tries';
import { leaveOutLost, untilFirstIsThere } from './unavailable';
import { giveUp, stopRest, type UpdateControl, type UpdateEnd, type UpdateOrder } from './updates';

/**
 * One phase: skipped when already current, else updated until its criterion is met, then baked, with its steps before and after.
 * Returns when the next may begin or the deploy is to stop; which of the two is on the run. No phase begins before its gates are
 * open.
 */
export async function runPhase(run: DeployRun, plan: DeployPlan, phase: PhasePlan): Promise<void> {
  await passGates(run, phase);
  if (run.stop()) return;
  begin(run, phase);
  await untilFirstIsThere(run, phase, () => leftEarly(run));
  const counted = await countOutdated(run, plan, phase);
  if (run.stop() || counted === undefined) return close(run, phase);
  const { units, outdated } = counted;
  if (units === 0 || (outdated === 0 && phase.kind === 'partial')) return passOver(run, phase, units === 0);
  if (outdated > 0) await runSteps(run, phase, 'pre');
  const isMet = await update(run, plan, phase);
  const isAway = !isMet && !leftEarly(run);
  const bakeMs = bakeMsOf(run, phase);
  const isUpdated = outdated > 0 && isMet;
  const bakes = !leftEarly(run) && isUpdated && bakeMs > 0;
  if (bakes) await besidePrefetch(run, plan, phase, () => bake(run, { ...phase, bakeMs }));
  await untilNoGroupPaused(run, () => leftEarly(run));
  await stopRest(run);
  if (bakes) await whilePaused(run);
  if (isUpdated) await runSteps(run, phase, 'post');
  await undoSkipped(run, phase);
  close(run, phase, isAway);
}

const leftEarly = (run: DeployRun): boolean => run.stop() !== null || run.record.control.skipPhase !== null;

function begin(run: DeployRun, phase: PhasePlan): void {
  const index = Number(phase.key);
  run.patch({ cursor: index });
  run.enter('updating');
  run.set((record, now) => withPhase(record, index, { state: 'running', startedAt: formatTime(now) }));
  run.note('phase-started', `phase ${phase.name} begins`);
}

const workOf = (run: DeployRun, plan: DeployPlan, phase: PhasePlan): PhaseWork => ({
  selection: phaseUnits(run.record, phase),
  want: wantOf(phase, plan),
});

/** How many tasks the phase still has to bring to the version; it is done when none is left (Push article, `needsPush`). */
async function countOutdated(run: DeployRun, plan: DeployPlan, phase: PhasePlan) {
  const work = workOf(run, plan, phase);
  const leave = () => leftEarly(run);
  const answer = await dependable(run, 'needsPush', (push) => push.countOutdated(run.call, work), leave);
  return answer?.value;
}

/**
 * Runs the updates; a failure that waits for a person is tried again when they resume.
 * @returns whether they met their criterion.
 */
async function update(run: DeployRun, plan: DeployPlan, phase: PhasePlan): Promise<boolean> {
  const tally = new Tally(run);
  const control = {
    leave: () => leftEarly(run),
    closed: () => run.window?.haltsUpdates === true,
    hold: () => whileHalted(run, () => leftEarly(run)),
    show: (counted: Counted) => {
      const all = tally.with(counted);
      run.set((record) => ({ ...record, phases: withCounts(record.phases, Number(phase.key), all) }));
    },
  };
  let failures = 0;
  let tried: Tried | undefined;
  let earlier: Earlier | undefined;
  for (let attempt = 1; !leftEarly(run); attempt += 1) {
    await control.hold();
    earlier = tried && (await earlierTries(run, phase, tried, earlier, control.leave));
    await control.hold();
    await untilNoGroupPaused(run, () => leftEarly(run), control.hold);
    if (leftEarly(run)) return false;
    const work = workOf(run, plan, phase);
    const part = tried?.part ?? (await nextPart(run, phase, work, attempt, control));
    if (part === undefined) return false;
    const id = updateId(run.workflowId, phase.key, attempt);
    const overdue = (reason: string) => pauseOverdue(run, phase, id, reason);
    const order = orderOf(run, phase, work, part, id);
    const end = await send(run, phase, order, part, { ...control, earlier, overdue });
    if (end.kind === 'met' && part.isLast) {
      await updated(run, phase, id, end);
      await settleTraffic(run, phase, work, control);
      return true;
    }
    if (end.kind === 'left') return false;
    if (end.kind !== 'met' || end.unfinished) await giveUp(run, [id]);
    if (end.kind === 'met') {
      tally.keep();
      noteMissing(run, end.missing);
      [failures, tried] = [0, undefined];
      continue;
    }
    failures += 1;
    const { skipped } = run.record;
    await act(run, phase, end, { id, failures });
    // In lockstep the others may go another way without units that were left out since.
    const isOther = run.input.spec.lockstep && run.record.skipped !== skipped;
    tried = isOther ? undefined : { id, part };
  }
  return false;
}

async function send(
  run: DeployRun,
  phase: PhasePlan,
  order: UpdateOrder,
  part: Part,
  control: UpdateControl,
): Promise<UpdateEnd> {
  if (isEmpty(part)) return { kind: 'met', unfinished: false, missing: 0 };
  sending(run, phase, order.updateId);
  await joinAsGuest(run, order.updateId);
  return runGuarded(run, phase, order, control);
}

function orderOf(run: DeployRun, { kind }: PhasePlan, work: PhaseWork, part: Part, id: string): UpdateOrder {
  const { counts, isLast } = part;
  const wholeUnit = kind === 'completion' && isLast;
  const request = { ...work, updateId: id, wholeUnit, ...(counts ? { counts } : {}) };
  return {
    ...{ updateId: id, selection: unitsOfPart(work.selection, part) },
    send: (push, options) => push.executeUpdates.executeWithOptions(options, [run.call, request]),
  };
}

function sending(run: DeployRun, phase: PhasePlan, id: string): void {
  run.set((record, now) =>
    change(record, now, {
      ...withSent(record, Number(phase.key), record.skipped),
      updates: [...record.updates, id],
      firstUpdateMs: record.firstUpdateMs ?? now,
      lastUpdateMs: now,
    }),
  );
}

/** Whether it waits for a person, or for the tasks; it does not for units that are unavailable and to be skipped. */
async function pauseOverdue(run: DeployRun, phase: PhasePlan, id: string, reason: string): Promise<boolean> {
  const leave = () => leftEarly(run);
  if (await leaveOutLost(run, phase, leave, () => giveUp(run, [id]))) return false;
  run.pause('timeout', `${phase.name}: ${reason}`);
  return true;
}

/**
 * Tasks that came up dead are a bad change, as an unhealthy verdict is; anything else waits for a person. A canary may be
 * refused because a deploy is updating the same units, so it also tries again by itself.
 */
async function act(
  run: DeployRun,
  phase: PhasePlan,
  end: Exclude<UpdateEnd, { kind: 'met' | 'left' }>,
  { id, failures }: { readonly id: string; readonly failures: number },
): Promise<void> {
  const leave = () => leftEarly(run);
  if (end.kind === 'stuck' && end.late) return;
  if (end.kind === 'stuck' && (await leaveOutLost(run, phase, leave, () => giveUp(run, [id])))) return;
  if (end.kind === 'not-live' && !end.late && (await cameUp(run, phase, id, failures, leave))) return;
  const reason = `${phase.name}: ${end.reason}`;
  if (end.kind === 'refused') {
    run.pause('dependency', reason);
    return run.input.canary ? retried(run, failures) : resumed(run, leave);
  }
  const reverts = end.kind === 'not-live' && run.input.spec.onUnhealthy === 'revert';
  const kept = reverts ? run.condemn(reason) : reason;
  if (kept === undefined) return;
  run.pause(end.kind === 'not-live' ? 'health' : 'unit', kept);
  await whilePaused(run);
}

async function retried(run: DeployRun, failures: number): Promise<void> {
  const afterMs = retryAfterMs(run.input.settings, failures);
  const wake = () => leftEarly(run) || run.record.control.resuming !== null;
  await run.until(wake, { afterMs, summary: 'canary: try again' });
  run.unpause('trying again');
}

/** What is left over of an update whose criterion is met goes on only in the completion phase: nothing after it would cover it. */
async function updated(
  run: DeployRun,
  phase: PhasePlan,
  id: string,
  { unfinished, missing }: Extract<UpdateEnd, { kind: 'met' }>,
): Promise<void> {
  run.set((record, now) =>
    change(withPhase(record, Number(phase.key), { updatedAt: formatTime(now) }), now, { lastUpdateMs: now }),
  );
  noteMissing(run, missing);
  run.note('updates-done', `${phase.name}: updated and live`);
  run.rest = unfinished ? id : null;
  if (phase.kind !== 'completion') await stopRest(run);
}

/** Who accepted what is missing of the completion meant what was under way, in lockstep one stride. */
function noteMissing(run: DeployRun, missing: number): void {
  const { control, missing: before } = run.record;
  const { accepted } = control;
  if (accepted === null) return;
  const now = `${plural(missing, 'task')}, ${withReason(`accepted by ${accepted.actor}`, accepted.reason)}`;
  const all = before ? `${before}; ${now}` : now;
  run.set((record) => ({
    ...record,
    control: { ...control, accepted: null },
    ...(missing > 0 ? { missing: all } : {}),
  }));
}

/** Nothing is left to do in it. */
function passOver(run: DeployRun, phase: PhasePlan, hasNoUnits: boolean): void {
  const isEmpty = hasNoUnits && run.record.skipped.length > 0;
  const skipped = isEmpty ? UNITS_AWAY : CURRENT;
  run.set((record) => withPhase(record, Number(phase.key), { skipped }));
  run.note('phase-current', isEmpty ? `${phase.name}: ${skipped}` : `${phase.name} is current already`);
  close(run, phase, isEmpty);
}

/** Settles the phase's state and drops what was asked for it alone. */
function close(run: DeployRun, phase: PhasePlan, isAway = false): void {
  const { skipPhase } = run.record.control;
  const view = run.record.phases[Number(phase.key)];
  const lost = run.stop() || !view ? null : whyNoneMet(totalsOf(view), isAway);
  const why = skipPhase ? `phase by ${skipPhase.actor}: ${skipPhase.reason}` : lost;
  const state: PhaseState = run.stop() ? 'failed' : why === null ? 'succeeded' : 'skipped';
  const skipped = why === null ? {} : { skipped: why };
  run.set((record, now) =>
    change(withPhase(record, Number(phase.key), { state, bakeUntil: null, ...skipped }), now, {
      control: phaseOver(record.control),
    }),
  );
}
