/** A read that takes longer is abandoned: its answer may never arrive. */
const LOST_MS = 60_000;

interface OneLook<T> {
  readonly answer: Promise<T>;
  readonly atMs: number;
  ended: boolean;
}

/** Runs one read at a time and shares its result until `freshMs` after it began, so that frequent callers cost nothing. */
export class SharedReader<T> {
  private last: OneLook<T> | undefined;

  constructor(
    private readonly look: () => Promise<T>,
    private readonly freshMs: number,
    private readonly now: () => number,
  ) {}

  read(): Promise<T> {
    if (this.last === undefined || this.isOver(this.last)) this.last = this.begin();
    return this.last.answer;
  }

  private begin(): OneLook<T> {
    const look: OneLook<T> = { answer: this.look(), atMs: this.now(), ended: false };
    const end = (): void => void (look.ended = true);
    look.answer.then(end, end);
    return look;
  }

  private isOver({ atMs, ended }: OneLook<T>): boolean {
    const ageMs = this.now() - atMs;
    return ended ? ageMs >= this.freshMs : ageMs >= LOST_MS;
  }
}
