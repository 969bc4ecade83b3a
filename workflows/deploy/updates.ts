import { patched } from '@temporalio/workflow';
import type { PhasePlan } from '../../domain/deploy/plan';
import { formatSummary } from '../../domain/markdown';
import { promptPush } from '../proxies';
import { callUntilAnswered, getFailureMessage } from './calls';
import { follow, buildOrderTracking, judgeUnanswered } from './follow';
import type { DeploySession } from './session';
import { finishWithoutMissing, untilMet } from './tries';
import { leaveOutGone } from './unavailable';
import type { UpdateControl, UpdateEnd, UpdateOrder } from './update';

/**
 * Sends the updates of a phase, or of a revert, and follows them until the success criterion is met or can no longer be met. A pause
 * of the deploy pauses them in the fleet, and the time limit does not run meanwhile. After the time limit itself has paused the deploy
 * it starts again, since a person who resumes wants another try.
 */
export async function runUpdates(
  run: DeploySession,
  phase: PhasePlan,
  order: UpdateOrder,
  control: UpdateControl,
): Promise<UpdateEnd> {
  const budget = { leftMs: phase.updateTimeoutMs };
  let ids: readonly string[] | undefined;
  for (;;) {
    const nth = run.update.count('rounds', order.updateId);
    const sent: Outcome = ids ? { ids } : await send(run, phase, order);
    if (sent !== 'paused' && 'ids' in sent) {
      ids = sent.ids;
      budget.leftMs = Math.min(budget.leftMs, sent.followMs ?? Infinity);
    }
    const end = sent === 'paused' || 'kind' in sent ? sent : await follow(run, phase, order, sent.ids, budget, control);
    const known = ids ?? [order.updateId];
    if (run.isLeft()) return giveUp(run, known);
    if (end !== 'paused') {
      if (end.kind !== 'stuck' || !end.late || !(await control.overdue?.(end.reason))) return end;
      budget.leftMs = phase.updateTimeoutMs;
    }
    if (control.groups?.differs() && !run.isHalted) {
      await control.groups.settle();
      continue;
    }
    await inFleet(run, 'pauseUpdates', known, nth);
    const tracking = buildOrderTracking(run, phase, order, known, control);
    const watching = untilMet(run, phase, tracking, control);
    await control.hold();
    await watching;
    await control.groups?.refresh();
    if (run.isLeft()) return giveUp(run, known);
    // An update that the push type has not taken yet would begin in all groups.
    if (control.groups && !ids) await control.groups.untilNonePaused();
    else await (control.groups?.resumeOthers(nth) ?? inFleet(run, 'resumeUpdates', known, nth));
    const without = await finishWithoutMissing(run, tracking, control);
    if (without) return without;
  }
}

/** The ids by which the push type knows the updates, or the reason why they were not sent. */
type Outcome = { readonly ids: readonly string[]; readonly followMs?: number } | UpdateEnd | 'paused';

/** `paused` if a command came before the answer. The call on its way is waited for, so that no consequence of the command overtakes it. */
async function send(run: DeploySession, phase: PhasePlan, order: UpdateOrder): Promise<Outcome> {
  const options = {
    summary: formatSummary(`${phase.name}: send updates`),
    cancellationType: 'WAIT_CANCELLATION_COMPLETED' as const,
  };
  let sending: Promise<unknown> = Promise.resolve();
  run.update.sending(order.updateId);
  const sent = await callUntilAnswered(
    run,
    'executeUpdates',
    (push) => {
      const call = order.send(push, options);
      sending = call;
      return call;
    },
    () => run.isLeft() || run.isClosed || run.paused?.by === 'operator',
  );
  if (sent === undefined) return sending.then(toPaused, toPaused);
  if ('refused' in sent) return { kind: 'refused', reason: sent.refused };
  run.update.taken();
  const { updateIds: ids, count, refused, why, canaries, gone, followMs } = sent.value;
  if (gone) leaveOutGone(run, gone);
  if (count === 0) return gone ? { kind: 'met', unfinished: false, missing: 0 } : { kind: 'left' };
  if (canaries) return { kind: 'refused', reason: `in the way: ${canaries.join(', ')}`, byCanaries: true };
  return (
    judgeUnanswered(run, refused, 'did not take the update of', why) ?? {
      ids,
      ...(followMs === undefined ? {} : { followMs }),
    }
  );
}

const toPaused = () => 'paused' as const;

/** A refusal by the push type does not keep a person from resuming, cancelling or reverting; it is only noted. */
export async function inFleet(
  run: DeploySession,
  method: 'pauseUpdates' | 'resumeUpdates',
  updateIds: readonly string[],
  nth: number,
): Promise<void> {
  const answer = await callUntilAnswered(run, method, (push) => push[method](run.call, updateIds, nth));
  if (answer && 'refused' in answer) run.note('trouble', `${method} was refused: ${answer.refused}`);
}

/** Before 0.3, a revert waited until the updates before it were cancelled, after a cancel, a pause or dead tasks. */
const BEHIND_NONE = 'a revert does not wait for a cancel before it';

/**
 * Tasks in flight finish; no others start. An update that never arrived is refused, and needs no cancel. A revert, even one that comes meanwhile,
 * does not wait: it ends the earlier updates by itself, and they are cancelled in parallel so that none of them arrives later.
 * @param mayRevert whether the update is still to be judged, which waits no longer than the grace of a dependency.
 * @returns whether the cancel is done, or is under way next to a revert.
 */
async function cancelUpdates(run: DeploySession, updateIds: readonly string[], mayRevert: boolean): Promise<boolean> {
  const goesBack = () => run.stop()?.kind === 'revert';
  const atOnce = goesBack();
  const answer = await callUntilAnswered(
    run,
    'cancelUpdates',
    (push) => push.cancelUpdates(run.call, updateIds, ...(atOnce ? [{ atOnce }] : [])),
    () => !atOnce && goesBack() && patched(BEHIND_NONE),
    () => mayRevert && patched(BEHIND_NONE),
  );
  if (answer && 'refused' in answer) run.note('trouble', `cancelling the updates was refused: ${answer.refused}`);
  if (answer !== undefined && !('value' in answer && answer.value === false)) return true;
  if (!goesBack()) return false;
  cancelBeside(run, updateIds);
  return true;
}

/** Called if the deploy or its phase is left, or another try follows. */
export async function giveUp(run: DeploySession, updateIds: readonly string[]): Promise<UpdateEnd> {
  await cancelUpdates(run, updateIds, false);
  return { kind: 'left' };
}

/** For an update with dead tasks, which may revert the deploy. @returns false if the update must still be given up. */
export const giveUpDead = (run: DeploySession, updateIds: readonly string[]): Promise<boolean> =>
  cancelUpdates(run, updateIds, true);

function cancelBeside(run: DeploySession, updateIds: readonly string[]): void {
  const cancelling = run.waitFor(
    () => promptPush(run.input.settings, run.isUrgent).cancelUpdates(run.call, updateIds),
    () => false,
  );
  void cancelling.then((waited) => {
    if (waited.kind === 'failed')
      run.note('trouble', `the updates were not cancelled: ${getFailureMessage(waited.error)}`);
  });
}

/**
 * After an update has met its criterion, its rest must not continue once the deploy pauses, stops or leaves its phase.
 */
export async function stopRest(run: DeploySession): Promise<void> {
  const rest = run.update.takeRest();
  if (rest !== null) await giveUp(run, [rest]);
}
