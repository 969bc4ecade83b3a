import type { Configerator } from './configerator';
import { noteAnswer, showAnswer, stir } from './answers';
import { listHostCells, getHostGroup } from './lookups';
import { ABSENT, makeRoom, UP } from './state';
import { connectLater, disconnect, join } from './tree';

/** How hosts come, go and come back. */

/** Adds a host, whose proxy knows nothing yet. */
export function addHost(it: Configerator, groupIndex: number, slot: number): number {
  const { state } = it;
  const group = state.groups[groupIndex];
  if (group === undefined) throw new Error(`there is no group ${groupIndex}`);
  makeRoom(state, 1, group.paths.length);
  const host = state.hostCount;
  state.hostCount += 1;
  state.hosts.group[host] = groupIndex;
  state.hosts.slot[host] = slot;
  state.hosts.firstCell[host] = state.cellCount;
  state.hosts.silentSince[host] = it.world.now;
  state.cellCount += group.paths.length;
  group.hosts[slot] = host;
  return host;
}

/** The host has had the committed values for as long as any query can ask about. */
export function beginAsEver(it: Configerator, host: number, observer: number, sinceMs: number): void {
  const { hosts, cells, observers } = it.state;
  hosts.presence[host] = UP;
  hosts.at[host] = observers[observer]?.at ?? 0;
  join(it, host, observer);
  const upToNow = { values: hosts.at[host] ?? 0, overrides: hosts.at[host] ?? 0 };
  getHostGroup(it, host).paths.forEach((_, nth) => showAnswer(it, host, nth, upToNow, { sinceMs }));
  for (const cell of listHostCells(it, host)) cells.acknowledged[cell] = cells.answer[cell] ?? 0;
  hosts.silentSince[host] = 0;
}

/** The host starts empty: the proxy of another machine, or of a new task. */
export function beginAnew(it: Configerator, host: number): void {
  const { hosts, cells } = it.state;
  hosts.at[host] = 0;
  it.state.frozen.delete(host);
  const own = listHostCells(it, host);
  it.notify({ kind: 'began', host, cells: own });
  for (const cell of own) {
    cells.answer[cell] = 0;
    cells.acknowledged[cell] = 0;
    noteAnswer(it, cell, 0, it.world.now);
  }
  comeUp(it, host);
}

/** Its task runs again, next to the proxy that was there. */
export function comeBack(it: Configerator, host: number): void {
  it.notify({ kind: 'returned', host, cells: listHostCells(it, host) });
  comeUp(it, host);
}

function comeUp(it: Configerator, host: number): void {
  it.state.hosts.presence[host] = UP;
  stir(it);
  connectLater(it, host);
}

export function leave(it: Configerator, host: number): void {
  it.state.hosts.presence[host] = ABSENT;
  disconnect(it, host);
  it.notify({ kind: 'left', host, cells: listHostCells(it, host) });
}
