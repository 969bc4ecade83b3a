import type { RevertRequest, SentRevert } from '../../activities/reverts';
import { WITHOUT_PAST } from '../../domain/deploy/control';
import { withRevertCounts, type UpdateUnitCounts } from '../../domain/deploy/counts';
import { listReachedParts, revertPhase } from '../../domain/deploy/planRevert';
import type { TaskCounts } from '../../domain/deploy/lockstep';
import { createRevertEnding, type Ending } from '../../domain/deploy/outcome';
import { NONE_NAMED, type NamedUnits } from '../../domain/deploy/snapshot';
import { change } from '../../domain/deploy/state';
import { findRevertEnd, type RevertStop } from '../../domain/deploy/stop';
import { formatNamed } from '../../domain/deploy/unavailable';
import { updateId } from '../../domain/ids';
import { retryAfterMs } from '../../domain/settings';
import { formatTime } from '../../domain/text';
import { runInterruptible } from '../interrupts';
import { until } from '../waitFor';
import { untilResumed } from './calls';
import { joinAsCanary } from './gates';
import { isEmpty, Strides, unitsOfPart, unitsOfRevert, type StridePart } from './lockstep';
import { hasMovedSince } from './prepare';
import type { UpdateRunner } from './needs';
import { MAX_TRANSIENT, pauseUntilRetry } from './tries';
import { runUpdates } from './updates';
import { isDenied, type UpdateOrder, type UpdateEnd } from './update';

/**
 * Brings every task that this deploy updated back to its earlier version, with the same runner as a phase. A revert can
 * be paused but not cancelled. If the old version does not come up, the revert is tried again until it does or a person
 * ends it.
 */
export async function revert(run: UpdateRunner, stop: RevertStop): Promise<Ending> {
  const ending = createRevertEnding(stop, run.record.control);
  if (run.record.updates.length === 0 || run.record.fleet === null) return ending;
  beginRevert(run, stop);
  const back = await runInterruptible(
    () => findRevertEnd(run.record),
    () => bringBack(run),
  );
  if (back.kind === 'interrupted')
    return { ...ending, kind: 'revert-failed', by: back.reason.actor, reason: back.reason.reason };
  finishRevert(run);
  return ending;
}

/** Ends once every unit is back, or by an interruption. */
async function bringBack(run: UpdateRunner): Promise<void> {
  const strides = new Strides(run);
  let lost = NONE_NAMED;
  let [failures, denials] = [0, 0];
  for (let attempt = 1; ; attempt += 1) {
    // The revert ends even if the push type contradicts itself permanently.
    const isProved = denials < MAX_TRANSIENT;
    const { end, isLast } = await tryRevert(run, attempt, strides, {
      isProved,
      onSent: ({ withoutPast = NONE_NAMED }) => {
        lost = withoutPast;
      },
    });
    if (isDenied(end)) {
      denials += 1;
      run.note('retrying', end.reason);
      continue;
    }
    if (end.kind === 'met' && isLast && !(await hasMovedSince(run)))
      return lost.count > 0 ? awaitCancel(run, lost) : undefined;
    if (end.kind === 'met') {
      strides.completePart();
      failures = 0;
      continue;
    }
    failures += 1;
    // Only a person ends it.
    run.patch({ revertStuck: true });
    await pauseUntilRetry(run, end, failures, 'revert');
  }
}

function beginRevert(run: UpdateRunner, stop: RevertStop): void {
  run.enter('reverting');
  run.set((record, now) =>
    change(record, now, {
      revert: { by: stop.by, reason: stop.reason, startedAt: formatTime(now), endedAt: null, units: [] },
    }),
  );
  run.note(
    'reverting',
    `reverting${stop.by === 'health' ? ' automatically' : `, asked by ${stop.by}`}: ${stop.reason}`,
  );
}

/** A request to bring all units updated so far back to their earlier versions; null if none was updated. */
function buildRevertRequest({ record, input }: UpdateRunner, updateId: string): RevertRequest | null {
  const { updates: updatedBy, fleet } = record;
  if (updatedBy.length === 0 || fleet === null) return null;
  const { snapshot, now } = fleet;
  const rules = { lastGood: input.lastGood, deployed: input.version };
  return { updateId, parts: listReachedParts(record), snapshot, ...(now ? { now } : {}), rules, updatedBy };
}

/** The end of a try, and whether nothing is left to bring back after it. */
interface RevertTry {
  readonly end: Exclude<UpdateEnd, { kind: 'empty' }>;
  readonly isLast: boolean;
}

const NOTHING_LEFT: RevertTry['end'] = { kind: 'met', unfinished: false, missing: 0 };

interface HowToTry {
  /** The push type is asked to prove that it has brought the versions that it reports. */
  readonly isProved: boolean;
  readonly onSent: (sent: SentRevert) => void;
}

