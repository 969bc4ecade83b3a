import { setTimeout as wait } from 'node:timers/promises';
import { listOrEmpty, readOrEmpty } from './files';

/**
 * Process groups: a script and all that it started. A group has the id of its first process, which may already be gone.
 */

export const PROCESS_POLL_MS = 20;
/** A killed process is gone at once, unless it is stuck in the kernel, which cannot be hastened. */
export const AFTER_KILL_MS = 2_000;

/** Asks every process of the group to end, and kills the rest after the grace. Uses wall time, because processes do. */
export async function stopGroup(group: number, graceMs: number): Promise<void> {
  signalGroup(group, 'SIGTERM');
  if (await hasEnded(group, graceMs)) return;
  signalGroup(group, 'SIGKILL');
  await hasEnded(group, AFTER_KILL_MS);
}

/** Kills at once, without waiting. */
export const killGroup = (group: number): boolean => signalGroup(group, 'SIGKILL');

/**
 * The groups of processes with this setting in their environment, which a killed worker left behind. The environment
 * identifies them reliably, unlike a process id in a file, which may be reused. Works only with `/proc`.
 */
export function groupsWithEnv(name: string, value: string): readonly number[] {
  const own = processes().find(({ pid }) => pid === process.pid)?.group;
  const wanted = `\0${name}=${value}\0`;
  const marked = processes().filter(({ pid, group }) => group !== own && readProcessEnvironment(pid).includes(wanted));
  return [...new Set(marked.map(({ group }) => group))];
}

async function hasEnded(group: number, withinMs: number): Promise<boolean> {
  for (let waitedMs = 0; isAlive(group); waitedMs += PROCESS_POLL_MS) {
    if (waitedMs >= withinMs) return false;
    await wait(PROCESS_POLL_MS);
  }
  return true;
}

/** A zombie is not alive, although it can be signalled. */
function isAlive(group: number): boolean {
  if (!signalGroup(group, 0)) return false;
  const known = processes();
  return known.length === 0 || known.some((it) => it.group === group && it.state !== 'Z');
}

function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-group, signal);
  } catch {
    return false;
  }
}

interface ProcessInfo {
  readonly pid: number;
  readonly group: number;
  /** `Z`: ended, but not yet reaped. */
  readonly state: string;
}

function processes(): readonly ProcessInfo[] {
  return listOrEmpty('/proc').flatMap((entry) => {
    // 12 (name, which may hold anything) S 1 12 12 …
    const [state = '', , group = ''] = readOrEmpty(`/proc/${entry}/stat`)
      .replace(/^.*\) /s, '')
      .split(' ');
    return /^\d+$/.test(entry) && group !== '' ? [{ pid: Number(entry), group: Number(group), state }] : [];
  });
}

/** The processes with this text among their arguments. */
export const processesWith = (text: string): readonly number[] =>
  processes().flatMap(({ pid, state }) =>
    state !== 'Z' && readOrEmpty(`/proc/${pid}/cmdline`).includes(text) ? [pid] : [],
  );

const readProcessEnvironment = (pid: number): string => `\0${readOrEmpty(`/proc/${pid}/environ`)}`;
