import { withReason } from '../../domain/text';
import { whilePaused } from './pause';
import type { DeployRun } from './run';

/** Waits until the next phase may begin, or the deploy is to stop: it is not paused, and the pipeline not frozen. */
export async function passGates(run: DeployRun): Promise<void> {
  for (;;) {
    await whilePaused(run);
    const { frozen } = run.record.control;
    if (run.stop() || frozen === null) return;
    run.pause('freeze', withReason(`frozen by ${frozen.actor}`, frozen.reason));
  }
}
