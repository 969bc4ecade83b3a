import { FLEET_LIMITS } from '../fleet/limits';
import type { Unit } from '../fleet/unit';
import { plural } from '../text';
import type { UnitTotals } from '../views';
import type { PhasePlan } from './plan';
import { everyUnit, toPart, type NamedUnits, type Selection } from './snapshot';
import { change, note, type DeployInput, type DeployRecord } from './state';

/** Units whose region is down, and how a deploy treats them (docs/design/deploy.md#phases). */

/** Whether a deploy continues without them, and leaves them to a follow-on. */
export const skipsUnavailable = ({ spec, canary, followOn, rollback }: UnavailabilityInput): boolean =>
  canary === undefined && (spec.onUnitUnavailable === 'skip' || followOn !== undefined || rollback);

/** The fields that decide about them. Like a revert, a rollback waits for no unit. */
type UnavailabilityInput = Pick<DeployInput, 'spec' | 'canary' | 'followOn' | 'rollback'>;

/** The decision about units that are unavailable when a deploy is planned. */
export type Unavailable =
  | { readonly kind: 'leave-out'; readonly units: readonly string[] }
  /** `again`: the units have to be looked at again after the wait. */
  | { readonly kind: 'wait'; readonly again: boolean; readonly reason: string };

/**
 * With `skip` they are left out, and a follow-on updates them when they return. A person says when to continue in three cases: with `pause`, if
 * no other unit is left, and if there are too many to leave out.
 * @param units the number of all units.
 */
export function ofUnavailable(input: UnavailabilityInput, down: NamedUnits, units: number): Unavailable {
  const wait = (again: boolean, why = '') =>
    ({ kind: 'wait', again, reason: `${areAway(down)}${why}; resume when ${itIs(down)} back` }) as const;
  if (!skipsUnavailable(input)) return down.count === 0 ? { kind: 'leave-out', units: [] } : wait(false);
  if (down.count > FLEET_LIMITS.leftOut) return wait(true, `; a deploy leaves out at most ${FLEET_LIMITS.leftOut}`);
  const isAll = down.count > 0 && down.count === units;
  return !isAll || input.followOn ? { kind: 'leave-out', units: down.names } : wait(true);
}

/** Whether the tasks of this phase are the first that the version meets; an emergency does not wait for them. */
export const meetsFirst = (record: DeployRecord, input: DeployInput, { kind }: PhasePlan): boolean =>
  skipsUnavailable(input) && !input.emergency && kind === 'partial' && isUntried(record);

/** The reason why a person has to decide whether to wait for the first phase, all of which is unavailable. */
export const whyFirstWaits = (
  { version }: Pick<DeployInput, 'version'>,
  { name }: PhasePlan,
  down: NamedUnits,
): string =>
  `${areAway(down)}, and with ${down.count === 1 ? 'it' : 'them'} all of phase ${name}, ` +
  `the first that would meet ${version}; resume when ${itIs(down)} back, or skip-phase to begin with the next`;

/** Leaves these units out of all phases from now on; units that have returned take part again. */
export function leaveOutUnits(record: DeployRecord, down: readonly string[], nowMs: number): DeployRecord {
  const { skipped } = record;
  const fresh = down.filter((id) => !skipped.includes(id));
  const back = skipped.filter((id) => !down.includes(id));
  if (fresh.length + back.length === 0) return record;
  const without = `continues without ${unitNames(fresh)}, unavailable`;
  const left = change(record, nowMs, { skipped: down });
  const noted = fresh.length > 0 ? note(left, nowMs, 'units-skipped', without) : left;
  const are = back.length === 1 ? 'is' : 'are';
  return back.length > 0 ? note(noted, nowMs, 'units-back', `${unitNames(back)} ${are} available again`) : noted;
}

const areAway = (down: NamedUnits): string => `${formatNamed(down)} ${down.count === 1 ? 'is' : 'are'} unavailable`;
const itIs = ({ count }: NamedUnits): string => (count === 1 ? 'it is' : 'they are');

/** The units that a deploy concerns. For a follow-on, only those that were left out; for a rollback, none that another pipeline has updated since. */
export const filterConcerned = (
  units: readonly Unit[],
  only: readonly string[] | undefined,
  kept: ReadonlyMap<string, unknown> = new Map(),
): readonly Unit[] => units.filter(({ id }) => (only?.includes(id) ?? true) && !kept.has(id));

export const unavailable = (units: readonly Unit[]): string[] =>
  units.filter(({ available }) => !available).map(({ id }) => id);

/** The units that a deploy continues with. */
export const present = ({ fleet, skipped }: Pick<DeployRecord, 'fleet' | 'skipped'>): Selection =>
  everyUnit(fleet?.now ?? fleet?.snapshot ?? { units: [] }, skipped);

/** The reason why a phase that reaches nothing new is passed over. */
export const CURRENT = 'already current';

/** Whether no task has met the version in any phase so far. */
export const isUntried = ({ phases }: Pick<DeployRecord, 'phases'>): boolean =>
  phases.every(({ updatedAt, skipped }) => updatedAt === null && skipped !== CURRENT);

/** The reason why a phase without any units left is skipped. */
export const UNITS_AWAY = 'its units are unavailable';

/**
 * The reason why no task of a phase has met the version although some were to; null if some did, or none had to.
 * @param isAway all of its units are left out.
 */
export function whyNoneMet({ targeted, live }: Pick<UnitTotals, 'targeted' | 'live'>, isAway: boolean): string | null {
  if (isAway) return UNITS_AWAY;
  return targeted > 0 && live === 0 ? 'its tasks are gone' : null;
}

/** The units of a phase without those that are left out; for the completion, the present units count. */
export const phaseUnits = (
  { fleet, skipped }: Pick<DeployRecord, 'fleet' | 'skipped'>,
  phase: PhasePlan,
): Selection => {
  const then = fleet?.snapshot ?? { units: [] };
  const snapshot = phase.kind === 'completion' ? (fleet?.now ?? then) : then;
  return { snapshot, parts: [toPart(phase, skipped)] };
};

const SHOWN = 5;

/** `kvstore-y`, or the first names if there are many. */
export const unitNames = (units: readonly string[]): string => formatNamed({ count: units.length, names: units });

/** Like `unitNames`, if only some names are known. */
export function formatNamed({ count, names }: NamedUnits): string {
  if (names.length === 0) return plural(count, 'unit');
  const more = count - Math.min(SHOWN, names.length);
  return `${names.slice(0, SHOWN).join(', ')}${more > 0 ? ` and ${plural(more, 'other')}` : ''}`;
}

/** The words about left-out units in a success; empty if there were none. */
export const withoutThem = (skipped: readonly string[]): string =>
  skipped.length === 0
    ? ''
    : `without ${unitNames(skipped)}, unavailable; a follow-on release updates ${skipped.length === 1 ? 'it' : 'them'} on return`;
