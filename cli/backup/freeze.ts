import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { callProgram } from './run';

/** A copy that takes longer is given up: Temporal answers no request meanwhile. */
export const LONGEST_PAUSE_S = 60;
/** A thread stops once it is back from the system call that it is in. */
const STOP_PATIENCE_MS = 5_000;
const LOOK_MS = 1;

/**
 * Another process lets them continue: when we say so, when we are gone, and when the time is up. In a group of its own, it outlives the
 * Ctrl-C of a terminal; it ignores what a service manager sends to all of a service, which may be us.
 */
const GUARD = [
  "trap '' TERM HUP INT PIPE",
  `(sleep ${LONGEST_PAUSE_S}; kill -CONT "$@") >/dev/null 2>&1 &`,
  'kill -STOP "$@" && echo stopped || echo refused',
  'read -r _',
  'kill -CONT "$@"',
  'kill -KILL 0',
].join('\n');

export interface Paused<T> {
  readonly result: T;
  /** For how long they stood still. */
  readonly pausedMs: number;
}

/**
 * Stops processes with SIGSTOP, and lets them continue once `act` has ended. Files that they write hold still meanwhile, as they would after
 * kill −9.
 * @throws Error where they cannot be stopped, or did not stand still for all of that time
 */
export async function whileStopped<T>(pids: readonly number[], act: () => Promise<T>): Promise<Paused<T>> {
  if (pids.length === 0) return { result: await act(), pausedMs: 0 };
  const guard = spawn('sh', ['-c', GUARD, 'guard', ...pids.map(String)], {
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  guard.stdin.on('error', () => undefined);
  const fromMs = performance.now();
  try {
    await stopEach(guard, pids);
    const result = await act();
    if (!(await areStopped(pids))) throw new Error(`it did not stand still for as long as the copy took`);
    return { result, pausedMs: Math.ceil(performance.now() - fromMs) };
  } finally {
    for (const pid of pids) letContinue(pid);
    guard.stdin.end();
    if (isRunning(guard)) await once(guard, 'close');
  }
}

/** The guard does the same, and may have been killed. */
function letContinue(pid: number): void {
  try {
    process.kill(pid, 'SIGCONT');
  } catch {
    // It has ended, or was never ours to stop.
  }
}

const isRunning = ({ pid, exitCode, signalCode }: ChildProcess): boolean =>
  pid !== undefined && exitCode === null && signalCode === null;

async function stopEach(guard: ChildProcess, pids: readonly number[]): Promise<void> {
  const [answer] = (await Promise.race([
    once(guard.stdout ?? guard, 'data'),
    once(guard, 'error'),
    once(guard, 'close'),
  ])) as [unknown];
  if (answer instanceof Error) throw answer;
  if (!String(answer).startsWith('stopped'))
    throw new Error(`process ${pids.join(', ')} cannot be stopped by this user: run conveyor backup as its user`);
  for (const untilMs = Date.now() + STOP_PATIENCE_MS; !(await areStopped(pids)); await wait(LOOK_MS))
    if (Date.now() > untilMs) throw new Error(`process ${pids.join(', ')} does not stand still: its disk may hang`);
}

async function areStopped(pids: readonly number[]): Promise<boolean> {
  const states = await Promise.all(pids.map((pid) => threadStates(pid)));
  return states.flat().every((state) => /^[Tt]/.test(state));
}

/** The state of each thread on Linux, else of the process. */
async function threadStates(pid: number): Promise<readonly string[]> {
  if (process.platform !== 'linux')
    return [(await callProgram('ps', ['-o', 'state=', '-p', String(pid)])).stdout.trim()];
  return listThreads(pid).map((stat) => stat.slice(stat.lastIndexOf(')') + 2));
}

/** One that has ended is no thread that stands still. */
function listThreads(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map((id) => readFileSync(`/proc/${pid}/task/${id}/stat`, 'utf8'));
  } catch {
    return ['(gone) X'];
  }
}
