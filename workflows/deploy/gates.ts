import { frozenWords } from '../../domain/pipeline/freeze';
import { withBlackout } from '../../domain/release/openTimes';
import { formatTime, withReason } from '../../domain/text';
import type { PhasePlan } from '../../domain/deploy/plan';
import { untilGuestsLeft } from './guests';
import { waitWatching, whilePaused } from './pause';
import type { DeployRun } from './run';
import { SKEW_MS } from './window';

/**
 * Waits until the next phase may begin, or the deploy is to stop: it is not paused, the pipeline not frozen, the window
 * open, and of the completion no canary in its way.
 */
export async function passGates(run: DeployRun, phase?: PhasePlan): Promise<void> {
  const isFrozen = () => run.record.control.frozen !== null;
  for (;;) {
    await whilePaused(run);
    if (run.stop()) return;
    const { frozen } = run.record.control;
    if (frozen) run.pause('freeze', withReason(frozenWords(frozen), frozen.reason));
    else if (await untilOpen(run, isFrozen)) continue;
    else if (phase?.kind !== 'completion' || !(await untilGuestsLeft(run, isFrozen))) return;
  }
}

/** Waits while the phase under way may start no update: paused, or its window closed. `leave` ends the phase. */
export async function whileHalted(run: DeployRun, leave: () => boolean): Promise<void> {
  do await whilePaused(run);
  while (!leave() && run.window?.haltsUpdates === true && (await untilOpen(run, leave)));
  if (leave()) return;
  if (run.record.stage === 'waiting-window') run.enter('updating');
  run.window?.watchClosing();
}

/**
 * Waits for the window to open, at most until `over`; health goes on being checked meanwhile.
 * @returns whether it had to wait, so that everything else has to be looked at again.
 */
async function untilOpen(run: DeployRun, over: () => boolean): Promise<boolean> {
  const closed = (await run.window?.closed(run)) ?? null;
  if (closed === null) return false;
  const { opensAtMs, why = '' } = closed;
  const at = formatTime(opensAtMs);
  if (run.record.windowUntil !== at)
    run.note('window-closed', withBlackout(`no update starts until the window opens at ${at}`, why));
  run.enter('waiting-window');
  run.patch({ windowUntil: at, windowWhy: why });
  const untilMs = Math.max(opensAtMs, Date.now() + SKEW_MS);
  const isOver = () => over() || run.window?.isSkipped() === true;
  await waitWatching(run, { summary: `the window opens at ${at}`, untilMs }, isOver);
  return true;
}
