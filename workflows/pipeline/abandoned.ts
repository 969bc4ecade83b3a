import { reconcile } from '../../domain/pipeline/reconcile';
import type { PipelineState } from '../../domain/pipeline/state';
import { lookers } from '../proxies';
import type { PipelineRun } from './run';

/**
 * A release that was terminated can say nothing, and a word may be lost: the records are closed for it once all that it began is over,
 * and what it held is free again.
 */
export async function abandoned(run: PipelineRun): Promise<void> {
  const { state } = run;
  run.lookedAtMs = Date.now();
  if (state !== null) await run.look(run.looks, lookAfter(run, state));
}

async function lookAfter(run: PipelineRun, { active, spec, settings }: PipelineState): Promise<void> {
  const running = active.filter((release) => release.state === 'running').map(({ number }) => number);
  const ends = await lookers.releaseEnds(spec.pipeline, running, settings).catch(() => []);
  for (const end of ends) run.set((current, now) => reconcile(current, end, now));
}
