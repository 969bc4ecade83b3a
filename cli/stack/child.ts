import { spawn } from 'node:child_process';
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { conveyorError, type ConveyorError } from '../../domain/errors';
import type { Env } from '../../settings/env';
import { closeFolder } from '../../settings/ownFolder';
import type { Io } from '../io';

/** One process of the stack, and the test whether it is ready. */
export interface ChildSpec {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Env;
  readonly logFile: string;
  /** The command that starts it again, with everything that stops with it. */
  readonly startedBy: string;
  /** Polled until it returns true. `log` is the output of the process so far. */
  isReady(log: string): boolean | Promise<boolean>;
  /** Whether it ended before it was ready because of a rare accident, so that another start may succeed. */
  endedByChance?(log: string): boolean;
}

export interface Child {
  readonly name: string;
  readonly pid: number;
  readonly logFile: string;
  readonly startedBy: string;
  /** Its output so far, without that of earlier processes in the same file. */
  log(): string;
  /** Resolves with the way it ended: `it ended with exit code 1`. */
  readonly died: Promise<string>;
  /** SIGTERM, and SIGKILL if it does not end; resolves when it is gone. */
  stop(): Promise<void>;
  /** Lets this process end while the child continues. */
  leave(): void;
}

const STOP_GRACE_MS = 10_000;
const READY_POLL_MS = 100;
const LAST_LINES = 12;

/**
 * Starts a process in its own group, so that Ctrl-C in the terminal reaches only us and we stop everything in order. It
 * writes to its log file itself, because it can outlive us. With `again` the log of its predecessor is kept.
 */
export function startChild(spec: ChildSpec, { again = false } = {}): Child {
  closeFolder(dirname(spec.logFile));
  const log = openSync(spec.logFile, again ? 'a' : 'w', 0o600);
  const from = fstatSync(log).size;
  // Only its user may read its files: histories, values, databases.
  const before = process.umask(0o077);
  const child = spawn(spec.command, [...spec.args], {
    detached: true,
    stdio: ['ignore', log, log],
    env: { ...spec.env },
  });
  process.umask(before);
  closeSync(log);
  const dismiss = guardGroup(child.pid);
  let gone = false;
  const died = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => {
      gone = true;
      dismiss();
      resolve(signal === null ? `it ended with exit code ${code}` : `it was ended by ${signal}`);
    });
  });
  const { pid } = child;
  return {
    name: spec.name,
    pid: pid ?? 0,
    logFile: spec.logFile,
    startedBy: spec.startedBy,
    log: () => readFrom(spec.logFile, from),
    died,
    stop: async () => {
      if (pid === undefined || gone) return;
      signalChildGroup(pid, 'SIGTERM');
      const hard = setTimeout(() => signalChildGroup(pid, 'SIGKILL'), STOP_GRACE_MS);
      await died;
      clearTimeout(hard);
    },
    leave: () => {
      dismiss();
      child.unref();
    },
  };
}

/**
 * Stops the process group if this process ends without doing so, as after kill −9: an orphaned worker would continue to
 * take tasks. The guard reads until the kernel closes our end of its pipe.
 * @returns a function that ends the guard
 */
function guardGroup(pid: number | undefined): () => void {
  if (pid === undefined) return () => undefined;
  const guard = spawn('sh', ['-c', 'cat >/dev/null; kill -TERM "-$0"', String(pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  // Without a shell there is no guard, but everything else works.
  guard.on('error', () => undefined);
  guard.unref();
  return () => guard.pid !== undefined && signalChildGroup(guard.pid, 'SIGKILL');
}

/** Waits until it is ready. Throws if it dies first, the time is up, or we are interrupted. */
export async function awaitReady(
  io: Io,
  child: Child,
  spec: ChildSpec,
  timeoutMs: number,
  stop: AbortSignal,
): Promise<void> {
  let death: string | undefined;
  void child.died.then((how) => (death = how));
  const deadline = io.now() + timeoutMs;
  while (!stop.aborted) {
    if (death !== undefined) throw childFailure(child, death);
    if (await spec.isReady(child.log())) return;
    if (io.now() > deadline) throw childFailure(child, `it was not ready within ${Math.round(timeoutMs / 1000)} s`);
    await io.sleep(READY_POLL_MS, stop);
  }
}

/** The error for a process that does not run, with the reason and its last lines of output. */
export function childFailure({ name, logFile, startedBy, log }: Child, how: string): ConveyorError {
  const lines = log().trimEnd().split('\n').slice(-LAST_LINES);
  const tail =
    lines.join('\n') === '' ? 'It wrote nothing.' : `Its last lines:\n${lines.map((line) => `  | ${line}`).join('\n')}`;
  return conveyorError('process-failed', { process: name, how, tail, logFile, command: startedBy });
}

function readFrom(file: string, from: number): string {
  try {
    return readFileSync(file).subarray(from).toString('utf8');
  } catch {
    return '';
  }
}

function signalChildGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // It has already ended.
  }
}
