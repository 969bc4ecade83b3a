import type { Unit } from '../fleet/unit';
import { plural } from '../text';
import type { PlannedTarget } from './plan';
import type { DeployInput, DeployRecord } from './state';

/** Units whose region is down, and what a deploy does about them (DESIGN §5 "Phases"). */

/** Whether a deploy goes on without them, and leaves them to a follow-on. */
export const skipsUnavailable = ({
  spec,
  canary,
  followOn,
}: Pick<DeployInput, 'spec' | 'canary' | 'followOn'>): boolean =>
  canary === undefined && (spec.onUnitUnavailable === 'skip' || followOn !== undefined);

/** What a deploy is about: of a follow-on only the units that were left out. */
export const concerned = (units: readonly Unit[], { followOn }: Pick<DeployInput, 'followOn'>): readonly Unit[] =>
  followOn ? units.filter(({ id }) => followOn.units.includes(id)) : units;

export const unavailable = (units: readonly Unit[]): string[] =>
  units.filter(({ available }) => !available).map(({ id }) => id);

/** The units that a deploy goes on with. */
export const present = ({ snapshot, skipped }: Pick<DeployRecord, 'snapshot' | 'skipped'>): readonly Unit[] =>
  skipped.length === 0 ? snapshot : snapshot.filter(({ id }) => !skipped.includes(id));

/** Why a phase that reaches nothing new is passed over. */
export const CURRENT = 'already current';

/** Whether no task has met the version in any phase so far. */
export const isUntried = ({ phases }: Pick<DeployRecord, 'phases'>): boolean =>
  phases.every(({ updatedAt, skipped }) => updatedAt === null && skipped !== CURRENT);

/** The targets of a phase but for the units that are left out. */
export const stillTargeted = (
  targets: readonly PlannedTarget[],
  { skipped }: Pick<DeployRecord, 'skipped'>,
): readonly PlannedTarget[] => targets.filter(({ unit }) => !skipped.includes(unit));

const SHOWN = 5;

/** `kvstore-y`, or the first of many. */
export function unitNames(units: readonly string[]): string {
  const more = units.length - SHOWN;
  return `${units.slice(0, SHOWN).join(', ')}${more > 0 ? ` and ${plural(more, 'other')}` : ''}`;
}

/** What a success says of units that were left out; nothing when none were. */
export const withoutThem = (skipped: readonly string[]): string =>
  skipped.length === 0
    ? ''
    : `without ${unitNames(skipped)}, unavailable; a follow-on release updates ${skipped.length === 1 ? 'it' : 'them'} on return`;
