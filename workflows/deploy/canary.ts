import { getExternalWorkflowHandle, patched } from '@temporalio/workflow';
import { explainEmptyCanary } from '../../domain/deploy/canary';
import { applyRevert } from '../../domain/deploy/control';
import { createCancelledEnding, createRevertEnding, type Ending } from '../../domain/deploy/outcome';
import { change } from '../../domain/deploy/state';
import type { Stop } from '../../domain/deploy/stop';
import { workflowIds } from '../../domain/ids';
import { canaryKeptSignal } from '../messages';
import { checkBaseline } from './gates';
import { waitWatching, whilePaused } from './pause';
import { pushAll } from './phase';
import { lookAtPresent } from './prepare';
import { revert } from './revert';
import type { DeploySession } from './session';

/**
 * A canary: one phase on a few tasks of each unit, alongside any deploy of the service, and always undone at its end. A canary that is unhealthy or
 * found no task fails its action and marks nothing as bad: its release decides about the artifact.
 */
export async function performCanary(run: DeploySession): Promise<Ending> {
  if (run.record.updates.length === 0) await checkBaseline(run);
  await pushAll(run);
  const none = explainEmptyCanary(run.record, run.input);
  if (none === null) await keep(run);
  const before = captureControl(run);
  let since = before;
  if (run.record.updates.length > 0) {
    await prepareUndo(run);
    // Includes commands and verdicts that came while it waited to go back.
    since = captureControl(run);
    takeCancel(run);
    const undone = await undoCanary(run, before.stop);
    if (undone.kind !== 'reverted') return undone;
    if (since.stop === null) since = captureControl(run);
  }
  // The revert clears a cancel, so the state from before it counts.
  const { stop: last, control: asked } = before.stop === null ? since : before;
  if (last === null && none !== null) return { kind: 'failed', reason: none, fault: 'change' };
  if (last === null) return { kind: 'succeeded', reason: `${run.input.version} was healthy, and is undone` };
  if (last.kind !== 'revert') return createCancelledEnding(asked, false);
  return { ...createRevertEnding(last, asked), bad: false };
}

/** Health checks continue for as long as the release keeps the canary. */
async function keep(run: DeploySession): Promise<void> {
  if (!run.input.canary?.keepUntil || run.keepOver || run.isStopping()) return;
  run.patch({ kept: true });
  run.note('canary-kept', 'it has baked, and is kept until its release lets it go');
  const isWanted = await reportKept(run);
  while (isWanted && !run.keepOver && !run.isStopping()) {
    await whilePaused(run);
    const wait = { summary: 'the canary is kept', untilMs: null };
    await waitWatching(run, wait, () => run.keepOver);
  }
  run.patch({ kept: false });
}

/** @returns whether its release wants it; a release that is gone does not. */
function reportKept(run: DeploySession): Promise<boolean> {
  const { pipeline, release, action, version } = run.input;
  return getExternalWorkflowHandle(workflowIds.release(pipeline, release))
    .signal(canaryKeptSignal(action), { version })
    .then(
      () => true,
      () => false,
    );
}

/** The reason why it ends, if there is one, and the commands that it received. */
const captureControl = (run: DeploySession) => ({ stop: run.stop(), control: run.record.control });

async function prepareUndo(run: DeploySession): Promise<void> {
  run.set((record, now) => change(record, now, { control: applyRevert(record.control, record.control.revert) }));
  await learnPresent(run);
}

/**
 * Before 0.3, a cancel that arrived while a canary asked for the current versions ended its revert at the first
 * failure.
 */
const CANCEL_IS_OVER = 'a cancel before a canary goes back does not end its revert';

function takeCancel(run: DeploySession): void {
  const { control } = run.record;
  if (control.cancel !== null && patched(CANCEL_IS_OVER)) run.patch({ control: { ...control, cancel: null } });
}

function undoCanary(run: DeploySession, stop: Stop | null): Promise<Ending> {
  const why = stop?.kind === 'revert' ? stop : { by: 'canary', reason: 'a canary is always undone' };
  return revert(run, { kind: 'revert', by: why.by, reason: why.reason });
}

/** Before 0.3, a canary that became unhealthy, or was to be reverted, while it asked for the current versions waited for the answer. */
const REVERT_FIRST = 'a revert of a canary waits for no look';

/**
 * A revert waits for no look. If the current versions are not known in time, it goes back to the versions before, and goes further once
 * they are known.
 */
async function learnPresent(run: DeploySession): Promise<void> {
  const isUrgent = () => run.stop()?.kind === 'revert';
  if (!isUrgent()) {
    const mayWake = patched(REVERT_FIRST);
    await lookAtPresent(run, { wake: () => mayWake && isUrgent() });
    if (!mayWake || !isUrgent()) return;
  }
  await lookAtPresent(run, { atOnce: true });
}
