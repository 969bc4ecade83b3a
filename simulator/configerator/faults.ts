import { showAnswer, stir } from './answers';
import type { Configerator } from './configerator';
import type { ConfigFault } from './faultState';
import { getHostGroup, isThere, formatHostName } from './lookups';
import { computeHostPosition } from '../../configerator/domain/overrides';
import { PROXY_DOWN, UP } from './state';
import { connectLater, deliverAnew, disconnect, push, resume } from './tree';

/** The hosts that a fault hits: some by name, or a share of those of a region or of all. */
export interface Meant {
  readonly hosts?: readonly string[] | undefined;
  readonly region?: string | undefined;
  readonly share: number;
}

/** The present hosts among them. */
export function meantHosts(it: Configerator, id: string, { hosts, region, share }: Meant): number[] {
  const names = hosts && new Set(hosts);
  const isMeant = (host: number): boolean => {
    const name = formatHostName(it, host);
    if (names) return names.has(name);
    return (
      (region ?? getHostGroup(it, host).region) === getHostGroup(it, host).region &&
      computeHostPosition(id, name) < share
    );
  };
  return Array.from({ length: it.state.hostCount }, (_, host) => host).filter(
    (host) => isThere(it, host) && isMeant(host),
  );
}

/** The fault ends `downMs` of simulated time later, or when it is lifted. */
export function addConfigFault(it: Configerator, fault: ConfigFault, downMs: number | undefined): void {
  const { state, world } = it;
  state.faults.set(fault.id, fault);
  stir(it);
  if (fault.kind === 'leader') cutOff(it, () => true);
  if (fault.kind === 'partition') cutOff(it, (region) => region === fault.region);
  if (fault.kind === 'partition') silenceHosts(it, fault.region);
  if (fault.kind === 'observer') loseObserver(it, fault.observer);
  if (fault.kind === 'proxy-restart') fault.hosts.forEach((host) => stopProxy(it, host));
  if (fault.kind === 'proxy-disk')
    for (const host of fault.hosts) state.frozen.set(host, state.frozen.get(host) ?? { at: state.hosts.at[host] ?? 0 });
  if (fault.kind === 'proxy-slow') slowDown(it);
  if (downMs !== undefined) world.after(downMs, { kind: 'config-fault-over', fault: fault.id });
}

export function liftConfigFault(it: Configerator, id: string): boolean {
  const { state } = it;
  const fault = state.faults.get(id);
  if (fault === undefined) return false;
  state.faults.delete(id);
  stir(it);
  if (fault.kind === 'leader') state.observers.forEach((_, index) => resume(it, index));
  if (fault.kind === 'partition') (state.regions.get(fault.region) ?? []).forEach((index) => resume(it, index));
  if (fault.kind === 'observer' && !isLost(it, fault.observer)) returnObserver(it, fault.observer);
  if (fault.kind === 'proxy-restart') fault.hosts.forEach((host) => startProxy(it, host));
  if (fault.kind === 'proxy-disk') thaw(it, fault.hosts);
  if (fault.kind === 'proxy-slow') speedUp(it, fault.hosts);
  return true;
}

/** Messages on their way from the leader are lost. */
function cutOff({ state }: Configerator, isCut: (region: string) => boolean): void {
  for (const observer of state.observers) if (isCut(observer.region)) observer.epoch += 1;
}

/** Messages of the hosts of a region do not reach the leader. */
function silenceHosts({ state, world }: Configerator, region: string): void {
  for (const index of state.regions.get(region) ?? [])
    for (const host of state.observers[index]?.members ?? [])
      if (state.hosts.silentSince[host] === 0) state.hosts.silentSince[host] = world.now;
}

const isLost = ({ state }: Configerator, index: number): boolean =>
  [...state.faults.values()].some((fault) => fault.kind === 'observer' && fault.observer === index);

function loseObserver(it: Configerator, index: number): void {
  const observer = it.state.observers[index];
  if (!observer?.isUp) return;
  observer.isUp = false;
  observer.epoch += 1;
  for (const host of [...observer.members]) {
    disconnect(it, host);
    connectLater(it, host);
  }
}

/** The observer resumes from its last transaction; hosts without an observer connect to it. */
function returnObserver(it: Configerator, index: number): void {
  const { state } = it;
  const observer = state.observers[index];
  if (observer === undefined) return;
  observer.isUp = true;
  push(it, index);
  for (let host = 0; host < state.hostCount; host += 1)
    if (
      state.hosts.presence[host] === UP &&
      state.hosts.observer[host] === -1 &&
      getHostGroup(it, host).region === observer.region
    )
      connectLater(it, host);
}

function stopProxy(it: Configerator, host: number): void {
  if (it.state.hosts.presence[host] !== UP) return;
  it.state.hosts.presence[host] = PROXY_DOWN;
  disconnect(it, host);
}

/** The proxy starts from its cache, which is older than the values it served if its disk accepted no writes. */
function startProxy(it: Configerator, host: number): void {
  const { hosts, frozen } = it.state;
  if (hosts.presence[host] !== PROXY_DOWN || isStopped(it, host)) return;
  hosts.presence[host] = UP;
  const cache = frozen.get(host);
  if (cache !== undefined) {
    hosts.at[host] = cache.at;
    getHostGroup(it, host).paths.forEach((_, nth) =>
      showAnswer(it, host, nth, { values: cache.at, overrides: cache.at }, { fromCache: true }),
    );
  }
  connectLater(it, host);
}

const isStopped = ({ state }: Configerator, host: number): boolean =>
  [...state.faults.values()].some((fault) => fault.kind === 'proxy-restart' && fault.hosts.includes(host));

/** Disks accept writes again, unless another fault still prevents it. */
function thaw({ state }: Configerator, hosts: readonly number[]): void {
  const full = new Set([...state.faults.values()].flatMap((fault) => (fault.kind === 'proxy-disk' ? fault.hosts : [])));
  for (const host of hosts) if (!full.has(host)) state.frozen.delete(host);
}

function slowDown({ state }: Configerator): void {
  state.slow.clear();
  for (const fault of state.faults.values())
    if (fault.kind === 'proxy-slow')
      for (const host of fault.hosts) state.slow.set(host, Math.max(state.slow.get(host) ?? 0, fault.delayMs));
}

function speedUp(it: Configerator, hosts: readonly number[]): void {
  slowDown(it);
  for (const host of hosts) deliverAnew(it, host);
}
