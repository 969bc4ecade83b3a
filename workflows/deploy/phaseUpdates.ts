import { patched } from '@temporalio/workflow';
import type { PhaseWork } from '../../activities/updates';
import { withCounts, type Counted } from '../../domain/deploy/counts';
import type { PhasePlan } from '../../domain/deploy/plan';
import { withSent } from '../../domain/deploy/planRevert';
import type { Earlier } from '../../domain/deploy/progress';
import { change, withPhase } from '../../domain/deploy/state';
import { updateId } from '../../domain/ids';
import { retryAfterMs } from '../../domain/settings';
import { formatTime, plural, withReason } from '../../domain/text';
import { whileHalted } from './gates';
import { joinAsGuest } from './guests';
import { isEmpty, nextPart, settleTraffic, Tally, unitsOfPart, type Part } from './lockstep';
import { runGuarded, untilNoGroupPaused } from './parallel';
import { whilePaused } from './pause';
import { resumed } from './dependable';
import type { DeployRun } from './run';
import { cameUp } from './transient';
import { earlierTries, type Tried } from './tries';
import { leaveOutLost } from './unavailable';
import { giveUp, stopRest } from './updates';
import type { UpdateControl, UpdateOrder, UpdateEnd } from './updateControl';

/**
 * Updates the tasks of one phase until its criterion is met; a failure that waits for a person is tried again when they resume.
 * @param workOf What is left of it now: units may be left out meanwhile.
 * @param leave Whether the phase is to end early.
 * @returns whether the criterion was met.
 */
export async function updatePhase(
  run: DeployRun,
  phase: PhasePlan,
  workOf: () => PhaseWork,
  leave: () => boolean,
): Promise<boolean> {
  const tally = new Tally(run);
  const control = {
    leave,
    closed: () => run.window?.haltsUpdates === true,
    hold: () => whileHalted(run, leave),
    show: (counted: Counted) => {
      const all = tally.with(counted);
      run.set((record) => ({ ...record, phases: withCounts(record.phases, Number(phase.key), all) }));
    },
  };
  let failures = 0;
  let tried: Tried | undefined;
  let earlier: Earlier | undefined;
  for (let attempt = 1; !leave(); attempt += 1) {
    await control.hold();
    earlier = tried && (await earlierTries(run, phase, tried, earlier, leave));
    await control.hold();
    await untilNoGroupPaused(run, leave, control.hold);
    if (leave()) return false;
    const work = workOf();
    const part = tried?.part ?? (await nextPart(run, phase, work, attempt, control));
    if (part === undefined) return false;
    const id = updateId(run.workflowId, phase.key, attempt);
    const overdue = (reason: string) => pauseOverdue(run, phase, id, reason, leave);
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
    await act(run, phase, end, { id, failures, leave });
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
async function pauseOverdue(
  run: DeployRun,
  phase: PhasePlan,
  id: string,
  reason: string,
  leave: () => boolean,
): Promise<boolean> {
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
  { id, failures, leave }: { readonly id: string; readonly failures: number; readonly leave: () => boolean },
): Promise<void> {
  if (end.kind === 'stuck' && end.late) return;
  if (end.kind === 'stuck' && (await leaveOutLost(run, phase, leave, () => giveUp(run, [id])))) return;
  if (end.kind === 'not-live' && !end.late && (await cameUp(run, phase, id, failures, leave))) return;
  const reason = `${phase.name}: ${end.reason}`;
  if (end.kind === 'refused') {
    run.pause('dependency', reason);
    return run.input.canary ? retried(run, failures, leave) : resumed(run, leave);
  }
  const reverts = end.kind === 'not-live' && run.input.spec.onUnhealthy === 'revert';
  const kept = reverts ? run.condemn(reason) : reason;
  if (kept === undefined) return;
  run.pause(end.kind === 'not-live' ? 'health' : 'unit', kept);
  await whilePaused(run);
}

async function retried(run: DeployRun, failures: number, leave: () => boolean): Promise<void> {
  const afterMs = retryAfterMs(run.input.settings, failures);
  const wake = () => leave() || run.record.control.resuming !== null;
  await run.until(wake, { afterMs, summary: 'canary: try again' });
  const { frozen } = run.record.control;
  // What was refused has not begun. Histories from before 0.3 tried again all the same.
  if (frozen && patched('canary-retry-heeds-freeze')) {
    run.note('still-paused', withReason(`frozen by ${frozen.actor}`, frozen.reason));
    await run.until(() => leave() || run.record.control.frozen === null);
  }
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
