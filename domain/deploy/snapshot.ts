import type { Unit } from '../fleet/unit';
import { pickPhaseUnits, type PhasePlan } from './plan';
import type { RevertRules } from './versionBefore';

/** The version of a unit before this deploy. */
export interface SnapshotUnit extends Unit {
  /** It did not exist when the deploy was planned: only the completion reaches it. */
  readonly joined?: true;
}

/**
 * The place of units that no workflow carries: `<at>/0` to `<at>/<pages - 1>`, which activities read (docs/adr/0018).
 */
export interface Pages {
  readonly at: string;
  readonly pages: number;
}

/**
 * The units of a deploy and their versions before it. A workflow carries them only if they are few, else they are in pages. If it carries them
 * but their ids alone are too many for its pipeline, they are also in pages.
 */
export type Snapshot = { readonly units: readonly SnapshotUnit[]; readonly copy?: Pages } | Pages;

/** Units that an update reaches, as a rule: as small for ten thousand units as for two. */
export interface Part extends Pick<PhasePlan, 'kind' | 'scope' | 'amount'> {
  /** Ids of units that are left out. */
  readonly without: readonly string[];
}

/** Some units of a snapshot: those in any of the parts. */
export interface Selection {
  readonly snapshot: Snapshot;
  readonly parts: readonly Part[];
  /** Only these units of the parts, by id. */
  readonly only?: readonly string[];
  /** For a revert: includes the units that joined, and excludes those whose earlier version is unknown. */
  readonly back?: { readonly rules: RevertRules; readonly now?: Snapshot };
}

export const toPart = ({ kind, scope, amount }: PhasePlan, without: readonly string[] = []): Part => ({
  ...{ kind, scope, amount, without },
});

/** All units except those that are left out. */
export const everyUnit = (snapshot: Snapshot, without: readonly string[]): Selection => ({
  snapshot,
  parts: [{ kind: 'completion', scope: '*', amount: { all: true }, without }],
});

/** The units of a selection, in the order of the snapshot. Only a completion reaches units that joined. */
export function selectUnits<U extends SnapshotUnit>(units: readonly U[], parts: readonly Part[]): U[] {
  const planned = units.filter(({ joined }) => !joined);
  const found = new Set<string>();
  for (const part of parts) {
    const without = new Set(part.without);
    for (const { id } of pickPhaseUnits(part, part.kind === 'completion' ? units : planned))
      if (!without.has(id)) found.add(id);
  }
  return units.filter(({ id }) => found.has(id));
}

/** The ids of all units, if the workflow knows them. */
export const listSnapshotIds = (snapshot: Snapshot | undefined): readonly string[] | undefined =>
  snapshot && 'units' in snapshot ? snapshot.units.map(({ id }) => id) : undefined;

/** Some units: their number, and the names of the first. */
export interface NamedUnits {
  readonly count: number;
  readonly names: readonly string[];
}

export const NONE_NAMED: NamedUnits = { count: 0, names: [] };

export const toNamed = (ids: readonly string[], most: number): NamedUnits => ({
  count: ids.length,
  names: ids.slice(0, most),
});
