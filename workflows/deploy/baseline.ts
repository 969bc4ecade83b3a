import { baselineChecks, reportOf, watchBaseline } from './health';
import { whilePaused } from './pause';
import type { DeployRun } from './run';

/** A check that is unhealthy already pauses, so that a fix is not reverted to what it fixes. */
export async function checkBaseline(run: DeployRun): Promise<void> {
  if (run.stop() || run.input.rollback || baselineChecks(run).length === 0) return;
  run.enter('planning');
  const waited = await watchBaseline(run, () => run.stop() !== null);
  if (waited.kind === 'woken') return;
  const report = reportOf(waited);
  if (report.verdict !== 'unhealthy') return;
  if (run.input.emergency) return run.forgiveUnhealthy('unhealthy before the emergency push');
  run.pause(
    'health',
    `unhealthy before anything was updated: ${report.reason}. Resume to go on; skip-health-check --for deploy if the new version is the fix`,
  );
  await whilePaused(run);
}
