import type { FinderView } from '../domain/views';
import type { FrontClient } from './deps';

/** Whoever scrapes more often gets the same again. */
const FINDERS_FRESH_MS = 10_000;
/** A scrape that waits longer is lost as a whole. */
const FINDERS_TIMEOUT_MS = 2_000;

/** How the finders stand, for `/metrics`: looked up once for everybody who asks within some seconds. */
export class FinderHealth {
  private known: { readonly finders: Promise<readonly FinderView[]>; readonly atMs: number } | undefined;

  constructor(
    private readonly client: Pick<FrontClient, 'listFinders'>,
    private readonly now: () => number,
  ) {}

  /** Nobody, where Temporal does not answer: that is seen elsewhere. */
  async read(): Promise<readonly FinderView[]> {
    if (this.known === undefined || this.now() - this.known.atMs >= FINDERS_FRESH_MS)
      this.known = { finders: this.client.listFinders().catch(() => []), atMs: this.now() };
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<readonly FinderView[]>((resolve) => {
      timer = setTimeout(() => resolve([]), FINDERS_TIMEOUT_MS);
    });
    return Promise.race([this.known.finders, late]).finally(() => clearTimeout(timer));
  }
}
