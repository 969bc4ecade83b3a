import type { TroubleCause } from '../protocol';

/** Errors that end an attempt: those that pass, and those that trying again does not help against. */

/**
 * This host does not take what its manifest names: other bytes, an address without encryption, a command that fails. It is reported as a failure, although
 * the agent looks again later.
 */
export class RefusalError extends Error {
  override readonly name: string = 'RefusalError';
}

/** The server of a package answered, but not with the package. */
export class AnswerError extends Error {
  override readonly name = 'AnswerError';
}

/** The server of a package sends too few bytes. */
export class SlowError extends Error {
  override readonly name = 'SlowError';
}

/** An attempt that did not end well; it lasts until the next one. */
export interface Trouble {
  /** The version that was to come; `NO_VERSION` for a removal. */
  readonly version: string;
  readonly reason: string;
  /** `refused`: trying again is not expected to help. */
  readonly cause: TroubleCause | 'refused';
}

const FULL = ['ENOSPC', 'EDQUOT'];

/** The cause of an error of the network, the disk or a refusal. */
export function findCause(error: unknown): Trouble['cause'] {
  if (error instanceof RefusalError) return 'refused';
  if (error instanceof SlowError) return 'slow';
  if (error instanceof AnswerError) return 'server';
  const { code, path, syscall } = (error ?? {}) as NodeJS.ErrnoException;
  if (FULL.includes(code ?? '')) return 'disk-full';
  if (path !== undefined || DISK_CALLS.includes(syscall ?? '')) return 'disk';
  return code === undefined ? 'other' : 'network';
}

/** Calls on an open file, whose errors name no path. */
const DISK_CALLS = ['write', 'fsync', 'ftruncate'];
