import { ActivityFailure, ApplicationFailure, CancellationScope, CancelledFailure } from '@temporalio/workflow';
import type { ActionEnd, ActionStop } from '../activities/actionService';
import { isRefusal } from './deploy/calls';

/**
 * Follows a run of an action service to its end. If the caller gives up first, because its scope is cancelled or the service cannot
 * be understood, the run may continue by itself and overlap with its successor. So this waits for `stop` before it throws, unless
 * the follower has stopped the run already.
 */
export async function followRun(follow: () => Promise<ActionEnd>, stop: () => Promise<void>): Promise<ActionEnd> {
  try {
    return await follow();
  } catch (error) {
    const isGivenUp = CancellationScope.current().consideredCancelled || isRefusal(error);
    if (isGivenUp && mayRun(error)) await CancellationScope.nonCancellable(stop);
    throw error;
  }
}

/** The message of a failed run that was stopped (docs/reference/protocols.md#cancelrun). A run that had ended before its stop stays as it ended. */
export const STOPPED_RUN = 'cancelled';

/** A cancellation proves nothing if the activity was not running when it arrived: an earlier attempt may have begun the run. */
function mayRun(error: unknown): boolean {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof CancelledFailure) return (cause.details[0] as ActionStop | undefined)?.stopped !== true;
  return !(cause instanceof ApplicationFailure && cause.type === 'unknown-extension');
}
