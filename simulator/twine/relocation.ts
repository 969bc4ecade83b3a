import type { TaskOp } from '../../sdk/protocol/taskController';
import { budgetRefusal, paceRefusal, spendPace } from './allowance';
import { beginOp, completeOp, formatTaskId } from './control';
import type { OpApproval } from './controlState';
import { isLeaving } from './resizeAndRestart';
import type { Twine } from './fleet';
import { DOWN, hasTask, MOVING, RUNNING, type Job } from './job';
import { spareMachine } from './machines';
import { leaveState, isMachineUp, startAfter } from './tasks';
import { faultCovers, type FleetFault } from './topology';

/**
 * Moves tasks away from machines that stay down or await maintenance: as far as the budget allows or, if the job has a
 * controller, as the controller approved. A task that is down already costs no budget.
 */
export function relieve(twine: Twine, job: Job): void {
  if (job.control) return doApproved(twine, job);
  for (const fault of twine.fleet.faults.values()) {
    const slots = slotsToLeave(fault, job);
    if (slots === undefined || slots.length === 0) continue;
    const kept = slots.filter((slot) => isThere(fault, job, slot) && !(isMovable(job, slot) && move(twine, job, slot)));
    slots.splice(0, slots.length, ...kept);
  }
}

/** The approvals that faults need from a controller: a move and, before maintenance, also a stop. */
export function listFaultApprovals(twine: Twine, job: Job): OpApproval[] {
  return [...twine.fleet.faults.values()].flatMap((fault) =>
    (slotsToLeave(fault, job) ?? []).flatMap((slot) => {
      if (!isThere(fault, job, slot) || !isMovable(job, slot) || isLeaving(job, slot)) return [];
      const stoppable = fault.kind === 'maintenance' && job.tasks.state[slot] === RUNNING;
      return (stoppable ? (['move', 'stop'] as const) : (['move'] as const)).map((kind) =>
        relocationOp(job, fault, slot, kind),
      );
    }),
  );
}

function doApproved(twine: Twine, job: Job): void {
  for (const approval of job.control?.approved.values() ?? []) {
    const { op, slot, owner } = approval;
    const fault = op.kind === 'update' ? undefined : twine.fleet.faults.get(owner);
    if (fault === undefined || !isThere(fault, job, slot) || !isMovable(job, slot)) continue;
    if (op.kind === 'move') move(twine, job, slot, approval);
    else if (op.kind === 'stop') stopTask(twine, job, slot, approval);
  }
}

/** Returns false if the move must wait. */
function move(twine: Twine, job: Job, slot: number, approval?: OpApproval): boolean {
  if (!mayLeave(twine, job, slot)) return false;
  const before = job.tasks.state[slot] === RUNNING;
  job.tasks.machine[slot] = spareMachine(twine, job.region);
  const up = before || isMachineUp(twine, job, slot);
  leaveState(twine, job, slot, up ? MOVING : DOWN, 'move');
  if (approval) beginOp(job, approval);
  if (up) startAfter(twine, job, slot, job.timings.fetchMs + job.timings.startMs);
  return true;
}

/** The task stays in its place, and starts again when the work is over. */
function stopTask(twine: Twine, job: Job, slot: number, approval: OpApproval): void {
  if (job.tasks.state[slot] !== RUNNING || !mayLeave(twine, job, slot)) return;
  leaveState(twine, job, slot, DOWN, 'stop');
  beginOp(job, approval);
  completeOp(job, slot);
}

function mayLeave(twine: Twine, job: Job, slot: number): boolean {
  if (job.tasks.state[slot] !== RUNNING) return true;
  if (budgetRefusal(job) !== null || paceRefusal(twine, job.region) !== null) return false;
  spendPace(twine, job.region);
  return true;
}

/** The tasks that a fault moves elsewhere. */
function slotsToLeave(fault: FleetFault, job: Job): number[] | undefined {
  if (fault.kind === 'maintenance') return fault.phase === 'noticed' ? fault.slots.get(job.name) : undefined;
  return 'moves' in fault ? fault.moves?.get(job.name) : undefined;
}

const isThere = (fault: FleetFault, job: Job, slot: number): boolean =>
  hasTask(job, slot) && faultCovers(fault, job.region, job.tasks.machine[slot] ?? 0);

/** A task that is already on its way finishes first. */
const isMovable = (job: Job, slot: number): boolean =>
  job.tasks.state[slot] === RUNNING || job.tasks.state[slot] === DOWN;

function relocationOp(job: Job, fault: FleetFault, slot: number, kind: 'move' | 'stop'): OpApproval {
  const op: TaskOp = { id: `${kind}/${fault.id}/${slot}`, task: formatTaskId(job, slot), kind };
  return { op, slot, owner: fault.id };
}
