import { ConveyorError } from '../domain/errors';
import {
  countSubscribers,
  listExposures,
  toSubscription,
  type Exposure,
  type Subscribers,
  type Subscription,
} from './domain/subscriptions';
import { judgeSignatures, type Signatures } from './domain/signatures';
import type { ConfigRepositorySettings } from '../settings/configRepositories';
import { storeDoor, storeTrust } from '../settings/configStores';
import { concurrencyGate } from '../sdk/concurrency';
import { EtcdStore } from './store/etcd';

/** Requests to the store. */
const AT_ONCE = 8;

/** Enough for people to read. */
const NAMED_HOSTS = 20;

/** The subscribers of a path, as its store reports them. */
export type KnownSubscribers =
  | (Subscribers & {
      /** Some of the subscriptions that refuse their value, or have a wrong one. */
      readonly named: readonly Subscription[];
      /** Uncommitted changes, by the deploys that expose them. */
      readonly exposed: readonly Exposure[];
      readonly signatures: Signatures;
      /** The number of those that do not report that they verify values. */
      readonly unverified: number;
    })
  /** Why they are unknown. */
  | { readonly unknown: string };

/** The state of one host. */
export type KnownHost =
  | {
      /** Null if it does not subscribe, or has been silent for a minute. */
      readonly subscription: Subscription | null;
      /** The text; null if the path is deleted for the host, or its version is no longer known. */
      readonly value: string | null;
      readonly signatures: Signatures;
    }
  | { readonly unknown: string };

/** Whether the store's records of a path are signed. */
export type KnownSignatures = Signatures | { readonly unknown: string };

/**
 * The store of a repository; without an etcd it is in the memory of another process.
 * @param trust files with the trusted public keys; by default those of the settings
 */
export function openConfigStore(
  settings: Pick<ConfigRepositorySettings, 'etcd' | 'login' | 'tls' | 'signing'>,
  trust: readonly string[] = [],
): EtcdStore | null {
  const { etcd } = settings;
  if (etcd === null) return null;
  return new EtcdStore({ url: etcd, ...storeDoor(settings), signing: storeTrust(settings, trust) });
}

/** Queries a few paths at a time. If the store is silent about the first, the others are not queried. */
export async function findAllSubscribers(
  store: EtcdStore | null,
  repository: string,
  paths: readonly string[],
): Promise<Readonly<Record<string, KnownSubscribers>>> {
  const [first, ...others] = paths;
  if (first === undefined) return {};
  const known = await findPathSubscribers(store, repository, first);
  const turn = concurrencyGate(AT_ONCE);
  const pairOf = async (path: string): Promise<[string, KnownSubscribers]> => [
    path,
    'unknown' in known ? known : await turn(() => findPathSubscribers(store, repository, path)),
  ];
  return Object.fromEntries([[first, known], ...(await Promise.all(others.map(pairOf)))]);
}

const findPathSubscribers = (store: EtcdStore | null, repository: string, path: string): Promise<KnownSubscribers> =>
  orUnknown(store, repository, async (asked) => {
    const { subscriptions, overrides, signatures, unverified } = await lookAtPath(asked, repository, path);
    const odd = subscriptions.filter(({ state }) => state === 'refused' || state === 'stale');
    const named = odd.slice(0, NAMED_HOSTS);
    return { ...countSubscribers(subscriptions), named, exposed: listExposures(overrides), signatures, unverified };
  });

export const readSignatures = (store: EtcdStore | null, repository: string, path: string): Promise<KnownSignatures> =>
  orUnknown(store, repository, async (asked) => (await readTrustedRecords(asked, repository, path)).signatures);

/** @param text reads the text of a version from git */
export const readKnownHost = (
  store: EtcdStore | null,
  repository: string,
  asked: { readonly path: string; readonly host: string },
  text: (version: string) => Promise<string | null>,
): Promise<KnownHost> =>
  orUnknown(store, repository, async (known) => {
    const { subscriptions, overrides, committed, signatures } = await lookAtPath(known, repository, asked.path);
    const subscription = subscriptions.find(({ host }) => host === asked.host) ?? null;
    if (subscription === null || subscription.version === '') return { subscription, value: null, signatures };
    const { version } = subscription;
    const stored = [...overrides, ...(committed === null ? [] : [committed])].find((one) => one.version === version);
    return { subscription, value: stored?.value ?? (await text(version)), signatures };
  });

async function lookAtPath(store: EtcdStore, repository: string, path: string) {
  const [records, all] = await Promise.all([
    readTrustedRecords(store, repository, path),
    store.subscribers(repository, path),
  ]);
  const subscriptions = all.map((has) => toSubscription(records, has));
  return { ...records, subscriptions, unverified: all.filter(({ verified }) => verified !== true).length };
}

/** Reads the records as a host with the same trusted keys does. */
async function readTrustedRecords({ inspection }: EtcdStore, repository: string, path: string) {
  const { values, overrides } = await inspection.lookAt(repository, path);
  const judged = [
    ...values.map((one) => ({ what: 'the value', ...one })),
    ...overrides.map((one) => ({ what: `the override ${one.id}`, ...one })),
  ];
  return {
    committed: values.find(({ fault }) => fault === undefined)?.it?.stored ?? null,
    overrides: overrides.flatMap(({ it, fault }) => (it === undefined || fault !== undefined ? [] : [it])),
    signatures: judgeSignatures(judged, inspection.isSigned),
  };
}

/** An unavailable store must not hide what git knows. */
async function orUnknown<T>(
  store: EtcdStore | null,
  repository: string,
  ask: (store: EtcdStore) => Promise<T>,
): Promise<T | { readonly unknown: string }> {
  if (store === null) return { unknown: `config.repositories.${repository} names no etcd` };
  try {
    return await ask(store);
  } catch (error) {
    if (error instanceof ConveyorError) return { unknown: error.message };
    throw error;
  }
}
