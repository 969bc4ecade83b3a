import { isDeepStrictEqual } from 'node:util';
import type { ConfigStore, Override } from '../store/port';
import type { FoundOverride } from '../store/inspection';
import { planOverrides } from './exposure';
import type { ConfigServiceState } from './serviceState';

/**
 * Compares the overrides of a repository with those of its deploys: removes an override of no deploy, and restores one that was changed.
 * @param isAll `found` has all the overrides of the store: missing ones are restored
 * @returns the number of wrong overrides
 */
export async function mendOverrides(
  all: readonly ConfigServiceState[],
  store: Pick<ConfigStore, 'overrides' | 'putOverrides' | 'removeOverrides'>,
  repository: string,
  found: readonly FoundOverride[],
  isAll: boolean,
): Promise<number> {
  let wrong = 0;
  const before = indexWantedOverrides(all);
  for (const one of found) {
    const seen = before.get(overrideKey(one));
    if (seen !== undefined && isAsExposed(one, seen.override)) continue;
    // A step may have changed it meanwhile.
    if (one.fault === undefined && !(await isStillThere(store, repository, one.it))) continue;
    const right = indexWantedOverrides(all).get(overrideKey(one));
    if (right !== undefined && isAsExposed(one, right.override)) continue;
    wrong += 1;
    if (right !== undefined) await store.putOverrides(repository, [right.override]);
    else {
      await store.removeOverrides(repository, one.id, [one.path]);
      // A step that exposes it again finds it missing.
      for (const { service } of all) if (service.exposed[one.id] !== undefined) service.exposed[one.id] = '';
    }
  }
  return wrong + (isAll ? await putMissing(all, store, repository, new Set(found.map(overrideKey))) : 0);
}

async function putMissing(
  all: readonly ConfigServiceState[],
  store: Pick<ConfigStore, 'overrides' | 'putOverrides'>,
  repository: string,
  there: ReadonlySet<string>,
): Promise<number> {
  let missing = 0;
  for (const [key, { served, override }] of indexWantedOverrides(all)) {
    if (there.has(key) || !served.service.exposed[override.id]) continue;
    const now = await store.overrides(repository, override.path);
    if (now.some(({ id }) => id === override.id) || !indexWantedOverrides(all).has(key)) continue;
    missing += 1;
    await store.putOverrides(repository, [override]);
  }
  return missing;
}

/** The overrides that these services expose now, by id and path. */
const indexWantedOverrides = (all: readonly ConfigServiceState[]) =>
  new Map(
    all
      .flatMap((served) => planOverrides(served).overrides.map((override) => ({ served, override })))
      .map((one) => [overrideKey(one.override), one]),
  );

async function isStillThere(
  store: Pick<ConfigStore, 'overrides'>,
  repository: string,
  seen: Override | undefined,
): Promise<boolean> {
  if (seen === undefined) return true;
  const now = await store.overrides(repository, seen.path);
  return now.some((one) => isDeepStrictEqual(withoutMissing(one), withoutMissing(seen)));
}

const overrideKey = ({ id, path }: { readonly id: string; readonly path: string }): string => `${id} ${path}`;

const isAsExposed = ({ it, fault, isOwn }: FoundOverride, right: Override): boolean =>
  fault === undefined && isOwn && isDeepStrictEqual(withoutMissing(it), withoutMissing(right));

/** Without undefined fields, in any order. */
const withoutMissing = (override: Override | undefined): unknown =>
  override && Object.fromEntries(Object.entries(override).filter(([, value]) => value !== undefined));
