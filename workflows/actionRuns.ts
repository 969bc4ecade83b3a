import { ActivityFailure, ApplicationFailure, CancellationScope, CancelledFailure } from '@temporalio/workflow';
import type { ActionEnd, ActionStop } from '../activities/actionService';
import { isRefusal } from './deploy/calls';

/**
 * Follows a run of an action service to its end. One that is given up before, because its scope is cancelled or its service
 * cannot be understood, may continue by itself, and what follows it would be done beside it: it is over here once `stop` is,
 * unless whoever followed it has stopped it.
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

/** A cancellation says nothing where the activity was not under way when it came, although an attempt before may have begun the run. */
function mayRun(error: unknown): boolean {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof CancelledFailure) return (cause.details[0] as ActionStop | undefined)?.stopped !== true;
  return !(cause instanceof ApplicationFailure && cause.type === 'unknown-extension');
}
