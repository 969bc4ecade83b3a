/** A scrape that waits longer is lost as a whole. */
const PATIENCE_MS = 2_000;

/** What `/metrics` shows of what Temporal knows: looked up once for everybody who asks within `freshMs`. */
export class Scraped<T> {
  private known: { readonly answer: Promise<T>; readonly atMs: number } | undefined;

  constructor(
    private readonly look: () => Promise<T>,
    /** Shown while Temporal does not answer, which is seen elsewhere. */
    private readonly nothing: T,
    private readonly freshMs: number,
    private readonly now: () => number,
  ) {}

  async read(): Promise<T> {
    if (this.known === undefined || this.now() - this.known.atMs >= this.freshMs)
      this.known = { answer: this.look().catch(() => this.nothing), atMs: this.now() };
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<T>((resolve) => {
      timer = setTimeout(() => resolve(this.nothing), PATIENCE_MS);
    });
    return Promise.race([this.known.answer, late]).finally(() => clearTimeout(timer));
  }
}
