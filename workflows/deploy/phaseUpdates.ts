import type { PhaseWork } from '../../activities/updates';
import { withCounts, type UpdateUnitCounts } from '../../domain/deploy/counts';
import type { PhasePlan } from '../../domain/deploy/plan';
import { withSent } from '../../domain/deploy/planRevert';
import type { Earlier } from '../../domain/deploy/progress';
import { change, withPhase } from '../../domain/deploy/state';
import { updateId } from '../../domain/ids';
import { retryAfterMs } from '../../domain/settings';
import { formatTime, plural, withReason } from '../../domain/text';
import { throwIfInterrupted } from '../interrupts';
import { until } from '../waitFor';
import { joinAsCanary, passCanaries, whileHalted } from './gates';
import { isEmpty, Strides, unitsOfPart, type StridePart } from './lockstep';
import { runGuarded, untilNoGroupPaused } from './parallel';
import { whilePaused } from './pause';
import { pauseRefused } from './refusals';
import { untilNextTry } from './rollback';
import type { UpdateRunner } from './needs';
import { recheckFailedTasks, readEarlierTries, MAX_TRANSIENT, type PhaseTry } from './tries';
import { leaveOutLost } from './unavailable';
import { cancelIfInterrupted, giveUp, giveUpDead, stopRest } from './updates';
import { isDenied, type UpdateControl, type UpdateOrder, type UpdateEnd } from './update';
import { revertOrPause } from './verdicts';

/**
 * Updates the tasks of one phase until its criterion is met. A failure that waits for a person is tried again when they resume.
 * @param workOf the rest of the phase at present: units may be left out meanwhile.
 * @returns whether the criterion was met; it is not if no unit is left.
 */
export async function updatePhase(run: UpdateRunner, phase: PhasePlan, workOf: () => PhaseWork): Promise<boolean> {
  const { rollback } = run.input;
  const strides = new Strides(run);
  const control = {
    awaitGo: () => whileHalted(run),
    show: (counted: UpdateUnitCounts) => {
      const all = strides.addCounts(counted);
      run.set((record) => ({ ...record, phases: withCounts(record.phases, Number(phase.key), all) }));
    },
  };
  let [failures, denials] = [0, 0];
  let tried: PhaseTry | undefined;
  let earlier: Earlier | undefined;
  for (let attempt = 1; ; attempt += 1) {
    throwIfInterrupted();
    if (tried) await control.awaitGo();
    earlier = tried && (await readEarlierTries(run, phase, tried, earlier));
    await control.awaitGo();
    await untilNoGroupPaused(run, control.awaitGo);
    const work = workOf();
    const part = tried?.part ?? (await strides.planNext(phase, work, attempt, control.awaitGo));
    const id = updateId(run.workflowId, phase.key, attempt);
    const overdue = async (reason: string) => !rollback && pauseOverdue(run, phase, id, reason);
    const order = buildPhaseOrder(run, phase, work, part, id);
    const tryControl = { ...control, earlier, overdue };
    const sent = await sendPart(run, phase, order, part, tryControl);
    const isRetried = rollback && sent.kind !== 'met' && sent.kind !== 'empty';
    const end = isRetried
      ? await untilNextTry(run, { phase, order, end: sent, control: tryControl }, (failures += 1))
      : sent;
    if (end.kind === 'met' && part.isLast) {
      await completeUpdate(run, phase, id, end);
      await strides.shiftForBake(phase, workOf(), control.awaitGo);
      return true;
    }
    if (end.kind === 'empty') return false;
    const isOver = await endTry(run, end, id);
    if (end.kind === 'met') {
      strides.completePart();
      noteMissing(run, end.missing);
      [failures, tried] = [0, undefined];
      continue;
    }
    if (isDenied(end) && (denials += 1) <= MAX_TRANSIENT) {
      run.note('retrying', `${phase.name}: ${end.reason}`);
      tried = undefined;
      continue;
    }
    const { skipped } = run.record;
    try {
      // A command may have come while the try was given up.
      throwIfInterrupted();
      if (!isRetried) await afterFailure(run, phase, end, id, (failures += 1));
    } finally {
      if (!isOver) await giveUp(run, [id]);
    }
    // In lockstep, the other tasks may need another split once units have been left out.
    const isOther = run.input.spec.lockstep && run.record.skipped !== skipped;
    tried = isOther || isDenied(end) ? undefined : { id, part };
  }
}

/** No part of a try may continue once the next one is sent. @returns false if the try must still be given up: dead tasks are judged first. */
async function endTry(run: UpdateRunner, end: Exclude<UpdateEnd, { kind: 'empty' }>, id: string): Promise<boolean> {
  if (end.kind === 'not-live') return giveUpDead(run, [id]);
  if (end.kind !== 'met' || end.unfinished) await giveUp(run, [id]);
  return true;
}

