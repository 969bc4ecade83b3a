import { GIT_COMMIT_LIMITS } from '../../sdk';
import { deployOf, newSlot, unfinished, unitOf, type Slot, type State } from '../../sdk/updates';
import { findValueVersion } from './fieldValue';
import type { UnitDefinition } from './units';

/** The clusters of a unit as slots of the memory: decisions about the state, without effects. */

/** The memory of this push type: that of the sdk, and what commits need besides. All lists go by slot. */
export interface CommitState extends State {
  definitions?: Record<string, UnitDefinition>;
  /** The cluster of each slot, by unit. A cluster keeps its index. */
  clusters?: Record<string, string[]>;
  /** The value that the field of each cluster is known to have, because it was read or written. */
  held?: Record<string, string[]>;
  /** The last change of each cluster that is in Git. */
  landed?: Record<string, (Landed | null)[]>;
  /** The version and update of each slot from before a change that has begun, until it is in Git. */
  opened?: Record<string, (Opened | null)[]>;
  /** The text in the field for each version, by unit. */
  values?: Record<string, Record<string, string>>;
  /** Who asked for each update. */
  origins?: Record<string, UpdateOrigin>;
}

export interface Landed {
  readonly update: string;
  /** Undefined if the field had the value already. */
  readonly commit?: string;
  /** ms since the epoch. */
  readonly at: number;
}

export type Opened = Pick<Slot, 'version' | 'update'>;

export interface UpdateOrigin {
  readonly pipeline: string;
  readonly release: number;
  readonly actor: string;
}

/** The clusters of a unit as they joined. */
export const listClusters = (state: CommitState, unit: string): readonly string[] => state.clusters?.[unit] ?? [];

/** The definition of a unit that was learnt. @throws Error for another */
export function getDefinition(state: CommitState, unit: string): UnitDefinition {
  const found = state.definitions?.[unit];
  if (found === undefined) throw new Error(`there is no unit ${unit}`);
  return found;
}

/** The file of the cluster of a slot; undefined if the cluster has left the settings. */
export const findClusterPath = (state: CommitState, unit: string, index: number): string | undefined =>
  getDefinition(state, unit).paths[listClusters(state, unit)[index] ?? ''];

/** The task of a cluster in metrics. */
export const nameClusterTask = (unit: string, cluster: string): string => `${unit}/${cluster}`;

/** A list of a unit, made if it is missing. */
export function listBySlot<K extends 'held' | 'landed' | 'opened'>(
  state: CommitState,
  key: K,
  unit: string,
): NonNullable<CommitState[K]>[string] {
  const all = (state[key] ??= {}) as Record<string, NonNullable<CommitState[K]>[string]>;
  return (all[unit] ??= [] as unknown as NonNullable<CommitState[K]>[string]);
}

/** Remembers the text of a version. */
export function rememberValue(state: CommitState, unit: string, version: string, value: string): void {
  const values = ((state.values ??= {})[unit] ??= {});
  delete values[version];
  values[version] = value;
  for (const old of Object.keys(values).slice(0, -GIT_COMMIT_LIMITS.values.max)) delete values[old];
}

/** Takes over a definition, and the values of its fields. New clusters get a slot; clusters that have left the settings are gone. */
export function defineUnitState(
  state: CommitState,
  name: string,
  definition: UnitDefinition,
  values: ReadonlyMap<string, string>,
): void {
  (state.definitions ??= {})[name] = definition;
  const clusters = ((state.clusters ??= {})[name] ??= []);
  const held = listBySlot(state, 'held', name);
  const unit = (state.units[name] ??= { version: '', update: null, starts: [], slots: [] });
  for (const [cluster, value] of values) {
    const known = clusters.indexOf(cluster);
    const index = known === -1 ? clusters.push(cluster) - 1 : known;
    const slot = unit.slots[index];
    if (slot !== undefined && !slot.gone && held[index] === value) continue;
    const version = findValueVersion(definition, value, state.values?.[name]);
    rememberValue(state, name, version, value);
    held[index] = value;
    unit.slots[index] = { ...newSlot(version), start: 1, task: nameClusterTask(name, cluster) };
    listBySlot(state, 'landed', name)[index] = null;
  }
  unit.slots.forEach((slot, index) => {
    if (!values.has(clusters[index] ?? '')) Object.assign(slot, { gone: true, state: 'down' } satisfies Partial<Slot>);
  });
  if (unit.version === '') unit.version = findCommonVersion(unit.slots);
}

