import { forgetAnswers, wakeControl } from './control';
import { getRegionLayout, type Twine } from './fleet';
import { DOWN, hasTask, type Job } from './job';
import { schedule } from './scheduler';
import { leaveState, isMachineUp, startAfter } from './tasks';
import { faultCovers, type FaultPlace, type FleetFault, type SchedulerFault } from './topology';

/** Simulated ms after which the tasks of a machine that stays down are moved to another. */
const MOVE_AFTER_MS = 60_000;

/** Takes down a part of a region, or its scheduler. It returns after `downMs` of simulated time, or when the fault is lifted. */
export function addFault(
  twine: Twine,
  place: (FaultPlace & { readonly id: string }) | SchedulerFault,
  downMs: number | undefined,
): void {
  const { world, fleet } = twine;
  const fault: FleetFault =
    place.kind === 'scheduler' ? place : { ...place, layout: getRegionLayout(fleet, place.region), moves: null };
  fleet.faults.set(fault.id, fault);
  const losesScheduler = fault.kind === 'region' || fault.kind === 'scheduler';
  if (losesScheduler) twine.notify({ kind: 'scheduler-down', region: place.region });
  for (const job of fleet.jobs.values()) {
    if (losesScheduler && job.region === place.region) forgetAnswers(job);
    for (const slot of listCoveredSlots(job, fault)) {
      leaveState(twine, job, slot, DOWN, 'fault');
      job.tasks.crashes[slot] = 0;
    }
    schedule(twine, job);
  }
  if (downMs !== undefined) world.after(downMs, { kind: 'fault-over', fault: fault.id });
  if (fault.kind === 'machine') world.after(MOVE_AFTER_MS, { kind: 'move-away', fault: fault.id });
}

/** Tasks that were down start again, on the version of their slot. A scheduler that returns continues where it was, and calls controllers again. */
export function liftFault(twine: Twine, id: string): boolean {
  const fault = twine.fleet.faults.get(id);
  if (fault === undefined) return false;
  twine.fleet.faults.delete(id);
  for (const job of twine.fleet.jobs.values()) {
    for (const slot of listCoveredSlots(job, fault))
      if (job.tasks.state[slot] === DOWN && isMachineUp(twine, job, slot))
        startAfter(twine, job, slot, job.timings.startMs);
    schedule(twine, job);
    wakeControl(twine, job);
  }
  return true;
}

/** The cluster manager gives up on a machine: its tasks start elsewhere in the region, with the approval of their controllers. */
export function moveAway(twine: Twine, id: string): void {
  const fault = twine.fleet.faults.get(id);
  if (fault?.kind !== 'machine') return;
  fault.moves = new Map();
  for (const job of twine.fleet.jobs.values()) {
    const slots = listCoveredSlots(job, fault);
    if (slots.length === 0) continue;
    fault.moves.set(job.name, slots);
    wakeControl(twine, job);
    schedule(twine, job);
  }
}

function listCoveredSlots(job: Job, fault: FleetFault): number[] {
  const slots: number[] = [];
  if (fault.kind === 'scheduler' || ('region' in fault && job.region !== fault.region)) return slots;
  for (let slot = 0; slot < job.size; slot += 1)
    if (hasTask(job, slot) && faultCovers(fault, job.region, job.tasks.machine[slot] ?? 0)) slots.push(slot);
  return slots;
}
