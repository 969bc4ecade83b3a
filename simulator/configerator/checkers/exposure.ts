import type { Override } from '../../../configerator/store/port';
import { isAimedAt } from '../../../configerator/domain/overrides';
import { configChecker, placeName } from './checker';

interface ExposureMemory {
  /** The version of each path by commit: `flags:feed/limits:7`. */
  readonly committed: Map<string, string>;
  /** All overrides that a path ever had. */
  readonly exposed: Map<string, readonly Override[]>;
}

/** 17: a host has an uncommitted value only if an override that exposes it covers that host. */
export const exposureChecker = configChecker<ExposureMemory>({
  name: 'config-exposure',
  invariant: 17,
  fresh: () => ({ committed: new Map(), exposed: new Map() }),
  see: (event, { committed, exposed }) => {
    if (event.kind === 'committed')
      for (const { path, value, version } of event.commit.values)
        committed.set(`${placeName(event.repository, path)}:${event.commit.sequence}`, value === null ? '' : version);
    if (event.kind === 'exposed') {
      const place = placeName(event.repository, event.path);
      exposed.set(place, [...(exposed.get(place) ?? []), ...event.overrides]);
    }
    if (event.kind !== 'seen') return null;
    const { as, repository, answer } = event;
    const place = placeName(repository, answer.path);
    if (answer.override === null) {
      const version = answer.sequence === 0 ? '' : committed.get(`${place}:${answer.sequence}`);
      return version === answer.version ? null : `${as.name} got a ${answer.path} that no commit has`;
    }
    const isMeant = exposed.get(place)?.some((one) => one.revision === answer.override && isAimedAt(one, as)) ?? false;
    return isMeant ? null : `${as.name} got ${answer.path} of ${answer.override}, which nobody exposed to it`;
  },
});
