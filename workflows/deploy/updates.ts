import type { Tracked, Tracking } from '../../activities/updates';
import type { PhasePlan } from '../../domain/deploy/plan';
import type { Named } from '../../domain/deploy/snapshot';
import { namesOf } from '../../domain/deploy/unavailable';
import { formatDuration } from '../../domain/text';
import { summaryOf } from '../../domain/markdown';
import { pushWatchers } from '../proxies';
import { insist, messageOf } from './dependable';
import type { DeployRun } from './run';
import { trackingOf } from './tracking';
import { accepted, untilMet } from './tries';
import type { UpdateControl, UpdateEnd, UpdateOrder } from './updateControl';

/**
 * Sends the updates of a phase, or of a revert, and follows them until the success criterion is met or cannot be met
 * any more. Pausing pauses them in the fleet, and the time limit does not run meanwhile; after it has paused the deploy itself
 * it begins anew, since whoever resumes wants another try.
 */
export async function runUpdates(
  run: DeployRun,
  phase: PhasePlan,
  order: UpdateOrder,
  control: UpdateControl,
): Promise<UpdateEnd> {
  const budget = { leftMs: phase.updateTimeoutMs };
  let ids: readonly string[] | undefined;
  for (let pauses = 1; ; pauses += 1) {
    const sent: Outcome = ids ? { ids } : await send(run, phase, order, control);
    if (sent !== 'paused' && 'ids' in sent) ids = sent.ids;
    const end = sent === 'paused' || 'kind' in sent ? sent : await follow(run, phase, order, sent.ids, budget, control);
    const known = ids ?? [order.updateId];
    if (control.leave()) return giveUp(run, known);
    if (end !== 'paused') {
      if (end.kind !== 'stuck' || !end.late || !(await control.overdue?.(end.reason))) return end;
      budget.leftMs = phase.updateTimeoutMs;
    }
    if (control.groups?.differs() && !isHalted(run, control)) {
      await control.groups.settle();
      continue;
    }
    await inFleet(run, 'pauseUpdates', known, pauses, control);
    const tracking = followed(run, phase, order, known, control);
    const watching = untilMet(run, phase, tracking, control);
    await control.hold();
    await watching;
    await control.groups?.refresh();
    if (control.leave()) return giveUp(run, known);
    // What the push type has not taken yet it would begin everywhere.
    if (control.groups && !ids) await control.groups.untilNonePaused();
    else await (control.groups?.resumeOthers(pauses) ?? inFleet(run, 'resumeUpdates', known, pauses, control));
    const without = await accepted(run, tracking, control);
    if (without) return without;
  }
}

/** The ids by which the push type knows what was sent, or why it was not. */
type Outcome = { readonly ids: readonly string[] } | UpdateEnd | 'paused';

const isHalted = (run: DeployRun, control: UpdateControl): boolean => run.paused !== null || control.closed();

/** `paused` when a command came before the answer: what was on its way by then is waited for, so that nothing that follows from the command overtakes it. */
async function send(run: DeployRun, phase: PhasePlan, order: UpdateOrder, control: UpdateControl): Promise<Outcome> {
  const options = {
    summary: summaryOf(`${phase.name}: send updates`),
    cancellationType: 'WAIT_CANCELLATION_COMPLETED' as const,
  };
  let sending: Promise<unknown> = Promise.resolve();
  run.unsent = order.updateId;
  const sent = await insist(
    run,
    'executeUpdates',
    (push) => {
      const call = order.send(push, options);
      sending = call;
      return call;
    },
    () => control.leave() || control.closed() || run.paused?.by === 'operator',
  );
  if (sent === undefined) return sending.then(paused, paused);
  if ('refused' in sent) return { kind: 'refused', reason: sent.refused };
  run.unsent = null;
  const { updateIds: ids, count, refused } = sent.value;
  if (count === 0) return { kind: 'left' };
  return unheard(run, refused, 'did not take the update of') ?? { ids };
}

const paused = () => 'paused' as const;

/** An answer that leaves units out says nothing of them, least of all that they are updated. */
const unheard = (run: DeployRun, units: Named, what: string): UpdateEnd | undefined =>
  units.count === 0 ? undefined : { kind: 'refused', reason: `${run.input.spec.pushType} ${what} ${namesOf(units)}` };

