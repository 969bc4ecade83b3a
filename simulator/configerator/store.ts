import { conveyorError } from '../../domain/errors';
import type { HostAcknowledgement, ConfigStore, Override, StoredCommit } from '../../configerator/store/port';
import { hasLeader, type Configerator } from './configerator';
import { CONFIGERATOR_LIMITS } from './limits';
import type { Transaction } from './state';
import { listAcknowledged } from './subscribers';
import { publish } from './tree';

/**
 * The port over the simulated tree: writes go to the leader, reads and watches to its followers, which have the same data. No write succeeds while a
 * leader is being elected. Hosts of the simulated world acknowledge by themselves; others may, too.
 */
export class SimulatedStore implements ConfigStore {
  /** Called on each use, since a world can be replaced. */
  constructor(private readonly world: () => Configerator) {}

  head: ConfigStore['head'] = (repository) => this.world().leader.head(repository);
  read: ConfigStore['read'] = (repository, path) => this.world().leader.read(repository, path);
  overrides: ConfigStore['overrides'] = (repository, path) => this.world().leader.overrides(repository, path);
  watch: ConfigStore['watch'] = (...args) => this.world().leader.watch(...args);

  async apply(repository: string, commit: StoredCommit): Promise<'applied' | 'already'> {
    const it = this.writable();
    const applied = await it.leader.apply(repository, commit);
    if (applied === 'applied') publish(it, { kind: 'commit', repository, commit });
    return applied;
  }

  async putOverrides(repository: string, overrides: readonly Override[]): Promise<void> {
    const it = this.writable();
    await it.leader.putOverrides(repository, overrides);
    publish(it, { kind: 'put', repository, overrides });
  }

  async removeOverrides(repository: string, id: string, paths?: readonly string[]): Promise<void> {
    const it = this.writable();
    await it.leader.removeOverrides(repository, id, paths);
    publish(it, { kind: 'remove', repository, id, paths: paths ?? null } satisfies Transaction);
  }

  async acknowledge(...args: Parameters<ConfigStore['acknowledge']>): Promise<void> {
    await this.writable().leader.acknowledge(...args);
  }

  async subscribers(repository: string, path: string): Promise<readonly HostAcknowledgement[]> {
    const it = this.world();
    const isBelow = path === '' || path.endsWith('/');
    const own = listAcknowledged(it, repository, (other) => (isBelow ? other.startsWith(path) : other === path));
    const others = await it.leader.subscribers(repository, path);
    return [...own, ...others].sort((a, b) => (formatSortKey(a) < formatSortKey(b) ? -1 : 1));
  }

  private writable(): Configerator {
    const it = this.world();
    const full = it.state.log.length >= CONFIGERATOR_LIMITS.transactions;
    if (full) throw conveyorError('store-full', { store: 'http://simulated' });
    if (!hasLeader(it))
      throw conveyorError('store-unavailable', { store: 'http://simulated', detail: 'a leader is being elected' });
    return it;
  }
}

const formatSortKey = ({ path, host }: HostAcknowledgement): string => `${path}:${host}`;
