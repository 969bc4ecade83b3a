import { getExternalWorkflowHandle } from '@temporalio/workflow';
import { foundNone } from '../../domain/deploy/canary';
import { reverting } from '../../domain/deploy/control';
import { cancelled, type Ending } from '../../domain/deploy/outcome';
import { change } from '../../domain/deploy/state';
import { workflowIds } from '../../domain/ids';
import { canaryKeptSignal } from '../messages';
import { checkBaseline } from './baseline';
import { waitWatching, whilePaused } from './pause';
import { pushAll } from './phases';
import { lookAtPresent } from './present';
import { revert } from './revert';
import type { DeployRun, Stop } from './run';

/**
 * A canary: one phase on a few tasks of each unit, beside whoever deploys the service, and always undone at its end. An
 * unhealthy one, and one that found no task, fails its action and condemns nothing: what becomes of the artifact is for its release to decide.
 */
export async function performCanary(run: DeployRun): Promise<Ending> {
  if (run.record.updates.length === 0) await checkBaseline(run);
  await pushAll(run);
  const none = foundNone(run.record, run.input);
  if (none === null) await keep(run);
  const stop = run.stop();
  const { control } = run.record;
  if (run.record.updates.length > 0) {
    const undone = await undo(run, stop);
    if (undone.kind !== 'reverted') return undone;
  }
  if (stop === null && none !== null) return { kind: 'failed', reason: none, fault: 'change' };
  if (stop === null) return { kind: 'succeeded', reason: `${run.input.version} was healthy, and is undone` };
  if (stop.kind !== 'revert') return cancelled(control, false);
  const { by, reason } = stop;
  return { kind: 'reverted', by, reason, bad: false, paused: control.revert?.paused ?? null };
}

/** Health goes on being checked for as long as the release wants it. */
async function keep(run: DeployRun): Promise<void> {
  if (!run.input.canary?.keepUntil || run.keepOver || run.stop()) return;
  run.patch({ kept: true });
  run.note('canary-kept', 'it has baked, and is kept until its release lets it go');
  await tellRelease(run);
  while (!run.keepOver && run.stop() === null) {
    await whilePaused(run);
    const wait = { summary: 'the canary is kept', untilMs: null };
    await waitWatching(run, wait, () => run.keepOver);
  }
  run.patch({ kept: false });
}

/** A release that is gone does not want it any more. */
async function tellRelease(run: DeployRun): Promise<void> {
  const { pipeline, release, action, version } = run.input;
  await getExternalWorkflowHandle(workflowIds.release(pipeline, release))
    .signal(canaryKeptSignal(action), { version })
    .catch(() => void (run.keepOver = true));
}

async function undo(run: DeployRun, stop: Stop | null): Promise<Ending> {
  run.set((record, now) => change(record, now, { control: reverting(record.control, record.control.revert) }));
  await lookAtPresent(run);
  const why = stop?.kind === 'revert' ? stop : { by: 'canary', reason: 'a canary is always undone' };
  return revert(run, { kind: 'revert', by: why.by, reason: why.reason });
}
