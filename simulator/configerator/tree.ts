import { hasLeader, reachesLeader, type Configerator } from './configerator';
import { showAnswer, stir } from './answers';
import { listHostCells, getHostGroup } from './lookups';
import { applyNewest, changesWithin } from './paths';
import { DELIVERY_DUE, UNACKNOWLEDGED, UP, type Observer, type Transaction } from './state';

/**
 * The tree of Configerator §3.4: the leader pushes to every observer, each a full replica, and these push to their connected proxies. From the tailer
 * to the last of hundreds of thousands of hosts takes 4.5 s (Configerator §6.3), divided among the levels here.
 */
const LEADER_MS = 500;
const OBSERVER_MS = 1_500;
const PROXY_MS = 2_500;
/** A broken connection is made again after this time, plus up to as much again. */
const CONNECT_MS = 1_000;
/** A proxy gives its applications this long to refuse a value, and an observer collects for as long. */
const ACKNOWLEDGE_MS = 1_000;

/** The leader adds a transaction to its log. */
export function publish(it: Configerator, transaction: Transaction): void {
  const { state } = it;
  state.log.push(transaction);
  const changed = applyNewest(state);
  const { repository } = transaction;
  if (transaction.kind === 'commit') it.notify({ kind: 'committed', repository, commit: transaction.commit });
  else
    for (const index of changed) {
      const { path = '', overrides = [] } = state.paths[index] ?? {};
      it.notify({ kind: 'exposed', repository, path, overrides: overrides.at(-1)?.overrides ?? [] });
    }
  stir(it);
  state.observers.forEach((_, index) => push(it, index, LEADER_MS));
}

/** Sends the leader's whole log to an observer. An observer that comes back resumes from its last transaction. */
export function push(it: Configerator, index: number, delayMs = 0): void {
  const observer = it.state.observers[index];
  if (!observer?.isUp || !reachesLeader(it, observer.region)) return;
  const within = delayMs + OBSERVER_MS * spread(it, 'observers');
  it.world.after(within, {
    kind: 'config-observer',
    observer: index,
    epoch: observer.epoch,
    upTo: it.state.log.length,
  });
}

/** A push arrives at an observer, which notifies the hosts that subscribe to its paths. */
export function onPushed(it: Configerator, index: number, epoch: number, upTo: number): void {
  const { state } = it;
  const observer = state.observers[index];
  if (observer === undefined || observer.epoch !== epoch || observer.at >= upTo) return;
  const before = observer.at;
  observer.at = upTo;
  const concerned = state.groups.map((group) =>
    group.paths.some((path) => changesWithin(state.paths[path] ?? NO_PATH, before, upTo).length > 0),
  );
  for (const host of observer.members) if (concerned[state.hosts.group[host] ?? 0]) deliverLater(it, host);
  acknowledgeLater(it, observer, index);
}

/** A proxy without an observer connects to any live one of its region; if there is none it waits. */
export function connectLater(it: Configerator, host: number): void {
  const { hosts } = it.state;
  const epoch = (hosts.epoch[host] ?? 0) + 1;
  hosts.epoch[host] = epoch;
  it.world.after(CONNECT_MS * (1 + it.world.random('configerator/connect')), { kind: 'config-connect', host, epoch });
}

export function onConnect(it: Configerator, host: number): void {
  const { hosts } = it.state;
  if (hosts.presence[host] !== UP || hosts.observer[host] !== -1) return;
  const group = getHostGroup(it, host);
  const there = (it.state.regions.get(group.region) ?? []).filter((index) => it.state.observers[index]?.isUp);
  const index = there[Math.floor(it.world.random('configerator/connect') * there.length)];
  if (index === undefined) return;
  join(it, host, index);
  deliverLater(it, host);
}

/** Connects at once: for a world that has always been so. */
export function join(it: Configerator, host: number, index: number): void {
  const { hosts, observers } = it.state;
  const observer = observers[index];
  if (observer === undefined) return;
  hosts.observer[host] = index;
  hosts.place[host] = observer.members.push(host) - 1;
  hosts.marks[host] = (hosts.marks[host] ?? 0) | UNACKNOWLEDGED;
  acknowledgeLater(it, observer, index);
}

