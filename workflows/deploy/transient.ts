import type { PhasePlan } from '../../domain/deploy/plan';
import { formatDuration } from '../../domain/text';
import { phaseUnits } from '../../domain/deploy/unavailable';
import { summaryOf } from '../../domain/markdown';
import { insist } from './dependable';
import type { DeployRun } from './run';
import { trackingOf } from './tracking';

/** How often a phase goes on by itself after a failure that passed. */
const MAX_TRANSIENT = 3;

/**
 * A task that failed to start may come up at the fleet's next try: such a failure is transient, and another update takes what the
 * failed one left (docs/design/pipeline.md#retry). One that stays dead for a while is the fault of the change.
 * @returns whether there is nothing to blame on the change: every task that failed lives by now, or the phase is left.
 */
export async function cameUp(
  run: DeployRun,
  phase: PhasePlan,
  updateId: string,
  attempt: number,
  leave: () => boolean,
) {
  if (attempt > MAX_TRANSIENT) return false;
  const afterMs = run.input.settings.transientMs;
  run.note('failing', `${phase.name}: a task failed to start; looking again in ${formatDuration(afterMs)}`);
  await run.until(leave, { afterMs, summary: summaryOf(`${phase.name}: whether what failed comes up`) });
  const tracking = trackingOf(run, { updateIds: [updateId], selection: phaseUnits(run.record, phase) }, phase);
  const seen = await insist(run, 'trackUpdates', (push) => push.trackUpdates(run.call, tracking), leave);
  if (seen === undefined || 'refused' in seen) return leave();
  const { totals, failed } = seen.value;
  const isUp = totals.units > 0 && failed === 0;
  if (isUp) run.note('retrying', `${phase.name}: what failed has come up; updating the rest`);
  return isUp;
}
