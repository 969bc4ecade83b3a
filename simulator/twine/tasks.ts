import type { TaskEvent } from '../events';
import { completeOp, wakeControl } from './control';
import { countLog, currentCount, setCount } from './countLog';
import { nameAtIndex, type Twine, type UnitUpdate } from './fleet';
import { DOWN, hasTask, GONE, RUNNING, jobSize, STATE_NAMES, UPDATING, getLastUpdate, type Job } from './job';
import { spareMachine } from './machines';
import { faultCovers } from './topology';

/** Everything that can happen to one task. Every change to a task is made here, so that the counts stay true. */

const FIRST_RETRY_MS = 10_000;
const LONGEST_RETRY_MS = 300_000;
/** Durations vary uniformly by this share of their mean. */
const SPREAD = 0.2;

/** Whether the machine of a slot is up. A machine with announced work is up for its running tasks, and starts none. */
export function isMachineUp(twine: Pick<Twine, 'fleet'>, job: Job, slot: number): boolean {
  const machine = job.tasks.machine[slot] ?? 0;
  for (const fault of twine.fleet.faults.values()) {
    if (!faultCovers(fault, job.region, machine)) continue;
    if (fault.kind !== 'maintenance' || fault.phase === 'working' || job.tasks.state[slot] === DOWN) return false;
  }
  return true;
}

/** A task whose start failed and will be retried. */
export const hasCrashed = (job: Job, slot: number): boolean =>
  job.tasks.state[slot] === DOWN && (job.tasks.crashes[slot] ?? 0) > 0;

export const regionDown = (twine: Twine, region: string): boolean =>
  [...twine.fleet.faults.values()].some((fault) => fault.kind === 'region' && fault.region === region);

/** Whether a region's scheduler is down; running tasks continue without it. */
export const schedulerDown = (twine: Twine, region: string): boolean =>
  [...twine.fleet.faults.values()].some(
    ({ kind, ...fault }) => (kind === 'region' || kind === 'scheduler') && 'region' in fault && fault.region === region,
  );

/** Ends the run or the operation in a slot and puts the slot into another state. */
export function leaveState(twine: Twine, job: Job, slot: number, to: number, why: TaskEvent['why'], update = 0): void {
  const { tasks } = job;
  const from = tasks.state[slot] ?? RUNNING;
  const previous = nameAtIndex(twine.fleet, getLastUpdate(job, slot));
  if (from === RUNNING) closeTask(twine, job, slot, tasks.startedAt[slot] ?? 0, false);
  if (from === UPDATING) releaseFlight(twine, job, tasks.update[slot] ?? 0);
  completeOp(job, slot);
  tasks.epoch[slot] = (tasks.epoch[slot] ?? 0) + 1;
  setState(twine, job, slot, to);
  adoptSwap(twine, job, slot);
  const update_ = nameAtIndex(twine.fleet, update);
  twine.notify({
    kind: 'task',
    job: job.name,
    slot,
    from: nameOfState(from),
    to: nameOfState(to),
    why,
    update: update_,
    previous,
  });
  wakeControl(twine, job);
}

/** Schedules the start of the slot's task after about `meanMs`; a disturbance of the slot cancels it. */
export function startAfter(twine: Twine, job: Job, slot: number, meanMs: number): void {
  const factor = 1 - SPREAD + 2 * SPREAD * twine.world.random(`durations/${job.name}`);
  const epoch = job.tasks.epoch[slot] ?? 0;
  twine.world.after(meanMs * factor, { kind: 'task-started', job: job.name, slot, epoch });
}

/**
 * The slot's task comes up under a new identifier and is checked for liveness. Returns the update that waited for it,
 * if any, and whether it is live; undefined if the slot was disturbed meanwhile.
 */
