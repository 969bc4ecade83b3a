import type { PipelineIndex, PipelineSubscriptions } from '../../domain/pipeline/pipelineIndex';
import type { PipelineSpec } from '../../domain/spec/pipeline';

/** The port in memory, since the virtual server lists nothing: it knows the pipelines that were applied through the world. */
export class MemoryIndex implements PipelineIndex {
  private readonly known = new Map<string, { readonly spec: PipelineSpec; readonly atMs: number }>();

  add(spec: PipelineSpec, atMs: number): void {
    this.known.set(spec.pipeline, { spec, atMs });
  }

  async *subscriptions(finder: string): AsyncGenerator<PipelineSubscriptions> {
    for (const [pipeline, { spec, atMs }] of this.known) {
      const mine = Object.entries(spec.artifacts).filter(([, artifact]) => artifact.finder === finder);
      const subscriptions = mine.map(([artifact, wanted]) => ({ artifact, with: wanted.with }));
      if (mine.length > 0) yield { pipeline, owners: spec.owners, subscribedAtMs: atMs, subscriptions };
    }
  }

  async *labelled(labels: Readonly<Record<string, string>>): AsyncGenerator<string> {
    for (const [pipeline, { spec }] of this.known)
      if (Object.entries(labels).every(([key, value]) => spec.labels[key] === value)) yield pipeline;
  }
}
