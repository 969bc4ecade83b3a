import { workflowIds } from '../../domain/ids';
import { settled } from '../../domain/pipeline/books';
import { formatTime } from '../../domain/text';
import { holders } from '../proxies';
import type { PipelineRun } from './run';

/** A release that was terminated can say nothing: its books are closed for it, and what it held is free again. */
export async function abandoned(run: PipelineRun): Promise<void> {
  const { spec, active } = run.state ?? { spec: null, active: [] };
  run.lookedAtMs = Date.now();
  if (spec === null) return;
  const running = active.filter(({ state }) => state === 'running');
  const ids = running.map(({ number }) => workflowIds.release(spec.pipeline, number));
  const alive = await holders.stillRunning(ids);
  for (const { number, artifacts } of running.filter((_, index) => !alive.includes(ids[index] ?? ''))) {
    run.set((state, now) => {
      const result = {
        number,
        state: 'failed' as const,
        cause: null,
        artifacts,
        deploys: [],
        endedAt: formatTime(now),
      };
      return settled(state, result, now);
    });
  }
}
