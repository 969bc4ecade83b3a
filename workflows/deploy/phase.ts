import type { PhaseWork } from '../../activities/updates';
import { phaseOver } from '../../domain/deploy/control';
import { totalsOf } from '../../domain/deploy/counts';
import { wantOf, type DeployPlan, type PhasePlan } from '../../domain/deploy/plan';
import { change, withPhase } from '../../domain/deploy/state';
import { CURRENT, phaseUnits, UNITS_AWAY, whyNoneMet } from '../../domain/deploy/unavailable';
import { formatTime } from '../../domain/text';
import type { PhaseState } from '../../domain/views';
import { bake } from './bake';
import { dependable } from './dependable';
import { passGates } from './gates';
import { bakeMsOf, untilNoGroupPaused } from './parallel';
import { whilePaused } from './pause';
import { updatePhase } from './phaseUpdates';
import { besidePrefetch } from './prefetch';
import type { DeployRun } from './run';
import { runSteps } from './steps';
import { undoSkipped } from './undo';
import { untilFirstIsThere } from './unavailable';
import { stopRest } from './updates';

/**
 * One phase: skipped when already current, else updated until its criterion is met, then baked, with its steps before and after.
 * Returns when the next may begin or the deploy is to stop; which of the two is on the run. No phase begins before its gates are
 * open.
 */
export async function runPhase(run: DeployRun, plan: DeployPlan, phase: PhasePlan): Promise<void> {
  await passGates(run, phase);
  if (run.stop()) return;
  begin(run, phase);
  const leave = () => leftEarly(run);
  const work = () => workOf(run, plan, phase);
  await untilFirstIsThere(run, phase, leave);
  const counted = await countOutdated(run, work(), leave);
  if (run.stop() || counted === undefined) return close(run, phase);
  const { units, outdated } = counted;
  if (units === 0 || (outdated === 0 && phase.kind === 'partial')) return passOver(run, phase, units === 0);
  if (outdated > 0) run.patch({ outdated: true });
  if (outdated > 0) await runSteps(run, phase, 'pre');
  const isMet = await updatePhase(run, phase, work, leave);
  const isAway = !isMet && !leave();
  const bakeMs = bakeMsOf(run, phase);
  const isUpdated = outdated > 0 && isMet;
  const bakes = !leave() && isUpdated && bakeMs > 0;
  if (bakes) await besidePrefetch(run, plan, phase, () => bake(run, { ...phase, bakeMs }));
  await untilNoGroupPaused(run, leave);
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
async function countOutdated(run: DeployRun, work: PhaseWork, leave: () => boolean) {
  const answer = await dependable(run, 'needsPush', (push) => push.countOutdated(run.call, work), leave);
  return answer?.value;
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
