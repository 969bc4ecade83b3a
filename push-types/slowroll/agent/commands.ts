import { spawn } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AGENT_LIMITS } from './limits';

export interface CommandPlace {
  /** The folder of the package, in which it runs. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** The file that names the running command, for an agent that finds it after a crash. */
  readonly record: string;
}

/** The end of a command; `why` names the cause of a failure. */
export type CommandEnd = { readonly isGood: true } | { readonly isGood: false; readonly why: string };

/** Milliseconds for the rest of the output: a program in the background may keep the pipe open for ever. */
const OUTPUT_DRAIN_MS = 100;
const SHOWN_CHARACTERS = 1_000;

/**
 * Runs a program by its list of arguments, without a shell. Its process group is killed at the time limit. The end of its output is kept, for the reason of
 * a failure.
 */
export async function runCommand(argv: readonly string[], place: CommandPlace): Promise<CommandEnd> {
  const [program = '', ...args] = argv;
  let output = '';
  const end = await new Promise<string | undefined>((resolve) => {
    const child = spawn(program, args, {
      ...{ cwd: place.cwd, env: { ...place.env }, detached: true, stdio: ['ignore', 'pipe', 'pipe'] },
    });
    if (child.pid !== undefined) writeRecord(place.record, child.pid);
    const timer = setTimeout(() => {
      killCommand(child.pid);
      resolve(`did not end within ${place.timeoutMs} ms`);
    }, place.timeoutMs);
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output = `${output}${text}`.slice(-AGENT_LIMITS.outputBytes);
      });
    child.on('error', (error) => {
      clearTimeout(timer);
      resolve(`cannot be started: ${error.message}`);
    });
    child.on('exit', (code, signal) => {
      clearTimeout(timer);
      const why = code === 0 ? undefined : `ended with ${code ?? signal ?? 'an error'}`;
      const drain = setTimeout(() => {
        child.stdout.destroy();
        child.stderr.destroy();
      }, OUTPUT_DRAIN_MS);
      child.on('close', () => {
        clearTimeout(drain);
        resolve(why);
      });
    });
  });
  rmSync(place.record, { force: true });
  if (end === undefined) return { isGood: true };
  const words = output.trim().slice(-SHOWN_CHARACTERS);
  return { isGood: false, why: `${argv.join(' ').slice(0, 200)} ${end}${words === '' ? '' : `: ${words}`}` };
}

/** Kills the command of an agent that was killed itself: it must not run beside its own repetition. */
export function killLeftCommand(record: string): void {
  const known = readRecord(record);
  rmSync(record, { force: true });
  // The number may belong to another process by now.
  if (known !== undefined && readStart(known.pid) === known.start) killCommand(known.pid);
}

/** The record of the running command in the folder of an agent. */
export const locateRecord = (home: string): string => join(home, 'command.json');

/** A full disk keeps no command from running: the record helps only after a crash. */
function writeRecord(record: string, pid: number): void {
  try {
    writeFileSync(record, JSON.stringify({ pid, start: readStart(pid) }), { mode: 0o600 });
  } catch {
    rmSync(record, { force: true });
  }
}

function readRecord(record: string): { readonly pid: number; readonly start: string } | undefined {
  try {
    const { pid, start } = JSON.parse(readFileSync(record, 'utf8')) as { pid?: unknown; start?: unknown };
    return typeof pid === 'number' && pid > 1 && typeof start === 'string' ? { pid, start } : undefined;
  } catch {
    return undefined;
  }
}

/** The start of a process since the start of the machine, from `/proc`; undefined if it has ended. The name in brackets may contain spaces. */
function readStart(pid: number): string | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return fields[0] === 'Z' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

function killCommand(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}
