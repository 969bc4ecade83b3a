import { SHOWN_UNITS } from '../fleet/limits';
import type { Unit } from '../fleet/unit';
import { STATE_LIMITS } from '../limits';
import type { DeployPlan, PhasePlan, PlannedTarget } from './plan';
import { partOf, selected, type Part, type Snapshot, type SnapshotUnit } from './snapshot';
import { versionBefore, type RevertRules } from './versionBefore';

/** Which units a deploy has reached, as rules: the parts that its updates were sent to. */
export interface Sent {
  /** Key of the phase. */
  readonly phase: number;
  /** Which of the sets of units that were left out then; none: no unit was. */
  readonly leftOut: number | null;
}

/** What a deploy knows of its updates, as its record has it. */
interface Deployed {
  readonly plan: DeployPlan | null;
  readonly sent: readonly Sent[];
  /** Sets of units that were left out at some time. */
  readonly leftOutSets: readonly (readonly string[])[];
}

/** The parts that updates went to; the units outside have nothing to go back from. */
export const reachedParts = ({ plan, sent, leftOutSets }: Deployed): Part[] =>
  sent.flatMap(({ phase, leftOut }) => {
    const planned = plan?.phases.find(({ key }) => key === phase);
    return planned ? [partOf(planned, leftOut === null ? [] : leftOutSets[leftOut])] : [];
  });

/** With an update that is sent to a phase while some units are left out. */
export function withSent(deployed: Deployed, phase: number, without: readonly string[]): Omit<Deployed, 'plan'> {
  const { sent, leftOutSets } = deployed;
  const known = leftOutSets.findIndex((set) => set.join() === without.join());
  // Too many sets: the units count as reached, and a revert finds that it has nothing to do there.
  const isNew = without.length > 0 && known < 0 && leftOutSets.length < MAX_SETS;
  const index = isNew ? leftOutSets.length : known;
  const next: Sent = { phase, leftOut: without.length === 0 || index < 0 ? null : index };
  const isKnown = sent.some((one) => one.phase === next.phase && one.leftOut === next.leftOut);
  return { sent: isKnown ? sent : [...sent, next], leftOutSets: isNew ? [...leftOutSets, without] : leftOutSets };
}

const MAX_SETS = 10;

/** What earlier deploys, which did not come through, left on units, and what these had run before. */
export interface Inheritance {
  /** What was left behind; a unit that runs something else whole has been deployed to since. */
  readonly left: readonly string[];
  readonly before: Snapshot;
  /** Units that came to one version since. */
  readonly settled?: readonly string[];
}

/** The units as they were before an earlier deploy left them mixed, as far as that is known (docs/design/deploy.md#emergency-push). */
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

/** What a deploy leaves to the next, besides what it inherited itself, which its snapshot holds. */
export const inheritanceOf = (version: string, before: Snapshot, inherited: Inheritance | undefined): Inheritance => ({
  left: [...new Set([...(inherited?.left ?? []), version])].slice(-STATE_LIMITS.inheritedLeft.max),
  before,
});

/** Units that a revert could not bring back (docs/design/deploy.md#revert). */
export const withoutPast = (units: readonly SnapshotUnit[], rules: RevertRules): SnapshotUnit[] =>
  units.filter((unit) => versionBefore(unit, rules) === null);

/** Of many the first, and one of each part: whatever an update reaches, a workflow knows whether there is one among it. */
export function someWithoutPast(
  units: readonly SnapshotUnit[],
  rules: RevertRules,
  parts: readonly Part[],
): SnapshotUnit[] {
  const lost = withoutPast(units, rules);
  if (lost.length <= SHOWN_UNITS) return lost;
  // Those that are left out are away.
  const likely = [...lost].sort((one, other) => Number(other.available) - Number(one.available));
  const each = parts.flatMap((part) => selected(likely, [wholly(part)])[0] ?? []);
  return [...new Set([...lost.slice(0, SHOWN_UNITS), ...each])];
}

/** They may be a few of many, so that a share of whole units counts as all of them. */
const wholly = (part: Part): Part => ('units' in part.amount ? { ...part, amount: { all: true } } : part);

/** Of units without a past those that an update may have reached. */
export const reachedWithoutPast = (units: readonly SnapshotUnit[], parts: readonly Part[]): string[] =>
  selected(units, parts.map(wholly)).map(({ id }) => id);

/** Units that were updated, and of which nobody knows what to go back to. */
export const unitsWithoutPast = (
  deployed: Deployed & { readonly fleet: { readonly withoutPast: readonly SnapshotUnit[] } | null },
): string[] => reachedWithoutPast(deployed.fleet?.withoutPast ?? [], reachedParts(deployed));

/** What a revert asks of each unit. `updatedBy` are the updates that went out: only tasks that they touched, or that inherited their version, are meant. */
export const revertTargets = (
  units: readonly Unit[],
  rules: RevertRules,
  updatedBy: readonly string[],
): PlannedTarget[] =>
  units.flatMap((unit) => {
    const version = versionBefore(unit, rules);
    return version === null ? [] : [{ unit: unit.id, version, artifacts: [], updatedBy }];
  });

/** The one phase of a revert: everything at once, with no bake (docs/design/deploy.md#revert). */
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
