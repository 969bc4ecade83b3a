import { parseNestedJson } from '../../domain/json';
import { EtcdWatchEnd, type EtcdApi } from './etcdApi';
import type { KeyValue } from './etcdWire';
import type { Keys } from './etcdKeys';
import type { Acknowledged } from './port';

interface Lease {
  readonly id: Promise<string>;
  readonly ttlSeconds: number;
  /** What was written with it, by key. */
  readonly said: Map<string, string>;
  prolongedAt: number;
}

const PAGE = 1000;

/** What hosts acknowledge, each with one lease for all of its paths: what it says again is prolonged, not written. */
export class EtcdAcknowledgements {
  private readonly leases = new Map<string, Lease>();

  constructor(private readonly api: EtcdApi) {}

  async say(keys: Keys, what: Acknowledged, ttlSeconds: number): Promise<void> {
    try {
      await this.write(keys, what, ttlSeconds);
    } catch (error) {
      if (!(error instanceof EtcdWatchEnd)) throw error;
      // The lease ran out while etcd or this host was away, and took with it what was said.
      this.leases.delete(leaseName(keys, what));
      await this.write(keys, what, ttlSeconds);
    }
  }

  async of(keys: Keys, path: string): Promise<Acknowledged[]> {
    const found: KeyValue[] = [];
    const { key, end } = keys.acknowledgedOf(path);
    for (let from = key; ;) {
      const { kvs } = await this.api.range({ key: from, ...(end && { end }), limit: PAGE });
      found.push(...kvs);
      const last = kvs.at(-1);
      if (last === undefined || kvs.length < PAGE) break;
      from = `${last.key}\0`;
    }
    return found.flatMap((one) => acknowledgedIn(keys, one) ?? []);
  }

  private async write(keys: Keys, what: Acknowledged, ttlSeconds: number): Promise<void> {
    const lease = this.leaseOf(keys, what, ttlSeconds);
    const id = await lease.id.catch((error: unknown) => {
      this.leases.delete(leaseName(keys, what));
      throw error;
    });
    const key = keys.acknowledged(what.path, what.host);
    const { at: _at, ...lasting } = what;
    const text = JSON.stringify(lasting);
    if (lease.said.get(key) === text) return this.prolong(lease, id);
    await this.api.transact([{ put: { key, value: JSON.stringify(what), lease: id } }]);
    lease.said.set(key, text);
    await this.prolong(lease, id);
  }

  private leaseOf(keys: Keys, what: Acknowledged, ttlSeconds: number): Lease {
    const name = leaseName(keys, what);
    const known = this.leases.get(name);
    if (known && known.ttlSeconds === ttlSeconds) return known;
    const id = this.api.grant(ttlSeconds);
    const lease = { id, ttlSeconds, said: new Map<string, string>(), prolongedAt: performance.now() };
    this.leases.set(name, lease);
    return lease;
  }

  /** Once a third of its time is over. */
  private async prolong(lease: Lease, id: string): Promise<void> {
    const now = performance.now();
    if (now - lease.prolongedAt < (lease.ttlSeconds * 1000) / 3) return;
    const before = lease.prolongedAt;
    lease.prolongedAt = now;
    await this.api.keepAlive(id).catch((error: unknown) => {
      lease.prolongedAt = before;
      throw error;
    });
  }
}

/** Undefined for a record that its host did not write: with an unreadable record a host could hide the others, or stand for two. */
function acknowledgedIn(keys: Keys, { key, value }: KeyValue): Acknowledged | undefined {
  try {
    const what = parseNestedJson(value) as Partial<Acknowledged> | null;
    const { path, host } = keys.acknowledgedIn(key);
    const isOwn = what?.path === path && what.host === host && typeof what.version === 'string';
    return isOwn && Number.isFinite(what.at) ? (what as Acknowledged) : undefined;
  } catch {
    return undefined;
  }
}

const leaseName = (keys: Keys, { host }: Acknowledged): string => `${keys.head} ${host}`;
