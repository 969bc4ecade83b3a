import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { basename } from 'node:path';
import { isLocal, parsePort } from '../stack/addresses';
import { callProgram } from './run';

/** Processes of this machine that use the files of a backup or restore, as far as this user may see them. */

/** A process that would overwrite a restore. */
export interface SeenProcess {
  readonly pid: number;
  readonly name: string;
}

/** Processes that have a file open, without this one. @throws the error of the system if no process can be listed */
export async function findProcessesWith(file: string): Promise<readonly number[]> {
  const real = realpathSync(file);
  const found =
    listProcessIds().length > 0 ? listProcessIds().filter((pid) => hasOpen(pid, real)) : await askLsof(real);
  return found.filter((pid) => pid !== process.pid);
}

/** Conveyor's processes that talk to the Temporal server at this address. Only Linux shows the address. */
export function conveyorProcesses(address: string): readonly SeenProcess[] {
  return listProcessIds().flatMap((pid) => {
    const words = readTexts(`/proc/${pid}/cmdline`);
    const name = nameProgram(words);
    if (name === undefined || pid === process.pid) return [];
    return isSameServer(findAddress(pid, words), address) ? [{ pid, name }] : [];
  });
}

const PROGRAMS: Readonly<Record<string, string>> = {
  'workers/main.js': 'worker',
  'server/main.js': 'server',
  'configService/main.js': 'config-service',
};

/** The command line of `conveyor worker`, or of the compiled program that `conveyor dev` starts. */
function nameProgram(words: readonly string[]): string | undefined {
  const [script = '', ...given] = words.slice(1).filter((word) => !word.startsWith('-'));
  const compiled = Object.entries(PROGRAMS).find(
    ([path]) => script.endsWith(`dist/${path}`) || script.endsWith(`/${path}`),
  );
  if (compiled !== undefined) return compiled[1];
  const isTyped = /^conveyor(\.js)?$/.test(basename(script));
  return isTyped ? Object.values(PROGRAMS).find((name) => given.includes(name)) : undefined;
}

const USUAL_ADDRESS = 'localhost:7233';

function findAddress(pid: number, words: readonly string[]): string {
  const at = words.indexOf('--address');
  const variable = readTexts(`/proc/${pid}/environ`).find((text) => text.startsWith('TEMPORAL_ADDRESS='));
  return (at === -1 ? undefined : words[at + 1]) ?? (variable?.slice('TEMPORAL_ADDRESS='.length) || USUAL_ADDRESS);
}

function isSameServer(one: string, other: string): boolean {
  if (one === other) return true;
  return isLocal(one) && isLocal(other) && parsePort(one) === parsePort(other);
}

/** Empty if the system has no such folder. */
function listProcessIds(): readonly number[] {
  return listNames('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
}

const hasOpen = (pid: number, file: string): boolean =>
  listNames(`/proc/${pid}/fd`).some((name) => readLink(`/proc/${pid}/fd/${name}`) === file);

/** It exits with 1 if it finds none. */
async function askLsof(file: string): Promise<readonly number[]> {
  const { stdout } = await callProgram('lsof', ['-t', '--', file]).catch(
    (error: { code?: unknown; stdout?: string }) => {
      if (error.code === 1) return { stdout: error.stdout ?? '' };
      throw error;
    },
  );
  return stdout.split('\n').filter(Boolean).map(Number);
}

/** The zero-terminated texts in a file under /proc; none if the process has ended or belongs to another user. */
function readTexts(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').split('\0');
  } catch {
    return [];
  }
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
