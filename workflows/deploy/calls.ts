import { ActivityFailure, ApplicationFailure, ChildWorkflowFailure, TerminatedFailure } from '@temporalio/workflow';
import { patientPush, promptPush } from '../proxies';
import type { DeploySession } from './session';

export type PushCall<T> = (push: ReturnType<typeof patientPush>) => Promise<T>;

/** The outcome of a call. It is undefined if `wake` became true first: by default, if the step under way is left. */
type Answer<T> = { readonly value: T } | { readonly refused: string } | undefined;

/**
 * Calls the push type for as long as it takes. Temporal retries. If no answer comes within the grace, the deploy shows as paused by
 * its dependency until one does.
 * @param what names the call for people.
 * @param givesUp is asked when the grace ends: whether to wait no longer. If so, the deploy does not pause either.
 */
export async function callUntilAnswered<T>(
  run: DeploySession,
  what: string,
  call: PushCall<T>,
  wake = run.isLeft,
  givesUp = () => false,
): Promise<Answer<T>> {
  const { pushType } = run.input.spec;
  let patient = false;
  while (!wake()) {
    const push = patient ? patientPush(run.isUrgent) : promptPush(run.input.settings, run.isUrgent);
    const waited = await run.waitFor(() => call(push), wake);
    if (waited.kind === 'woken' || waited.kind === 'timeout') break;
    if (waited.kind === 'done' || isRefusal(waited.error)) {
      // Ends any pause by a dependency, even one with another cause, such as checks that cannot be made.
      if (run.paused?.by === 'dependency' && patient) run.unpause(`${pushType} answers again`);
      return waited.kind === 'done' ? { value: waited.value } : { refused: getFailureMessage(waited.error) };
    }
    if (!patient && givesUp()) return undefined;
    patient = true;
    run.pauseOn(`${pushType} does not answer ${what}; trying until it does: ${getFailureMessage(waited.error)}`);
  }
  // No call is made any more, so the deploy would not notice that the push type answers again.
  if (run.paused?.by === 'dependency' && run.stop() === null) run.unpause(`${what} is not needed any more`);
  return undefined;
}

const MOST_ASKED = 6;
const ASK_AGAIN_MS = 5_000;

/**
 * Like `callUntilAnswered`, but asks a few more times, because an answer that was garbled on its way looks like a
 * refusal.
 */
export async function askAgain<T>(run: DeploySession, ask: () => Promise<Answer<T>>): Promise<Answer<T>> {
  for (let asked = 1; ; asked += 1) {
    const answer = await ask();
    if (answer === undefined || 'value' in answer || asked === MOST_ASKED) return answer;
    await run.until(run.isLeft, { afterMs: ASK_AGAIN_MS, summary: 'ask again' });
  }
}

/** Waits until a person resumes the deploy. Nothing else ends such a pause. */
export async function untilResumed(run: DeploySession, wake = run.isLeft): Promise<void> {
  await run.until(() => run.record.control.resuming !== null || run.paused === null || wake());
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
  if (cause instanceof TerminatedFailure) return 'terminated through Temporal: what it has updated stays as it is';
  return cause instanceof Error ? cause.message : String(cause);
}
