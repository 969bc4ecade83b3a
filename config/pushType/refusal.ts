import { ConveyorError } from '../../domain/errors';
import { ExtensionError } from '../../sdk/server';

/** What a repository or a store says is final is final for whoever asked; the rest is worth another try. */
export async function asRefusal<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ConveyorError)) throw error;
    const { code, message, retryable } = error;
    throw new ExtensionError(code, message, { retryable, status: retryable ? 503 : 409 });
  }
}
