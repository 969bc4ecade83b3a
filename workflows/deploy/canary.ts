import { getExternalWorkflowHandle, patched } from '@temporalio/workflow';
import { foundNone } from '../../domain/deploy/canary';
import { reverting } from '../../domain/deploy/control';
import { cancelled, takenBack, type Ending } from '../../domain/deploy/outcome';
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
 * A canary: one phase on a few tasks of each unit, beside whoever deploys the service, and always undone at its end. An
 * unhealthy one, and one that found no task, fails its action and marks nothing as bad: what becomes of the artifact is for its release to decide.
 */
export async function performCanary(run: DeploySession): Promise<Ending> {
  if (run.record.updates.length === 0) await checkBaseline(run);
  await pushAll(run);
  const none = foundNone(run.record, run.input);
  if (none === null) await keep(run);
  const before = standOf(run);
  let since = before;
  if (run.record.updates.length > 0) {
    await prepareUndo(run);
    // Also what became of it while it waited to go back.
    since = standOf(run);
    takeCancel(run);
    const undone = await undoCanary(run, before.stop);
    if (undone.kind !== 'reverted') return undone;
    if (since.stop === null) since = standOf(run);
  }
  // Going back ends a cancel.
  const { stop: last, control: asked } = before.stop === null ? since : before;
  if (last === null && none !== null) return { kind: 'failed', reason: none, fault: 'change' };
  if (last === null) return { kind: 'succeeded', reason: `${run.input.version} was healthy, and is undone` };
  if (last.kind !== 'revert') return cancelled(asked, false);
  return { ...takenBack(last, asked), bad: false };
}

/** Health is still checked for as long as the release wants it. */
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

/** @returns whether its release wants it: one that is gone does not any more. */
function reportKept(run: DeploySession): Promise<boolean> {
  const { pipeline, release, action, version } = run.input;
  return getExternalWorkflowHandle(workflowIds.release(pipeline, release))
    .signal(canaryKeptSignal(action), { version })
    .then(
      () => true,
      () => false,
    );
}

/** Why it ends, if anything makes it, and what it was asked. */
const standOf = (run: DeploySession) => ({ stop: run.stop(), control: run.record.control });

async function prepareUndo(run: DeploySession): Promise<void> {
  run.set((record, now) => change(record, now, { control: reverting(record.control, record.control.revert) }));
  await learnPresent(run);
}

/** Until 0.3 a cancel that a canary took while it asked what runs now ended its revert at the first failure. */
const CANCEL_IS_OVER = 'a cancel before a canary goes back does not end its revert';

function takeCancel(run: DeploySession): void {
  const { control } = run.record;
  if (control.cancel !== null && patched(CANCEL_IS_OVER)) run.patch({ control: { ...control, cancel: null } });
}

function undoCanary(run: DeploySession, stop: Stop | null): Promise<Ending> {
  const why = stop?.kind === 'revert' ? stop : { by: 'canary', reason: 'a canary is always undone' };
  return revert(run, { kind: 'revert', by: why.by, reason: why.reason });
}

/** Until 0.3 a canary that became unhealthy, or was to be reverted, while it asked what runs now waited for the answer all the same. */
const REVERT_FIRST = 'a revert of a canary waits for no look';

/** A revert waits for nobody: where nobody says in time what runs now, it goes back to what ran, and further once somebody does. */
async function learnPresent(run: DeploySession): Promise<void> {
  const isUrgent = () => run.stop()?.kind === 'revert';
  if (!isUrgent()) {
    const mayWake = patched(REVERT_FIRST);
    await lookAtPresent(run, { wake: () => mayWake && isUrgent() });
    if (!mayWake || !isUrgent()) return;
  }
  await lookAtPresent(run, { atOnce: true });
}
