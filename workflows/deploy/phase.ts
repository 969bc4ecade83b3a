import type { UnitProgress } from '../../domain/fleet/unit';
import { targetsOf, type DeployPlan, type PhasePlan, type PlannedTarget } from '../../domain/deploy/plan';
import { toCounts } from '../../domain/deploy/counts';
import { phaseOver } from '../../domain/deploy/control';
import { change, withPhase } from '../../domain/deploy/state';
import { CURRENT, stillTargeted } from '../../domain/deploy/unavailable';
import type { Unit } from '../../domain/fleet/unit';
import { updateId } from '../../domain/ids';
import { formatTime } from '../../domain/text';
import type { PhaseState } from '../../domain/views';
import { bake } from './bake';
import { dependable, resumed } from './dependable';
import { joinAsGuest } from './guests';
import { passGates, whileHalted } from './gates';
import { shiftForward } from './lockstep';
import { bakeMsOf, runGuarded, untilNoGroupPaused } from './parallel';
import { whilePaused } from './pause';
import { besidePrefetch } from './prefetch';
import type { DeployRun } from './run';
import { runSteps } from './steps';
import { undoSkipped } from './undo';
import { cameUp } from './transient';
import { leaveOutLost, unitsToBegin } from './unavailable';
import { giveUp, stopRest, type UpdateControl, type UpdateEnd } from './updates';

/**
 * One phase: skipped when already current, else updated until its criterion is met, then baked, with its steps before and after.
 * Returns when the next may begin or the deploy is to stop; which of the two is on the run. No phase begins before its gates are
 * open.
 */
export async function runPhase(
  run: DeployRun,
  plan: DeployPlan,
  phase: PhasePlan,
  known: readonly Unit[],
): Promise<void> {
  await passGates(run, phase);
  if (run.stop()) return;
  begin(run, phase);
  const units = await unitsToBegin(run, phase, known, () => leftEarly(run));
  const targets = stillTargeted(targetsOf(phase, units, plan), run.record);
  const outdated = await countOutdated(run, targets);
  if (run.stop() || outdated === undefined) return close(run, phase);
  if (targets.length === 0 || (outdated === 0 && phase.kind === 'partial')) return passOver(run, phase, targets);
  if (outdated > 0) await runSteps(run, phase, units, 'pre');
  await update(run, phase, targets);
  const bakeMs = bakeMsOf(run, phase);
  const isUpdated = outdated > 0 && stillTargeted(targets, run.record).length > 0;
  const bakes = !leftEarly(run) && isUpdated && bakeMs > 0;
  if (bakes) await besidePrefetch(run, plan, phase, () => bake(run, { ...phase, bakeMs }));
  await untilNoGroupPaused(run, () => leftEarly(run));
  await stopRest(run);
  if (bakes) await whilePaused(run);
  if (isUpdated) await runSteps(run, phase, units, 'post');
  await undoSkipped(run, phase);
  close(run, phase);
}

const leftEarly = (run: DeployRun): boolean => run.stop() !== null || run.record.control.skipPhase !== null;

function begin(run: DeployRun, phase: PhasePlan): void {
  const index = Number(phase.key);
  run.patch({ cursor: index });
  run.enter('updating');
  run.set((record, now) => withPhase(record, index, { state: 'running', startedAt: formatTime(now) }));
  run.note('phase-started', `phase ${phase.name} begins`);
}

/** How many tasks the phase still has to bring to the version; it is done when none is left (Push article, `needsPush`). */
async function countOutdated(run: DeployRun, targets: readonly PlannedTarget[]) {
  if (targets.length === 0) return 0;
  const leave = () => leftEarly(run);
  const answer = await dependable(run, 'needsPush', (push) => push.countOutdated(run.call, targets), leave);
  return answer?.value.reduce((total, unit) => total + unit.outdated, 0);
}

/** Runs the updates; a failure that waits for a person is tried again when they resume. */
async function update(run: DeployRun, phase: PhasePlan, targets: readonly PlannedTarget[]): Promise<void> {
  const control = {
    leave: () => leftEarly(run),
    closed: () => run.window?.haltsUpdates === true,
    hold: () => whileHalted(run, () => leftEarly(run)),
    show: (units: readonly UnitProgress[]) =>
      run.set((record) => withPhase(record, Number(phase.key), { units: units.map(toCounts) })),
  };
  for (let attempt = 1; !leftEarly(run); attempt += 1) {
    await control.hold();
    await untilNoGroupPaused(run, () => leftEarly(run), control.hold);
    const left = stillTargeted(targets, run.record);
    if (leftEarly(run) || left.length === 0) return;
    const id = updateId(run.workflowId, phase.key, attempt);
    sending(run, id, left);
    await joinAsGuest(run, id);
    const request = { updateId: id, targets: left, wholeUnit: phase.kind === 'completion', urgency: 'normal' as const };
    const end = await runGuarded(run, phase, request, control);
    if (end.kind === 'met') return updated(run, phase, id, end.units, control);
    if (end.kind !== 'left') await giveUp(run, id);
    await act(run, phase, end, attempt);
  }
}

