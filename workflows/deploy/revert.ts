import { patched } from '@temporalio/workflow';
import type { RevertRequest, SentRevert } from '../../activities/reverts';
import { WITHOUT_PAST } from '../../domain/deploy/control';
import { withRevertCounts, type UpdateUnitCounts } from '../../domain/deploy/counts';
import { listReachedParts, revertPhase, unitsWithoutPast } from '../../domain/deploy/planRevert';
import type { TaskCounts } from '../../domain/deploy/lockstep';
import { createRevertEnding, type Ending } from '../../domain/deploy/outcome';
import { NONE_NAMED, type NamedUnits } from '../../domain/deploy/snapshot';
import { change } from '../../domain/deploy/state';
import type { Stop } from '../../domain/deploy/stop';
import { formatNamed } from '../../domain/deploy/unavailable';
import { updateId } from '../../domain/ids';
import { retryAfterMs } from '../../domain/settings';
import { formatTime } from '../../domain/text';
import { untilResumed } from './calls';
import { joinAsCanary } from './gates';
import { isEmpty, Strides, unitsOfPart, unitsOfRevert, type StridePart } from './lockstep';
import { hasMovedSince } from './prepare';
import type { DeploySession } from './session';
import { MAX_TRANSIENT } from './tries';
import { runUpdates } from './updates';
import { isDenied, type UpdateOrder, type UpdateEnd } from './update';

/**
 * Brings every task that this deploy updated back to its earlier version, with the same runner as a phase. A revert can
 * be paused but not cancelled. If the old version does not come up, the revert is tried again until it does or a person
 * ends it.
 */
export async function revert(run: DeploySession, stop: Extract<Stop, { kind: 'revert' }>): Promise<Ending> {
  const ending = createRevertEnding(stop, run.record.control);
  if (buildRevertRequest(run, '') === null) return ending;
  const suspected = unitsWithoutPast(run.record);
  let lost: NamedUnits = { count: suspected.length, names: suspected };
  if (lost.count > 0 && !patched(WITHOUT_LOST)) return cannotRevert(run, ending, lost);
  beginRevert(run, stop);
  const strides = new Strides(run);
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
      return lost.count > 0 ? cannotRevert(run, ending, lost) : finishRevert(run, ending);
    if (end.kind === 'met') {
      strides.through();
      failures = 0;
      continue;
    }
    failures += 1;
    const ended = await stuck(run, ending, end, failures);
    if (ended) return ended;
  }
}

/** Before 0.3, units without a known past kept all other units on the version that they were to leave. */
const WITHOUT_LOST = 'a revert takes back each unit whose past is known';

type RevertEnding = Extract<Ending, { kind: 'reverted' | 'revert-failed' }>;

function beginRevert(run: DeploySession, stop: Extract<Stop, { kind: 'revert' }>): void {
  run.enter('reverting');
  run.set((record, now) =>
    change(record, now, {
      revert: { by: stop.by, reason: stop.reason, startedAt: formatTime(now), endedAt: null, units: [] },
    }),
  );
  run.note('reverting', `reverting, ${stop.by === 'health' ? 'by itself' : `asked by ${stop.by}`}: ${stop.reason}`);
}

/** A request to bring all units updated so far back to their earlier versions; null if none was updated. */
function buildRevertRequest({ record, input }: DeploySession, updateId: string): RevertRequest | null {
  const { updates: updatedBy, fleet } = record;
  if (updatedBy.length === 0 || fleet === null) return null;
  const { snapshot, now } = fleet;
  const rules = { lastGood: input.lastGood, deployed: input.version };
  return { updateId, parts: listReachedParts(record), snapshot, ...(now ? { now } : {}), rules, updatedBy };
}

/** The end of a try, and whether nothing is left to bring back after it. */
interface RevertTry {
  readonly end: UpdateEnd;
  readonly isLast: boolean;
}

const NOTHING_LEFT: UpdateEnd = { kind: 'met', unfinished: false, missing: 0 };

interface HowToTry {
  /** The push type is asked to prove that it has brought the versions that it reports. */
  readonly isProved: boolean;
  readonly onSent: (sent: SentRevert) => void;
}

