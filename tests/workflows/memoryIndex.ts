import type { Client } from '@temporalio/client';
import { workflowIds } from '../../domain/ids';
import { buildListSummary } from '../../domain/pipeline/view';
import type { PipelineState } from '../../domain/pipeline/state';
import type { IndexedRelease, PipelineIndex, PipelineSubscriptions } from '../../domain/pipeline/pipelineIndex';
import type { PipelineSpec } from '../../domain/spec/pipeline';
import type { PipelineStatus, PipelineSummary, ReleaseStatus } from '../../domain/views';

/** The port in memory, since the virtual server lists nothing: it knows the pipelines that were applied through the world. */
export class MemoryIndex implements PipelineIndex {
  private readonly known = new Map<string, { readonly spec: PipelineSpec; readonly atMs: number }>();

  constructor(private readonly client: Client) {}

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

  /** Asks each workflow, as `releases` does. */
  async *pipelines(): AsyncGenerator<PipelineSummary> {
    for (const pipeline of this.known.keys()) {
      const handle = this.client.workflow.getHandle(workflowIds.pipeline(pipeline));
      const state = await handle.query<PipelineState | null>('pipeline');
      if (state !== null) yield buildListSummary(state);
    }
  }

  /** Asks each workflow, since no list shows its memo. */
  async *releases(): AsyncGenerator<IndexedRelease> {
    const { workflow } = this.client;
    for (const [pipeline, { spec }] of this.known) {
      const { lastRelease } = await workflow.getHandle(workflowIds.pipeline(pipeline)).query<PipelineStatus>('status');
      for (let number = lastRelease ?? 0; number > 0; number -= 1) {
        const handle = workflow.getHandle(workflowIds.release(pipeline, number));
        const status = await handle.query<ReleaseStatus>('status').catch(() => undefined);
        if (status === undefined || (status.endedAt !== null && status.state !== 'succeeded')) continue;
        const { id, startedAt, artifacts, endedAt } = status;
        yield { id, pipeline, number, startedAt, artifacts, runs: endedAt === null, owners: spec.owners };
      }
    }
  }
}
