import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import { conveyorError } from '../domain/errors';

/** A script that runs: the first process of its own group, and what it writes. */
export interface ScriptProcess {
  readonly group: number;
  /** Settles when the first process has ended; others of its group may still run. */
  readonly ended: Promise<ScriptExit>;
  /** Settles when it has written more than it may; nothing is kept from then on. */
  readonly flooded: Promise<void>;
  /** Settles when nobody can write any more. */
  readonly silent: Promise<void>;
  /** The end of what it wrote to stdout and stderr. */
  tail(): string;
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
}

const TAIL_LENGTH = 4096;
const LINE_LENGTH = 200;

/** Starts a command, never through a shell. @throws script-not-runnable */
export async function startScript({ command, directory, env, outputLimitBytes }: ScriptStart): Promise<ScriptProcess> {
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
  const written = follow(child, outputLimitBytes);
  await new Promise<void>((started, failed) => {
    child.once('spawn', started);
    child.once('error', (error: NodeJS.ErrnoException) => failed(unusable(whyNot(error, directory))));
  });
  if (child.pid === undefined) throw unusable('it has no process id');
  return { group: child.pid, ended, silent, ...written };
}

/** The last line that says something, as plain text; null while there is none. */
export function lastLine(text: string): string | null {
  const lines = stripVTControlCharacters(text).split(/[\r\n]+/);
  const last = lines.map((line) => line.trim()).findLast((line) => line !== '');
  return last?.slice(0, LINE_LENGTH) ?? null;
}

function follow({ stdout, stderr }: ChildProcess, limitBytes: number): Pick<ScriptProcess, 'flooded' | 'tail'> {
  let [bytes, tail] = [0, ''];
  const flooded = new Promise<void>((flood) => {
    const keep = (text: string): void => {
      if (bytes > limitBytes) return;
      bytes += Buffer.byteLength(text);
      tail = (tail + text).slice(-TAIL_LENGTH);
      if (bytes > limitBytes) flood();
    };
    for (const stream of [stdout, stderr]) stream?.setEncoding('utf8').on('data', keep);
  });
  return { flooded, tail: () => tail };
}

function whyNot({ code, message }: NodeJS.ErrnoException, directory: string): string {
  if (code === 'ENOENT') return `it was not found, neither on PATH nor from ${directory}`;
  if (code === 'EACCES') return 'it may not be executed';
  return message;
}