function sending(run: DeployRun, id: string, targets: readonly PlannedTarget[]): void {
  run.set((record, now) =>
    change(record, now, {
      reached: record.reached && [...new Set([...record.reached, ...targets.map(({ unit }) => unit)])],
      updates: [...record.updates, id],
      firstUpdateMs: record.firstUpdateMs ?? now,
      lastUpdateMs: now,
    }),
  );
}

/**
 * Tasks that came up dead are a bad change, as an unhealthy verdict is; anything else waits for a person. A canary may be
 * refused because a deploy is updating the same units, so it also tries again by itself.
 */
async function act(
  run: DeployRun,
  phase: PhasePlan,
  end: Exclude<UpdateEnd, { kind: 'met' }>,
  attempt: number,
): Promise<void> {
  const leave = () => leftEarly(run);
  if (end.kind === 'left' || (end.kind === 'stuck' && (await leaveOutLost(run, phase, leave)))) return;
  const id = updateId(run.workflowId, phase.key, attempt);
  if (end.kind === 'not-live' && !end.late && (await cameUp(run, phase, id, attempt, leave))) return;
  const reason = `${phase.name}: ${end.reason}`;
  if (end.kind === 'refused') {
    run.pause('dependency', reason);
    return run.input.canary ? retried(run, attempt) : resumed(run, leave);
  }
  const reverts = end.kind === 'not-live' && run.input.spec.onUnhealthy === 'revert';
  const kept = reverts ? run.condemn(reason) : reason;
  if (kept === undefined) return;
  run.pause(end.kind === 'not-live' ? 'health' : 'timeout', kept);
  await whilePaused(run);
}

const MAX_RETRY_FACTOR = 12;

/** Later and later, so that a night of trying fits into one history. */
async function retried(run: DeployRun, attempt: number): Promise<void> {
  const afterMs = run.input.settings.revertRetryMs * Math.min(attempt, MAX_RETRY_FACTOR);
  const wake = () => leftEarly(run) || run.record.control.resuming !== null;
  await run.until(wake, { afterMs, summary: 'canary: try again' });
  run.unpause('trying again');
}

/** What is left over of an update whose criterion is met goes on only in the completion phase: nothing after it would cover it. */
async function updated(
  run: DeployRun,
  phase: PhasePlan,
  id: string,
  units: readonly UnitProgress[],
  control: UpdateControl,
): Promise<void> {
  run.set((record, now) =>
    change(withPhase(record, Number(phase.key), { updatedAt: formatTime(now) }), now, { lastUpdateMs: now }),
  );
  run.note('updates-done', `${phase.name}: updated and live`);
  run.rest = units.some(isUnfinished) ? id : null;
  if (phase.kind !== 'completion') await stopRest(run);
  await shiftForward(run, phase, control);
}

const isUnfinished = ({ state, targeted, gone, live }: UnitProgress): boolean =>
  state !== 'done' && state !== 'failed' && targeted - gone > live;

/** Nothing is left to do in it. */
function passOver(run: DeployRun, phase: PhasePlan, targets: readonly PlannedTarget[]): void {
  const isEmpty = targets.length === 0 && run.record.skipped.length > 0;
  const skipped = isEmpty ? 'its units are unavailable' : CURRENT;
  run.set((record) => withPhase(record, Number(phase.key), { skipped }));
  run.note('phase-current', isEmpty ? `${phase.name}: ${skipped}` : `${phase.name} is current already`);
  close(run, phase);
}

/** Settles the phase's state and drops what was asked for it alone. */
function close(run: DeployRun, phase: PhasePlan): void {
  const { skipPhase } = run.record.control;
  const state: PhaseState = run.stop() ? 'failed' : skipPhase ? 'skipped' : 'succeeded';
  const skipped = skipPhase ? { skipped: `phase by ${skipPhase.actor}: ${skipPhase.reason}` } : {};
  run.set((record, now) =>
    change(withPhase(record, Number(phase.key), { state, bakeUntil: null, ...skipped }), now, {
      control: phaseOver(record.control),
    }),
  );
}
