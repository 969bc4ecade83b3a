import { patched } from '@temporalio/workflow';
import type { PhasePlan } from '../../domain/deploy/plan';
import { formatDuration } from '../../domain/text';
import { insist } from './dependable';
import type { DeployRun } from './run';

/** How often a phase goes on by itself after a failure that passed. */
const MAX_TRANSIENT = 3;

/**
 * A task that failed to start may come up at the fleet's next try: such a failure is transient, and another update takes what the
 * failed one left (pipeline-spec.md "Retry"). One that stays dead for a while is the fault of the change.
 * @returns whether there is nothing to blame on the change: every task that failed lives by now, or the phase is left.
 */
export async function cameUp(
  run: DeployRun,
  phase: PhasePlan,
  updateId: string,
  attempt: number,
  leave: () => boolean,
) {
  if (attempt > MAX_TRANSIENT || !patched('transient')) return false;
  const afterMs = run.input.settings.transientMs ?? DEFAULT_MS;
  run.note('failing', `${phase.name}: a task failed to start; looking again in ${formatDuration(afterMs)}`);
  await run.until(leave, { afterMs, summary: `${phase.name}: whether what failed comes up` });
  const seen = await insist(run, 'trackUpdates', (push) => push.trackUpdates(run.call, updateId), leave);
  if (seen === undefined || 'refused' in seen) return leave();
  const isUp = seen.value.length > 0 && seen.value.every(({ failed }) => failed === 0);
  if (isUp) run.note('retrying', `${phase.name}: what failed has come up; updating the rest`);
  return isUp;
}

/** Of deploys that were started before there was the setting. */
const DEFAULT_MS = 30_000;