/** @param budget what is left of the time limit; nothing is taken off while the push type does not answer. */
async function follow(
  run: DeployRun,
  phase: PhasePlan,
  order: UpdateOrder,
  updateIds: readonly string[],
  budget: { leftMs: number },
  control: UpdateControl,
): Promise<UpdateEnd | 'paused'> {
  const tracking = followed(run, phase, order, updateIds, control);
  const { trackIntervalMs: intervalMs, heartbeatTimeoutMs } = run.input.settings;
  const summary = summaryOf(`${phase.name}: follow updates`);
  const startedMs = Date.now();
  const isTimed = !control.groups?.isHolding();
  const waited = await run.waitFor(
    () =>
      pushWatchers(run.input.settings, run.isUrgent).followUpdates.executeWithOptions({ summary }, [
        run.call,
        { ...tracking, intervalMs, heartbeatTimeoutMs },
      ]),
    () => control.leave() || isHalted(run, control) || control.groups?.differs() === true,
    isTimed ? { afterMs: budget.leftMs, summary: summaryOf(`${phase.name}: update timeout`) } : undefined,
  );
  if (isTimed) budget.leftMs = Math.max(0, budget.leftMs - (Date.now() - startedMs));
  if (waited.kind === 'woken') return 'paused';
  if (waited.kind === 'done') return judged(run, order, waited.value, control);
  if (waited.kind === 'failed') run.note('trouble', `following the updates failed: ${messageOf(waited.error)}`);
  // The counts as they are now, however long the push type takes to give them.
  const seen = await insist(run, 'trackUpdates', (push) => push.trackUpdates(run.call, tracking), control.leave);
  if (seen === undefined) return 'paused';
  if ('refused' in seen) return { kind: 'refused', reason: seen.refused };
  control.show(seen.value);
  if (waited.kind === 'failed') return follow(run, phase, order, updateIds, budget, control);
  const { progress, late } = seen.value;
  if (progress.kind === 'met') return judged(run, order, seen.value, control);
  return { ...late, late: true, reason: `${late.reason} (${formatDuration(phase.updateTimeoutMs)})` };
}

function followed(
  run: DeployRun,
  phase: PhasePlan,
  { selection, withoutGone }: UpdateOrder,
  updateIds: readonly string[],
  { earlier }: UpdateControl,
): Tracking {
  const of = { updateIds, selection, ...(withoutGone ? { withoutGone } : {}), ...(earlier ? { earlier } : {}) };
  return trackingOf(run, of, phase);
}

function judged(run: DeployRun, { updateId }: UpdateOrder, tracked: Tracked, control: UpdateControl): UpdateEnd {
  control.show(tracked);
  const left = unheard(run, tracked.unheard, `says nothing of what ${updateId} did to`);
  if (left) return left;
  const { progress, unfinished, missing } = tracked;
  return progress.kind === 'met' || progress.kind === 'going' ? { kind: 'met', unfinished, missing } : progress;
}

/** A push type that refuses does not keep a person from resuming, cancelling or reverting; it is said, and no more. */
export async function inFleet(
  run: DeployRun,
  method: 'pauseUpdates' | 'resumeUpdates',
  updateIds: readonly string[],
  nth: number,
  control: UpdateControl,
): Promise<void> {
  const answer = await insist(run, method, (push) => push[method](run.call, updateIds, nth), control.leave);
  if (answer && 'refused' in answer) run.note('trouble', `${method} was refused: ${answer.refused}`);
}

/** Tasks in flight finish, no other starts. An update that never arrived is refused, and needs no cancelling. */
export async function giveUp(run: DeployRun, updateIds: readonly string[]): Promise<UpdateEnd> {
  const answer = await insist(
    run,
    'cancelUpdates',
    (push) => push.cancelUpdates(run.call, updateIds),
    () => false,
  );
  if (answer && 'refused' in answer) run.note('trouble', `cancelling the updates was refused: ${answer.refused}`);
  return { kind: 'left' };
}

/** Nothing of an update that met its criterion goes on once the deploy pauses, stops or leaves its phase. */
export async function stopRest(run: DeployRun): Promise<void> {
  const { rest } = run;
  run.rest = null;
  if (rest !== null) await giveUp(run, [rest]);
}
