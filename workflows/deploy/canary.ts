import { getExternalWorkflowHandle, patched } from '@temporalio/workflow';
import { explainEmptyCanary } from '../../domain/deploy/canary';
import { applyRevert } from '../../domain/deploy/control';
import { createCancelledEnding, createRevertEnding, type Ending } from '../../domain/deploy/outcome';
import { CANARY_OVER, change } from '../../domain/deploy/state';
import { findRevert, findStop, type RevertStop, type Stop } from '../../domain/deploy/stop';
import { workflowIds } from '../../domain/ids';
import { refusalWords } from '../../domain/text';
import { runInterruptible, type InterruptibleOutcome } from '../interrupts';
import { canaryKeptSignal } from '../messages';
import { waitWatching, whilePaused } from './pause';
import { lookAtPresent, tryToLookAtPresent } from './prepare';
import { pauseRefused } from './refusals';
import { revert } from './revert';
import type { DeploySession } from './session';

/**
 * A canary: one phase on a few tasks of each unit, alongside any deploy of the service, and always undone at its end. A canary that is unhealthy or
 * found no task fails its action and marks nothing as bad: its release decides about the artifact.
 */
export async function keepCanary(run: DeploySession): Promise<Ending> {
  const none = explainEmptyCanary(run.record, run.input);
  if (none !== null) return { kind: 'failed', reason: none, fault: 'change' };
  await keep(run);
  return { kind: 'succeeded', reason: `${run.input.version} was healthy, and is undone` };
}

/** @param pushed how its phase ended. */
export async function undoCanary(run: DeploySession, pushed: InterruptibleOutcome<Ending, Stop>): Promise<Ending> {
  const before = captureControl(run);
  let since = before;
  if (run.record.updates.length > 0) {
    await prepareUndo(run);
    // Includes commands and verdicts that came while it waited to go back.
    since = captureControl(run);
    // A cancel from before the revert must not end it.
    run.patch({ control: { ...run.record.control, cancel: null } });
    const always: RevertStop = { kind: 'revert', by: CANARY_OVER, reason: 'a canary is always undone' };
    const undone = await revert(run, before.stop?.kind === 'revert' ? before.stop : always);
    if (undone.kind !== 'reverted') return undone;
    if (since.stop === null) since = captureControl(run);
  }
  // The revert clears a cancel, so the state from before it counts.
  const { stop: last, control: asked } = before.stop === null ? since : before;
  const reverted = last?.kind === 'revert' ? last : findRevert(run.record);
  if (reverted !== null) return { ...createRevertEnding(reverted, run.record.control), bad: false };
  return last === null && pushed.kind === 'done' ? pushed.value : createCancelledEnding(asked, false);
}

/** Health checks continue for as long as the release keeps the canary. */
async function keep(run: DeploySession): Promise<void> {
  if (!run.input.canary?.keepUntil || run.keepOver) return;
  run.patch({ kept: true });
  run.note('canary-kept', 'it has baked, and is kept until its release lets it go');
  const isWanted = await reportKept(run);
  try {
    while (isWanted && !run.keepOver) {
      await whilePaused(run);
      const wait = { summary: 'the canary is kept', untilMs: null };
      await waitWatching(run, wait, () => run.keepOver);
    }
  } finally {
    run.patch({ kept: false });
  }
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
const captureControl = ({ record }: DeploySession) => ({ stop: findStop(record), control: record.control });

async function prepareUndo(run: DeploySession): Promise<void> {
  run.set((record, now) => change(record, now, { control: applyRevert(record.control, record.control.revert) }));
  await learnPresent(run);
}

/**
 * A revert waits for no look, and no canary for a person because its look is refused: a verdict that it waited for might never come. If the
 * current versions are not known in time, it goes back to the versions before, and goes further once they are known.
 */
async function learnPresent(run: DeploySession): Promise<void> {
  const looked = await runInterruptible(
    () => findRevert(run.record),
    () => tryToLookAtPresent(run),
  );
  if (looked.kind === 'interrupted') return void (await lookAtPresent(run, { atOnce: true }));
  const { refused } = looked.value;
  if (refused === undefined) return;
  if (!patched('canary-goes-back-unseen')) return waitToLook(run, refused);
  run.note('trouble', `it goes back to the versions before: fetchDeployUnits was refused: ${refused}`);
  await lookAtPresent(run, { atOnce: true });
}

/** As before the patch, for deploys that began to wait then. */
async function waitToLook(run: DeploySession, refused: string): Promise<void> {
  const looked = await runInterruptible(
    () => findRevert(run.record),
    async () => {
      await pauseRefused(run, refusalWords(run.input.spec.pushType, 'fetchDeployUnits', refused));
      await lookAtPresent(run);
    },
  );
  if (looked.kind === 'interrupted') await lookAtPresent(run, { atOnce: true });
}
