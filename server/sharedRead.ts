/** A read that takes longer is abandoned: its answer may never arrive. */
const LOST_MS = 60_000;

interface OneLook<T> {
  readonly answer: Promise<T>;
  readonly atMs: number;
  ended: boolean;
}

/** An answer that may be older than its life. */
export interface KeptAnswer<T> {
  readonly answer: T;
  /** When its read began. */
  readonly atMs: number;
  /** It is older than its life, and is being read again. */
  readonly isOld: boolean;
  /** The error of the last read since then; undefined if there was none. */
  readonly problem: unknown;
}

/** Runs one read at a time and shares its result until `freshMs` after it began, so that frequent callers cost nothing. */
export class SharedReader<T> {
  private last: OneLook<T> | undefined;
  private kept: { readonly answer: T; readonly atMs: number } | undefined;
  private problem: unknown;
  private isDue = false;

  constructor(
    private readonly look: () => Promise<T>,
    private readonly freshMs: number,
    private readonly now: () => number,
  ) {}

  read(): Promise<T> {
    if (this.last === undefined || this.isOver(this.last)) this.last = this.begin();
    return this.last.answer;
  }

  /** The last answer at once, if it is younger than `keptMs`; where it is older than `freshMs`, it is read again behind. */
  async readKept(keptMs: number): Promise<KeptAnswer<T>> {
    const { kept, problem } = this;
    const ageMs = kept === undefined ? Infinity : this.now() - kept.atMs;
    if (kept === undefined || ageMs >= keptMs) {
      const atMs = this.now();
      const answer = await this.read();
      return { answer, atMs: this.kept?.atMs ?? atMs, isOld: false, problem: undefined };
    }
    const isOld = ageMs >= this.freshMs;
    if (isOld) this.refreshSoon();
    return { ...kept, isOld, problem: isOld ? problem : undefined };
  }

  /** After the answers that are on their way, because a read may take much time of the processor. */
  private refreshSoon(): void {
    if (this.isDue) return;
    this.isDue = true;
    setImmediate(() => {
      this.isDue = false;
      // The next reader is shown the error.
      this.read().catch(() => undefined);
    });
  }

  private begin(): OneLook<T> {
    const atMs = this.now();
    const look: OneLook<T> = { answer: this.look(), atMs, ended: false };
    look.answer.then(
      (answer) => {
        look.ended = true;
        // One that was abandoned may come late.
        if (this.kept !== undefined && this.kept.atMs > atMs) return;
        [this.kept, this.problem] = [{ answer, atMs }, undefined];
      },
      (error: unknown) => {
        look.ended = true;
        if (look === this.last) this.problem = error;
      },
    );
    return look;
  }

  private isOver({ atMs, ended }: OneLook<T>): boolean {
    const ageMs = this.now() - atMs;
    return ended ? ageMs >= this.freshMs : ageMs >= LOST_MS;
  }
}
