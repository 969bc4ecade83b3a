import { setWorkflowOptions, workflowInfo } from '@temporalio/workflow';
import type { SweepOrder, SweepReport } from '../domain/finder/sweepLifetime';
import { memoryAfter, type SweepMemory } from '../domain/finder/memory';
import { sweepDetails, type SweepOutcome } from '../domain/finder/sweep';
import { showDetails } from './details';
import { sweepers } from './proxies';
import { buildVersioningOptions } from './versioning';

/**
 * Runs the looks of one finder for all its pipelines, one after the other. The Schedule passes in the result of the last run that completed, which
 * is all that a sweep must know of the one before. So nothing has to be stored, and the next run makes up for one that ended without a result. Null
 * if no sweep was ever answered.
 */
export async function artifactSweep(order: SweepOrder): Promise<SweepReport | null> {
  const { finder, lasting } = order;
  const { lastResult, startTime } = workflowInfo();
  const last = (lastResult as SweepReport | null | undefined) ?? null;
  const memory = last && { cursor: last.cursor, beganMs: last.beganMs, again: last.again };
  let report: SweepReport | null = null;
  showDetails(() => (report ? sweepDetails(finder, report) : sweepDetails(finder, null, lasting?.intervalMs)));
  const swept = await sweepers(order).sweep({ ...order, memory });
  // Workers that know only one sweep per workflow make one, regardless of the order.
  report = 'report' in swept ? (swept.report ?? last) : sweepReport(memory, startTime.getTime(), swept);
  return report;
}
setWorkflowOptions(buildVersioningOptions('artifactSweep'), artifactSweep);

function sweepReport(
  memory: SweepMemory | null,
  beganMs: number,
  { cursor, again, ...counts }: SweepOutcome,
): SweepReport {
  return { ...memoryAfter(memory, beganMs, { cursor, again }), ...counts };
}
