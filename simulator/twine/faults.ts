import { schedule } from './scheduler';
import type { Twine } from './fleet';
import { DOWN, MOVING, type Job } from './job';
import { leave, reachable, startAfter } from './tasks';
import { covers, type FleetFault } from './topology';

/** Simulated ms after which the tasks of a machine that stays down are moved to another. */
const MOVE_AFTER_MS = 60_000;

/** Takes a part of a region down; `downMs` of simulated time later it returns, or when the fault is lifted. */
export function addFault(twine: Twine, fault: FleetFault, downMs: number | undefined): void {
  const { world, fleet } = twine;
  fleet.faults.set(fault.id, fault);
  for (const job of fleet.jobs.values()) {
    for (const slot of coveredSlots(job, fault)) {
      leave(twine, job, slot, DOWN, 'fault');
      job.tasks.crashes[slot] = 0;
    }
    schedule(twine, job);
  }
  if (downMs !== undefined) world.after(downMs, { kind: 'fault-over', fault: fault.id });
  if (fault.kind === 'machine') world.after(MOVE_AFTER_MS, { kind: 'move-away', fault: fault.id });
}

/** What was down starts again, on the version of its slot. */
export function liftFault(twine: Twine, id: string): boolean {
  const fault = twine.fleet.faults.get(id);
  if (fault === undefined) return false;
  twine.fleet.faults.delete(id);
  for (const job of twine.fleet.jobs.values()) {
    for (const slot of coveredSlots(job, fault))
      if (job.tasks.state[slot] === DOWN && reachable(twine, job, slot))
        startAfter(twine, job, slot, job.timings.startMs);
    schedule(twine, job);
  }
  return true;
}

/** The cluster manager gives up on a machine: its tasks start elsewhere in the region. */
export function moveAway(twine: Twine, id: string): void {
  const fault = twine.fleet.faults.get(id);
  if (fault === undefined) return;
  for (const job of twine.fleet.jobs.values()) {
    for (const slot of coveredSlots(job, fault)) {
      job.tasks.machine[slot] = spareMachine(twine, job.region);
      const up = reachable(twine, job, slot);
      leave(twine, job, slot, up ? MOVING : DOWN, 'move');
      if (up) startAfter(twine, job, slot, job.timings.fetchMs + job.timings.startMs);
    }
    schedule(twine, job);
  }
}

function coveredSlots(job: Job, fault: FleetFault): number[] {
  const slots: number[] = [];
  if (job.region !== fault.region) return slots;
  for (let slot = 0; slot < job.size; slot += 1)
    if (covers(fault, job.region, job.tasks.machine[slot] ?? 0)) slots.push(slot);
  return slots;
}

/** A machine that is up and runs nothing yet. */
function spareMachine(twine: Twine, region: string): number {
  const { fleet } = twine;
  const jobs = [...fleet.jobs.values()].filter((job) => job.region === region);
  let next = Math.max(fleet.spareMachine.get(region) ?? 0, ...jobs.map((job) => job.size));
  const taken = (machine: number): boolean =>
    [...fleet.faults.values()].some((fault) => covers(fault, region, machine));
  // A region that is down as a whole has no such machine; its tasks wait on whichever comes next.
  for (let tries = 0; tries < 24 && taken(next); tries += 1) next += 1;
  fleet.spareMachine.set(region, next + 1);
  return next;
}
