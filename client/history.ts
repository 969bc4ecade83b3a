import { withReplaced, withUndone } from '../domain/pipeline/undone';
import { pipelineStatus } from '../domain/pipeline/view';
import type { HistoryRow } from '../domain/views';
import { withReplacements } from './replacements';
import type { Workflows } from './workflows';

/** Releases of a pipeline, newest first: ended ones from its records, and running ones. */
export async function historyOfPipeline(workflows: Workflows, pipeline: string): Promise<HistoryRow[]> {
  // Read at one moment, because a release that ends between two reads would be in neither.
  const state = await workflows.pipelineState(pipeline);
  const status = pipelineStatus(state, Date.now());
  const active = status.releases
    .filter(({ endedAt }) => endedAt === null)
    .map((release): HistoryRow => ({ ...release, durationMs: null, deploys: [] }));
  const lastGood = await withReplacements(workflows.temporal, state, status);
  const rows = withReplaced(withUndone([...state.history, ...active]), lastGood);
  return rows.sort((a, b) => b.number - a.number);
}
