import { CancellationScope } from '@temporalio/workflow';
import type { PhasePlan } from '../../domain/deploy/plan';
import { findRevert } from '../../domain/deploy/stop';
import { formatSummary } from '../../domain/markdown';
import { isInterruption, runBeside, runInterruptible } from '../interrupts';
import { promptPush } from '../proxies';
import { callUntilAnswered, getFailureMessage, isRefusal } from './calls';
import { follow, buildOrderTracking, judgeUnanswered } from './follow';
import type { UpdateRunner } from './needs';
import { finishWithoutMissing, endPauseOnceMet } from './tries';
import { leaveOutGone } from './unavailable';
import type { UpdateControl, UpdateEnd, UpdateOrder } from './update';

/**
 * Sends the updates of a phase, or of a revert, and follows them until the success criterion is met or can no longer be met. An
 * interruption cancels them.
 */
export async function runUpdates(
  run: UpdateRunner,
  phase: PhasePlan,
  order: UpdateOrder,
  control: UpdateControl,
): Promise<UpdateEnd> {
  const known: KnownUpdates = { ids: [order.updateId], isSent: false };
  return cancelIfInterrupted(run, known, () => pursueUpdates(run, phase, order, control, known));
}

/** An interruption of `work` cancels the updates, also those that the push type has recorded but not taken. */
export async function cancelIfInterrupted<T>(
  run: UpdateRunner,
  known: { readonly ids: readonly string[] },
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isInterruption(error)) await giveUp(run, known.ids);
    throw error;
  }
}

/** The ids of the updates: those of the push type, once it has taken them. */
interface KnownUpdates {
  ids: readonly string[];
  isSent: boolean;
}

/**
 * A pause of the deploy pauses the updates in the fleet, and the time limit does not run meanwhile. After the time limit itself has
 * paused the deploy it starts again, since a person who resumes wants another try.
 */
async function pursueUpdates(
  run: UpdateRunner,
  phase: PhasePlan,
  order: UpdateOrder,
  control: UpdateControl,
  known: KnownUpdates,
): Promise<UpdateEnd> {
  const budget = { leftMs: phase.updateTimeoutMs };
  for (;;) {
    const nth = run.updates.count('rounds', order.updateId);
    const sent: Sent = known.isSent ? { ids: known.ids } : await send(run, phase, order);
    if (sent !== 'paused' && 'ids' in sent) {
      [known.ids, known.isSent] = [sent.ids, true];
      budget.leftMs = Math.min(budget.leftMs, sent.followMs ?? Infinity);
    }
    const end = sent === 'paused' || 'kind' in sent ? sent : await follow(run, phase, order, sent.ids, budget, control);
    if (end !== 'paused') {
      if (end.kind !== 'stuck' || !end.late || !(await control.overdue?.(end.reason))) return end;
      budget.leftMs = phase.updateTimeoutMs;
    }
    if (control.groups?.differs() && !run.isHalted) {
      await control.groups.applyPauses();
      continue;
    }
    await commandUpdates(run, 'pauseUpdates', known.ids, nth);
    const tracking = buildOrderTracking(run, phase, order, known.ids, control);
    await runBeside(() => endPauseOnceMet(run, phase, tracking, control), control.awaitGo);
    await control.groups?.refresh();
    // An update that the push type has not taken yet would begin in all groups.
    if (control.groups && !known.isSent) await control.groups.untilNonePaused();
    else await (control.groups?.resumeOthers(nth) ?? commandUpdates(run, 'resumeUpdates', known.ids, nth));
    const without = await finishWithoutMissing(run, tracking, control);
    if (without) return without;
  }
}

/** The ids by which the push type knows the updates, or the reason why they were not sent. */
type Sent = { readonly ids: readonly string[]; readonly followMs?: number } | UpdateEnd | 'paused';

