import { putAmong, withoutOverride } from '../domain/amongOverrides';
import { judgeCommit } from '../domain/commits';
import { refuseOverrides } from './doors';
import type { HostAcknowledgement, ConfigStore, Head, Override, StoredCommit, StoredValue, StoreEvent } from './port';
import { formatPosition, parseRevision } from './position';

/** `value` is null once the path was deleted: returning watchers have to learn that. */
interface CommittedPath {
  readonly commit: string;
  readonly sequence: number;
  readonly value: StoredValue | null;
  readonly revision: number;
}

interface ExposedOverrides {
  readonly overrides: readonly Override[];
  readonly revision: number;
}

interface Repository {
  head: Head | undefined;
  readonly committed: Map<string, CommittedPath>;
  readonly exposed: Map<string, ExposedOverrides>;
  readonly acknowledged: Map<string, { readonly what: HostAcknowledgement; readonly until: number }>;
  readonly watchers: Set<() => void>;
}

/** A store for tests, simulations and `conveyor dev`: it behaves like etcd, but in memory. */
export class MemoryStore implements ConfigStore {
  private revision = 0;
  private readonly repositories = new Map<string, Repository>();

  /** `now` in ms, for the expiry of silent hosts. */
  constructor(private readonly now: () => number) {}

  async head(repository: string): Promise<Head | undefined> {
    return this.of(repository).head;
  }

  async apply(repository: string, { commit, sequence, values }: StoredCommit): Promise<'applied' | 'already'> {
    const held = this.of(repository);
    if (judgeCommit(repository, held.head, { commit, sequence, values }) === 'already') return 'already';
    const revision = (this.revision += 1);
    for (const { path, value, version } of values) {
      const stored = value === null ? null : { path, value, version, commit, sequence };
      held.committed.set(path, { commit, sequence, value: stored, revision });
    }
    held.head = { sequence, commit };
    wake(held);
    return 'applied';
  }

  async read(repository: string, path: string): Promise<StoredValue | undefined> {
    return this.of(repository).committed.get(path)?.value ?? undefined;
  }

  async putOverrides(repository: string, overrides: readonly Override[]): Promise<void> {
    refuseOverrides(overrides);
    for (const override of overrides) this.expose(repository, override.path, (others) => putAmong(others, override));
    wake(this.of(repository));
  }

  async removeOverrides(repository: string, id: string, paths?: readonly string[]): Promise<void> {
    for (const path of paths ?? [...this.of(repository).exposed.keys()])
      this.expose(repository, path, (others) => withoutOverride(others, id));
    wake(this.of(repository));
  }

  async overrides(repository: string, path: string): Promise<readonly Override[]> {
    return this.of(repository).exposed.get(path)?.overrides ?? [];
  }

  async watch(...[repository, paths, from, on, signal, , onHere]: Parameters<ConfigStore['watch']>): Promise<void> {
    const held = this.of(repository);
    let position = parseRevision(from) > this.revision ? '' : (from ?? '');
    let isBusy = false;
    const catchUp = (): void => {
      // A listener may make the next change.
      if (isBusy) return;
      isBusy = true;
      for (
        let news = listLaterEvents(held, paths, position);
        news.length > 0;
        news = listLaterEvents(held, paths, position)
      )
        for (const event of news) {
          if (signal.aborted) return;
          position = event.position;
          on(event);
        }
      isBusy = false;
      onHere?.();
    };
    if (signal.aborted) return;
    catchUp();
    held.watchers.add(catchUp);
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    held.watchers.delete(catchUp);
  }

  async acknowledge(repository: string, what: HostAcknowledgement, ttlSeconds: number): Promise<void> {
    const until = this.now() + ttlSeconds * 1000;
    this.of(repository).acknowledged.set(`${what.path}:${what.host}`, { what, until });
  }

  async subscribers(repository: string, path: string): Promise<readonly HostAcknowledgement[]> {
    return [...this.of(repository).acknowledged.values()]
      .filter(({ what, until }) => isMeant(path, what.path) && until > this.now())
      .map(({ what }) => what)
      .sort((a, b) => (toSortKey(a) < toSortKey(b) ? -1 : 1));
  }

  private expose(repository: string, path: string, change: (others: readonly Override[]) => Override[]): void {
    const { exposed } = this.of(repository);
    const before = exposed.get(path)?.overrides ?? [];
    const after = change(before);
    if (JSON.stringify(after) === JSON.stringify(before)) return;
    exposed.set(path, { overrides: after, revision: (this.revision += 1) });
  }

  private of(repository: string): Repository {
    const known = this.repositories.get(repository);
    if (known) return known;
    const made: Repository = {
      ...{ head: undefined, committed: new Map(), exposed: new Map() },
      ...{ acknowledged: new Map(), watchers: new Set() },
    };
    this.repositories.set(repository, made);
    return made;
  }
}

const toSortKey = ({ path, host }: HostAcknowledgement): string => `${path}:${host}`;

/** A path that ends with a slash, or is empty, covers everything below it. */
const isMeant = (wanted: string, path: string): boolean =>
  wanted === '' || wanted.endsWith('/') ? path.startsWith(wanted) : path === wanted;

/** A watcher may end another one. */
const wake = ({ watchers }: Repository): void => [...watchers].forEach((catchUp) => watchers.has(catchUp) && catchUp());

const NEVER_EXPOSED: ExposedOverrides = { overrides: [], revision: 0 };

/** The later events of these paths, in order. */
function listLaterEvents({ committed, exposed }: Repository, paths: readonly string[], since: string): StoreEvent[] {
  const events = paths.flatMap((path): StoreEvent[] => {
    const value = committed.get(path);
    const override = exposed.get(path) ?? (parseRevision(since) === 0 ? NEVER_EXPOSED : undefined);
    return [...(value ? [valueEvent(path, value)] : []), ...(override ? [overrideEvent(path, override)] : [])];
  });
  return events.filter(({ position }) => position > since).sort((a, b) => (a.position < b.position ? -1 : 1));
}

function valueEvent(path: string, { commit, sequence, value, revision }: CommittedPath): StoreEvent {
  const position = formatPosition(revision, path, 'value');
  return value === null
    ? { kind: 'removed', path, commit, sequence, position }
    : { kind: 'value', path, value, position };
}

function overrideEvent(path: string, { overrides, revision }: ExposedOverrides): StoreEvent {
  const position = formatPosition(revision, path, 'override');
  return overrides.length === 0
    ? { kind: 'override-removed', path, position }
    : { kind: 'override', path, overrides, position };
}
