import { ConveyorError } from '../domain/errors';
import {
  countSubscribers,
  exposuresOf,
  subscriptionOf,
  type Exposure,
  type Subscribers,
  type Subscription,
} from '../domain/config/subscriptions';
import type { ConfigRepositorySettings } from '../platform/configRepositories';
import { storeDoor } from '../platform/configStores';
import { concurrencyGate } from '../sdk/concurrency';
import { EtcdStore } from './store/etcd';
import type { ConfigStore } from './store/port';

/** Requests to the store. */
const AT_ONCE = 8;

/** Nobody reads more. */
const NAMED_HOSTS = 20;

/** Who subscribes to a path, as far as its store says. */
export type Known =
  | (Subscribers & {
      /** Some of those that refuse what they have, or have something else than they are meant to. */
      readonly named: readonly Subscription[];
      /** Changes that are not committed, by the deploys that expose them. */
      readonly exposed: readonly Exposure[];
    })
  /** Why nobody knows. */
  | { readonly unknown: string };

/** What one host has. */
export type KnownHost =
  | {
      /** Null: it does not subscribe, or has been silent for a minute. */
      readonly subscription: Subscription | null;
      /** As text; null where the path is gone for it, or what it has is known by nobody any more. */
      readonly value: string | null;
    }
  | { readonly unknown: string };

/** The store of a repository; without an etcd it is in the memory of another process. */
export function storeIn(settings: Pick<ConfigRepositorySettings, 'etcd' | 'login' | 'tls'>): ConfigStore | null {
  const { etcd } = settings;
  return etcd === null ? null : new EtcdStore({ url: etcd, ...storeDoor(settings) });
}

/** By paths, a few at a time. A store that is silent about the first is not asked of the others. */
export async function subscribersOfAll(
  store: ConfigStore | null,
  repository: string,
  paths: readonly string[],
): Promise<Readonly<Record<string, Known>>> {
  const [first, ...others] = paths;
  if (first === undefined) return {};
  const known = await subscribersOf(store, repository, first);
  const turn = concurrencyGate(AT_ONCE);
  const pairOf = async (path: string): Promise<[string, Known]> => [
    path,
    'unknown' in known ? known : await turn(() => subscribersOf(store, repository, path)),
  ];
  return Object.fromEntries([[first, known], ...(await Promise.all(others.map(pairOf)))]);
}

const subscribersOf = (store: ConfigStore | null, repository: string, path: string): Promise<Known> =>
  orUnknown(store, repository, async (asked) => {
    const { subscriptions, overrides } = await lookAtPath(asked, repository, path);
    const odd = subscriptions.filter(({ state }) => state === 'refused' || state === 'stale');
    return { ...countSubscribers(subscriptions), named: odd.slice(0, NAMED_HOSTS), exposed: exposuresOf(overrides) };
  });

/** @param text of a version, where git has it */
export const hostOf = (
  store: ConfigStore | null,
  repository: string,
  asked: { readonly path: string; readonly host: string },
  text: (version: string) => Promise<string | null>,
): Promise<KnownHost> =>
  orUnknown(store, repository, async (known) => {
    const { subscriptions, overrides, committed } = await lookAtPath(known, repository, asked.path);
    const subscription = subscriptions.find(({ host }) => host === asked.host) ?? null;
    if (subscription === null || subscription.version === '') return { subscription, value: null };
    const { version } = subscription;
    const stored = [...overrides, ...(committed === null ? [] : [committed])].find((one) => one.version === version);
    return { subscription, value: stored?.value ?? (await text(version)) };
  });

async function lookAtPath(store: ConfigStore, repository: string, path: string) {
  const [read, overrides, all] = await Promise.all([
    store.read(repository, path),
    store.overrides(repository, path),
    store.subscribers(repository, path),
  ]);
  const committed = read ?? null;
  const subscriptions = all.map((has) => subscriptionOf({ committed, overrides }, has));
  return { committed, overrides, subscriptions };
}

/** That a store is silent takes nothing away from what git knows. */
async function orUnknown<T>(
  store: ConfigStore | null,
  repository: string,
  ask: (store: ConfigStore) => Promise<T>,
): Promise<T | { readonly unknown: string }> {
  if (store === null) return { unknown: `config.repositories.${repository} names no etcd` };
  try {
    return await ask(store);
  } catch (error) {
    if (error instanceof ConveyorError) return { unknown: error.message };
    throw error;
  }
}
