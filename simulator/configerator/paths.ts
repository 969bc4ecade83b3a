import { putAmong, withoutOverride } from '../../configerator/domain/amongOverrides';
import type { Override } from '../../configerator/store/port';
import { resolveAnswer } from '../../configerator/domain/heldValue';
import type { Host } from '../../configerator/domain/overrides';
import type { ConfigeratorState, PathState, Transaction } from './state';

/** The state of paths over time, and the answer that a host derives from it. */

/** The index of a path; a new path is added. */
export function pathIndex({ paths, pathIndex }: ConfigeratorState, repository: string, path: string): number {
  const name = `${repository}:${path}`;
  let index = pathIndex.get(name);
  if (index === undefined) {
    index = paths.push({ repository, path, values: [], overrides: [], answers: new Map() }) - 1;
    pathIndex.set(name, index);
  }
  return index;
}

/** Indices of the paths that the newest transaction has changed. */
export function applyNewest(state: ConfigeratorState): number[] {
  const at = state.log.length;
  const transaction = state.log[at - 1];
  if (transaction === undefined) return [];
  return transaction.kind === 'commit' ? commitNewest(state, transaction, at) : exposeNewest(state, transaction, at);
}

function commitNewest(
  state: ConfigeratorState,
  { repository, commit }: Extract<Transaction, { kind: 'commit' }>,
  at: number,
) {
  return commit.values.map(({ path, value, version }) => {
    const index = pathIndex(state, repository, path);
    const committed = { value, version, commit: commit.commit, sequence: commit.sequence };
    state.paths[index]?.values.push({ at, committed });
    return index;
  });
}

function exposeNewest(
  state: ConfigeratorState,
  change: Exclude<Transaction, { kind: 'commit' }>,
  at: number,
): number[] {
  const { repository } = change;
  const changed = new Set<number>();
  const edit = (index: number, next: (others: readonly Override[]) => readonly Override[]): void => {
    const states = state.paths[index]?.overrides;
    const before = states?.at(-1)?.overrides ?? [];
    const after = next(before);
    if (states === undefined || JSON.stringify(after) === JSON.stringify(before)) return;
    if (states.at(-1)?.at === at) states.pop();
    states.push({ at, overrides: after });
    changed.add(index);
  };
  if (change.kind === 'put')
    for (const override of change.overrides)
      edit(pathIndex(state, repository, override.path), (others) => putAmong(others, override));
  else
    state.paths.forEach(({ repository: of, path }, index) => {
      if (of === repository && (change.paths?.includes(path) ?? true))
        edit(index, (others) => withoutOverride(others, change.id));
    });
  return [...changed];
}

/** The newest entry up to a transaction. */
export const upTo = <T extends { readonly at: number }>(entries: readonly T[], at: number): T | undefined =>
  entries.findLast((entry) => entry.at <= at);

/** A host's knowledge of a path: its value up to one transaction and its overrides up to another. */
export interface KnownPath {
  readonly values: number;
  readonly overrides: number;
}

/** The last transactions within (from, to] that changed the value of a path and its overrides. */
export const changesWithin = (state: PathState, from: number, to: number): { part: keyof KnownPath; at: number }[] =>
  (['values', 'overrides'] as const)
    .map((part) => ({ part, at: upTo<{ readonly at: number }>(state[part], to)?.at ?? 0 }))
    .filter(({ at }) => at > from);

/** Index of the answer that a host derives from its knowledge of a path. */
export function answerIndex(state: ConfigeratorState, of: number, as: Host, known: KnownPath): number {
  const found = state.paths[of];
  if (found === undefined) return 0;
  const committed = upTo(found.values, known.values)?.committed ?? null;
  const overrides = (upTo(found.overrides, known.overrides)?.overrides ?? []).filter((one) => mayMean(one, as));
  const answer = resolveAnswer(found.path, { committed, overrides }, as);
  const key = `${answer.sequence} ${answer.override ?? ''} ${answer.version}`;
  let index = found.answers.get(key);
  if (index === undefined) {
    index = state.answers.push({ ...answer, of }) - 1;
    found.answers.set(key, index);
  }
  return index;
}

const namedPath = new WeakMap<Override, ReadonlySet<string>>();

/** Skips most hosts quickly: an override names thousands of hosts, and a hundred thousand are tested against it. */
function mayMean(override: Override, { name }: Host): boolean {
  if (override.hosts === undefined) return true;
  let names = namedPath.get(override);
  if (names === undefined) namedPath.set(override, (names = new Set(override.hosts)));
  return override.below !== undefined || names.has(name);
}