async function tryRevert(
  run: DeploySession,
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
  const part = await strides.nextBack(aside.length > 0 ? { ...request, aside } : request, attempt);
  if (part === undefined) return { end: { kind: 'left' }, isLast: false };
  if ('refused' in part) return { end: { kind: 'refused', reason: part.refused }, isLast: false };
  if (isEmpty(part)) return { end: NOTHING_LEFT, isLast: part.isLast };
  await untilResumed(run);
  await joinAsCanary(run, id, { isBack: true });
  const brings = isProved && !part.counts ? { brings: { back: request } } : {};
  let refused: string | undefined;
  const order = {
    ...revertOrder(run, request, part, (sent) => {
      refused = describeRevertRefusal(run, sent);
      onSent(sent);
    }),
    ...brings,
  };
  const end = await runUpdates(run, revertPhase(plan), order, {
    hold: () => untilResumed(run),
    show: (counted) => show(run, strides.counted(counted)),
  });
  // No unit of the request is left in the fleet.
  const isNothing = end.kind === 'left' && !run.isLeft();
  // The push type does not report on units that it did not take. They are tried again before all others are back.
  const isLate = 'late' in end && end.late === true;
  if (refused !== undefined && (isNothing || isLate || end.kind === 'refused'))
    return { end: { kind: 'refused', reason: refused }, isLast: part.isLast };
  return { end: isNothing ? NOTHING_LEFT : end, isLast: part.isLast };
}

function describeRevertRefusal({ input }: DeploySession, { refused, refusedCount = refused.length }: SentRevert) {
  const [first] = refused;
  if (first === undefined) return undefined;
  const names = formatNamed({ count: refusedCount, names: refused.map(({ id }) => id) });
  return `${input.spec.pushType} does not take back ${names}: ${first.reason}`;
}

/**
 * Before 0.3, the deploy followed a revert even if the push type took none of it, as if it were an update without
 * units.
 */
const FOLLOWS_TAKEN = 'a revert that is refused whole is not followed';

function revertOrder(
  run: DeploySession,
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
      const isRefused = updateIds.length === 0 && refused.length > 0 && patched(FOLLOWS_TAKEN);
      const followed = { updateIds, count: isRefused ? 0 : count, refused: NONE_NAMED };
      return refused.length > 0 ? { ...followed, followMs: retryAfterMs(run.input.settings, 1) } : followed;
    },
  };
}

/**
 * Units that are gone are left out. Units that are refused keep the revert open until they are taken (docs/design/deploy.md#revert). Units of other
 * strides keep their entries.
 */
function showSent(run: DeploySession, sent: SentRevert, counts: TaskCounts | undefined): void {
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

function show(run: DeploySession, { totals, units }: UpdateUnitCounts): void {
  const { revert: view } = run.record;
  if (view !== null) run.patch({ revert: withRevertCounts(view, { totals, units }) });
}

function finishRevert(run: DeploySession, ending: RevertEnding): Ending {
  run.set((record, now) =>
    change(record, now, {
      revertStuck: false,
      revert: record.revert && { ...record.revert, endedAt: formatTime(now) },
      phases: record.phases.map((phase) =>
        phase.startedAt === null || phase.totals === undefined ? phase : { ...phase, state: 'reverted' as const },
      ),
    }),
  );
  run.note('updates-reverted', 'every task that it updated is back on what it ran before');
  return ending;
}

/**
 * Shows as paused, and tries again by itself after a while, or at once when a person resumes. Only a person ends it.
 */
async function stuck(
  run: DeploySession,
  ending: RevertEnding,
  end: Exclude<UpdateEnd, { kind: 'met' }>,
  failures: number,
): Promise<Ending | undefined> {
  run.patch({ revertStuck: true });
  if (end.kind !== 'left') {
    if (end.kind === 'refused') run.pauseOn(end.reason);
    else run.pause('timeout', `the old version does not come up: ${end.reason}`);
    const wake = () => run.record.control.resuming !== null || run.record.control.cancel !== null;
    const afterMs = retryAfterMs(run.input.settings, failures);
    await run.until(wake, { afterMs, summary: 'revert: try again' });
  }
  const { cancel } = run.record.control;
  if (cancel) return { ...ending, kind: 'revert-failed', by: cancel.actor, reason: cancel.reason };
  run.unpause('trying the revert again');
  return undefined;
}

/** No earlier version is known: a person has to decide (docs/design/deploy.md#revert). */
async function cannotRevert(run: DeploySession, ending: RevertEnding, units: NamedUnits): Promise<Ending> {
  // Before 0.3, the revert had not begun at this point.
  if (run.record.revert !== null) await untilResumed(run);
  run.patch({ revertStuck: true });
  run.enter('reverting');
  const others = run.record.revert?.units.length ? 'all others are back' : 'cannot revert';
  run.pause('unit', `${others}: nothing is known about what ${formatNamed(units)} ran before; ${WITHOUT_PAST}`);
  await run.until(() => run.record.control.cancel !== null);
  const { cancel } = run.record.control;
  return { ...ending, kind: 'revert-failed', by: cancel?.actor ?? 'somebody', reason: cancel?.reason ?? '' };
}
