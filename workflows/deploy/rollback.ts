import type { PhasePlan } from '../../domain/deploy/plan';
import { buildOrderTracking } from './follow';
import type { UpdateRunner } from './needs';
import { finishWithoutMissing, pauseUntilRetry } from './tries';
import { leaveOutLost } from './unavailable';
import type { UpdateControl, UpdateEnd, UpdateOrder } from './update';
import { cancelIfInterrupted } from './updates';

/** A try of a rollback that failed. */
interface FailedTry {
  readonly phase: PhasePlan;
  readonly order: UpdateOrder;
  readonly end: Exclude<UpdateEnd, { kind: 'met' | 'empty' }>;
  readonly control: UpdateControl;
}

/**
 * Pauses a rollback after a try that failed, until the next try. A person may start that at once, and it starts at once if lost units are left
 * out. The updates of the failed try continue meanwhile; the caller gives them up, unless an interruption does.
 * @param failures the number of tries that have failed in a row.
 * @returns how it ended: a person may continue without the missing tasks.
 */
export const untilNextTry = (run: UpdateRunner, failed: FailedTry, failures: number): Promise<UpdateEnd> =>
  cancelIfInterrupted(run, { ids: [failed.order.updateId] }, async () => {
    const { phase, order, end, control } = failed;
    if (await leaveOutLost(run, phase, () => Promise.resolve())) return end;
    await pauseUntilRetry(run, end, failures, 'rollback');
    const tracking = buildOrderTracking(run, phase, order, [order.updateId], control);
    return (await finishWithoutMissing(run, tracking, control)) ?? end;
  });
