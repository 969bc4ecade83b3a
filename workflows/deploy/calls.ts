import { ActivityFailure, ApplicationFailure, ChildWorkflowFailure, TerminatedFailure } from '@temporalio/workflow';
import { findStop } from '../../domain/deploy/stop';
import { patientPush, promptPush } from '../proxies';
import { isInterruption } from '../interrupts';
import { until, waitOut, type EndOptions } from '../waitFor';
import type { PushCaller } from './needs';
import type { DeployRecorder } from './recorder';

export type PushCall<T> = (push: ReturnType<typeof patientPush>) => Promise<T>;

/** The outcome of a call. */
export type Answer<T> = { readonly value: T } | { readonly refused: string };

/**
 * Calls the push type for as long as it takes. Temporal retries. If no answer comes within the grace, the deploy shows as paused by
 * its dependency until one does.
 * @param what names the call for people.
 */
export async function callUntilAnswered<T>(
  run: PushCaller,
  what: string,
  call: PushCall<T>,
  options?: EndOptions,
): Promise<Answer<T>> {
  const { pushType } = run.input.spec;
  let push = promptPush(run.input.settings, run.isUrgent);
  let isPaused = false;
  try {
    for (;;) {
      const waited = await run.settle(() => call(push), options);
      if (waited.kind === 'done' || isRefusal(waited.error)) {
        // Ends any pause by a dependency, even one with another cause, such as checks that cannot be made.
        if (run.paused?.by === 'dependency' && isPaused) run.unpause(`${pushType} answers again`);
        return waited.kind === 'done' ? { value: waited.value } : { refused: getFailureMessage(waited.error) };
      }
      isPaused = true;
      run.pauseOn(`${pushType} does not answer ${what}; trying until it does: ${getFailureMessage(waited.error)}`);
      push = patientPush(run.isUrgent);
    }
  } catch (error) {
    // The call ends, so the deploy would not notice that the push type answers again.
    const isEarly = isPaused && isInterruption(error) && findStop(run.record) === null;
    if (isEarly && run.paused?.by === 'dependency') run.unpause(`${what} was interrupted`);
    throw error;
  }
}

const MOST_ASKED = 6;
const ASK_AGAIN_MS = 5_000;

/**
 * Like `callUntilAnswered`, but asks a few more times, because an answer that was garbled on its way looks like a
 * refusal.
 */
export async function askAgain<T>(ask: () => Promise<Answer<T>>): Promise<Answer<T>> {
  for (let asked = 1; ; asked += 1) {
    const answer = await ask();
    if ('value' in answer || asked === MOST_ASKED) return answer;
    await waitOut({ afterMs: ASK_AGAIN_MS, summary: 'ask again' });
  }
}

/** Waits until a person resumes the deploy. Nothing else ends such a pause. */
export async function untilResumed(run: DeployRecorder): Promise<void> {
  await until(() => run.record.control.resuming !== null || run.paused === null);
  const asked = run.record.control.resuming;
  if (asked) run.unpause(`resumed by ${asked.actor}`);
}

/** Whether trying again cannot help. */
export function isRefusal(error: unknown): boolean {
  return (
    error instanceof ActivityFailure && error.cause instanceof ApplicationFailure && error.cause.nonRetryable === true
  );
}

/**
 * The message of the innermost failure: the answer of the extension, or the end of a deploy that gave no reason itself.
 */
export function getFailureMessage(error: unknown): string {
  const isAround = error instanceof ActivityFailure || error instanceof ChildWorkflowFailure;
  const cause = isAround ? error.cause : error;
  if (cause instanceof TerminatedFailure)
    return 'terminated through Temporal: tasks that it has updated stay as they are';
  return cause instanceof Error ? cause.message : String(cause);
}
