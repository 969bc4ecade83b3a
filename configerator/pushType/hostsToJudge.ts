import { subscriberId, subscriberIds, type Has } from '../domain/subscriber';
import type { UnitTasks } from '../../sdk/health';
import type { HealthTargets } from '../../sdk/protocol/pushType';
import { reservedSlots } from '../../sdk/updates/choose';
import type { Slot } from '../../sdk/updates/memory';
import type { ConfigServiceState } from './serviceState';

/**
 * Hosts that have the version from these updates, and hosts that do not, by the names under which they report metrics.
 * A host with the version uses a name of its values of the changed paths. A host without it may use the name of any of
 * these paths, or of the newest path that it reads.
 */
export function hostsToJudge(
  served: ConfigServiceState,
  id: string,
  { updatedBy, exclude = [] }: HealthTargets,
): UnitTasks {
  const reserved = reservedSlots(served.state, id, exclude);
  const open = served
    .unit(id)
    .slots.map((slot, index) => ({ slot, index }))
    .filter(({ slot, index }) => !reserved(slot, index));
  const isOurs = (slot: Slot): boolean => updatedBy.includes(slot.update ?? '');
  const seats = open.flatMap(({ slot, index }) => {
    const subscriber = served.subscriberOf(id, index);
    return subscriber && !slot.gone ? [{ slot, subscriber }] : [];
  });
  const isInside = ({ slot }: (typeof seats)[number]): boolean => updatedBy.length === 0 || isOurs(slot);
  const inside = seats.filter(isInside).map(({ subscriber }) => subscriber);
  const outside = seats.filter((seat) => !isInside(seat)).map(({ subscriber }) => subscriber);
  const changed = listChangedPaths(served, updatedBy);
  const concerned = (has: readonly Has[]): readonly Has[] => {
    const own = has.filter(({ path }) => changed.has(path));
    return own.length === 0 ? has : own;
  };
  const earlier = commitsBefore(served, seats, outside);
  // Also counts a host that died with the value.
  const updated = open.filter(({ slot }) => isOurs(slot)).length;
  return {
    ...{ id, updated },
    fresh: inside.map(({ host, has }) => subscriberId(host, concerned(has))),
    control: outside.flatMap(({ host, has }) => subscriberIds(host, concerned(has), has)),
    before: inside.flatMap(({ host, has }) => {
      const had = has.map((one) => ({ ...one, revision: null, ...(earlier.get(one.path) ?? NOT_YET) }));
      return subscriberIds(host, concerned(had), had);
    }),
  };
}

/** The paths that the versions of these updates change. */
function listChangedPaths({ state, service }: ConfigServiceState, updates: readonly string[]): ReadonlySet<string> {
  const units = updates.flatMap((update) => Object.values(state.updates[update]?.units ?? {}));
  return new Set(units.flatMap(({ version }) => Object.keys(service.contents[version] ?? {})));
}

const NOT_YET = { commit: null, sequence: 0 };

type SeenSubscribers = readonly { readonly has: readonly Has[] }[];

/** The commits that hosts had before the version, by path. */
function commitsBefore(
  { service }: ConfigServiceState,
  seats: readonly { readonly subscriber: SeenSubscribers[number] }[],
  outside: SeenSubscribers,
) {
  const commits = new Map(
    seats.flatMap(({ subscriber }) => subscriber.has).map(({ path, commit, sequence }) => [path, { commit, sequence }]),
  );
  for (const { path, commit, sequence } of outside.flatMap(({ has }) => has))
    if (commit !== null) commits.set(path, { commit, sequence });
  // If all hosts have the landed version, compare with the time of the commit before it.
  const { landed } = service;
  for (const [path, earlier] of Object.entries(landed?.before ?? {}))
    if (commits.get(path)?.commit === landed?.commit) commits.set(path, earlier);
  return commits;
}
