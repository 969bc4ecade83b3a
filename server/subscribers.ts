import type { PipelineIndex, PipelineSubscriptions } from '../domain/pipeline/pipelineIndex';

/** How long a burst of deliveries shares one listing. The finder's sweep reaches pipelines that are newer. */
const SUBSCRIBERS_FRESH_MS = 3_000;

/** The subscribers of a finder, listed once for all requests within a few seconds. */
export class Subscribers {
  private readonly listings = new Map<string, { readonly listed: Promise<PipelineSubscriptions[]>; atMs: number }>();

  constructor(
    private readonly index: Pick<PipelineIndex, 'subscriptions'>,
    private readonly now: () => number,
  ) {}

  find(finder: string): Promise<readonly PipelineSubscriptions[]> {
    for (const [name, { atMs }] of this.listings)
      if (this.now() - atMs >= SUBSCRIBERS_FRESH_MS) this.listings.delete(name);
    const known = this.listings.get(finder);
    if (known !== undefined) return known.listed;
    const listing = { listed: allSubscriptions(this.index.subscriptions(finder)), atMs: Number.POSITIVE_INFINITY };
    this.listings.set(finder, listing);
    // Its age counts from its completion; a failed listing is forgotten at once.
    listing.listed.then(
      () => (listing.atMs = this.now()),
      () => this.listings.delete(finder),
    );
    return listing.listed;
  }
}

async function allSubscriptions(pages: AsyncIterable<PipelineSubscriptions>): Promise<PipelineSubscriptions[]> {
  const all: PipelineSubscriptions[] = [];
  for await (const one of pages) all.push(one);
  return all;
}
