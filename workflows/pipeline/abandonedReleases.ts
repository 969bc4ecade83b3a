import { reconcile } from '../../domain/pipeline/reconcile';
import type { PipelineState } from '../../domain/pipeline/state';
import { lookers } from '../proxies';
import type { PipelineRun } from './run';

/**
 * A terminated release cannot report, and a signal may be lost. Once all work that such a release began is over, its records are closed, and
 * everything that it held becomes free.
 */
export async function reconcileAbandoned(run: PipelineRun): Promise<void> {
  const { state } = run;
  run.lookedAtMs = Date.now();
  if (state !== null) await run.look(run.looks, lookAfter(run, state));
}

async function lookAfter(run: PipelineRun, { active, spec, settings }: PipelineState): Promise<void> {
  const running = active.filter((release) => release.state === 'running').map(({ number }) => number);
  const ends = await lookers.releaseEnds(spec.pipeline, running, settings).catch(() => []);
  for (const end of ends) run.set((current, now) => reconcile(current, end, now));
}
