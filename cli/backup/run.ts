import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Runs a program of this machine, and resolves with what it wrote. @throws an error with `code` and `stdout` where it fails */
export const callProgram = promisify(execFile);