async function sendPart(
  run: UpdateRunner,
  phase: PhasePlan,
  order: UpdateOrder,
  part: StridePart,
  control: UpdateControl,
): Promise<UpdateEnd> {
  if (isEmpty(part)) return { kind: 'met', unfinished: false, missing: 0 };
  recordUpdateSent(run, phase, order.updateId);
  await joinAsCanary(run, order.updateId);
  for (;;) {
    const end = await runGuarded(run, phase, order, control);
    if (end.kind !== 'refused' || !end.byCanaries) return end;
    await cancelIfInterrupted(run, { ids: [order.updateId] }, async () => {
      await passCanaries(run);
      await control.awaitGo();
    });
  }
}

function buildPhaseOrder(
  run: UpdateRunner,
  { kind }: PhasePlan,
  work: PhaseWork,
  part: StridePart,
  id: string,
): UpdateOrder {
  const { counts, isLast } = part;
  const wholeUnit = kind === 'completion' && isLast;
  const awaitsCanaries = wholeUnit && !run.input.canary && !run.input.rollback ? { awaitsCanaries: true as const } : {};
  const request = { ...work, updateId: id, wholeUnit, ...awaitsCanaries, ...(counts ? { counts } : {}) };
  return {
    ...{ updateId: id, selection: unitsOfPart(work.selection, part) },
    ...(isLast ? { brings: { want: work.want, ...(counts ? { counts } : {}) } } : {}),
    ...(run.input.rollback ? { withoutGone: true } : {}),
    send: (push, options) => push.executeUpdates.executeWithOptions(options, [run.call, request]),
  };
}

function recordUpdateSent(run: UpdateRunner, phase: PhasePlan, id: string): void {
  run.set((record, now) =>
    change(record, now, {
      ...withSent(record, Number(phase.key), record.skipped),
      updates: [...record.updates, id],
      firstUpdateMs: record.firstUpdateMs ?? now,
      lastUpdateMs: now,
    }),
  );
}

/**
 * Whether the phase waits, for a person or for its tasks. It does not wait for unavailable units that are to be
 * skipped.
 */
async function pauseOverdue(run: UpdateRunner, phase: PhasePlan, id: string, reason: string): Promise<boolean> {
  if (await leaveOutLost(run, phase, () => giveUp(run, [id]))) return false;
  run.pause('timeout', `${phase.name}: ${reason}`);
  return true;
}

/**
 * Tasks that came up dead mean a bad change, like an unhealthy verdict; any other failure waits for a person. A canary may be
 * refused because a deploy is updating the same units, so it also tries again by itself.
 */
async function afterFailure(
  run: UpdateRunner,
  phase: PhasePlan,
  end: Exclude<UpdateEnd, { kind: 'met' | 'empty' }>,
  id: string,
  failures: number,
): Promise<void> {
  if (end.kind === 'stuck' && end.late) return;
  if (end.kind === 'stuck' && (await leaveOutLost(run, phase, () => giveUp(run, [id])))) return;
  if (end.kind === 'not-live' && !end.late && (await recheckFailedTasks(run, phase, id, failures))) return;
  const reason = `${phase.name}: ${end.reason}`;
  if (end.kind === 'refused') {
    if (!run.input.canary) return pauseRefused(run, reason);
    run.pauseOn(reason);
    return awaitRetry(run, failures);
  }
  if (end.kind === 'not-live') revertOrPause(run, { action: run.input.spec.onUnhealthy, reason });
  else revertOrPause(run, { action: 'pause', reason }, 'unit');
  await whilePaused(run);
}

async function awaitRetry(run: UpdateRunner, failures: number): Promise<void> {
  const afterMs = retryAfterMs(run.input.settings, failures);
  await until(() => run.record.control.resuming !== null, { afterMs, summary: 'canary: try again' });
  const { frozen } = run.record.control;
  // An update that was refused has not begun.
  if (frozen) {
    run.note('still-paused', withReason(`frozen by ${frozen.actor}`, frozen.reason));
    await until(() => run.record.control.frozen === null);
  }
  run.unpause('trying again');
}

/** The rest of an update whose criterion is met continues only in the completion, which no later phase would cover. */
async function completeUpdate(
  run: UpdateRunner,
  phase: PhasePlan,
  id: string,
  { unfinished, missing }: Extract<UpdateEnd, { kind: 'met' }>,
): Promise<void> {
  run.set((record, now) =>
    change(withPhase(record, Number(phase.key), { updatedAt: formatTime(now) }), now, { lastUpdateMs: now }),
  );
  noteMissing(run, missing);
  run.note('updates-done', `${phase.name}: updated and live`);
  run.updates.markMet(id, unfinished);
  if (phase.kind !== 'completion') await stopRest(run);
}

/**
 * A person who accepts missing tasks of the completion means those of the update under way, in lockstep of one stride.
 */
function noteMissing(run: UpdateRunner, missing: number): void {
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
