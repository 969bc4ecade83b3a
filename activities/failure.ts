import { ApplicationFailure } from '@temporalio/activity';
import { ConveyorError } from '../domain/errors';

/** Turns our errors into failures that Temporal retries, or not, as the table of errors says (DESIGN §8). */
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