export function finishStart(
  twine: Twine,
  job: Job,
  slot: number,
  epoch: number,
): { readonly unit: UnitUpdate | undefined; readonly live: boolean } | undefined {
  const { tasks } = job;
  if (slot >= job.size || tasks.epoch[slot] !== epoch) return undefined;
  if (job.swaps.has(slot)) return finishSwap(twine, job, slot);
  const from = tasks.state[slot] ?? DOWN;
  const unit = from === UPDATING ? releaseFlight(twine, job, tasks.update[slot] ?? 0) : undefined;
  tasks.starts[slot] = (tasks.starts[slot] ?? 0) + 1;
  completeOp(job, slot);
  tasks.epoch[slot] = epoch + 1;
  const live = !twine.crashesOnStart(nameAtIndex(twine.fleet, tasks.version[slot] ?? 0) ?? '', job);
  if (live) tasks.startedAt[slot] = twine.world.now;
  else closeTask(twine, job, slot, twine.world.now, true);
  tasks.crashes[slot] = live ? 0 : (tasks.crashes[slot] ?? 0) + 1;
  setState(twine, job, slot, live ? RUNNING : DOWN);
  const [to, why] = live ? (['running', 'started'] as const) : (['down', 'crashed'] as const);
  twine.notify({ kind: 'task', job: job.name, slot, from: nameOfState(from), to, why, update: null, previous: null });
  wakeControl(twine, job);
  if (!live) startAfter(twine, job, slot, retryDelay(tasks.crashes[slot] ?? 1));
  return { unit, live };
}

/** Whether a slot has a task that was there when an update was accepted. */
export const isTaskOf = (job: Job, { acceptedAt }: Pick<UnitUpdate, 'acceptedAt'>, slot: number): boolean =>
  hasTask(job, slot) && (job.tasks.bornAt[slot] ?? 0) <= acceptedAt;

/**
 * Adds a task in a slot that has none, or at the end; it starts after a while, on the job's own version.
 * @param version of an update that makes the task, and waits for it
 */
export function addSlot(twine: Twine, job: Job, slot: number, version?: number): void {
  const { tasks } = job;
  if (slot < job.size) job.holes -= 1;
  else job.size += 1;
  job.unavailable += 1;
  tasks.version[slot] = version ?? job.version;
  tasks.update[slot] = version === undefined ? job.update : 0;
  tasks.machine[slot] = slot;
  tasks.state[slot] = DOWN;
  if (!isMachineUp(twine, job, slot)) tasks.machine[slot] = spareMachine(twine, job.region);
  const isUp = isMachineUp(twine, job, slot);
  if (isUp && version !== undefined) tasks.state[slot] = UPDATING;
  tasks.crashes[slot] = 0;
  tasks.bornAt[slot] = twine.world.now;
  tasks.epoch[slot] = (tasks.epoch[slot] ?? 0) + 1;
  const change = { job: job.name, slot, why: 'resize', update: null, previous: null } as const;
  twine.notify({ kind: 'task', from: 'gone', to: nameOfState(tasks.state[slot] ?? DOWN), ...change });
  if (isUp) startAfter(twine, job, slot, job.timings.fetchMs + job.timings.startMs);
}

/** Removes a task. If it is not the last it leaves a hole, which goes when the tasks behind it go. */
export function removeSlot(twine: Twine, job: Job, slot: number): void {
  leaveState(twine, job, slot, GONE, 'resize');
  job.unavailable -= 1;
  job.holes += 1;
  while (job.size > 0 && !hasTask(job, job.size - 1)) {
    job.size -= 1;
    job.holes -= 1;
  }
}

/** Call this after adding or removing tasks. */
export function noteSize(twine: Twine, job: Job): void {
  setCount(job.sizes, twine.world.now, jobSize(job));
  twine.notify({ kind: 'job-sized', job: job.name, size: jobSize(job), budget: job.budget });
}

const nameOfState = (state: number): TaskEvent['from'] => STATE_NAMES[state] ?? 'gone';

const retryDelay = (crashes: number): number =>
  Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(crashes - 1, 10));

