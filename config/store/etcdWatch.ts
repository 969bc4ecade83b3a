import { conveyorError } from '../../domain/errors';
import { pause } from '../../sdk/pause';
import { EtcdWatchEnd, type EtcdApi } from './etcdApi';
import type { KeyRange, KeyValue, EtcdOperation } from './etcdWire';
import { decodeOverride, decodeValue, type Keys } from './etcdKeys';
import type { StoreEvent } from './port';
import { positionOf, revisionOf } from './position';
import { Bell } from './bell';

/** In milliseconds. */
export interface Patience {
  /** After so long without a word of etcd it is asked. Default 10 s. */
  readonly idleMs: number;
  /** Between two tries, doubled after each that fails. Default 100 ms. */
  readonly retryMs: number;
  /** And no longer than that. Default 5 s. */
  readonly mostMs: number;
}

const PATIENCE: Patience = { idleMs: 10_000, retryMs: 100, mostMs: 5000 };

interface Listener {
  readonly on: (event: StoreEvent) => void;
  readonly onAway?: ((error: unknown) => void) | undefined;
  readonly onHere?: (() => void) | undefined;
}

/** How many keys are looked at, and how many values read, in one transaction. */
const LOOKS = 100;
const VALUES = 16;

/**
 * Follows paths in two steps: a watch of etcd says that something has changed, and then one look at all of the paths, as of one
 * revision, says all that has. Watches of several ranges do not keep the order of changes among each other and repeat themselves
 * after a reconnect; a look does neither, and finds its way after compaction.
 */
export class EtcdWatch {
  private readonly patience: Patience;
  private position = '';

  constructor(
    private readonly api: EtcdApi,
    private readonly keys: Keys,
    private readonly paths: readonly string[],
    patience: Partial<Patience>,
  ) {
    this.patience = { ...PATIENCE, ...patience };
  }

  async run(from: string | undefined, listener: Listener, signal: AbortSignal): Promise<void> {
    this.position = from ?? '';
    if (this.paths.length === 0) return untilAborted(signal);
    let delayMs = this.patience.retryMs;
    const isHere = (): void => {
      delayMs = this.patience.retryMs;
      if (!signal.aborted) listener.onHere?.();
    };
    while (!signal.aborted) {
      const trouble = await this.follow({ ...listener, onHere: isHere }, signal).catch((error: unknown) => error);
      if (signal.aborted) return;
      // A compacted history is read anew.
      if (!(trouble instanceof EtcdWatchEnd)) listener.onAway?.(trouble);
      await pause(delayMs, signal);
      delayMs = Math.min(2 * delayMs, this.patience.mostMs);
    }
  }

  /** Until the connection ends; says why. */
  private async follow(listener: Listener, signal: AbortSignal): Promise<unknown> {
    const revision = await this.look(listener, signal);
    const connection = new AbortController();
    const bell = new Bell();
    const end = AbortSignal.any([signal, connection.signal]);
    let trouble: unknown;
    this.api.watch(this.paths.map(this.keys.allOf), revision + 1, bell.ring, end).catch((error: unknown) => {
      trouble = error;
      bell.ring();
    });
    try {
      for (;;) {
        const rang = await bell.wait(this.patience.idleMs);
        if (trouble !== undefined || signal.aborted) return trouble;
        const before = this.position;
        await this.look(listener, signal, rang);
        // It said nothing of what was there to say: nobody is at its other end any more.
        if (!rang && this.position !== before) return new EtcdWatchEnd('compacted');
      }
    } finally {
      connection.abort();
    }
  }

