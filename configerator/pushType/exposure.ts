import { computeHostPosition, type Aim } from '../domain/overrides';
import { CONFIG_LIMITS } from '../../domain/limits';
import { groupBy } from '../../domain/groupBy';
import type { Slot } from '../../sdk/updates/memory';
import type { Override } from '../store/port';
import type { ConfigPorts } from './ports';
import type { ConfigServiceState } from './serviceState';
import { getUnitRegion } from './subscribers';

/** The hosts of a unit that an update has on its version. */
interface UnitExposure {
  readonly unit: string;
  readonly update: string;
  readonly version: string;
  readonly hosts: readonly string[];
  /** Includes hosts that join later. */
  readonly isWhole: boolean;
}

/** Writes the wanted overrides into the store, and removes the others. */
export async function expose(served: ConfigServiceState, { storeOf }: ConfigPorts): Promise<void> {
  const { service } = served;
  const { repository, exposed } = service;
  const { overrides, shares } = planOverrides(served);
  for (const id of Object.keys(service.shares)) delete service.shares[id];
  Object.assign(service.shares, shares);
  takeIntoShares(served);
  const store = storeOf(repository);
  const wanted = new Map(groupBy(overrides, ({ id }) => id));
  const slots = served.units.flatMap((unit) => served.unit(unit).slots);
  const awaited = new Set(slots.flatMap(({ state, update }) => (state === 'updating' ? [update] : [])));
  for (const [id, ours] of wanted) {
    const text = JSON.stringify(ours.map(({ path, version, hosts, below }) => [path, version, hosts, below]));
    // Hosts may lack it because the store lost it; otherwise writing it again changes nothing.
    if (exposed[id] === text && !awaited.has(updateNamedBy(id))) continue;
    // Recorded first, so that an override written by a killed process is found again.
    exposed[id] ??= '';
    served.save();
    await store.putOverrides(repository, ours);
    exposed[id] = text;
  }
  for (const id of Object.keys(exposed)) {
    if (wanted.has(id)) continue;
    await store.removeOverrides(repository, id);
    delete exposed[id];
  }
}

/** The id of an override consists of its update and its place. */
export const updateNamedBy = (id: string): string => id.slice(0, id.indexOf('#'));

/** Adds hosts to the share into which they fall. */
function takeIntoShares(served: ConfigServiceState): void {
  const { name, service } = served;
  for (const [update, { unit, below, version }] of Object.entries(service.shares))
    served.unit(unit).slots.forEach((slot, index) => {
      const isIn = computeHostPosition(name, served.hostOf(unit, index)) < below;
      if (isIn && slot.version === service.committed && slot.version !== version)
        Object.assign(slot, { version, update, state: 'updating' });
    });
}

/**
 * The overrides needed so that every host has the version of its slot. A committed value needs none, unless a reverted
 * version may still land.
 */
export function planOverrides(served: ConfigServiceState) {
  const { name, service } = served;
  const exposed = listExposedHosts(served);
  const overrides = exposed.flatMap((one) =>
    buildAims(name, one).flatMap((aim) =>
      Object.entries(service.contents[one.version] ?? {}).map(([path, { value, version }]): Override => {
        return { path, value, version, revision: one.version, ...aim };
      }),
    ),
  );
  const shares = exposed.flatMap((one) => {
    const below = computeShare(name, one);
    return below === undefined ? [] : [[one.update, { unit: one.unit, below, version: one.version }] as const];
  });
  return { overrides, shares: Object.fromEntries(shares) };
}

function listExposedHosts(served: ConfigServiceState): UnitExposure[] {
  const { service, state, bound } = served;
  const { committed } = service;
  const isSafe = !served.mayLandOther(bound?.version ?? committed);
  return Object.entries(service.hosts).flatMap(([unit, hosts]) => {
    const { slots = [], update: wholeUpdate, version: wholeVersion } = state.units[unit] ?? {};
    const isOut = ({ version, update, gone }: Slot): boolean =>
      !gone && update !== null && !(isSafe && version === committed);
    const out = slots.flatMap((slot, index) => (isOut(slot) ? [{ slot, host: hosts[index] ?? '' }] : []));
    return groupBy(out, ({ slot }) => `${slot.update} ${slot.version}`).flatMap(([, group]) => {
      const { update = null, version = '' } = group[0]?.slot ?? {};
      const isWhole = update === wholeUpdate && version === wholeVersion;
      // A version that lands for all hosts arrives with its commit.
      if (isWhole && bound?.version === version && !bound.isAhead) return [];
      return [{ unit, update: update ?? '', version, hosts: group.map(({ host }) => host), isWhole }];
    });
  });
}

/**
 * The share of its region that an update covers; undefined if its hosts are few enough to be named, or have no region.
 */
function computeShare(name: string, { unit, hosts, isWhole }: UnitExposure): number | undefined {
  if (getUnitRegion(name, unit) === undefined || (!isWhole && hosts.length <= CONFIG_LIMITS.hosts.max))
    return undefined;
  return isWhole
    ? 1
    : hosts.reduce((most, host) => Math.max(most, computeHostPosition(name, host)), 0) + Number.EPSILON;
}

function buildAims(name: string, exposed: UnitExposure): Omit<Aim, 'revision'>[] {
  const { unit, update, hosts } = exposed;
  const region = getUnitRegion(name, unit);
  const id = `${update}#${encodeURIComponent(region ?? '')}`;
  const below = computeShare(name, exposed);
  if (below !== undefined && region !== undefined) return [{ id, below, seed: name, labels: { region } }];
  const most = CONFIG_LIMITS.hosts.max;
  return Array.from({ length: Math.ceil(hosts.length / most) }, (_, part) => ({
    id: part === 0 ? id : `${id}#${part}`,
    hosts: hosts.slice(part * most, (part + 1) * most),
  }));
}
