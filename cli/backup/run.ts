import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/**
 * Runs a program of this machine, and resolves with its output. @throws an error with `code` and `stdout` if it fails
 */
export const callProgram = promisify(execFile);
