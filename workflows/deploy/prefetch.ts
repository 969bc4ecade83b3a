import { wantOf, type DeployPlan, type PhasePlan } from '../../domain/deploy/plan';
import { phaseUnits } from '../../domain/deploy/unavailable';
import { summaryOf } from '../../domain/markdown';
import { promptPush } from '../proxies';
import { messageOf } from './dependable';
import type { DeployRun } from './run';

/**
 * Bakes a phase, and meanwhile lets the fleet fetch what the next one brings (Conveyor §4), where the push type offers that. It
 * is a favour: nothing waits for it, and nothing fails with it.
 */
export async function besidePrefetch(
  run: DeployRun,
  plan: DeployPlan,
  phase: PhasePlan,
  baking: () => Promise<void>,
): Promise<void> {
  const next = plan.phases[Number(phase.key) + 1];
  let baked = false;
  if (next !== undefined && run.prefetches) void prefetch(run, plan, next, () => baked);
  await baking();
  baked = true;
}

async function prefetch(run: DeployRun, plan: DeployPlan, next: PhasePlan, over: () => boolean): Promise<void> {
  const options = { summary: summaryOf(`prefetch for ${next.name}`) };
  const work = { phase: next.key, selection: phaseUnits(run.record, next), want: wantOf(next, plan) };
  const asked = await run.waitFor(
    () => promptPush(run.input.settings).prefetch.executeWithOptions(options, [run.call, work]),
    over,
  );
  if (asked.kind === 'done') run.prefetches = asked.value;
  if (asked.kind === 'failed') run.note('trouble', `${next.name} was not prefetched: ${messageOf(asked.error)}`);
}
