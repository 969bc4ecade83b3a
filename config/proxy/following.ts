import { Loop } from './loop';
import type { ConfigStore, StoreEvent } from '../store/port';

interface Follower {
  readonly take: (event: StoreEvent) => void;
  /** Everything up to now was taken of these paths. */
  readonly onHere: (paths: readonly string[]) => void;
  readonly onAway: (error: unknown) => void;
}

/** How soon what could not be read is read again. */
const RETRY_MS = 500;

/**
 * One watch for all paths of a host, which begins anew when paths are added. What a path was before it was added is read: the watch
 * continues where it was, and would not repeat it.
 */
export class Following {
  private readonly paths = new Set<string>();
  /** Added, and not read yet. */
  private readonly unread = new Set<string>();
  private position: string | undefined;
  private current: { readonly ending: AbortController; readonly ended: Promise<void> } | undefined;
  private readonly reading = new Loop(
    () => this.unread.size > 0 && !this.isClosed,
    () => this.read(),
    (error) => this.readFailed(error),
  );
  private retrying: NodeJS.Timeout | undefined;
  /** How often the store said that there is nothing newer. */
  private confirmations = 0;
  private confirmationsBefore = 0;
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
    await this.reading.stopped();
    this.current?.ending.abort();
    await this.current?.ended;
    clearTimeout(this.retrying);
  }

  private readFailed(error: unknown): void {
    // The store may have come back since.
    if (this.confirmations === this.confirmationsBefore) this.follower.onAway(error);
    this.retrying = setTimeout(() => this.reading.wake(), RETRY_MS);
  }

  private async read(): Promise<void> {
    clearTimeout(this.retrying);
    this.confirmationsBefore = this.confirmations;
    const added = [...this.unread];
    // A watch that begins at the beginning says everything itself.
    const read = this.position === undefined ? [] : await Promise.all(added.map((path) => this.stateOf(path)));
    for (const path of added) this.unread.delete(path);
    for (const event of read.flat()) this.follower.take(event);
    if (read.length > 0) this.follower.onHere(added);
    await this.restart();
  }

  private async stateOf(path: string): Promise<StoreEvent[]> {
    const [value, overrides] = await Promise.all([
      this.store.read(this.repository, path),
      this.store.overrides(this.repository, path),
    ]);
    const at = { path, position: '' };
    return [
      ...(value ? [{ kind: 'value' as const, ...at, value }] : []),
      ...(overrides.length > 0 ? [{ kind: 'override' as const, ...at, overrides }] : []),
    ];
  }

  private async restart(): Promise<void> {
    this.current?.ending.abort();
    await this.current?.ended;
    if (this.isClosed) return;
    const ending = new AbortController();
    const paths = [...this.paths];
    const isOver = (): boolean => ending.signal.aborted;
    const on = (event: StoreEvent): void => {
      this.position = event.position;
      this.follower.take(event);
    };
    const onAway = (error: unknown): void => void (isOver() || this.follower.onAway(error));
    const onHere = (): void => {
      if (isOver()) return;
      this.confirmations += 1;
      // What was added while this watch began is yet to be read: it says nothing of before.
      this.follower.onHere(paths.filter((path) => !this.unread.has(path)));
      this.reading.wake();
    };
    const ended = this.store
      .watch(this.repository, paths, this.position, on, ending.signal, onAway, onHere)
      .catch(this.follower.onAway);
    this.current = { ending, ended };
  }
}
