import type { PipelineSubscriptions } from '../pipeline/pipelineIndex';
import { needsLatest, type SweepMemory } from './memory';

/** What one call to a finder asks for; all of it with the same cursor, or all without. */
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

/** A body holds 1 MiB, and a character of it takes up to three bytes. */
const MAX_CHARACTERS = 330_000;

/**
 * Groups what pipelines want into as few calls as there can be: those that need the latest on pages without a cursor,
 * the others on pages with the last sweep's. The artifacts of one pipeline stay together where a page holds them, so
 * that what is found for them becomes one submission.
 */
export async function* subscriptionPages(
  pipelines: AsyncIterable<PipelineSubscriptions>,
  memory: SweepMemory | null,
  maxSubscriptions: number,
): AsyncGenerator<Page> {
  const latest = new Filling(null, maxSubscriptions);
  const newer = new Filling(memory?.cursor ?? null, maxSubscriptions);
  for await (const pipeline of pipelines) yield* (needsLatest(pipeline, memory) ? latest : newer).add(pipeline);
  yield* latest.rest();
  yield* newer.rest();
}

/** A page that fills up. */
class Filling {
  private asked: WantedArtifact[] = [];
  private pipelines = 0;
  private characters = 0;

  constructor(
    private readonly cursor: string | null,
    private readonly maxSubscriptions: number,
  ) {}

  /** The pages that are full now. */
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