async function tryRevert(
  run: UpdateRunner,
  attempt: number,
  strides: Strides,
  { isProved, onSent }: HowToTry,
): Promise<RevertTry> {
  const id = updateId(run.workflowId, 'revert', attempt);
  const { plan } = run.record;
  const request = buildRevertRequest(run, id);
  if (plan === null || request === null) return { end: NOTHING_LEFT, isLast: true };
  await untilResumed(run);
  const aside = run.input.spec.lockstep ? (run.record.revert?.leftOut ?? []).map((unit) => unit.id) : [];
  const planned = await strides.planNextBack(aside.length > 0 ? { ...request, aside } : request, attempt);
  if ('refused' in planned) return { end: { kind: 'refused', reason: planned.refused }, isLast: false };
  const part = planned.value;
  if (isEmpty(part)) return { end: NOTHING_LEFT, isLast: part.isLast };
  await untilResumed(run);
  await joinAsCanary(run, id, { isBack: true });
  const brings = isProved && !part.counts ? { brings: { back: request } } : {};
  let refused: string | undefined;
  const order = {
    ...buildRevertOrder(run, request, part, (sent) => {
      refused = describeRevertRefusal(run, sent);
      onSent(sent);
    }),
    ...brings,
  };
  const end = await runUpdates(run, revertPhase(plan), order, {
    awaitGo: () => untilResumed(run),
    show: (counted) => show(run, strides.addCounts(counted)),
  });
  // The push type does not report on units that it did not take. They are tried again before all others are back.
  const isLate = 'late' in end && end.late === true;
  if (refused !== undefined && (end.kind === 'empty' || isLate || end.kind === 'refused'))
    return { end: { kind: 'refused', reason: refused }, isLast: part.isLast };
  // If it is empty, no unit of the request is left in the fleet.
  return { end: end.kind === 'empty' ? NOTHING_LEFT : end, isLast: part.isLast };
}

function describeRevertRefusal({ input }: UpdateRunner, { refused, refusedCount = refused.length }: SentRevert) {
  const [first] = refused;
  if (first === undefined) return undefined;
  const names = formatNamed({ count: refusedCount, names: refused.map(({ id }) => id) });
  return `${input.spec.pushType} does not take back ${names}: ${first.reason}`;
}

function buildRevertOrder(
  run: UpdateRunner,
  request: RevertRequest,
  part: StridePart,
  onSent: HowToTry['onSent'],
): UpdateOrder {
  const { counts } = part;
  return {
    updateId: request.updateId,
    selection: unitsOfPart(unitsOfRevert(request), part),
    withoutGone: true,
    send: async (push, options) => {
      const sent = await push.revertUpdates.executeWithOptions(options, [
        run.call,
        { ...request, ...(counts ? { counts } : {}) },
      ]);
      showSent(run, sent, counts);
      onSent(sent);
      const { updateIds, count, refused } = sent;
      const isRefused = updateIds.length === 0 && refused.length > 0;
      const followed = { updateIds, count: isRefused ? 0 : count, refused: NONE_NAMED };
      return refused.length > 0 ? { ...followed, followMs: retryAfterMs(run.input.settings, 1) } : followed;
    },
  };
}

/**
 * Units that are gone are left out. Units that are refused keep the revert open until they are taken (docs/design/deploy.md#revert). Units of other
 * strides keep their entries.
 */
function showSent(run: UpdateRunner, sent: SentRevert, counts: TaskCounts | undefined): void {
  if (run.record.revert === null) return;
  const { units, gone, refused, refusedCount = refused.length } = sent;
  const { leftOut: before = [], ...view } = run.record.revert;
  const others = counts ? before.filter(({ id }) => !(id in counts)) : [];
  const leftOut = [...others, ...gone.names.map((id) => ({ id, reason: 'it is gone' })), ...refused];
  if (gone.count > 0) run.note('revert-without', `reverted without ${formatNamed(gone)}: gone`);
  if (refused.length > 0) {
    const names = formatNamed({ count: refusedCount, names: refused.map(({ id }) => id) });
    run.note('revert-without', `${names} not taken: ${refused[0]?.reason ?? ''}`);
  }
  const none = { targeted: 0, updated: 0, live: 0 };
  const shown = run.input.spec.lockstep ? (run.record.revert?.units ?? []) : [];
  const known = new Map(shown.map((unit) => [unit.id, unit]));
  for (const unit of units) known.set(unit.id, { ...none, ...known.get(unit.id), ...unit });
  run.patch({ revert: { ...view, units: [...known.values()], ...(leftOut.length > 0 ? { leftOut } : {}) } });
}

function show(run: UpdateRunner, { totals, units }: UpdateUnitCounts): void {
  const { revert: view } = run.record;
  if (view !== null) run.patch({ revert: withRevertCounts(view, { totals, units }) });
}

function finishRevert(run: UpdateRunner): void {
  run.set((record, now) =>
    change(record, now, {
      revertStuck: false,
      revert: record.revert && { ...record.revert, endedAt: formatTime(now) },
      phases: record.phases.map((phase) =>
        phase.startedAt === null || phase.totals === undefined ? phase : { ...phase, state: 'reverted' as const },
      ),
    }),
  );
  run.note('updates-reverted', 'every task that it updated is back on its earlier version');
}

/** The earlier version of these units is unknown, so a person has to decide (docs/design/deploy.md#revert). */
async function awaitCancel(run: UpdateRunner, units: NamedUnits): Promise<never> {
  await untilResumed(run);
  run.patch({ revertStuck: true });
  const others = run.record.revert?.units.length ? 'all others are back' : 'cannot revert';
  run.pause('unit', `${others}: the earlier version of ${formatNamed(units)} is unknown; ${WITHOUT_PAST}`);
  for (;;) await until(() => false);
}
