import type { PipelineSubscriptions } from '../pipeline/pipelineIndex';
import { needsLatest, type SweepMemory } from './memory';

/** The request of one call to a finder; all subscriptions in it have the same cursor, or none. */
export interface Page {
  readonly cursor: string | null;
  readonly asked: readonly WantedArtifact[];
  /** Pipelines whose first subscription is on this page. */
  readonly pipelines: number;
}

export interface WantedArtifact {
  readonly pipeline: string;
  readonly artifact: string;
  readonly with: Readonly<Record<string, unknown>>;
}

/** A request body holds 1 MiB, and a character takes up to three bytes. */
const MAX_CHARACTERS = 330_000;

/**
 * Groups subscriptions into as few calls as possible: those that need the latest on pages without a cursor, the others
 * on pages with the cursor of the last sweep. The artifacts of one pipeline stay together if a page has room for them,
 * so that they make a single submission.
 */
export async function* subscriptionPages(
  pipelines: AsyncIterable<PipelineSubscriptions>,
  memory: SweepMemory | null,
  maxSubscriptions: number,
): AsyncGenerator<Page> {
  const latest = new PageBuilder(null, maxSubscriptions);
  const newer = new PageBuilder(memory?.cursor ?? null, maxSubscriptions);
  for await (const pipeline of pipelines) yield* (needsLatest(pipeline, memory) ? latest : newer).add(pipeline);
  yield* latest.rest();
  yield* newer.rest();
}

/** A page that is being filled. */
class PageBuilder {
  private asked: WantedArtifact[] = [];
  private pipelines = 0;
  private characters = 0;

  constructor(
    private readonly cursor: string | null,
    private readonly maxSubscriptions: number,
  ) {}

  /** The pages that are now full. */
  *add({ pipeline, subscriptions }: PipelineSubscriptions): Generator<Page> {
    const wanted = subscriptions.map(({ artifact, with: by }) => ({ pipeline, artifact, with: by }));
    const characters = wanted.map((each) => JSON.stringify(each).length + 1);
    const total = characters.reduce((sum, each) => sum + each, 0);
    if (!this.fits(wanted.length, total)) yield* this.rest();
    this.pipelines += 1;
    for (const [index, each] of wanted.entries()) {
      const length = characters[index] ?? 0;
      if (!this.fits(1, length)) yield* this.rest();
      this.asked.push(each);
      this.characters += length;
    }
  }

  *rest(): Generator<Page> {
    if (this.asked.length === 0) return;
    yield { cursor: this.cursor, asked: this.asked, pipelines: this.pipelines };
    this.asked = [];
    this.pipelines = 0;
    this.characters = 0;
  }

  private fits(count: number, characters: number): boolean {
    return this.asked.length + count <= this.maxSubscriptions && this.characters + characters <= MAX_CHARACTERS;
  }
}
