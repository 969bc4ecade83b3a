import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { callProgram } from './run';

/** A copy that takes longer is aborted, because Temporal answers no request meanwhile. */
export const LONGEST_PAUSE_S = 60;
/** A thread stops once it returns from its present system call. */
const STOP_PATIENCE_MS = 5_000;
const LOOK_MS = 1;

/**
 * A guard process lets them continue: when we say so, when we are gone, or when the time is up. It has its own process
 * group, to survive Ctrl-C in a terminal, and ignores signals that a service manager sends to a whole service, which
 * may be ours.
 */
const GUARD = [
  "trap '' TERM HUP INT PIPE",
  `(sleep ${LONGEST_PAUSE_S}; kill -CONT "$@") >/dev/null 2>&1 &`,
  'kill -STOP "$@" && echo stopped || echo refused',
  'read -r _',
  'kill -CONT "$@"',
  'kill -KILL 0',
].join('\n');

export interface ProcessPauseResult<T> {
  readonly result: T;
  /** How long they were stopped. */
  readonly pausedMs: number;
}

/**
 * Stops processes with SIGSTOP, and lets them continue once `act` has ended. Their files do not change meanwhile, as
 * after kill −9. @throws Error if they cannot be stopped, or were not stopped all the time
 */
export async function whileStopped<T>(pids: readonly number[], act: () => Promise<T>): Promise<ProcessPauseResult<T>> {
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
    if (!(await areStopped(pids))) throw new Error(`it did not stay paused until the end of the copy`);
    return { result, pausedMs: Math.ceil(performance.now() - fromMs) };
  } finally {
    for (const pid of pids) letContinue(pid);
    guard.stdin.end();
    if (isRunning(guard)) await once(guard, 'close');
  }
}

/** The guard does the same, but may have been killed. */
function letContinue(pid: number): void {
  try {
    process.kill(pid, 'SIGCONT');
  } catch {
    // It has ended, or we were never allowed to stop it.
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
    if (Date.now() > untilMs) throw new Error(`process ${pids.join(', ')} cannot be paused: its disk may hang`);
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

/** An ended thread does not count as stopped. */
function listThreads(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map((id) => readFileSync(`/proc/${pid}/task/${id}/stat`, 'utf8'));
  } catch {
    return ['(gone) X'];
  }
}
