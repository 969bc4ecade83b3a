import { ApplicationFailure } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
import { ConveyorError } from '../domain/errors';
import { STILL_WAITING } from '../domain/looks';

/** Turns our errors into failures that Temporal retries, or not, as the table of errors says (docs/design/overview.md#failures). */
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

/** What no repetition changes, such as what a push type refuses. */
export const isNonRetryable = (error: unknown): error is ApplicationFailure =>
  error instanceof ApplicationFailure && error.nonRetryable === true;

/** The result is not there yet: to be asked for again then. The waiting is a timer of the server, however long it lasts. */
export const stillWaiting = (message: string, nextRetryDelay: number): ApplicationFailure =>
  ApplicationFailure.create({
    message,
    type: STILL_WAITING,
    nextRetryDelay,
    category: ApplicationFailureCategory.BENIGN,
  });