/** The leader knows the host until its lease ends. */
export function disconnect(it: Configerator, host: number): void {
  const { hosts, observers } = it.state;
  const observer = observers[hosts.observer[host] ?? -1];
  hosts.epoch[host] = (hosts.epoch[host] ?? 0) + 1;
  hosts.marks[host] = (hosts.marks[host] ?? 0) & ~DELIVERY_DUE;
  if (hosts.silentSince[host] === 0) hosts.silentSince[host] = it.world.now;
  if (observer === undefined) return;
  const place = hosts.place[host] ?? 0;
  const last = observer.members.pop();
  if (last !== undefined && last !== host) {
    observer.members[place] = last;
    hosts.place[last] = place;
  }
  hosts.observer[host] = -1;
}

function deliverLater(it: Configerator, host: number): void {
  const { hosts, slow } = it.state;
  const marks = hosts.marks[host] ?? 0;
  if (marks & DELIVERY_DUE) return;
  hosts.marks[host] = marks | DELIVERY_DUE;
  const within = PROXY_MS * spread(it, 'proxies') + (slow.get(host) ?? 0);
  it.world.after(within, { kind: 'config-deliver', host, epoch: hosts.epoch[host] ?? 0 });
}

/** A proxy that is no longer slowed down gets its values at normal speed, including those that it already waits for. */
export function deliverAnew(it: Configerator, host: number): void {
  const { hosts, slow } = it.state;
  const marks = hosts.marks[host] ?? 0;
  if ((marks & DELIVERY_DUE) === 0 || slow.has(host)) return;
  hosts.marks[host] = marks & ~DELIVERY_DUE;
  hosts.epoch[host] = (hosts.epoch[host] ?? 0) + 1;
  deliverLater(it, host);
}

/** A proxy gets everything that it lacks and its observer has, in the order of the transactions; of two changes to one path only the newer. */
export function onDeliver(it: Configerator, host: number): void {
  const { state } = it;
  const { hosts } = state;
  hosts.marks[host] = (hosts.marks[host] ?? 0) & ~DELIVERY_DUE;
  const index = hosts.observer[host] ?? -1;
  const observer = state.observers[index];
  const from = hosts.at[host] ?? 0;
  // An observer that is behind the proxy has nothing for it.
  if (hosts.presence[host] !== UP || observer === undefined || (from > 0 && observer.at <= from)) return;
  const paths = getHostGroup(it, host).paths.map((path) => state.paths[path] ?? NO_PATH);
  const changes = paths.flatMap((path, nth) => changesWithin(path, from, observer.at).map((it) => ({ ...it, nth })));
  const known = paths.map(() => ({ values: from, overrides: from }));
  hosts.at[host] = observer.at;
  for (const { nth, part, at } of changes.sort((a, b) => a.at - b.at)) {
    const own = known[nth];
    if (own === undefined) continue;
    own[part] = at;
    showAnswer(it, host, nth, own);
  }
  // For a path that was never written it learns that there is no value.
  if (from === 0) known.forEach((own, nth) => showAnswer(it, host, nth, own));
  acknowledgeLater(it, observer, index);
}

function acknowledgeLater(it: Configerator, observer: Observer, index: number): void {
  if (observer.acknowledges) return;
  observer.acknowledges = true;
  it.world.after(ACKNOWLEDGE_MS, { kind: 'config-acknowledge', observer: index });
}

/** Acknowledgements of hosts reach the leader, which knows these hosts again. */
export function onAcknowledge(it: Configerator, index: number): void {
  const { hosts, cells, observers } = it.state;
  const observer = observers[index];
  if (observer === undefined) return;
  observer.acknowledges = false;
  if (!observer.isUp || !reachesLeader(it, observer.region)) return;
  for (const host of observer.members) {
    const marks = hosts.marks[host] ?? 0;
    hosts.silentSince[host] = 0;
    if ((marks & UNACKNOWLEDGED) === 0) continue;
    hosts.marks[host] = marks & ~UNACKNOWLEDGED;
    for (const cell of listHostCells(it, host)) cells.acknowledged[cell] = cells.answer[cell] ?? 0;
  }
}

/** The link to the leader is back: lost messages are requested again. */
export function resume(it: Configerator, index: number): void {
  const observer = it.state.observers[index];
  if (observer === undefined || !hasLeader(it)) return;
  push(it, index, CONNECT_MS);
  acknowledgeLater(it, observer, index);
}

/** A random part of a delay that is at most as long as stated. */
const spread = ({ world }: Configerator, level: string): number => 0.5 + 0.5 * world.random(`configerator/${level}`);

const NO_PATH = { repository: '', path: '', values: [], overrides: [], answers: new Map<string, number>() };
