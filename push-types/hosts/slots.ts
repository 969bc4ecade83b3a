import { HOSTS_LIMITS } from '../../sdk';
import { countStart, newSlot, unitOf, type Slot, type State, type UnitState } from '../../sdk/updates';
import { isServing } from './hostPlan';
import type { HostFacts, HostStamp } from './hostScript';
import type { TrafficShare } from './traffic';

/** The hosts of a unit as slots of the memory: decisions about the state, without effects. */

/** The memory of this push type: that of the sdk, and what hosts need besides. */
export interface HostsState extends State {
  /** The host of each slot, by unit. A host keeps its index. */
  places?: Record<string, string[]>;
  /** The hosts that this push type has taken out of the load balancer. */
  drained?: string[];
  /** The digests of packages by version. */
  digests?: Record<string, string>;
  /** The last sequence number of a command to a host. */
  sequence?: number;
  /** The share of the requests of each unit for a version. */
  traffic?: Record<string, TrafficShare>;
}

/** The answer of a host to a look, or the reason why there is none. */
export type HostLook = { readonly facts: HostFacts } | { readonly unreachable: string };

/** The hosts of a unit as they joined; the index is that of their slots. */
export const listPlaces = (state: HostsState, unit: string): readonly string[] => state.places?.[unit] ?? [];

/** Gives new hosts a slot; hosts that have left the inventory are gone, until they are listed again. */
export function syncHosts(state: HostsState, name: string, hosts: readonly string[]): void {
  const places = ((state.places ??= {})[name] ??= []);
  const unit = (state.units[name] ??= { version: '', update: null, starts: [], slots: [] });
  const listed = new Set(hosts);
  const known = new Set(places);
  for (const host of hosts) if (!known.has(host)) placeHost(places, unit, host, listed);
  if (unit.removed) {
    unit.removed.size = places.length;
    return;
  }
  places.forEach((host, index) => {
    const slot = (unit.slots[index] ??= newSlot(unit.version, unit.update));
    if (listed.has(host)) delete slot.gone;
    else Object.assign(slot, { gone: true, state: 'down' } satisfies Partial<Slot>);
  });
}

/** A host gets an index of its own; with very many, that of a host that has left. */
function placeHost(places: string[], unit: UnitState, host: string, listed: ReadonlySet<string>): void {
  const free = places.length < HOSTS_LIMITS.hosts.max ? -1 : places.findIndex((one) => !listed.has(one));
  if (free === -1) places.push(host);
  else {
    places[free] = host;
    unit.slots[free] = newSlot(unit.version, unit.update);
  }
}

/** A slot follows its host: live if it serves the version of the slot, unreachable if it does not answer. */
export function applyLook(unit: UnitState, index: number, host: string, look: HostLook, now: number): void {
  const slot = unit.slots[index];
  if (slot === undefined || slot.gone) return;
  if ('unreachable' in look) {
    Object.assign(slot, { state: 'down', isUnreachable: true } satisfies Partial<Slot>);
    return;
  }
  const { facts } = look;
  delete slot.isUnreachable;
  if (facts.invocation !== '') noteTask(unit, index, nameHostTask(host, facts.invocation), now);
  slot.state = slot.version !== '' && isServing(facts, slot.version) ? 'live' : 'down';
}

/** systemd's InvocationID is another for each start of the service. */
export const nameHostTask = (host: string, invocation: string): string => `${host}@${invocation}`;

/** The task of a slot from now on. If it had another, that was started by itself, such as by systemd after a crash. */
export function noteTask(unit: UnitState, index: number, task: string, now: number): void {
  const slot = unit.slots[index];
  if (slot === undefined || slot.task === task) return;
  if (slot.task !== undefined) countStart(unit, index, now);
  slot.task = task;
}

/** The record that a change leaves on its host. */
export function createStamp(state: HostsState, name: string, index: number): HostStamp {
  const { slots, version, update } = unitOf(state, name);
  const slot = slots[index];
  const chosen = state.updates[slot?.update ?? '']?.units[name]?.slots ?? [];
  const places = listPlaces(state, name);
  return {
    ...{ updateId: slot?.update ?? null, version: slot?.version ?? '', unit: name },
    ...{ sequence: state.sequence ?? 0, hosts: chosen.flatMap((one) => places[one] ?? []) },
    ...{ unitVersion: version, unitUpdate: update },
  };
}

/** The number of the next command to a host: higher than any before, also after the memory was lost. */
export const countSequence = (state: HostsState, now: number): number =>
  (state.sequence = Math.max((state.sequence ?? 0) + 1, now));

/**
 * Restores a unit of which the memory knows nothing from the records on its hosts: versions, updates and their tasks. An update that is not
 * there on all of its hosts has ended: whether it was paused or cancelled is unknown, and the deploy sends another.
 */
export function restoreUnit(state: HostsState, name: string, looks: ReadonlyMap<string, HostLook>): void {
  const unit = unitOf(state, name);
  const places = listPlaces(state, name);
  const found = places.map((host) => {
    const look = looks.get(host);
    return look !== undefined && 'facts' in look ? look.facts : undefined;
  });
  const stamps = found.flatMap((facts) => (facts?.stamp?.unit === name ? [facts.stamp] : []));
  const newest = stamps.reduce<HostStamp | undefined>(
    (best, one) => (best && best.sequence >= one.sequence ? best : one),
    undefined,
  );
  [unit.version, unit.update] = [
    newest?.unitVersion ?? pickCommonest(found.flatMap((facts) => facts?.current || [])),
    newest?.unitUpdate ?? null,
  ];
  unit.slots.forEach((slot, index) => {
    const facts = found[index];
    [slot.version, slot.update] = [
      facts?.current || unit.version,
      facts?.stamp?.updateId ?? (facts?.current ? null : unit.update),
    ];
  });
  for (const stamp of stamps.toSorted((one, other) => one.sequence - other.sequence)) restoreUpdate(state, name, stamp);
  state.sequence = Math.max(state.sequence ?? 0, ...stamps.map(({ sequence }) => sequence));
}

function restoreUpdate(state: HostsState, name: string, { updateId, version, hosts }: HostStamp): void {
  if (updateId === null) return;
  const { slots: all } = unitOf(state, name);
  const slots = hosts.flatMap((host) => {
    const index = listPlaces(state, name).indexOf(host);
    return index === -1 ? [] : [index];
  });
  const reached = slots.filter((index) => all[index]?.update === updateId && all[index].version === version).length;
  const isDone = reached === slots.length;
  const reason = `the push type lost its memory while it brought ${version} to ${name}: ${reached} of ${slots.length} hosts have it`;
  const update = (state.updates[updateId] ??= { updatedBy: [], exclude: [], units: {} });
  update.units[name] = { version, slots, ...(isDone ? { state: 'done' } : { state: 'ended', reason }) };
}

const pickCommonest = (versions: readonly string[]): string =>
  versions.toSorted(
    (one, other) => versions.filter((it) => it === other).length - versions.filter((it) => it === one).length,
  )[0] ?? '';
