import { computeHostPosition } from '../domain/overrides';
import { subscriberState, type Has } from '../domain/subscriber';
import { FLEET_LIMITS } from '../../domain/fleet/limits';
import { groupBy } from '../../domain/groupBy';
import { unitOf } from '../../sdk/updates/choose';
import type { Slot, UnitState } from '../../sdk/updates/memory';
import type { ConfigStore } from '../store/port';
import { forgetEmpty, forgetLeft, isEmpty } from './cleanup';
import type { ConfigState, Service } from './memory';

/** A host that reads paths of a service. */
export interface Subscriber {
  readonly host: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly has: readonly Has[];
}

export type Subscribers = ReadonlyMap<string, Subscriber>;

/** The subscribers of these paths, by host. */
export async function readSubscribers(
  store: ConfigStore,
  repository: string,
  paths: readonly string[],
): Promise<Subscribers> {
  const found = new Map<string, { host: string; labels: Readonly<Record<string, string>>; has: Has[] }>();
  for (const acknowledged of (await Promise.all(paths.map((path) => store.subscribers(repository, path)))).flat()) {
    const { host, labels = {} } = acknowledged;
    const known = found.get(host);
    if (known === undefined) found.set(host, { host, labels, has: [acknowledged] });
    else known.has.push(acknowledged);
  }
  return found;
}

/** The region of hosts without one. */
const NOWHERE = 'all';

const unitName = (service: string, region: string): string => `${service}:${region}`;

/** The region of a unit; undefined for the hosts that have none. */
export const getUnitRegion = (service: string, unit: string): string | undefined => {
  const region = unit.slice(service.length + 1);
  return region === NOWHERE ? undefined : region;
};

/** The labels shared by all of these hosts, without those that a unit already has, within the limits of a unit. */
export function findSharedLabels(subscribers: readonly Subscriber[], own: readonly string[]): Record<string, string> {
  const [first, ...others] = subscribers;
  const { labels: most, labelLength } = FLEET_LIMITS;
  const shared = Object.entries(first?.labels ?? {})
    .filter(([key, value]) => others.every(({ labels }) => labels[key] === value))
    .filter(([key, value]) => !own.includes(key) && key.length <= labelLength && value.length <= labelLength);
  return Object.fromEntries(shared.sort(([one], [other]) => (one < other ? -1 : 1)).slice(0, most - own.length));
}

/** Gives every new host a slot, marks those that left, and records for each whether it has its version. */
export function seat(
  name: string,
  service: Service,
  state: ConfigState,
  subscribers: Subscribers,
  nowMs: number,
): void {
  alignEmpty(service, state);
  const byUnit = groupBy([...subscribers.values()], ({ labels }) => unitName(name, labels['region'] ?? NOWHERE));
  if (byUnit.length === 0 && Object.keys(service.hosts).length === 0) byUnit.push([unitName(name, NOWHERE), []]);
  for (const [unit, there] of byUnit) {
    const seats = ensureSeats(service, state, unit);
    const known = new Set(seats.hosts);
    const joined = there.filter(({ host }) => !known.has(host)).map(({ host }) => host);
    for (const host of hostsByPlace(name, joined)) {
      seats.hosts.push(host);
      seats.unit.slots.push(newSlot(name, service, unit, seats.unit, host));
    }
  }
  for (const [unit, hosts] of Object.entries(service.hosts))
    hosts.forEach((host, index) => {
      const subscriber = subscribers.get(host);
      const isHere = subscriber && unitName(name, subscriber.labels['region'] ?? NOWHERE) === unit;
      const of = state.units[unit];
      const slot = of?.slots[index];
      if (of === undefined || slot === undefined) return;
      // Its version may have been reverted meanwhile. A running update that includes it updates it again.
      if (slot.gone && isHere) Object.assign(slot, newSlot(name, service, unit, of, host));
      lookAtSlot(service, slot, isHere ? subscriber : undefined);
    });
  for (const unit of Object.keys(service.hosts)) forgetLeft(service, state, unit);
  forgetEmpty(service, state, nowMs);
}

/** The same hosts come first in each deploy, so a share is a range. */
const hostsByPlace = (name: string, hosts: readonly string[]): string[] =>
  hosts.toSorted((one, other) => computeHostPosition(name, one) - computeHostPosition(name, other));

/** A new unit gets the version of all others, so that a pending landing still happens. */
export function ensureSeats(service: Service, state: ConfigState, unit: string): { hosts: string[]; unit: UnitState } {
  const { version, update } = findCommonTarget(service, state) ?? { version: service.committed, update: null };
  const hosts = (service.hosts[unit] ??= []);
  state.units[unit] ??= { version, update, starts: [], slots: [] };
  return { hosts, unit: state.units[unit] };
}

/** A unit without hosts follows the others, because none of its hosts needs an update. */
function alignEmpty(service: Service, state: ConfigState): void {
  const common = findCommonTarget(service, state);
  for (const unit of Object.keys(service.hosts).map((id) => unitOf(state, id)))
    if (common && isEmpty(unit) && unit.version !== common.version) Object.assign(unit, common);
}

/** The target version of all units with hosts; undefined if they differ. */
function findCommonTarget(service: Service, state: ConfigState): Pick<UnitState, 'version' | 'update'> | undefined {
  const units = Object.keys(service.hosts).map((id) => unitOf(state, id));
  const there = units.filter((unit) => !isEmpty(unit));
  const [first, ...others] = there.length > 0 ? there : units;
  const isOne = others.every(({ version }) => version === first?.version);
  return first && isOne ? { version: first.version, update: first.update } : undefined;
}

/** A joining host gets the committed version, that of a whole-unit update, or that of a share. */
function newSlot(name: string, { shares }: Service, id: string, unit: UnitState, host: string): Slot {
  const share = Object.entries(shares).find(
    ([, { unit: of, below }]) => of === id && computeHostPosition(name, host) < below,
  );
  const [version, update] = share ? [share[1].version, share[0]] : [unit.version, unit.update];
  return { version, update, start: 0, state: 'updating', startedAt: 0, failures: 0, retryAt: 0, past: [] };
}

function lookAtSlot({ contents }: Service, slot: Slot, subscriber: Subscriber | undefined): void {
  slot.gone = subscriber === undefined;
  if (subscriber === undefined) return;
  const state = subscriberState(contents[slot.version] ?? {}, subscriber.has);
  slot.state = state === 'live' ? 'live' : state === 'waiting' ? 'updating' : 'down';
}

/** Why hosts of a slot refuse their version. */
export function findSlotRefusal(service: Service, slot: Slot, subscriber: Subscriber | undefined): string | undefined {
  const state = subscriberState(service.contents[slot.version] ?? {}, subscriber?.has ?? []);
  return typeof state === 'object' ? state.refused : undefined;
}