/** `paused` if a person pauses the deploy, or its window closes, before the answer. The deploy waits for the call to end, so that no later call overtakes it. */
async function send(run: UpdateRunner, phase: PhasePlan, order: UpdateOrder): Promise<Sent> {
  const options = {
    summary: formatSummary(`${phase.name}: send updates`),
    cancellationType: 'WAIT_CANCELLATION_COMPLETED' as const,
  };
  run.updates.markSending(order.updateId);
  const sent = await runInterruptible(run.findCallStop, () =>
    callUntilAnswered(run, 'executeUpdates', (push) => order.send(push, options), { awaitsEnd: true }),
  );
  if (sent.kind === 'interrupted') return 'paused';
  const answer = sent.value;
  if ('refused' in answer) return { kind: 'refused', reason: answer.refused };
  run.updates.markTaken();
  const { updateIds: ids, count, refused, why, canaries, gone, followMs } = answer.value;
  if (gone) leaveOutGone(run, gone);
  if (count === 0) return gone ? { kind: 'met', unfinished: false, missing: 0 } : { kind: 'empty' };
  if (canaries) return { kind: 'refused', reason: `in the way: ${canaries.join(', ')}`, byCanaries: true };
  return (
    judgeUnanswered(run, refused, 'did not take the update of', why) ?? {
      ids,
      ...(followMs === undefined ? {} : { followMs }),
    }
  );
}

/** A refusal by the push type does not keep a person from resuming, cancelling or reverting; it is only noted. */
export async function commandUpdates(
  run: UpdateRunner,
  method: 'pauseUpdates' | 'resumeUpdates',
  updateIds: readonly string[],
  nth: number,
): Promise<void> {
  const answer = await callUntilAnswered(run, method, (push) => push[method](run.call, updateIds, nth));
  if ('refused' in answer) run.note('trouble', `${method} was refused: ${answer.refused}`);
}

/**
 * Cancels updates if their deploy or phase is interrupted, or before another try. Only a revert interrupts that: it does not wait, since
 * it ends the earlier updates by itself, and the cancel continues beside it so that no earlier update arrives later. Tasks in flight
 * finish; no others start. An update that never arrived is refused, and needs no cancel.
 */
export const giveUp = (run: UpdateRunner, updateIds: readonly string[]): Promise<void> =>
  CancellationScope.nonCancellable(async () => {
    const atOnce = findRevert(run.record) !== null;
    const how = atOnce ? [{ atOnce } as const] : [];
    const cancelled = await runInterruptible(
      () => (atOnce ? null : findRevert(run.record)),
      () => callUntilAnswered(run, 'cancelUpdates', (push) => push.cancelUpdates(run.call, updateIds, ...how)),
    );
    if (cancelled.kind === 'interrupted') return cancelBeside(run, updateIds);
    const answer = cancelled.value;
    if ('refused' in answer) return noteCancelRefused(run, answer.refused);
    if (answer.value === false) cancelBeside(run, updateIds);
  });

/**
 * Like `giveUp`, for an update with dead tasks, which may revert the deploy: it waits no longer than the grace of a dependency.
 * @returns false if the update must still be given up.
 */
export const giveUpDead = (run: UpdateRunner, updateIds: readonly string[]): Promise<boolean> =>
  CancellationScope.nonCancellable(async () => {
    const push = promptPush(run.input.settings, run.isUrgent);
    const cancelled = await runInterruptible(
      () => findRevert(run.record),
      () => run.settle(() => push.cancelUpdates(run.call, updateIds)),
    );
    if (cancelled.kind === 'interrupted') {
      cancelBeside(run, updateIds);
      return true;
    }
    const { value: waited } = cancelled;
    if (waited.kind === 'done') return true;
    if (!isRefusal(waited.error)) return false;
    noteCancelRefused(run, getFailureMessage(waited.error));
    return true;
  });

const noteCancelRefused = (run: UpdateRunner, why: string): void =>
  run.note('trouble', `cancelling the updates was refused: ${why}`);

function cancelBeside(run: UpdateRunner, updateIds: readonly string[]): void {
  const push = promptPush(run.input.settings, run.isUrgent);
  const cancelling = run.settle(() => push.cancelUpdates(run.call, updateIds));
  void cancelling.then((waited) => {
    if (waited.kind === 'failed')
      run.note('trouble', `the updates were not cancelled: ${getFailureMessage(waited.error)}`);
  });
}

/**
 * After an update has met its criterion, its rest must not continue after the deploy has paused or its phase has ended.
 */
export async function stopRest(run: UpdateRunner): Promise<void> {
  const rest = run.updates.takeRest();
  if (rest !== null) await giveUp(run, [rest]);
}
