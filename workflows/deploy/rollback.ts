import type { PhasePlan } from '../../domain/deploy/plan';
import { retryAfterMs } from '../../domain/settings';
import { buildOrderTracking } from './follow';
import type { DeploySession } from './session';
import { finishWithoutMissing } from './tries';
import { leaveOutLost } from './unavailable';
import type { UpdateControl, UpdateEnd, UpdateOrder } from './update';

/**
 * Pauses a rollback after a try that failed, until the next try. A person may start that at once, and it starts at once if lost units are left
 * out. The updates of the failed try continue meanwhile; the caller gives them up.
 * @returns how it ended: a person may continue without the missing tasks.
 */
export async function untilNextTry(
  run: DeploySession,
  phase: PhasePlan,
  order: UpdateOrder,
  end: Exclude<UpdateEnd, { kind: 'met' | 'left' }>,
  control: UpdateControl,
  failures: number,
): Promise<UpdateEnd> {
  if (await leaveOutLost(run, phase, () => Promise.resolve())) return end;
  if (end.kind === 'refused') run.pauseOn(end.reason);
  else run.pause('timeout', `the old version does not come up: ${end.reason}`);
  const wake = () => run.isLeft() || run.record.control.resuming !== null;
  await run.until(wake, { afterMs: retryAfterMs(run.input.settings, failures), summary: 'rollback: try again' });
  if (run.isLeft()) return end;
  run.unpause('trying the rollback again');
  return (
    (await finishWithoutMissing(run, buildOrderTracking(run, phase, order, [order.updateId], control), control)) ?? end
  );
}
