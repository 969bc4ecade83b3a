import type { HostAcknowledgement } from '../../configerator/store/port';
import { subscriberId } from '../../configerator/domain/subscriber';
import type { TaskEvent } from '../events';
import type { TwineFleet } from '../twine/fleet';
import { hasTask, RUNNING, type Job } from '../twine/job';
import { refusalByValue } from './behaviours';
import type { Configerator } from './configerator';
import { addHost, beginAnew, beginAsEver, comeBack, leave } from './hosts';
import { listHostCells, listGroupHosts, formatHostName, listPresentSubscribers } from './lookups';
import { upTo } from './paths';
import { answerAt } from './past';
import { ABSENT, makeRoom, type HostGroup } from './state';

/** Which hosts read which paths. */

/** Hosts of a region share observers: this many hosts to one. */
const HOSTS_PER_OBSERVER = 500;
const LEAST_OBSERVERS = 2;
/** For how long, in simulated ms, added hosts have already had the committed values. */
const PAST_MS = 86_400_000;
/** The lease of a host's acknowledgements. */
const LEASE_MS = 60_000;

export type GroupSpec = Omit<HostGroup, 'hosts'> & { readonly size: number };

/** Adds hosts that subscribe as if they had always done so. */
export function addGroup(it: Configerator, { size, ...spec }: GroupSpec, job: Job | undefined): HostGroup {
  const { state, world } = it;
  const group: HostGroup = { ...spec, hosts: [] };
  const index = state.groups.push(group) - 1;
  addObservers(it, group.region, size);
  makeRoom(state, size, size * group.paths.length);
  const there = state.regions.get(group.region) ?? [];
  for (let slot = 0; slot < size; slot += 1) {
    const host = addHost(it, index, slot);
    state.hosts.machine[host] = job?.tasks.machine[slot] ?? slot;
    const runs = job === undefined || (hasTask(job, slot) && job.tasks.state[slot] === RUNNING);
    const observer = there[Math.floor(world.random('configerator/connect') * there.length)] ?? 0;
    if (runs) beginAsEver(it, host, observer, world.now - world.scaled(PAST_MS));
  }
  return group;
}

function addObservers({ state }: Configerator, region: string, hosts: number): void {
  const there = state.regions.get(region) ?? [];
  state.regions.set(region, there);
  const others = state.groups.reduce((sum, group) => sum + (group.region === region ? group.hosts.length : 0), 0);
  const wanted = Math.max(LEAST_OBSERVERS, Math.ceil((others + hosts) / HOSTS_PER_OBSERVER));
  while (there.length < wanted) {
    const name = `${region}-o${there.length}`;
    const fresh = { name, region, isUp: true, at: state.log.length, epoch: 0, members: [], acknowledges: false };
    there.push(state.observers.push(fresh) - 1);
  }
}

/** A task that starts again has the proxy of its machine; one that has moved has another, which knows nothing yet. */
export function followTask(it: Configerator, fleet: TwineFleet, { job, slot, to }: TaskEvent): void {
  it.state.groups.forEach((group, index) => {
    if (group.job !== job) return;
    const host = group.hosts[slot] ?? addHost(it, index, slot);
    const presence = it.state.hosts.presence[host] ?? ABSENT;
    if (to !== 'running') {
      if (presence !== ABSENT) leave(it, host);
      return;
    }
    if (presence !== ABSENT) return;
    const machine = fleet.jobs.get(job)?.tasks.machine[slot] ?? slot;
    const isSame = it.state.hosts.machine[host] === machine && (it.state.hosts.at[host] ?? 0) > 0;
    it.state.hosts.machine[host] = machine;
    (isSame ? comeBack : beginAnew)(it, host);
  });
}

export interface SubscriberCounts {
  readonly total: number;
  readonly committed: number;
  readonly overridden: number;
  readonly stale: number;
}

/** Counts the present hosts: those with the newest commit, those with an override, and those with neither yet. */
export function countReaders(it: Configerator, of: number): SubscriberCounts {
  const { state } = it;
  const newest = upTo(state.paths[of]?.values ?? [], state.log.length)?.committed.sequence ?? 0;
  const counts = { total: 0, committed: 0, overridden: 0, stale: 0 };
  for (const host of listPresentSubscribers(it, of)) {
    const answer = state.answers[answerOfCell(it, host, of)];
    const kind = answer?.override ? 'overridden' : (answer?.sequence ?? 0) === newest ? 'committed' : 'stale';
    counts[kind] += 1;
    counts.total += 1;
  }
  return counts;
}

const answerOfCell = ({ state }: Configerator, host: number, of: number): number => {
  const nth = state.groups[state.hosts.group[host] ?? 0]?.paths.indexOf(of) ?? 0;
  return state.cells.answer[(state.hosts.firstCell[host] ?? 0) + nth] ?? 0;
};

/** The leader's view of hosts: a silent host is in it until its lease is over. */
export function listAcknowledged(
  it: Configerator,
  repository: string,
  isMeant: (path: string) => boolean,
): HostAcknowledgement[] {
  const { state, world } = it;
  const lease = world.scaled(LEASE_MS);
  return state.groups.flatMap((group) => {
    const meant = group.paths.flatMap((of, nth) => (isMeant(state.paths[of]?.path ?? '') ? [nth] : []));
    if (group.repository !== repository || meant.length === 0) return [];
    return listGroupHosts(group).flatMap((host) => {
      const silentSince = state.hosts.silentSince[host] ?? 0;
      if (silentSince > 0 && world.now - silentSince >= lease) return [];
      return meant.flatMap((nth) => findAcknowledgement(it, group, host, nth) ?? []);
    });
  });
}

function findAcknowledgement(
  it: Configerator,
  group: HostGroup,
  host: number,
  nth: number,
): HostAcknowledgement | undefined {
  const { cells, hosts, answers, paths } = it.state;
  const index = cells.acknowledged[(hosts.firstCell[host] ?? 0) + nth] ?? 0;
  const path = paths[group.paths[nth] ?? -1]?.path ?? '';
  const answer = answers[index];
  if (answer === undefined || index === 0) return undefined;
  const { version, commit, override: revision, sequence } = answer;
  const refused = refusalByValue(it, index, group);
  return {
    ...{ host: formatHostName(it, host), path, version, revision, commit, sequence },
    ...{ labels: group.labels, at: it.world.now, ...(refused === undefined ? {} : { refused }) },
  };
}

/** The identity under which a host measured at a time: its name and its version; undefined if that is not known. */
export function identifierAt(it: Configerator, host: number, at: number): string | undefined {
  const { past, cells, answers } = it.state;
  const indices = listHostCells(it, host).map((cell) => answerAt(past, cells.latest, cell, at));
  if (indices.includes(undefined)) return undefined;
  const has = indices.flatMap((index) => answers[index ?? 0] ?? []);
  return subscriberId(
    formatHostName(it, host),
    has.map(({ override: revision, commit, sequence }) => ({ revision, commit, sequence })),
  );
}
