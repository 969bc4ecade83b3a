import type { AdvanceNotice } from '../../sdk/protocol/taskController';
import { wakeControl } from './control';
import type { Twine } from './fleet';
import { DOWN, hasTask, type Job } from './job';
import { schedule } from './scheduler';
import { leaveState } from './tasks';
import { faultCovers, machineName, type FaultPlace, type Maintenance } from './topology';

/** Simulated ms between two checks whether the machines are free. */
const MACHINE_CHECK_MS = 5000;

export interface MaintenanceSpec {
  readonly id: string;
  readonly machines: readonly FaultPlace[];
  /** Simulated ms from now until the work may begin, and until it can no longer wait for tasks to leave. */
  readonly startMs: number;
  readonly deadlineMs: number;
  readonly durationMs: number;
}

/**
 * Announces work on machines. Until the deadline their tasks are moved away, stopped or left running, as the job's
 * controller approves; without a controller they are moved, as the budget allows. Tasks that still run there at the
 * deadline are stopped. The work begins when the machines are free, but not before its start.
 */
export function announceMaintenance(
  twine: Twine,
  { id, machines, startMs, deadlineMs, durationMs }: MaintenanceSpec,
): void {
  const { world, fleet } = twine;
  const byRegion = new Map<string, Set<number>>();
  for (const { region, index } of machines) byRegion.set(region, (byRegion.get(region) ?? new Set()).add(index));
  const fault: Maintenance = {
    ...{ id, kind: 'maintenance', machines: byRegion, slots: new Map(), phase: 'noticed' },
    start: world.now + world.scaled(startMs),
    deadline: world.now + world.scaled(deadlineMs),
    duration: world.scaled(durationMs),
  };
  fleet.faults.set(id, fault);
  for (const job of fleet.jobs.values()) {
    const slots = slotsOn(fault, job);
    if (slots.length === 0) continue;
    fault.slots.set(job.name, slots);
    wakeControl(twine, job);
    schedule(twine, job);
  }
  world.at(Math.min(fault.start, fault.deadline), { kind: 'maintenance-due', fault: id });
}

/** Begins the work if possible; else checks again later. */
export function onMaintenanceDue(twine: Twine, id: string): void {
  const { world, fleet } = twine;
  const fault = fleet.faults.get(id);
  if (fault?.kind !== 'maintenance' || fault.phase === 'working') return;
  if (world.now >= fault.deadline && !isFree(twine, fault)) stopMachineTasks(twine, fault);
  if (world.now >= fault.start && isFree(twine, fault)) {
    fault.phase = 'working';
    stopMachineTasks(twine, fault);
    world.at(world.now + fault.duration, { kind: 'fault-over', fault: id });
  } else world.at(nextLook(twine, fault), { kind: 'maintenance-due', fault: id });
}

/** The announced work that a job's controller learns of: only on machines of its tasks. */
export function noticesFor({ fleet, world }: Twine, job: Job): AdvanceNotice[] {
  return [...fleet.faults.values()].flatMap((fault) => {
    if (fault.kind !== 'maintenance' || fault.phase === 'working') return [];
    const slots = (fault.slots.get(job.name) ?? []).filter((slot) =>
      faultCovers(fault, job.region, getSlotMachine(job, slot)),
    );
    if (slots.length === 0 || world.now >= fault.deadline) return [];
    const machineIds = [...new Set(slots.map((slot) => machineName(job.region, getSlotMachine(job, slot))))];
    const { start, deadline } = fault;
    return [{ machineIds, kind: 'maintenance', start, end: start + fault.duration, deadline }];
  });
}

/** Ignores the budget and the controllers; tasks that are down do not return before the work is over. */
function stopMachineTasks(twine: Twine, fault: Maintenance): void {
  for (const job of twine.fleet.jobs.values()) {
    for (const slot of slotsOn(fault, job)) {
      leaveState(twine, job, slot, DOWN, 'maintenance');
      job.tasks.crashes[slot] = 0;
    }
  }
}

const isFree = (twine: Twine, fault: Maintenance): boolean =>
  [...twine.fleet.jobs.values()].every((job) => slotsOn(fault, job).every((slot) => job.tasks.state[slot] === DOWN));

function nextLook({ world }: Twine, { start, deadline }: Maintenance): number {
  const soon = world.now + Math.max(1, world.scaled(MACHINE_CHECK_MS));
  return Math.min(...[start, deadline, soon].filter((at) => at > world.now));
}

function slotsOn(fault: Maintenance, job: Job): number[] {
  const slots: number[] = [];
  if (!fault.machines.has(job.region)) return slots;
  for (let slot = 0; slot < job.size; slot += 1)
    if (hasTask(job, slot) && faultCovers(fault, job.region, getSlotMachine(job, slot))) slots.push(slot);
  return slots;
}

const getSlotMachine = (job: Job, slot: number): number => job.tasks.machine[slot] ?? 0;
