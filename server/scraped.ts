/** A scrape that waits longer is lost as a whole. */
const PATIENCE_MS = 2_000;
/** A look that has not ended by then is given up: its answer may never come. */
const LOST_MS = 60_000;

interface OneLook<T> {
  readonly answer: Promise<T>;
  readonly atMs: number;
  ended: boolean;
}

/** What `/metrics` shows of what Temporal knows: looked up once for everybody who asks within `freshMs`, one look at a time. */
export class Scraped<T> {
  private last: OneLook<T> | undefined;

  constructor(
    private readonly look: () => Promise<T>,
    /** Shown while Temporal does not answer, which is seen elsewhere. */
    private readonly nothing: T,
    private readonly freshMs: number,
    private readonly now: () => number,
  ) {}

  async read(): Promise<T> {
    if (this.last === undefined || this.isOver(this.last)) this.last = this.begin();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<T>((resolve) => {
      timer = setTimeout(() => resolve(this.nothing), PATIENCE_MS);
    });
    return Promise.race([this.last.answer, late]).finally(() => clearTimeout(timer));
  }

  private begin(): OneLook<T> {
    const answer = this.look().catch(() => this.nothing);
    const look: OneLook<T> = { answer, atMs: this.now(), ended: false };
    void answer.then(() => (look.ended = true));
    return look;
  }

  private isOver({ atMs, ended }: OneLook<T>): boolean {
    const ageMs = this.now() - atMs;
    return ended ? ageMs >= this.freshMs : ageMs >= LOST_MS;
  }
}
