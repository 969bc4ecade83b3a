import { existsSync, mkdirSync, mkdtempSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { ScriptLimits } from '../settings/scripts';
import { listOrEmpty, readOrEmpty } from './files';
import { formatRunMark } from './mark';
import { AFTER_KILL_MS, PROCESS_POLL_MS } from './processGroup';

/** Control groups (cgroup v2): the joint limits of a script and all its processes, and the way to end them at once. */

/** The folder in which this process may create groups, and their controllers. */
export interface CgroupRoot {
  readonly folder: string;
  readonly controllers: readonly string[];
}

/** The group of one run of a script. */
export interface ScriptGroup {
  readonly folder: string;
  /** Kills its processes and removes the group. @returns whether the kernel had killed some for lack of memory */
  end(): Promise<boolean>;
}

/** The controllers needed to limit a whole script. */
export const CONTROLLERS = ['memory', 'pids', 'cpu'] as const;

/**
 * The subgroup into which a worker moves, so that its own group can have others below it. A service manager may start
 * it there (DelegateSubgroup=).
 */
const LEAF = 'conveyor-worker';
/** Half of the default weight of 100, so that the worker has priority over scripts. */
const WEIGHT = 50;
const PERIOD_US = 100_000;

/** The folder of this process's group; null without a visible cgroup v2. */
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
 * Prepares a place for groups of scripts. Below the root, a group with processes cannot distribute memory among its
 * subgroups, so a worker that is alone in its group moves into a subgroup. It never moves other processes. @throws
 * Error if the group is not only this worker's, or may not be changed
 */
export function makeRoom(own: string): CgroupRoot {
  const folder = basename(own) === LEAF ? dirname(own) : own;
  // Only the root group has no type.
  const isTop = existsSync(join(own, 'cgroup.procs')) && !existsSync(join(own, 'cgroup.type'));
  if (folder === own && !isTop) {
    if (processesIn(own).some((pid) => pid !== process.pid))
      throw new Error(`other processes are in the cgroup ${own}, too`);
    mkdirSync(join(own, LEAF), { recursive: true });
    writeFileSync(join(own, LEAF, 'cgroup.procs'), String(process.pid));
  }
  const there = readOrEmpty(join(folder, 'cgroup.controllers')).split(/\s+/);
  const control = join(folder, 'cgroup.subtree_control');
  return { folder, controllers: CONTROLLERS.filter((name) => there.includes(name) && isSet(control, `+${name}`)) };
}

/** @throws Error if no group can be created any more */
export function openGroup({ folder, controllers }: CgroupRoot, runId: string, limits: ScriptLimits): ScriptGroup {
  const own = mkdtempSync(join(folder, formatRunMark(runId)));
  try {
    const limit = (file: string, value: number | string): void => writeFileSync(join(own, file), String(value));
    const { totalMemoryBytes, processes, cpus } = limits;
    if (controllers.includes('memory')) {
      limit('memory.max', totalMemoryBytes);
      // Kernels without swap have no such limit; older ones kill one process at a time.
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

/** Ends the groups that a killed worker left behind from a run. */
export async function endGroups({ folder }: CgroupRoot, runId: string): Promise<void> {
  const left = listOrEmpty(folder).filter((name) => name.startsWith(formatRunMark(runId)));
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

/** Kills all at once, so that endless forks do not outrun it; before Linux 5.14 one after the other. */
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

/** 0 stands for a process outside this namespace. */
const processesIn = (folder: string): readonly number[] =>
  readOrEmpty(join(folder, 'cgroup.procs'))
    .split('\n')
    .map(Number)
    .filter((pid) => pid > 1);

/** Removes the group and its subgroups; those in use stay. */
function removeGroup(folder: string): void {
  try {
    const below = listOrEmpty(folder).map((name) => join(folder, name));
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
