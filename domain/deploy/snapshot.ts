import type { Unit } from '../fleet/unit';
import { unitsOf, type PhasePlan } from './plan';
import type { RevertRules } from './versionBefore';

/** What a unit ran before this deploy. */
export interface SnapshotUnit extends Unit {
  /** It was not there when the deploy was planned: only its completion goes there. */
  readonly joined?: true;
}

/** Where units are that no workflow carries: `<at>/0` to `<at>/<pages - 1>`, which activities read (docs/adr/0018). */
export interface Pages {
  readonly at: string;
  readonly pages: number;
}

/**
 * The units of a deploy and what each ran before it. A workflow carries them only where they are few, else they are in pages. Where it
 * carries them and their ids alone are too many for its pipeline, they are in pages too.
 */
export type Snapshot = { readonly units: readonly SnapshotUnit[]; readonly copy?: Pages } | Pages;

/** Units that an update goes to, as a rule: as small for ten thousand as for two. */
export interface Part extends Pick<PhasePlan, 'kind' | 'scope' | 'amount'> {
  /** Ids of units that are left out. */
  readonly without: readonly string[];
}

/** Some units of a snapshot: those of any part. */
export interface Selection {
  readonly snapshot: Snapshot;
  readonly parts: readonly Part[];
  /** Of these no others, by id. */
  readonly only?: readonly string[];
  /** Of a revert: with those that joined, and without those of which nobody knows what they ran before. */
  readonly back?: { readonly rules: RevertRules; readonly now?: Snapshot };
}

export const partOf = ({ kind, scope, amount }: PhasePlan, without: readonly string[] = []): Part => ({
  ...{ kind, scope, amount, without },
});

/** All units but those that are left out. */
export const everyUnit = (snapshot: Snapshot, without: readonly string[]): Selection => ({
  snapshot,
  parts: [{ kind: 'completion', scope: '*', amount: { all: true }, without }],
});

/** The units of a selection, in the order of the snapshot. Only a completion goes to those that joined. */
export function selected<U extends SnapshotUnit>(units: readonly U[], parts: readonly Part[]): U[] {
  const planned = units.filter(({ joined }) => !joined);
  const found = new Set<string>();
  for (const part of parts) {
    const without = new Set(part.without);
    for (const { id } of unitsOf(part, part.kind === 'completion' ? units : planned))
      if (!without.has(id)) found.add(id);
  }
  return units.filter(({ id }) => found.has(id));
}

/** The ids of all units, where the workflow knows them. */
export const idsOf = (snapshot: Snapshot | undefined): readonly string[] | undefined =>
  snapshot && 'units' in snapshot ? snapshot.units.map(({ id }) => id) : undefined;

/** Ids of some units, the first of them by name. */
export interface Named {
  readonly count: number;
  readonly names: readonly string[];
}

export const NONE_NAMED: Named = { count: 0, names: [] };

export const named = (ids: readonly string[], most: number): Named => ({
  count: ids.length,
  names: ids.slice(0, most),
});
