import { findStop } from '../../domain/deploy/stop';
import { refusalWords } from '../../domain/text';
import { callUntilAnswered, untilResumed, type PushCall } from './calls';
import type { HealthWatcher } from './needs';
import { whilePaused } from './pause';

/**
 * Like `callUntilAnswered`, but a refusal, which no retry can fix, pauses the deploy until a person resumes (the call is made again),
 * cancels or reverts. A deploy under way never fails silently (docs/design/overview.md#failures).
 */
export async function callOrPause<T>(run: HealthWatcher, what: string, call: PushCall<T>): Promise<T> {
  for (;;) {
    const answer = await callUntilAnswered(run, what, call);
    if ('value' in answer) return answer.value;
    await pauseRefused(run, refusalWords(run.input.spec.pushType, what, answer.refused));
  }
}

/** Makes no further call until a person resumes. `on` names the service that refused: the push type by default. */
export async function pauseRefused(run: HealthWatcher, reason: string, on?: string): Promise<void> {
  run.pauseOn(reason, { until: 'resumed', ...(on === undefined ? {} : { on }) });
  // A revert waits for a person alone, and is not judged.
  if (findStop(run.record) !== null || run.record.stage === 'reverting') return untilResumed(run);
  await whilePaused(run);
}
