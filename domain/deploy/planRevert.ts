import type { Unit } from '../fleet/unit';
import { phaseOfUpdate } from '../ids';
import { unitsOf, type DeployPlan, type PhasePlan, type PlannedTarget } from './plan';

/** What each unit goes back to; the plan of a revert is one phase over all units, with no bake (DESIGN §5, "Revert"). */
export interface RevertPlan {
  readonly phase: PhasePlan;
  readonly targets: readonly PlannedTarget[];
}

/** What a unit ran before this deploy. */
export interface SnapshotUnit extends Unit {
  /** It was not there when the deploy was planned: only its completion goes there. */
  readonly joined?: true;
}

/**
 * The units that the updates of some phases went to; the others have nothing to go back from, and before there is a plan that is
 * all of them. `reached`: those that any update was sent to, where that is known, since a phase may have left some out.
 */
export function touchedUnits({ plan, snapshot, updates, reached = null }: Deployed): Unit[] {
  const sent = (plan?.phases ?? []).filter(({ key }) => updates.some((id) => phaseOfUpdate(id) === String(key)));
  const planned = snapshot.filter(({ joined }) => !joined);
  const there = (phase: PhasePlan) => unitsOf(phase, phase.kind === 'completion' ? snapshot : planned);
  const touched = new Set(sent.flatMap((phase) => there(phase).map(({ id }) => id)));
  const sentTo = reached && new Set(reached);
  return snapshot.filter(({ id }) => touched.has(id) && (sentTo === null || sentTo.has(id)));
}

/** What a deploy knows of its updates, as its record has it. */
interface Deployed {
  readonly snapshot: readonly SnapshotUnit[];
  readonly plan: DeployPlan | null;
  /** Update ids that went out. */
  readonly updates: readonly string[];
  readonly reached?: readonly string[] | null;
}

const versionBefore = (unit: Unit, lastGood: string | null, deployed: string | undefined): string | null =>
  (unit.mixed ? null : unit.version) ?? (lastGood === deployed ? null : lastGood);

/** The units as they were before an earlier deploy left them mixed, as far as that is known (DESIGN §5 "Emergency push"). */
export const asBefore = (units: readonly Unit[], revertTo: Readonly<Record<string, string>> = {}): Unit[] =>
  units.map((unit) => {
    const version = revertTo[unit.id];
    return version === undefined ? unit : { ...unit, version, mixed: false };
  });

/** What a later deploy has to know in order to revert what this one leaves behind: unit id to version, where one is known. */
export function inheritance(
  deployed: Deployed,
  { revertTo = {}, lastGood, version }: Inherited,
): Record<string, string> {
  const own = touchedUnits(deployed).flatMap((unit) => {
    const before = versionBefore(unit, lastGood, version);
    return before === null ? [] : [[unit.id, before] as const];
  });
  return { ...revertTo, ...Object.fromEntries(own) };
}

interface Inherited {
  readonly revertTo?: Readonly<Record<string, string>>;
  readonly lastGood: string | null;
  /** What was deployed. */
  readonly version: string;
}

/**
 * Each unit of the snapshot back to what it ran before this deploy: its version then; for a unit that ran several, or none,
 * the last good one of this action, unless that is the one to get rid of (`deployed`). `updates` are the update ids that
 * went out; only tasks that they touched, or that inherited their version, are meant.
 * @returns `impossible` with the units that have neither, so that the deploy pauses instead of guessing.
 */
export function planRevert(
  snapshot: readonly Unit[],
  lastGood: string | null,
  updates: readonly string[],
  updateTimeoutMs: number,
  deployed?: string,
): RevertPlan | { readonly impossible: readonly string[] } {
  const known = snapshot.map((unit) => ({ unit, version: versionBefore(unit, lastGood, deployed) }));
  const impossible = known.filter(({ version }) => version === null).map(({ unit }) => unit.id);
  if (impossible.length > 0) return { impossible };
  return {
    phase: {
      kind: 'revert',
      key: 'revert',
      name: 'revert',
      scope: '*',
      amount: { all: true },
      bakeMs: 0,
      success: { all: true },
      updateTimeoutMs,
    },
    targets: known.map(({ unit, version }) => ({
      unit: unit.id,
      version: version ?? '',
      artifacts: [],
      updatedBy: updates,
    })),
  };
}
