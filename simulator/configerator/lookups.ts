import type { Configerator } from './configerator';
import { ABSENT, type HostGroup } from './state';

/** The names of hosts, by number. */

export function getHostGroup({ state }: Pick<Configerator, 'state'>, host: number): HostGroup {
  const group = state.groups[state.hosts.group[host] ?? -1];
  if (group === undefined) throw new Error(`there is no host ${host}`);
  return group;
}

/** `kvstore-x/3` for a task, `edge-17` for any other host. */
export function formatHostName(it: Pick<Configerator, 'state'>, host: number): string {
  const { name, job } = getHostGroup(it, host);
  const slot = it.state.hosts.slot[host] ?? 0;
  return job === null ? `${name}-${slot}` : `${job}/${slot}`;
}

export function listHostCells(it: Pick<Configerator, 'state'>, host: number): number[] {
  const first = it.state.hosts.firstCell[host] ?? 0;
  return getHostGroup(it, host).paths.map((_, nth) => first + nth);
}

/** Whether its application runs, regardless of its proxy. */
export const isThere = ({ state }: Pick<Configerator, 'state'>, host: number): boolean =>
  state.hosts.presence[host] !== ABSENT;

/** Slots that never had a task are not hosts. */
export const listGroupHosts = ({ hosts }: HostGroup): readonly number[] => hosts.filter((host) => host >= 0);

/** Present hosts that subscribe to a path. */
export const listPresentSubscribers = (it: Pick<Configerator, 'state'>, of: number): number[] =>
  it.state.groups
    .filter(({ paths }) => paths.includes(of))
    .flatMap((group) => listGroupHosts(group).filter((host) => isThere(it, host)));
