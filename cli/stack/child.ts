import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { conveyorError, type ConveyorError } from '../../domain/errors';
import type { Env } from '../../sdk/env';
import type { Io } from '../io';

/** One process of the stack and how to know that it is ready. */
export interface ChildSpec {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Env;
  readonly logFile: string;
  /** Asked again and again until it says yes. `log` is what the process wrote so far. */
  isReady(log: string): boolean | Promise<boolean>;
}

export interface Child {
  readonly name: string;
  readonly pid: number;
  readonly logFile: string;
  /** Resolves when it ends, with an error that holds its last lines. */
  readonly died: Promise<ConveyorError>;
  /** SIGTERM, and SIGKILL if it does not end; resolves when it is gone. */
  stop(): Promise<void>;
  /** Lets this process end while the child goes on. */
  leave(): void;
}

const GRACE_MS = 10_000;
const LOOK_EVERY_MS = 100;
const LAST_LINES = 12;

/**
 * Starts a process in a group of its own, so that Ctrl-C in the terminal reaches only us and we stop things in order.
 * It writes to its log file itself: it can outlive us.
 */
export function startChild(spec: ChildSpec): Child {
  mkdirSync(dirname(spec.logFile), { recursive: true });
  const log = openSync(spec.logFile, 'w');
  const child = spawn(spec.command, [...spec.args], {
    detached: true,
    stdio: ['ignore', log, log],
    env: { ...spec.env },
  });
  closeSync(log);
  let gone = false;
  const died = new Promise<ConveyorError>((resolve) => {
    child.once('error', (error) => resolve(failure(spec, error.message)));
    child.once('exit', (code, signal) => {
      gone = true;
      resolve(failure(spec, signal === null ? `it ended with exit code ${code}` : `it was ended by ${signal}`));
    });
  });
  const { pid } = child;
  return {
    name: spec.name,
    pid: pid ?? 0,
    logFile: spec.logFile,
    died,
    stop: async () => {
      if (pid === undefined || gone) return;
      signalGroup(pid, 'SIGTERM');
      const hard = setTimeout(() => signalGroup(pid, 'SIGKILL'), GRACE_MS);
      await died;
      clearTimeout(hard);
    },
    leave: () => child.unref(),
  };
}

/** Waits until it is ready. Throws when it dies first, when the time is up, or when we are interrupted. */
export async function untilReady(
  io: Io,
  child: Child,
  spec: ChildSpec,
  timeoutMs: number,
  stop: AbortSignal,
): Promise<void> {
  let death: ConveyorError | undefined;
  void child.died.then((error) => (death = error));
  const deadline = io.now() + timeoutMs;
  while (!stop.aborted) {
    if (death) throw death;
    if (await spec.isReady(logOf(spec.logFile))) return;
    if (io.now() > deadline) throw failure(spec, `it was not ready within ${Math.round(timeoutMs / 1000)} s`);
    await io.sleep(LOOK_EVERY_MS, stop);
  }
}

function failure(spec: ChildSpec, how: string): ConveyorError {
  const lines = logOf(spec.logFile).trimEnd().split('\n').slice(-LAST_LINES);
  const tail =
    lines.join('\n') === '' ? 'It wrote nothing.' : `Its last lines:\n${lines.map((line) => `  | ${line}`).join('\n')}`;
  return conveyorError('process-failed', { process: spec.name, how, tail, logFile: spec.logFile });
}

function logOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // It is gone already.
  }
}
