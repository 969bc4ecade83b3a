import { ApplicationFailure } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
import { ConveyorError } from '../domain/errors';
import { STILL_WAITING } from '../domain/looks';

/** Converts our errors into failures that Temporal retries or not, according to the table of errors (docs/design/overview.md#failures). */
export async function asFailure<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ConveyorError)) throw error;
    throw ApplicationFailure.create({
      message: error.message,
      type: error.code,
      nonRetryable: !error.retryable,
      details: [{ hint: error.hint }],
    });
  }
}

/** A failure that no retry changes, such as a refusal by a push type. */
export const isNonRetryable = (error: unknown): error is ApplicationFailure =>
  error instanceof ApplicationFailure && error.nonRetryable === true;

/**
 * The result is not available yet, and is asked for again after the delay. The wait is a timer of the server, so it may last for
 * any time.
 */
export const stillWaiting = (message: string, nextRetryDelay: number): ApplicationFailure =>
  ApplicationFailure.create({
    message,
    type: STILL_WAITING,
    nextRetryDelay,
    category: ApplicationFailureCategory.BENIGN,
  });
