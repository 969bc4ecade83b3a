import { conveyorError } from '../../domain/errors';
import type { Files } from '../../configerator/proxy/files';
import { ConfigProxy, type ProxyOptions } from '../../configerator/proxy/proxy';
import { MemoryStore } from '../../configerator/store/memory';
import type { ConfigStore } from '../../configerator/store/port';
import { eventually } from '../system/waiting';
import { commitOf } from './storeSuite';

const R = 'flags';

/** A disk in memory that can be full. */
export class FakeDisk implements Files {
  readonly files = new Map<string, string>();
  isFull = false;

  list = async (): Promise<string[]> => [...this.files.keys()];
  read = async (name: string): Promise<string> => this.files.get(name) ?? '';
  write = async (name: string, text: string): Promise<void> => {
    if (this.isFull) throw new Error('ENOSPC: no space left on device, write');
    this.files.set(name, text);
  };
  remove = async (name: string): Promise<void> => void this.files.delete(name);
}

/** A store that can be away, and hosts that have it. */
export class ProxyWorld {
  readonly store = new MemoryStore(() => this.now);
  readonly notes: string[] = [];
  now = 1_000_000;
  private isAway = false;
  private readonly proxies: ConfigProxy[] = [];
  private readonly onAway = new Set<() => void>();
  private sequence = 0;

  /** The next commit; its number. */
  async commit(values: Readonly<Record<string, string | null>>): Promise<number> {
    this.sequence += 1;
    await this.store.apply(R, commitOf(this.sequence, values));
    return this.sequence;
  }

  async proxy(host: string, files: Files = new FakeDisk(), more: Partial<ProxyOptions> = {}): Promise<ConfigProxy> {
    const proxy = new ConfigProxy({
      ...{ host, repository: R, store: this.remote(), files, settleMs: 5, ttlSeconds: 60 },
      ...{ now: () => this.now, log: (line: string) => void this.notes.push(line), ...more },
    });
    this.proxies.push(proxy);
    await proxy.start();
    return proxy;
  }

  lose(): void {
    this.isAway = true;
    for (const notice of this.onAway) notice();
  }

  find(): void {
    this.isAway = false;
    for (const notice of this.onAway) notice();
  }

  async close(): Promise<void> {
    await Promise.all(this.proxies.map((proxy) => proxy.close()));
  }

  /** Resolves once the store has these acknowledgements: `h1 VERSION REVISION refused`. */
  acknowledged(path: string, expected: readonly string[]): Promise<unknown> {
    return eventually(`${path} is acknowledged as ${expected.join(', ')}`, async () => {
      const all = await this.store.subscribers(R, path);
      const said = all.map(({ host, version, revision, refused }) =>
        [host, version.slice(0, 7), revision ?? 'committed', ...(refused ? [refused] : [])].join(' '),
      );
      if (JSON.stringify(said) === JSON.stringify(expected)) return true;
      throw new Error(said.join(', '));
    });
  }

  /** The store as a host reaches it: its events of that time arrive once it is back. */
  private remote(): ConfigStore {
    const { store } = this;
    const reach = <T>(work: () => Promise<T>): Promise<T> => (this.isAway ? Promise.reject(GONE) : work());
    return {
      head: (...args) => reach(() => store.head(...args)),
      apply: (...args) => reach(() => store.apply(...args)),
      read: (...args) => reach(() => store.read(...args)),
      putOverrides: (...args) => reach(() => store.putOverrides(...args)),
      removeOverrides: (...args) => reach(() => store.removeOverrides(...args)),
      overrides: (...args) => reach(() => store.overrides(...args)),
      acknowledge: (...args) => reach(() => store.acknowledge(...args)),
      subscribers: (...args) => reach(() => store.subscribers(...args)),
      watch: (...args) => this.watch(...args),
    };
  }

  private async watch(...[repository, paths, from, on, signal, onAway, onHere]: Parameters<ConfigStore['watch']>) {
    let position = from;
    while (!signal.aborted) {
      const turn = new AbortController();
      const notice = (): void => turn.abort();
      this.onAway.add(notice);
      const either = AbortSignal.any([signal, turn.signal]);
      if (this.isAway) {
        onAway?.(GONE);
        await new Promise<void>((resolve) => either.addEventListener('abort', () => resolve(), { once: true }));
      } else
        await this.store.watch(
          ...([repository, paths, position] as const),
          (event) => {
            position = event.position;
            on(event);
          },
          ...([either, onAway, onHere] as const),
        );
      this.onAway.delete(notice);
    }
  }
}

const GONE = conveyorError('store-unavailable', { store: 'http://etcd', detail: 'it is away' });