  /**
   * Hands on everything that has changed since the last look; the revision that it saw. `isLittle`: probably not much, so that values can
   * come at once; else they come in groups, since all of them together may be hundreds of megabytes.
   */
  private async look(listener: Listener, signal: AbortSignal, isLittle = false): Promise<number> {
    const { changes, revision } = await this.changes(isLittle);
    if (revision < revisionOf(this.position)) {
      // The store was put back to an older state, which is news from its beginning.
      this.position = '';
      return this.look(listener, signal);
    }
    for (const some of inGroups(changes, VALUES)) {
      const read = await this.read(some, revision);
      for (const change of some) {
        if (signal.aborted) return revision;
        this.position = change.position;
        this.handOn(change, change.kvs ?? read.get(change) ?? [], listener);
      }
    }
    listener.onHere?.();
    return revision;
  }

  private handOn(change: WatchedChange, kvs: readonly KeyValue[], { on, onAway }: Listener): void {
    let event: StoreEvent;
    try {
      event = eventOf(change, kvs);
    } catch {
      const detail = `the ${change.part} of ${change.path} is nothing that Conveyor wrote`;
      onAway?.(conveyorError('store-refused', { store: this.api.url, detail }));
      return;
    }
    on(event);
  }

  /** What has changed since the last event, all of it seen at one revision, in the order in which it came about. */
  private async changes(isLittle: boolean): Promise<{ changes: readonly WatchedChange[]; revision: number }> {
    const since = revisionOf(this.position);
    const parts = this.paths.flatMap((path) => [
      { path, part: 'value' as const, key: this.keys.value(path) },
      { path, part: 'override' as const, key: this.keys.exposed(path) },
    ]);
    let revision: number | undefined;
    const found: WatchedChange[] = [];
    for (const some of inGroups(parts, LOOKS)) {
      const at = revision === undefined ? {} : { revision };
      const answer = await this.api.transact(
        some.map(({ key }) => ({ range: { key, minModRevision: since, keysOnly: !isLittle, ...at } })),
      );
      revision ??= answer.revision;
      for (const [index, { path, part }] of some.entries()) {
        const seen = answer.ranges[index]?.[0];
        if (seen !== undefined) {
          const position = positionOf(seen.modRevision, path, part);
          found.push({ path, part, position, ...(isLittle && part === 'value' ? { kvs: [seen] } : {}) });
        } else if (part === 'override' && since === 0)
          // The watcher may have an override that this state of the store never knew.
          found.push({ path, part, position: positionOf(0, path, part), kvs: [] });
      }
    }
    const changes = found.filter(({ position }) => position > this.position);
    return { changes: changes.sort((a, b) => (a.position < b.position ? -1 : 1)), revision: revision ?? 0 };
  }

  /** Of those that did not come at once. */
  private async read(
    changes: readonly WatchedChange[],
    revision: number,
  ): Promise<ReadonlyMap<WatchedChange, readonly KeyValue[]>> {
    const unread = changes.filter(({ kvs }) => kvs === undefined);
    if (unread.length === 0) return new Map();
    const { ranges } = await this.api.transact(
      unread.map(({ path, part }): EtcdOperation => {
        const range: KeyRange = part === 'value' ? { key: this.keys.value(path) } : this.keys.overridesOf(path);
        return { range: { ...range, revision } };
      }),
    );
    return new Map(unread.map((change, index) => [change, ranges[index] ?? []]));
  }
}

/** That the value or the overrides of a path have changed. */
interface WatchedChange {
  readonly path: string;
  readonly part: 'value' | 'override';
  readonly position: string;
  /** What it is now, where that came with it. */
  readonly kvs?: readonly KeyValue[];
}

function eventOf({ path, part, position }: WatchedChange, kvs: readonly KeyValue[]): StoreEvent {
  if (part === 'override') {
    const overrides = kvs.map(({ value }) => decodeOverride(path, value));
    return overrides.length === 0
      ? { kind: 'override-removed', path, position }
      : { kind: 'override', path, overrides, position };
  }
  const { stored, commit, sequence } = decodeValue(path, kvs[0]?.value ?? '{}');
  return stored === null
    ? { kind: 'removed', path, commit, sequence, position }
    : { kind: 'value', path, value: stored, position };
}

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

const inGroups = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, at) => items.slice(at * size, (at + 1) * size));
