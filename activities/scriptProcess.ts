import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { conveyorError } from '../domain/errors';
import type { LogKeeper } from './scriptLog';

/** A script that runs: the first process of its own group. */
export interface ScriptProcess {
  readonly group: number;
  /** Settles when the first process has ended; others of its group may still run. */
  readonly ended: Promise<ScriptExit>;
  /** Settles when it has written more than it may; nothing is kept from then on. */
  readonly flooded: Promise<void>;
  /** Settles when nobody can write any more. */
  readonly silent: Promise<void>;
}

export interface ScriptExit {
  readonly code: number | null;
  readonly signal: string | null;
}

interface ScriptStart {
  readonly command: readonly string[];
  readonly directory: string;
  readonly env: Readonly<Record<string, string>>;
  readonly outputLimitBytes: number;
  /** Hears what it writes to stdout and stderr. */
  readonly log: LogKeeper;
}

const LINE_LENGTH = 200;

/** Starts a command, never through a shell. @throws script-not-runnable */
export async function startScript({ command, directory, env, ...written }: ScriptStart): Promise<ScriptProcess> {
  const [file = '', ...args] = command;
  const unusable = (detail: string) => conveyorError('script-not-runnable', { command: file, detail });
  if (!existsSync(directory)) throw unusable(`the folder for scripts, ${directory}, does not exist`);
  const child = spawn(file, args, {
    cwd: directory,
    env: { ...env },
    shell: false,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<ScriptExit>((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
  const silent = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const flooded = follow(child, written);
  await new Promise<void>((started, failed) => {
    child.once('spawn', started);
    child.once('error', (error: NodeJS.ErrnoException) => failed(unusable(whyNot(error, directory))));
  });
  if (child.pid === undefined) throw unusable('it has no process id');
  return { group: child.pid, ended, silent, flooded };
}

/** The last line that says something; null while there is none. */
export function lastLine(text: string): string | null {
  const lines = text.split('\n');
  const last = lines.map((line) => line.trim()).findLast((line) => line !== '');
  return last?.slice(0, LINE_LENGTH) ?? null;
}

function follow(
  { stdout, stderr }: ChildProcess,
  { log, outputLimitBytes }: Pick<ScriptStart, 'log' | 'outputLimitBytes'>,
): Promise<void> {
  let bytes = 0;
  return new Promise<void>((flood) => {
    for (const stream of [stdout, stderr]) {
      const hear = log.listen();
      stream?.setEncoding('utf8').on('data', (text: string) => {
        if (bytes > outputLimitBytes) return;
        bytes += Buffer.byteLength(text);
        hear(text);
        if (bytes > outputLimitBytes) flood();
      });
    }
  });
}

function whyNot({ code, message }: NodeJS.ErrnoException, directory: string): string {
  if (code === 'ENOENT') return `it was not found, neither on PATH nor from ${directory}`;
  if (code === 'EACCES') return 'it may not be executed';
  return message;
}
