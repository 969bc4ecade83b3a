import { SHOWN_UNITS } from '../fleet/limits';
import type { Unit } from '../fleet/unit';
import { STATE_LIMITS } from '../limits';
import type { DeployPlan, PhasePlan, PlannedTarget } from './plan';
import { toPart, selectUnits, type Part, type Snapshot, type SnapshotUnit } from './snapshot';
import { versionBefore, type RevertRules } from './versionBefore';

/** The units that a deploy has reached, as rules: the parts to which its updates were sent. */
export interface SentPhasePart {
  /** The key of the phase. */
  readonly phase: number;
  /** The index of the set of units that were left out then; null if none was. */
  readonly leftOut: number | null;
}

/** The facts about its updates in the record of a deploy. */
interface DeployUpdateRecord {
  readonly plan: DeployPlan | null;
  readonly sent: readonly SentPhasePart[];
  /** All sets of units that were ever left out. */
  readonly leftOutSets: readonly (readonly string[])[];
}

/** The parts to which updates went. Units outside them were not updated, so they need no revert. */
export const listReachedParts = ({ plan, sent, leftOutSets }: DeployUpdateRecord): Part[] =>
  sent.flatMap(({ phase, leftOut }) => {
    const planned = plan?.phases.find(({ key }) => key === phase);
    return planned ? [toPart(planned, leftOut === null ? [] : leftOutSets[leftOut])] : [];
  });

/** Adds an update that is sent to a phase while some units are left out. */
export function withSent(
  deployed: DeployUpdateRecord,
  phase: number,
  without: readonly string[],
): Omit<DeployUpdateRecord, 'plan'> {
  const { sent, leftOutSets } = deployed;
  const known = leftOutSets.findIndex((set) => set.join() === without.join());
  // If there are too many sets, the units count as reached, and a revert finds nothing to do there.
  const isNew = without.length > 0 && known < 0 && leftOutSets.length < MAX_SETS;
  const index = isNew ? leftOutSets.length : known;
  const next: SentPhasePart = { phase, leftOut: without.length === 0 || index < 0 ? null : index };
  const isKnown = sent.some((one) => one.phase === next.phase && one.leftOut === next.leftOut);
  return { sent: isKnown ? sent : [...sent, next], leftOutSets: isNew ? [...leftOutSets, without] : leftOutSets };
}

const MAX_SETS = 10;

/** The versions that earlier failed deploys left on units, and the versions of those units before. */
export interface Inheritance {
  /** The versions left behind. A unit that runs another version as a whole has been deployed to since. */
  readonly left: readonly string[];
  readonly before: Snapshot;
  /** Units that have come to one version since. */
  readonly settled?: readonly string[];
}

/** The units with their versions from before an earlier deploy left them mixed, as far as known (docs/design/deploy.md#emergency-push). */
export function asBefore<U extends Unit>(
  units: readonly U[],
  { left, settled = [] }: Omit<Inheritance, 'before'>,
  before: readonly Unit[],
): U[] {
  const known = new Map(before.map((unit) => [unit.id, unit]));
  return units.map((unit) => {
    const was = known.get(unit.id);
    const isLeft = unit.mixed || (unit.version !== null && left.includes(unit.version));
    if (was === undefined || was.mixed || was.version === null || !isLeft || settled.includes(unit.id)) return unit;
    return { ...unit, version: was.version, mixed: false };
  });
}

/** The inheritance that a deploy leaves to the next. The snapshot of the deploy includes its own inheritance. */
export const buildInheritance = (
  version: string,
  before: Snapshot,
  inherited: Inheritance | undefined,
): Inheritance => ({
  left: [...new Set([...(inherited?.left ?? []), version])].slice(-STATE_LIMITS.inheritedLeft.max),
  before,
});

/** Units that a revert could not bring back (docs/design/deploy.md#revert). */
export const withoutPast = (units: readonly SnapshotUnit[], rules: RevertRules): SnapshotUnit[] =>
  units.filter((unit) => versionBefore(unit, rules) === null);

/**
 * If there are many: the first ones, and one for each part. So for every update the workflow knows whether it reaches such a unit.
 */
export function someWithoutPast(
  units: readonly SnapshotUnit[],
  rules: RevertRules,
  parts: readonly Part[],
): SnapshotUnit[] {
  const lost = withoutPast(units, rules);
  if (lost.length <= SHOWN_UNITS) return lost;
  // Unavailable units are likely to be left out.
  const likely = [...lost].sort((one, other) => Number(other.available) - Number(one.available));
  const each = parts.flatMap((part) => selectUnits(likely, [wholly(part)])[0] ?? []);
  return [...new Set([...lost.slice(0, SHOWN_UNITS), ...each])];
}

/** These may be a few of many units, so a share of whole units counts as all of them. */
const wholly = (part: Part): Part => ('units' in part.amount ? { ...part, amount: { all: true } } : part);

/** The units without a known past that an update may have reached. */
export const listReachedWithoutPast = (units: readonly SnapshotUnit[], parts: readonly Part[]): string[] =>
  selectUnits(units, parts.map(wholly)).map(({ id }) => id);

/** Units that were updated and whose earlier version is unknown. */
export const unitsWithoutPast = (
  deployed: DeployUpdateRecord & { readonly fleet: { readonly withoutPast: readonly SnapshotUnit[] } | null },
): string[] => listReachedWithoutPast(deployed.fleet?.withoutPast ?? [], listReachedParts(deployed));

/**
 * The targets of a revert for each unit. `updatedBy` names the updates that were sent: the revert covers only tasks that they updated, or that
 * inherited their version.
 */
export const revertTargets = (
  units: readonly Unit[],
  rules: RevertRules,
  updatedBy: readonly string[],
): PlannedTarget[] =>
  units.flatMap((unit) => {
    const version = versionBefore(unit, rules);
    return version === null ? [] : [{ unit: unit.id, version, artifacts: [], updatedBy }];
  });

/** The single phase of a revert: everything at once, without a bake (docs/design/deploy.md#revert). */
export const revertPhase = ({ phases }: DeployPlan): PhasePlan => ({
  kind: 'revert',
  key: 'revert',
  name: 'revert',
  scope: '*',
  amount: { all: true },
  bakeMs: 0,
  success: { all: true },
  updateTimeoutMs: phases.at(-1)?.updateTimeoutMs ?? 0,
});
