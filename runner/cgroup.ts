import { existsSync, mkdirSync, mkdtempSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { ScriptLimits } from '../platform/scripts';
import { contentsOf, readOrEmpty } from './files';
import { markOf } from './mark';
import { AFTER_KILL_MS, PROCESS_POLL_MS } from './processGroup';

/** Control groups (cgroup v2): what a script and all that it starts may use together, and the way to end all of it at once. */

/** Where this process may make groups, and what these can limit. */
export interface CgroupRoot {
  readonly folder: string;
  readonly controllers: readonly string[];
}

/** The group of one run of a script. */
export interface ScriptGroup {
  readonly folder: string;
  /** Kills what is in it, and removes it. @returns whether the kernel had ended some of it for want of memory */
  end(): Promise<boolean>;
}

/** All that it takes to limit a script as a whole. */
export const CONTROLLERS = ['memory', 'pids', 'cpu'] as const;

/** Where a worker goes so that its own group can have others below it. A service manager may start it there (DelegateSubgroup=). */
const LEAF = 'conveyor-worker';
/** Of 100, which everything has that nobody gives a weight to: scripts wait for the worker rather than the worker for scripts. */
const WEIGHT = 50;
const PERIOD_US = 100_000;

/** The folder of the group in which this process is; null where there is no cgroup v2, or none that it sees. */
export function ownGroup(proc: string = '/proc/self'): string | null {
  const [, path = '/..'] = /^0::(\/.*)$/m.exec(readOrEmpty(`${proc}/cgroup`)) ?? [];
  // 41 31 0:38 / /sys/fs/cgroup rw,relatime shared:4 - cgroup2 cgroup2 rw
  const mounts = readOrEmpty(`${proc}/mountinfo`).split('\n');
  const [, , , root = '/', at] = mounts.find((line) => line.includes(' - cgroup2 '))?.split(' ') ?? [];
  const top = root === '/' ? '' : root;
  if (at === undefined || path.startsWith('/..') || !`${path}/`.startsWith(`${top}/`)) return null;
  return resolve(at, `.${path.slice(top.length)}`);
}

/**
 * Room for groups of scripts. Outside the top a group with processes cannot share out memory among groups below it, so that a worker that
 * is alone in its own moves into one below. It never moves anybody else.
 * @throws Error where the group is not this worker's, or may not be changed
 */
export function makeRoom(own: string): CgroupRoot {
  const folder = basename(own) === LEAF ? dirname(own) : own;
  // Only the top has no type.
  const isTop = existsSync(join(own, 'cgroup.procs')) && !existsSync(join(own, 'cgroup.type'));
  if (folder === own && !isTop) {
    if (processesIn(own).some((pid) => pid !== process.pid)) throw new Error(`others are in the cgroup ${own} too`);
    mkdirSync(join(own, LEAF), { recursive: true });
    writeFileSync(join(own, LEAF, 'cgroup.procs'), String(process.pid));
  }
  const there = readOrEmpty(join(folder, 'cgroup.controllers')).split(/\s+/);
  const control = join(folder, 'cgroup.subtree_control');
  return { folder, controllers: CONTROLLERS.filter((name) => there.includes(name) && isSet(control, `+${name}`)) };
}

/** @throws Error where there can be none any more */
export function openGroup({ folder, controllers }: CgroupRoot, runId: string, limits: ScriptLimits): ScriptGroup {
  const own = mkdtempSync(join(folder, markOf(runId)));
  try {
    const limit = (file: string, value: number | string): void => writeFileSync(join(own, file), String(value));
    const { totalMemoryBytes, processes, cpus } = limits;
    if (controllers.includes('memory')) {
      limit('memory.max', totalMemoryBytes);
      // Kernels without swap have no such limit; older ones end one process of it at a time.
      isSet(join(own, 'memory.swap.max'), '0');
      isSet(join(own, 'memory.oom.group'), '1');
    }
    if (controllers.includes('pids')) limit('pids.max', processes);
    if (controllers.includes('cpu')) limit('cpu.weight', WEIGHT);
    if (controllers.includes('cpu') && cpus !== null) limit('cpu.max', `${Math.ceil(cpus * PERIOD_US)} ${PERIOD_US}`);
  } catch (error) {
    removeGroup(own);
    throw error;
  }
  return { folder: own, end: () => endGroup(own) };
}

/** What a worker that was killed left behind of a run. */
export async function endGroups({ folder }: CgroupRoot, runId: string): Promise<void> {
  const left = contentsOf(folder).filter((name) => name.startsWith(markOf(runId)));
  await Promise.all(left.map((name) => endGroup(join(folder, name))));
}

async function endGroup(folder: string): Promise<boolean> {
  for (let waitedMs = 0; isPopulated(folder) && waitedMs < AFTER_KILL_MS; waitedMs += PROCESS_POLL_MS) {
    killAll(folder);
    await wait(PROCESS_POLL_MS);
  }
  const isShort = /^oom_kill [1-9]/m.test(readOrEmpty(join(folder, 'memory.events')));
  removeGroup(folder);
  return isShort;
}

/** At once, so that what forks without end does not outrun it; before Linux 5.14 one after the other. */
function killAll(folder: string): void {
  const all = join(folder, 'cgroup.kill');
  if (existsSync(all) && isSet(all, '1')) return;
  for (const pid of processesIn(folder)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  }
}

function isPopulated(folder: string): boolean {
  const [, populated] = /^populated (\d)/m.exec(readOrEmpty(join(folder, 'cgroup.events'))) ?? [];
  return populated === undefined ? processesIn(folder).length > 0 : populated === '1';
}

/** 0 stands for whoever is out of sight. */
const processesIn = (folder: string): readonly number[] =>
  readOrEmpty(join(folder, 'cgroup.procs'))
    .split('\n')
    .map(Number)
    .filter((pid) => pid > 1);

/** With the groups that it made below itself; what is still used stays. */
function removeGroup(folder: string): void {
  try {
    const below = contentsOf(folder).map((name) => join(folder, name));
    for (const one of below) if (statSync(one).isDirectory()) removeGroup(one);
    rmdirSync(folder);
  } catch {
    // Its processes are stuck in the kernel: it is empty, or will be.
  }
}

function isSet(file: string, text: string): boolean {
  try {
    writeFileSync(file, text);
    return true;
  } catch {
    return false;
  }
}
