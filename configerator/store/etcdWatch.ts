import { pause } from '../../sdk/pause';
import { EtcdWatchEnd, type EtcdApi } from './etcdApi';
import type { KeyRange, KeyValue, EtcdOperation } from './etcdWire';
import { toStoreEvents, type WatchedChange } from './etcdEvents';
import type { Keys } from './etcdKeys';
import type { EtcdRecords } from './etcdRecords';
import type { StoreEvent } from './port';
import { formatPosition, parseRevision } from './position';
import { Bell } from './bell';
import { splitIntoGroups } from './batches';

/** In ms. */
export interface Patience {
  /** After this long without an event, etcd is queried. Default 10 s. */
  readonly idleMs: number;
  /** The pause before the next try, doubled after each failure. Default 100 ms. */
  readonly retryMs: number;
  /** The longest pause. Default 5 s. */
  readonly mostMs: number;
}

const PATIENCE: Patience = { idleMs: 10_000, retryMs: 100, mostMs: 5000 };

interface Listener {
  readonly on: (event: StoreEvent) => void;
  readonly onAway?: ((error: unknown) => void) | undefined;
  readonly onHere?: (() => void) | undefined;
}

/** How many keys one transaction looks up, and how many values it reads. */
const LOOKS = 100;
const VALUES = 16;

/**
 * Follows paths in two steps: a watch of etcd reports that something has changed, and one look at all of the paths, at
 * one revision, then finds every change. Watches of several ranges do not keep the order of changes among each other,
 * and repeat changes after a reconnect; a look does neither, and survives compaction.
 *
 * Each connection begins with a look at everything: an etcd that was restored meanwhile may be at any revision, so only
 * a comparison with the delivered state shows the differences.
 */
export class EtcdWatch {
  private readonly patience: Patience;
  /** The former position of the watcher. */
  private from = '';
  /** The known revision of each key; 0 if there is none. */
  private readonly known = new Map<string, number>();

  constructor(
    private readonly api: EtcdApi,
    private readonly keys: Keys,
    private readonly records: EtcdRecords,
    private readonly paths: readonly string[],
    patience: Partial<Patience>,
  ) {
    this.patience = { ...PATIENCE, ...patience };
  }

  async run(from: string | undefined, listener: Listener, signal: AbortSignal): Promise<void> {
    this.from = from ?? '';
    if (this.paths.length === 0) return untilAborted(signal);
    let delayMs = this.patience.retryMs;
    const isHere = (): void => {
      delayMs = this.patience.retryMs;
      if (!signal.aborted) listener.onHere?.();
    };
    while (!signal.aborted) {
      const trouble = await this.follow({ ...listener, onHere: isHere }, signal).catch((error: unknown) => error);
      if (signal.aborted) return;
      // After a compaction, everything is read again.
      if (!(trouble instanceof EtcdWatchEnd)) listener.onAway?.(trouble);
      await pause(delayMs, signal);
      delayMs = Math.min(2 * delayMs, this.patience.mostMs);
    }
  }

  /** Follows until the connection ends, and returns the reason. */
  private async follow(listener: Listener, signal: AbortSignal): Promise<unknown> {
    let { revision } = await this.look(listener, signal);
    const connection = new AbortController();
    const bell = new Bell();
    const end = AbortSignal.any([signal, connection.signal]);
    let trouble: unknown;
    this.api.watch(this.paths.map(this.keys.pathRange), revision + 1, bell.ring, end).catch((error: unknown) => {
      trouble = error;
      bell.ring();
    });
    try {
      for (;;) {
        const rang = await bell.wait(this.patience.idleMs);
        if (trouble !== undefined || signal.aborted) return trouble;
        const seen = await this.look(listener, signal, revision + 1, rang);
        // The watch missed an event, or the store has an older state: its connection is dead.
        if ((!rang && seen.hasNews) || seen.revision < revision) return new EtcdWatchEnd('compacted');
        revision = seen.revision;
      }
    } finally {
      connection.abort();
    }
  }

  /**
   * Delivers the changes since a revision, or everything that the watcher lacks. `isLittle`: probably few changes, so
   * that values can come at once; else they come in groups, since all of them together may be hundreds of megabytes.
   */
  private async look(listener: Listener, signal: AbortSignal, since = 0, isLittle = false): Promise<Look> {
    const { changes, revision } = await this.changes(since, isLittle);
    for (const some of splitIntoGroups(changes, VALUES)) {
      const read = await this.read(some, revision);
      for (const change of some) {
        if (signal.aborted) return { revision, hasNews: true };
        this.known.set(change.key, change.modRevision);
        toStoreEvents(change, change.kvs ?? read.get(change) ?? [], this.records).forEach(listener.on);
      }
    }
    if (revision + 1 >= since) listener.onHere?.();
    return { revision, hasNews: changes.length > 0 };
  }

  /** All changes, read at one revision, in the order in which they happened. */
  private async changes(since: number, isLittle: boolean): Promise<{ changes: WatchedChange[]; revision: number }> {
    const parts = this.paths.flatMap((path) => [
      { path, part: 'value' as const, key: this.keys.value(path) },
      { path, part: 'override' as const, key: this.keys.exposureMark(path) },
    ]);
    let revision: number | undefined;
    const changes: WatchedChange[] = [];
    for (const some of splitIntoGroups(parts, LOOKS)) {
      const at = revision === undefined ? {} : { revision };
      const answer = await this.api.transact(
        some.map(({ key }) => ({ range: { key, minModRevision: since, keysOnly: !isLittle, ...at } })),
      );
      revision ??= answer.revision;
      // The store was restored to an older state, which is delivered from its beginning.
      if (revision < parseRevision(this.from)) this.from = '';
      for (const [index, { path, part, key }] of some.entries()) {
        const kv = answer.ranges[index]?.[0];
        if (kv === undefined && since > 0) continue;
        const modRevision = kv?.modRevision ?? 0;
        const position = formatPosition(modRevision, path, part);
        if (this.hasAlready(key, modRevision, position) || (part === 'value' && kv === undefined))
          this.known.set(key, modRevision);
        else {
          const isThere = kv === undefined || (isLittle && part === 'value');
          changes.push({ path, part, key, modRevision, position, ...(isThere ? { kvs: kv ? [kv] : [] } : {}) });
        }
      }
    }
    return { changes: changes.sort((a, b) => (a.position < b.position ? -1 : 1)), revision: revision ?? 0 };
  }

  private hasAlready(key: string, modRevision: number, position: string): boolean {
    const known = this.known.get(key);
    if (known !== undefined) return known === modRevision;
    // Without a mark the time is unknown: a backup may have removed the mark together with the override that the watcher remembers.
    return modRevision > 0 && position <= this.from;
  }

  /** Reads the changes whose records did not arrive with the watch. */
  private async read(
    changes: readonly WatchedChange[],
    revision: number,
  ): Promise<ReadonlyMap<WatchedChange, readonly KeyValue[]>> {
    const unread = changes.filter(({ kvs }) => kvs === undefined);
    if (unread.length === 0) return new Map();
    const { ranges } = await this.api.transact(
      unread.map(({ path, part }): EtcdOperation => {
        const range: KeyRange = part === 'value' ? { key: this.keys.value(path) } : this.keys.overrideRange(path);
        return { range: { ...range, revision } };
      }),
    );
    return new Map(unread.map((change, index) => [change, ranges[index] ?? []]));
  }
}

interface Look {
  readonly revision: number;
  readonly hasNews: boolean;
}

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
