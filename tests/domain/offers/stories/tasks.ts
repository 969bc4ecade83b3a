/** Work that the scheduler of a story advances step by step; between two steps others may act. It yields a condition, or nothing to continue. */
export type Flow<T = void> = Generator<(() => boolean) | undefined, T, undefined>;

/** How Temporal tries an activity again: for ever, or for a few minutes, after which it is lost. `flow`: a workflow, which nothing disturbs. */
export type Retries = 'forever' | 'minutes' | 'flow';

/** Thrown by an activity that Temporal tries again. */
export class TryAgain extends Error {}

export class Task<T = unknown> {
  state: 'runs' | 'done' | 'failed' = 'runs';
  value: T | undefined;
  /** It is late: nothing happens before this moment of the story. */
  private heldUntil = 0;
  /** Its answer is lost once, so it is tried once more. */
  isDoubled = false;
  private flow: Flow<T>;
  private waits: (() => boolean) | undefined;

  constructor(
    readonly label: string,
    readonly retries: Retries,
    /** The release that it belongs to, such as `p0/3`: it ends with a terminated release. */
    readonly owner: string | null,
    private readonly begin: () => Flow<T>,
    /** It is sent once this is over. */
    private readonly after?: Task,
  ) {
    this.flow = begin();
  }

  get isOver(): boolean {
    return this.state !== 'runs';
  }

  /** A message that is not sent yet can be neither late nor lost. */
  get isSent(): boolean {
    return this.after?.isOver ?? true;
  }

  canGo(now: number): boolean {
    return !this.isOver && this.isSent && this.heldUntil <= now && (this.waits?.() ?? true);
  }

  /** One step. */
  go(): void {
    try {
      const { done, value } = this.flow.next();
      if (done) return this.settle(value as T);
      this.waits = value;
    } catch (error) {
      if (!(error instanceof TryAgain)) throw error;
      this.restart();
    }
  }

  private settle(value: T): void {
    if (this.isDoubled) {
      this.isDoubled = false;
      return this.restart();
    }
    this.value = value;
    this.state = 'done';
  }

  private restart(): void {
    this.flow = this.begin();
    this.waits = undefined;
  }

  /** It begins again at a later moment; an attempt does not last for long. */
  delay(until: number): void {
    this.heldUntil = until;
    this.restart();
  }

  /** The attempt under way is lost. @returns whether that is the end of it */
  lose(): boolean {
    if (this.retries === 'minutes') this.state = 'failed';
    else this.restart();
    return this.retries === 'minutes';
  }

  kill(): void {
    this.state = 'failed';
  }
}