/** The task next to the old one has come up: it takes over or, if it fails its liveness check, the old one continues. */
function finishSwap(twine: Twine, job: Job, slot: number): ReturnType<typeof finishStart> {
  const { tasks } = job;
  const { version, update } = job.swaps.get(slot) ?? { version: 0, update: 0 };
  job.swaps.delete(slot);
  const unit = releaseFlight(twine, job, update);
  completeOp(job, slot);
  tasks.epoch[slot] = (tasks.epoch[slot] ?? 0) + 1;
  const live = !twine.crashesOnStart(nameAtIndex(twine.fleet, version) ?? '', job);
  if (live) {
    closeTask(twine, job, slot, tasks.startedAt[slot] ?? 0, false);
    countRunning(twine, job, tasks.version[slot] ?? 0, -1);
    countRunning(twine, job, version, 1);
    tasks.starts[slot] = (tasks.starts[slot] ?? 0) + 1;
    tasks.startedAt[slot] = twine.world.now;
    tasks.version[slot] = version;
    tasks.update[slot] = update;
  }
  const why = live ? 'started' : 'crashed';
  const change = { from: 'running', to: 'running', why, update: null, previous: null } as const;
  twine.notify({ kind: 'task', job: job.name, slot, ...change });
  wakeControl(twine, job);
  return { unit, live };
}

/** A slot is disturbed while a task started next to the old one: the next start in the slot is the new task. */
function adoptSwap(twine: Twine, job: Job, slot: number): void {
  const swap = job.swaps.get(slot);
  if (swap === undefined) return;
  job.swaps.delete(slot);
  releaseFlight(twine, job, swap.update);
  job.tasks.version[slot] = swap.version;
  job.tasks.update[slot] = swap.update;
}

/** Ends a task's flight, and returns the update that it belonged to. */
export function releaseFlight(twine: Twine, job: Job, update: number): UnitUpdate | undefined {
  const owner = twine.fleet.updates.get(nameAtIndex(twine.fleet, update) ?? '');
  const unit = owner?.units.get(job.name);
  if (unit) unit.inFlight -= 1;
  return unit;
}

function setState(twine: Twine, job: Job, slot: number, to: number): void {
  const { tasks } = job;
  const from = tasks.state[slot];
  tasks.state[slot] = to;
  if (from === to || (from !== RUNNING && to !== RUNNING)) return;
  if (job.control) lead(job, slot);
  const step = to === RUNNING ? 1 : -1;
  job.unavailable -= step;
  setCount(job.running, twine.world.now, currentCount(job.running) + step);
  countRunning(twine, job, tasks.version[slot] ?? 0, step);
}

function countRunning({ world }: Twine, job: Job, version: number, step: number): void {
  let log = job.runningOf.get(version);
  if (log === undefined) job.runningOf.set(version, (log = countLog(world.now, 0)));
  setCount(log, world.now, currentCount(log) + step);
}

/** When the leader stops, the next running task leads. */
function lead(job: Job, changed: number): void {
  const { tasks, size } = job;
  if (job.leader === -1 && tasks.state[changed] === RUNNING) job.leader = changed;
  if (job.leader !== changed || tasks.state[changed] === RUNNING) return;
  job.leader = -1;
  for (let step = 1; step < size && job.leader === -1; step += 1)
    if (tasks.state[(changed + step) % size] === RUNNING) job.leader = (changed + step) % size;
}

function closeTask(twine: Twine, job: Job, slot: number, from: number, failed: boolean): void {
  const { past, tasks } = job;
  past.slot.push(slot);
  past.start.push(tasks.starts[slot] ?? 0);
  past.version.push(tasks.version[slot] ?? 0);
  past.update.push(tasks.update[slot] ?? 0);
  past.from.push(from);
  past.to.push(twine.world.now);
  past.crashed.push(failed);
  past.previous.push(tasks.lastPast[slot] ?? 0);
  tasks.lastPast[slot] = past.slot.length;
}
