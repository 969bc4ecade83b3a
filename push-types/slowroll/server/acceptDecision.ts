import {
  ExtensionError,
  tasksOf,
  type CallContext,
  type PushTypeProtocol,
  type RequestOf,
  type Target,
} from '../../../sdk';
import { acceptRemoval, acceptUpdate, withReverts, type LockHeld } from '../../../sdk/updates';
import { describePlace, listLack, type Lack, type LackQuestion } from './countHosts';
import { nameSalt, type RolloutDecision, type SlowrollState } from './decisions';
import type { SlowrollFleet, UnitPlace } from './slowrollFleet';

/** Turns updates into decisions. */

/** Whether the salt of a package is the same for every release. */
export type IsSticky = (packageName: string) => boolean;

export interface Acceptance {
  readonly context: CallContext;
  readonly held: LockHeld;
  readonly isSticky: IsSticky;
  readonly hasVersion: (packageName: string, version: string) => boolean;
}

/**
 * Accepts an update, and decides which hosts it means.
 * @throws ExtensionError as `acceptUpdate`
 */
export function acceptSlowUpdate(
  fleet: SlowrollFleet,
  request: RequestOf<PushTypeProtocol['executeUpdates']>,
  { context, held, isSticky, hasVersion }: Acceptance,
): void {
  const { state } = fleet;
  if (state.updates[request.updateId]) return;
  const places = request.targets.map(({ unit }) => findUnitPlace(fleet, unit));
  const wasRemoved = new Set(places.flatMap(({ unit }) => (state.units[unit]?.removed ? [unit] : [])));
  const packageName = places[0]?.packageName ?? '';
  acceptUpdate({ state, copies: { hasVersion: (version) => hasVersion(packageName, version) } }, request, held);
  fleet.touch();
  const generation = countSerial(state, fleet.options.now());
  request.targets.forEach((target, nth) => {
    const place = places[nth];
    if (place === undefined) return;
    const question = askLack(state, target, place, nameRelease(isSticky, place, context));
    const isPart = wasRemoved.has(place.unit) && !isAll(target);
    const { threshold, away, targeted, already } = isPart ? NO_HOST : chooseThreshold(fleet, place, target, question);
    const decision: RolloutDecision = {
      ...{ generation, update: request.updateId, unit: place.unit, version: target.version, salt: question.salt },
      ...{ threshold, targeted, already, below: fleet.hosts.table.count },
      ...(away !== undefined && { at: fleet.options.now(), away }),
      whole: state.units[place.unit]?.update === request.updateId,
      ...{ undoes: question.undoes ?? [], except: question.except },
      again: listAgain(state, place.unit, target.version),
      revert: request.urgency === 'revert' || isBack(state, place.packageName, target.version),
    };
    fleet.decide(decision);
  });
}

/** @throws ExtensionError as `acceptRemoval` of the sdk */
export function acceptSlowRemoval(
  fleet: SlowrollFleet,
  request: RequestOf<PushTypeProtocol['removeUnits']>,
  held: LockHeld,
): void {
  const { state } = fleet;
  if (request.units.length === 0 || state.updates[request.updateId]) return;
  const places = request.units.map((unit) => findUnitPlace(fleet, unit));
  const sizes = places.map((place) => describePlace(fleet, place).size);
  acceptRemoval({ state }, request, held);
  fleet.touch();
  const generation = countSerial(state, fleet.options.now());
  places.forEach(({ unit }, nth) => {
    const targeted = sizes[nth] ?? 0;
    const update = state.updates[request.updateId]?.units[unit];
    if (update !== undefined && targeted > 0) update.state = 'active';
    fleet.decide({
      ...{ generation, update: request.updateId, unit, version: '', removes: true, salt: '' },
      ...{ threshold: 1, below: 0, whole: true, undoes: [], except: [], again: [], revert: false },
      ...{ targeted, already: 0 },
    });
  });
}

/** How many hosts a target lacks, as `needsPush` answers it. */
export function countLacking(
  fleet: SlowrollFleet,
  target: Target,
  context: CallContext,
  isSticky: IsSticky,
): { readonly size: number; readonly outdated: number } {
  const place = findUnitPlace(fleet, target.unit);
  const question = askLack(fleet.state, target, place, nameRelease(isSticky, place, context));
  const { size } = describePlace(fleet, place);
  return { size, outdated: countMissing(target, listLack(fleet, place, question)) };
}

const NO_HOST: Choice = { threshold: -1, targeted: 0, already: 0 };

/** @throws ExtensionError for a unit that is not in the settings */
export function findUnitPlace(fleet: SlowrollFleet, unit: string): UnitPlace {
  const place = fleet.units.get(unit);
  if (place !== undefined) return place;
  throw new ExtensionError('unknown-unit', `there is no unit ${unit}`, { status: 404 });
}

/** The next serial: higher than any before, also after the memory was lost. */
const countSerial = (state: SlowrollState, now: number): number =>
  (state.serial = Math.max((state.serial ?? 0) + 1, now));

