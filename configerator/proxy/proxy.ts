import { refusePath } from '../domain/commits';
import type { Answer } from '../domain/heldValue';
import type { Host } from '../domain/overrides';
import { subscriberId } from '../domain/subscriber';
import { conveyorError, ConveyorError } from '../../domain/errors';
import { CONFIG_LIMITS } from '../../domain/limits';
import { cutText } from '../../domain/size';
import type { CachedPath } from '../../sdk/configCache';
import type { ConfigStore, StoreEvent } from '../store/port';
import { Acknowledger } from './acknowledger';
import { Cache } from './cache';
import type { Files } from './files';
import { PathFollower } from './pathFollower';
import type { HostPackages } from './packages';
import { restoreEntry, createEntry, takeEvent, type PathEntry } from './paths';

export interface ProxyOptions {
  readonly host: string;
  readonly repository: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly store: ConfigStore;
  readonly files: Files;
  /** In ms since the epoch. */
  readonly now: () => number;
  readonly log: (line: string) => void;
  /** How long applications have to refuse a value before it is acknowledged, in ms. Default 1000. */
  readonly settleMs?: number;
  /** How long an acknowledgement outlives this proxy. Default 60. */
  readonly ttlSeconds?: number;
  /** How often a failing disk is tried again. Default 10 s. */
  readonly retryDiskMs?: number;
  /** Packages, named by values below `models/`. A change of their state acknowledges the path again. */
  readonly packages?: HostPackages;
  /** It accepts only values signed by trusted keys. */
  readonly isVerified?: boolean;
}

export type AgedAnswer = Answer & {
  /** Seconds since the store last confirmed it; null if it never did. */
  readonly age: number | null;
  /** The name under which an application with this value reports metrics: health checks use it. */
  readonly task: string;
};

export interface AppRefusal {
  readonly path: string;
  readonly version: string;
  /** Null withdraws the refusal. */
  readonly reason: string | null;
  readonly app: string;
}

/** How long the first fetch of a path may take. */
const FETCH_MS = 5000;
/** How long a starting proxy waits for its store to confirm the cache. */
const CONFIRM_MS = 2000;
/** The cache records the last request of a path to the hour. */
const ASKED_MS = 3_600_000;
const RETRY_DISK_MS = 10_000;

/**
 * Configuration of one host: fetches and follows the paths that applications request, and continues with its present
 * values if everything else is down.
 */
export class ConfigProxy {
  private readonly entries = new Map<string, PathEntry>();
  private readonly listeners = new Map<string, Set<(answer: AgedAnswer) => void>>();
  private readonly host: Host;
  private readonly cache: Cache;
  private readonly following: PathFollower;
  private readonly acknowledging: Acknowledger;
  private readonly disk: NodeJS.Timeout;
  /** When the store last confirmed that the host is up to date. */
  private hereAt: number | undefined;
  /** Why the store does not answer; undefined while it does. */
  private trouble: ConveyorError | undefined;
  private waiters: (() => void)[] = [];
  private applied = 0;

  constructor(private readonly options: ProxyOptions) {
    const { store, repository, files, log, retryDiskMs = RETRY_DISK_MS } = options;
    this.host = { name: options.host, labels: options.labels };
    this.cache = new Cache(files, log);
    this.following = new PathFollower(store, repository, {
      take: (event) => this.take(event),
      onHere: (paths) => this.confirm(paths),
      onAway: (error) => this.markAway(error),
    });
    this.acknowledging = new Acknowledger(options);
    this.disk = setInterval(() => {
      this.askForWatched();
      this.cache.retry();
    }, retryDiskMs).unref();
  }

  /** Resolves with the number of cached paths. The store gets a moment to confirm them, so that stale values are served only if it is unavailable. */
  async start(): Promise<number> {
    const now = this.options.now();
    for (const cached of await this.cache.load(now))
      this.entries.set(cached.path, restoreEntry(cached, this.host, now));
    for (const entry of this.entries.values()) {
      this.options.packages?.setWanted(entry.answer);
      this.acknowledging.schedule(entry);
    }
    this.following.add([...this.entries.keys()]);
    const { size } = this.entries;
    await this.waitUntil(() => [...this.entries.values()].every(({ isConfirmed }) => isConfirmed), CONFIRM_MS);
    return size;
  }

  /**
   * The host's value of a path, which the proxy follows from now on. The first answer may wait for the store.
   * @throws ConveyorError `over-limit`, `invalid-text`, or `store-unavailable` if the host does not know the path
   */
  async ask(path: string): Promise<AgedAnswer> {
    const entry = this.entryFor(path);
    await this.waitUntil(() => isKnown(entry), FETCH_MS);
    if (isKnown(entry)) return this.answerWithAge(entry);
    const { repository } = this.options;
    const { disbelieved: why } = entry;
    if (why !== undefined) throw conveyorError('store-forged', { repository, what: `the value of ${path}`, why });
    throw (
      this.trouble ??
      conveyorError('store-unavailable', { store: repository, detail: `it has no information about ${path}` })
    );
  }

  /** Calls `listener` for each changed answer; the returned function ends this. */
  listen(paths: readonly string[], listener: (answer: AgedAnswer) => void): () => void {
    const entries = paths.map((path) => this.entryFor(path));
    for (const { path } of entries) {
      const listeners = this.listeners.get(path) ?? new Set();
      this.listeners.set(path, listeners.add(listener));
    }
    for (const entry of entries) if (isKnown(entry)) listener(this.answerWithAge(entry));
    return () => entries.forEach(({ path }) => this.listeners.get(path)?.delete(listener));
  }

