import { ConveyorError } from '../../domain/errors';
import { Loop } from './loop';
import type { ConfigStore, StoreEvent } from '../store/port';
import { parseRevision } from '../store/position';

interface Follower {
  readonly take: (event: StoreEvent) => void;
  /** All events of these paths up to now were handled. */
  readonly onHere: (paths: readonly string[]) => void;
  readonly onAway: (error: unknown) => void;
}

/** The number of paths read at once, to spare a slow store. */
const READS_AT_ONCE = 16;
/** The pause before a failed read is retried. */
const RETRY_MS = 500;

/**
 * One watch for all paths of a host; it restarts when paths are added. The present state of an added path is read separately, because the watch
 * resumes at its old position and repeats only what came after that.
 */
export class PathFollower {
  private readonly paths = new Set<string>();
  /** Added paths that are not read yet. */
  private readonly unread = new Set<string>();
  private position: string | undefined;
  /** The position before the read of paths that the present watch does not follow yet. */
  private before: string | undefined;
  private current: { readonly ending: AbortController; readonly ended: Promise<void> } | undefined;
  private readonly reading = new Loop(
    () => this.unread.size > 0 && !this.isClosed,
    () => this.read(),
    (error) => this.retryRead(error),
  );
  private retrying: NodeJS.Timeout | undefined;
  /** How often the store confirmed that there is nothing newer. */
  private confirmations = 0;
  private confirmationsBefore = 0;
  /** The store does not answer, and may have been restored to an older state once it does. */
  private isAway = false;
  private isClosed = false;

  constructor(
    private readonly store: ConfigStore,
    private readonly repository: string,
    private readonly follower: Follower,
  ) {}

  add(paths: readonly string[]): void {
    for (const path of paths) {
      if (this.paths.has(path)) continue;
      this.paths.add(path);
      this.unread.add(path);
    }
    this.reading.wake();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.current?.ending.abort();
    await this.reading.awaitStop();
    this.current?.ending.abort();
    await this.current?.ended;
    clearTimeout(this.retrying);
  }

  private retryRead(error: unknown): void {
    // The store may have come back since.
    if (this.confirmations === this.confirmationsBefore) this.follower.onAway(error);
    this.retrying = setTimeout(() => this.reading.wake(), RETRY_MS);
  }

  private async read(): Promise<void> {
    clearTimeout(this.retrying);
    this.confirmationsBefore = this.confirmations;
    this.before ??= this.position;
    const added = [...this.unread];
    // A watch from the beginning delivers everything itself.
    if (this.before === undefined) this.unread.clear();
    else
      for (let at = 0; at < added.length; at += READS_AT_ONCE) await this.readSome(added.slice(at, at + READS_AT_ONCE));
    await this.restart();
  }

  /** A failed read does not cause the others to be read again. */
  private async readSome(paths: readonly string[]): Promise<void> {
    const readOne = async (path: string): Promise<void> => {
      const events = await this.readState(path);
      this.unread.delete(path);
      for (const event of events) this.follower.take(event);
      this.follower.onHere([path]);
    };
    const done = await Promise.allSettled(paths.map(readOne));
    const failed = done.find((one) => one.status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  }

  private async readState(path: string): Promise<StoreEvent[]> {
    const at = { path, position: '' };
    const [values, overrides] = await Promise.all([this.readValue(path), this.store.overrides(this.repository, path)]);
    return [...values, ...(overrides.length > 0 ? [{ kind: 'override' as const, ...at, overrides }] : [])];
  }

  /** One untrusted record must not block the other paths. */
  private async readValue(path: string): Promise<StoreEvent[]> {
    const at = { path, position: '' };
    try {
      const value = await this.store.read(this.repository, path);
      return value ? [{ kind: 'value', ...at, value }] : [];
    } catch (error) {
      if (!(error instanceof ConveyorError) || error.code !== 'store-forged') throw error;
      return [{ kind: 'disbelieved', ...at, part: 'value', why: error.message }];
    }
  }

  private async restart(): Promise<void> {
    this.current?.ending.abort();
    await this.current?.ended;
    if (this.isClosed) return;
    const ending = new AbortController();
    const paths = [...this.paths];
    const isOver = (): boolean => ending.signal.aborted;
    const on = (event: StoreEvent): void => {
      // If nothing ever overrode a path, the event has no position to continue from.
      if (parseRevision(event.position) > 0) this.position = event.position;
      this.follower.take(event);
    };
    const onAway = (error: unknown): void => {
      if (isOver()) return;
      this.isAway = true;
      this.follower.onAway(error);
    };
    const onHere = (): void => {
      if (isOver()) return;
      this.isAway = false;
      this.confirmations += 1;
      // Paths added while this watch began are not read yet, so the watch proves nothing about their earlier state.
      this.follower.onHere(paths.filter((path) => !this.unread.has(path)));
      this.reading.wake();
    };
    // The old position is useless after the store was away: only the watch that ends here could have compared.
    const from = this.isAway ? undefined : (this.before ?? this.position);
    this.before = undefined;
    const ended = this.store
      .watch(this.repository, paths, from, on, ending.signal, onAway, onHere)
      .catch(this.follower.onAway);
    this.current = { ending, ended };
  }
}
