import { SharedReader } from './sharedRead';

/** A scrape that waits longer is lost as a whole. */
const SCRAPE_WAITS_MS = 2_000;

/** A value of Temporal for `/metrics`, fetched at most once within `freshMs`. */
export class CachedReader<T> {
  private readonly shared: SharedReader<T>;

  constructor(
    look: () => Promise<T>,
    /** Returned while Temporal does not answer, which other metrics report. */
    private readonly nothing: T,
    freshMs: number,
    now: () => number,
  ) {
    this.shared = new SharedReader(() => look().catch(() => nothing), freshMs, now);
  }

  async read(): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<T>((resolve) => {
      timer = setTimeout(() => resolve(this.nothing), SCRAPE_WAITS_MS);
    });
    return Promise.race([this.shared.read(), late]).finally(() => clearTimeout(timer));
  }
}