  /** Records that an application refuses a version. A version that the host no longer has is ignored. */
  refuse({ path, version, reason, app }: AppRefusal): void {
    const entry = this.entries.get(path);
    if (entry === undefined || entry.answer.version !== version) return;
    const { refusals } = entry;
    const { of, max } = CONFIG_LIMITS.refusals;
    if (reason === null) refusals.delete(app);
    else if (refusals.size >= max && !refusals.has(app))
      throw conveyorError('over-limit', { what: of, size: String(refusals.size + 1), limit: String(max) });
    else refusals.set(app, { version, reason: cutText(reason, CONFIG_LIMITS.refusal.max) });
    this.acknowledging.schedule(entry, 0);
  }

  /** Acknowledges a path again after its report has changed. */
  acknowledge(path: string): void {
    const entry = this.entries.get(path);
    if (entry) this.acknowledging.schedule(entry, 0);
  }

  health() {
    const entries = [...this.entries.values()];
    return {
      host: this.options.host,
      store: this.trouble === undefined ? ('here' as const) : ('away' as const),
      ...(this.trouble === undefined ? {} : { storeTrouble: this.trouble.message }),
      ...(this.acknowledging.trouble === undefined ? {} : { acknowledgeTrouble: this.acknowledging.trouble }),
      ...(this.cache.trouble === undefined ? {} : { diskTrouble: this.cache.trouble }),
      paths: entries.length,
      unconfirmed: entries.filter(({ isConfirmed }) => !isConfirmed).length,
      refused: entries.filter(({ refusals }) => refusals.size > 0).length,
      verified: this.options.isVerified ?? false,
      age: this.age(),
      applied: this.applied,
    };
  }

  /** Seconds since the store confirmed this host's values; null if it never did. */
  age = (): number | null => (this.hereAt === undefined ? null : this.secondsSince(this.hereAt));

  async close(): Promise<void> {
    clearInterval(this.disk);
    await Promise.all([this.following.close(), this.acknowledging.close()]);
    await this.cache.flush();
  }

  private entryFor(path: string): PathEntry {
    const now = this.options.now();
    const known = this.entries.get(path);
    if (known) {
      if (now - known.askedAt > ASKED_MS) {
        known.askedAt = now;
        this.keep(known);
      }
      return known;
    }
    refusePath(path);
    const { of, max } = CONFIG_LIMITS.proxyPaths;
    if (this.entries.size >= max)
      throw conveyorError('over-limit', { what: of, size: String(max + 1), limit: String(max) });
    const entry = createEntry(path, this.host, now);
    this.entries.set(path, entry);
    this.following.add([path]);
    return entry;
  }

  /** An open watch counts as continuous use of its path. */
  private askForWatched(): void {
    for (const [path, listeners] of this.listeners) if (listeners.size > 0) this.entryFor(path);
  }

  private take(event: StoreEvent): void {
    const entry = this.entries.get(event.path);
    if (entry === undefined) return;
    const before = entry.held;
    const { isNews, note } = takeEvent(entry, event, this.host, this.options.now());
    if (note !== undefined) this.options.log(note);
    if (entry.held !== before) this.keep(entry);
    if (!isNews) return;
    this.applied += 1;
    const answer = this.answerWithAge(entry);
    for (const listener of this.listeners.get(entry.path) ?? []) listener(answer);
    this.acknowledging.schedule(entry);
    this.options.packages?.setWanted(answer);
  }

  private confirm(paths: readonly string[]): void {
    if (this.trouble !== undefined) this.options.log('the store answers again');
    this.trouble = undefined;
    this.hereAt = this.options.now();
    this.acknowledging.retry();
    for (const path of paths) {
      const entry = this.entries.get(path);
      if (entry === undefined || entry.isConfirmed || entry.disbelieved !== undefined) continue;
      entry.isConfirmed = true;
      this.keep(entry);
      this.acknowledging.schedule(entry);
      if (entry.held.committed === null)
        for (const listener of this.listeners.get(path) ?? []) listener(this.answerWithAge(entry));
    }
    this.wakeWaiters();
  }

  private markAway(error: unknown): void {
    const trouble =
      error instanceof ConveyorError
        ? error
        : conveyorError('store-unavailable', { store: this.options.repository, detail: String(error) });
    if (this.trouble === undefined) this.options.log(`${trouble.message}; serving the last values`);
    this.trouble = trouble;
    this.wakeWaiters();
  }

  private keep(entry: PathEntry): void {
    this.cache.keep(entry.path, (): CachedPath => {
      const { path, answer, held, askedAt } = entry;
      return { path, answer, held, confirmedAt: this.confirmedAt(entry), askedAt, host: this.host.name };
    });
  }

  private answerWithAge(entry: PathEntry): AgedAnswer {
    const at = this.confirmedAt(entry);
    const { commit, override: revision, sequence } = entry.answer;
    const task = subscriberId(this.host.name, [{ commit, revision, sequence }]);
    return { ...entry.answer, age: at === null ? null : this.secondsSince(at), task };
  }

  private confirmedAt = (entry: PathEntry): number | null =>
    entry.isConfirmed && this.hereAt !== undefined ? this.hereAt : entry.cachedAt;

  private secondsSince = (at: number): number => Math.max(0, Math.round(this.options.now() - at) / 1000);

  /** Waits until the condition holds, the store is away, or the time is up. */
  private async waitUntil(isSo: () => boolean, ms: number): Promise<void> {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      this.wakeWaiters();
    }, ms);
    while (!isSo() && this.trouble === undefined && !isLate)
      await new Promise<void>((resolve) => this.waiters.push(resolve));
    clearTimeout(timer);
  }

  private wakeWaiters(): void {
    const waiters = this.waiters;
    this.waiters = [];
    for (const wake of waiters) wake();
  }
}

const isKnown = ({ isConfirmed, held }: PathEntry): boolean =>
  isConfirmed || held.committed !== null || held.overrides.length > 0;
