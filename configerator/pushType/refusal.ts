import { ConveyorError } from '../../domain/errors';
import { ExtensionError } from '../../sdk/server';

/** Final errors of a repository or a store stay final for the caller; all others are worth a retry. */
export async function asRefusal<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ConveyorError)) throw error;
    const { code, message, retryable } = error;
    throw new ExtensionError(code, message, { retryable, status: retryable ? 503 : 409 });
  }
}
