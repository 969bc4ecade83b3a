import { patched } from '@temporalio/workflow';
import { refusalWords } from '../../domain/text';
import { callUntilAnswered, untilResumed, type PushCall } from './calls';
import { whilePaused } from './pause';
import type { DeploySession } from './session';

/**
 * Like `callUntilAnswered`, but a refusal, which no retry can fix, pauses the deploy until a person resumes (the call is made again),
 * cancels or reverts. A deploy under way never fails silently (docs/design/overview.md#failures).
 */
export async function callOrPause<T>(
  run: DeploySession,
  what: string,
  call: PushCall<T>,
  wake = run.isLeft,
): Promise<{ readonly value: T } | undefined> {
  for (;;) {
    const answer = await callUntilAnswered(run, what, call, wake);
    if (answer === undefined || 'value' in answer) return answer;
    await pauseRefused(run, refusalWords(run.input.spec.pushType, what, answer.refused), { wake });
  }
}

/** Before 0.3, health was not checked during a refusal. */
const WATCHED = 'health is checked during a refusal';

/** Makes no further call until a person resumes. `on` names the service that refused: the push type by default. */
export async function pauseRefused(
  run: DeploySession,
  reason: string,
  { wake = run.isLeft, on }: { readonly wake?: () => boolean; readonly on?: string } = {},
): Promise<void> {
  run.pauseOn(reason, { until: 'resumed', ...(on === undefined ? {} : { on }) });
  // A revert waits for a person alone, and is not judged.
  if (run.stop() !== null || run.record.stage === 'reverting' || !patched(WATCHED)) return untilResumed(run, wake);
  await whilePaused(run, wake);
  if (run.isLeft() && !run.isStopping() && run.paused?.until === 'resumed') run.unpause('the phase is skipped');
}