/**
 * Takes over what others have written into fields since: in slots that no deploy but an earlier one has touched. For the deploy that touched a slot, another value is a
 * contradiction, which its revert has to report.
 */
export function adoptValues(
  state: CommitState,
  name: string,
  deployId: string,
  readings: ReadonlyMap<number, string>,
): void {
  const unit = unitOf(state, name);
  const held = listBySlot(state, 'held', name);
  const running = unfinished(state, name);
  let isChanged = false;
  for (const [index, value] of readings) {
    const slot = unit.slots[index];
    if (slot === undefined || slot.gone || slot.state === 'updating' || value === held[index]) continue;
    const isOthers = slot.update !== null && (deployOf(slot.update) === deployId || deployId === '');
    const isAwaited = running.some((id) => state.updates[id]?.units[name]?.slots.includes(index));
    if (isOthers || isAwaited || running.includes(slot.update ?? '')) continue;
    const version = findValueVersion(getDefinition(state, name), value, state.values?.[name]);
    rememberValue(state, name, version, value);
    held[index] = value;
    listBySlot(state, 'landed', name)[index] = null;
    Object.assign(slot, { version, update: null, state: 'down' } satisfies Partial<Slot>);
    isChanged = true;
  }
  if (!isChanged || deployOf(unit.update ?? '') === deployId) return;
  [unit.version, unit.update] = [findCommonVersion(unit.slots), null];
}

/** A copy in which a deploy sees what others have written; the memory stays as it is. */
export function viewState(
  state: CommitState,
  name: string,
  deployId: string,
  readings: ReadonlyMap<number, string>,
): CommitState {
  const copy = structuredClone({
    ...{ units: { [name]: unitOf(state, name) }, held: { [name]: listBySlot(state, 'held', name) } },
    values: { [name]: state.values?.[name] ?? {} },
  });
  const view: CommitState = { ...state, ...copy, landed: {} };
  adoptValues(view, name, deployId, readings);
  return view;
}

/** A change begins: the version and update from before are kept until it is in Git. */
export function openSlot(state: CommitState, unit: string, index: number): void {
  const { version, update } = unitOf(state, unit).slots[index] ?? newSlot('');
  listBySlot(state, 'opened', unit)[index] = { version, update };
}

/** A change that is not in Git ends: its slot is as it was. */
export function closeSlot(state: CommitState, unit: string, index: number): void {
  const opened = listBySlot(state, 'opened', unit);
  const before = opened[index];
  const slot = unitOf(state, unit).slots[index];
  if (slot && before) Object.assign(slot, { ...before, state: 'down' } satisfies Partial<Slot>);
  opened[index] = null;
}

/** A change is in Git, with a commit unless the field had the value already. */
export function landSlot(state: CommitState, unit: string, index: number, value: string, landed: Landed): void {
  listBySlot(state, 'held', unit)[index] = value;
  listBySlot(state, 'landed', unit)[index] = landed;
  listBySlot(state, 'opened', unit)[index] = null;
}

/** Whether the change that a slot is in is in Git. */
export function isLanded(state: CommitState, unit: string, index: number): boolean {
  const slot = unitOf(state, unit).slots[index];
  const landed = state.landed?.[unit]?.[index];
  return slot?.update !== null && landed?.update === slot?.update;
}

/** Forgets who asked for updates that are forgotten. */
export function forgetOrigins({ origins = {}, updates }: CommitState): void {
  for (const id of Object.keys(origins)) if (updates[id] === undefined) delete origins[id];
}

export const isRevert = (state: State, updateId: string): boolean =>
  (state.updates[updateId]?.updatedBy.length ?? 0) > 0;

function findCommonVersion(slots: readonly Slot[]): string {
  const versions = slots.filter(({ gone }) => !gone).map(({ version }) => version);
  const count = (version: string): number => versions.filter((one) => one === version).length;
  return versions.toSorted((one, other) => count(other) - count(one))[0] ?? '';
}