const isAll = ({ amount, updatedBy }: Pick<Target, 'amount' | 'updatedBy'>): boolean =>
  updatedBy === undefined && (amount === undefined || 'all' in amount);

function nameRelease(isSticky: IsSticky, { packageName }: UnitPlace, { pipeline, release }: CallContext): string {
  return nameSalt(packageName, isSticky(packageName) ? null : `${pipeline}/${release}`);
}

function askLack(state: SlowrollState, target: Target, { unit }: UnitPlace, salt: string): LackQuestion {
  const { version, updatedBy, exclude = [] } = target;
  return {
    ...{ version, salt, withRemoved: isAll(target), except: listGenerations(state, unit, exclude) },
    undoes: updatedBy && [...listGenerations(state, unit, updatedBy), ...listReturned(state, unit, updatedBy)],
  };
}

/** The decisions of updates, and of all reverts of them. */
function listGenerations(state: SlowrollState, unit: string, updates: readonly string[]): number[] {
  const meant = withReverts(state, updates);
  return (state.decisions?.[unit] ?? []).flatMap(({ update, generation }) => (meant.has(update) ? [generation] : []));
}

/** Reverts of others that returned hosts to the version that one of these updates had set for the whole unit: a canary that ended during a deploy. */
function listReturned(state: SlowrollState, unit: string, updates: readonly string[]): number[] {
  const all = state.decisions?.[unit] ?? [];
  const wholes = all.filter(({ update, whole }) => whole && updates.includes(update));
  return all.flatMap((decision) => {
    const inherited = wholes.some(
      ({ version, generation }) => version === decision.version && generation < decision.generation,
    );
    return decision.undoes.length > 0 && inherited ? [decision.generation] : [];
  });
}

/** Decisions of the same version that did not end well. */
function listAgain(state: SlowrollState, unit: string, version: string): number[] {
  return (state.decisions?.[unit] ?? []).flatMap((decision) => {
    const ended = state.updates[decision.update]?.units[unit]?.state;
    return decision.version === version && (ended === 'failed' || ended === 'ended') ? [decision.generation] : [];
  });
}

/** Whether a version was decided before, and another one since. */
function isBack(state: SlowrollState, packageName: string, version: string): boolean {
  const all = Object.entries(state.decisions ?? {})
    .flatMap(([unit, decisions]) => (unit.startsWith(`${packageName}/`) ? decisions : []))
    .filter((decision) => decision.version !== '')
    .sort((one, other) => one.generation - other.generation);
  const first = all.findIndex((decision) => decision.version === version);
  return first !== -1 && all.slice(first).some((decision) => decision.version !== version);
}

interface Choice {
  readonly threshold: number;
  /** The threshold of those that are silent; undefined if it is the same. */
  readonly away?: number;
  readonly targeted: number;
  readonly already: number;
}

/** The threshold below which as many hosts stand as the target lacks: of those that are there first, since it would wait for the others. */
function chooseThreshold(fleet: SlowrollFleet, place: UnitPlace, target: Target, question: LackQuestion): Choice {
  const lack = listLack(fleet, place, question);
  const targeted = countMissing(target, lack);
  if (target.amount === undefined || 'all' in target.amount) {
    // A revert takes back also the hosts that went back by themselves.
    const taken = target.updatedBy === undefined ? targeted : lack.free;
    return { threshold: 1, targeted: taken, already: lack.free - taken };
  }
  const { places, away } = lack;
  if (target.updatedBy !== undefined) {
    // A revert reaches the hosts that are silent as well: they would return with the version that is taken back.
    const threshold = findThreshold([...places, ...away], targeted);
    return { threshold, targeted, already: countWithin(fleet, place, question, { threshold }) - targeted };
  }
  const there = Math.min(targeted, places.length);
  const reach = { threshold: findThreshold(places, there), away: findThreshold(away, targeted - there) };
  return { ...reach, targeted, already: countWithin(fleet, place, question, reach) - targeted };
}

/** The highest of the lowest `count` places; -1 for none. */
const findThreshold = (places: readonly number[], count: number): number =>
  count === 0 ? -1 : (Float64Array.from(places).sort()[count - 1] ?? -1);

/** How many hosts are missing to the amount of a target. */
function countMissing({ amount = { all: true }, updatedBy }: Target, { size, free, places, away }: Lack): number {
  const lacking = places.length + away.length;
  const wanted = updatedBy === undefined ? tasksOf(amount, size) - (free - lacking) : tasksOf(amount, lacking);
  return 'all' in amount ? lacking : Math.min(Math.max(0, wanted), lacking);
}

/** All hosts that a target means within a threshold, also those that are up on the version. */
function countWithin(
  fleet: SlowrollFleet,
  place: UnitPlace,
  question: LackQuestion,
  { threshold, away: awayThreshold = threshold }: Pick<Choice, 'threshold' | 'away'>,
): number {
  const { places, away } = listLack(fleet, place, { ...question, version: '' });
  return places.filter((one) => one <= threshold).length + away.filter((one) => one <= awayThreshold).length;
}
