import { ConveyorError } from '../../domain/errors';
import { parseNestedJson } from '../../domain/json';
import { concurrencyGate } from '../../sdk/concurrency';
import { splitIntoGroups } from './batches';
import { EtcdWatchEnd, type EtcdApi } from './etcdApi';
import type { KeyValue } from './etcdWire';
import type { Keys } from './etcdKeys';
import { scan } from './etcdScan';
import type { HostAcknowledgement } from './port';

interface Lease {
  readonly id: string;
  /** The host writes under its own role. */
  readonly isNamed: boolean;
  readonly ttlSeconds: number;
  /** The values written under the lease, by key. */
  readonly said: Map<string, string>;
  prolongedAt: number;
  /** A renewal in progress, shared by all reports of the host meanwhile. */
  prolonging?: Promise<void> | undefined;
}

interface LeaseEntry {
  readonly name: string;
  readonly granted: Promise<Lease>;
}

/** How many keys one transaction looks up. */
const READS = 100;
/** Concurrent transactions of reads; a deploy looks at many paths at the same time. */
const READS_AT_ONCE = 8;

/**
 * Acknowledgements of hosts. Each host has one lease for all of its paths, so a repeated acknowledgement is prolonged and not rewritten. For a host
 * with its own role (`lockPlan.ts`) only its own keys count, so that no other host can speak for it.
 */
export class EtcdAcknowledgements {
  private readonly leases = new Map<string, LeaseEntry>();
  private readonly reads = concurrencyGate(READS_AT_ONCE);

  constructor(private readonly api: EtcdApi) {}

  async put(keys: Keys, what: HostAcknowledgement, ttlSeconds: number): Promise<void> {
    const lease = this.getLease(keys, what, ttlSeconds);
    try {
      await this.write(keys, what, await lease.granted);
    } catch (error) {
      if (!isOver(error)) throw error;
      // The lease ran out while etcd or this host was away, or the host has got another role.
      this.forget(lease);
      await this.write(keys, what, await this.getLease(keys, what, ttlSeconds).granted);
    }
  }

  async list(keys: Keys, path: string): Promise<HostAcknowledgement[]> {
    const [names, all] = await Promise.all([
      scan(this.api, { ...keys.named, keysOnly: true }),
      scan(this.api, keys.acknowledgementRange(path)),
    ]);
    const named = new Set(names.map(({ key }) => keys.parseNameKey(key)));
    const shared = all.filter(({ key }) => !named.has(keys.parseAcknowledgementKey(key).host));
    const own = named.size === 0 ? [] : await this.listOwn(keys, path, named);
    const found = [
      ...shared.flatMap((one) => parseAcknowledged(keys.parseAcknowledgementKey(one.key), one) ?? []),
      ...own.flatMap((one) => parseAcknowledged(keys.parseOwnAcknowledgementKey(one.key), one) ?? []),
    ];
    return found.sort((one, other) => (makeSortKey(one) < makeSortKey(other) ? -1 : 1));
  }

  /** Each key begins with its host, which may access only its own keys. So the path is queried separately for each host. */
  private async listOwn(keys: Keys, path: string, named: ReadonlySet<string>): Promise<readonly KeyValue[]> {
    if (path === '' || path.endsWith('/')) {
      const all = await scan(this.api, keys.own);
      return all.filter(({ key }) => {
        const of = keys.parseOwnAcknowledgementKey(key);
        return named.has(of.host) && of.path.startsWith(path);
      });
    }
    const points = [...named].map((host) => ({ range: { key: keys.ownAcknowledgementKey(path, host) } }));
    const groups = splitIntoGroups(points, READS);
    const answers = await Promise.all(groups.map((some) => this.reads(() => this.api.transact(some))));
    return answers.flatMap(({ ranges }) => ranges.flat());
  }

  private async write(keys: Keys, what: HostAcknowledgement, lease: Lease): Promise<void> {
    const key = lease.isNamed
      ? keys.ownAcknowledgementKey(what.path, what.host)
      : keys.acknowledgementKey(what.path, what.host);
    const { at: _at, ...lasting } = what;
    const text = JSON.stringify(lasting);
    if (lease.said.get(key) !== text) {
      await this.api.transact([{ put: { key, value: JSON.stringify(what), lease: lease.id } }]);
      lease.said.set(key, text);
    }
    await this.prolong(keys, what.host, lease);
  }

  private getLease(keys: Keys, { host }: HostAcknowledgement, ttlSeconds: number): LeaseEntry {
    const name = `${keys.head} ${host} ${ttlSeconds}`;
    const known = this.leases.get(name);
    if (known) return known;
    const lease: LeaseEntry = { name, granted: this.grant(keys, host, ttlSeconds) };
    this.leases.set(name, lease);
    lease.granted.catch(() => this.forget(lease));
    return lease;
  }

  private async grant(keys: Keys, host: string, ttlSeconds: number): Promise<Lease> {
    const isNamed = await this.isNamed(keys, host);
    const id = await this.api.grant(ttlSeconds);
    return { id, isNamed, ttlSeconds, said: new Map(), prolongedAt: performance.now() };
  }

  /** If several fail at once, only the first removes the lease. */
  private forget(lease: LeaseEntry): void {
    if (this.leases.get(lease.name) === lease) this.leases.delete(lease.name);
  }

  /** Prolongs the lease once a third of its time is over. @throws EtcdWatchEnd `no-lease`, also if the host has got another role */
  private async prolong(keys: Keys, host: string, lease: Lease): Promise<void> {
    if (performance.now() - lease.prolongedAt < (lease.ttlSeconds * 1000) / 3) return;
    lease.prolonging ??= this.prolongNow(keys, host, lease).finally(() => (lease.prolonging = undefined));
    await lease.prolonging;
  }

  private async prolongNow(keys: Keys, host: string, lease: Lease): Promise<void> {
    const now = performance.now();
    if ((await this.isNamed(keys, host)) !== lease.isNamed) throw new EtcdWatchEnd('no-lease');
    await this.api.keepAlive(lease.id);
    lease.prolongedAt = now;
  }

  private async isNamed(keys: Keys, host: string): Promise<boolean> {
    return (await this.api.range({ key: keys.name(host), keysOnly: true })).kvs.length > 0;
  }
}

const isOver = (error: unknown): boolean =>
  error instanceof EtcdWatchEnd ||
  (error instanceof ConveyorError && error.code === 'store-refused' && /permission denied/.test(error.message));

/** Undefined for a record that its host did not write: otherwise a host could hide the others with an unreadable record, or count as two. */
function parseAcknowledged(
  of: { readonly path: string; readonly host: string },
  { value }: KeyValue,
): HostAcknowledgement | undefined {
  try {
    const what = parseNestedJson(value) as Partial<HostAcknowledgement> | null;
    const isOwn = what?.path === of.path && what.host === of.host && typeof what.version === 'string';
    return isOwn && Number.isFinite(what.at) ? (what as HostAcknowledgement) : undefined;
  } catch {
    return undefined;
  }
}

const makeSortKey = ({ path, host }: HostAcknowledgement): string => `${path}:${host}`;
