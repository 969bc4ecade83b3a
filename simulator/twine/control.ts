import type { OpApproval, ControlState } from './controlState';
import type { Twine } from './fleet';
import type { Job } from './job';

/** `kvstore-x/3`: the name of a task for controllers. */
export const formatTaskId = (job: Job, slot: number): string => `${job.name}/${slot}`;

/** An approved operation begins. */
export function beginOp({ control }: Job, { op, slot }: OpApproval): void {
  control?.approved.delete(op.id);
  control?.underWay.set(slot, op);
}

/** An approved operation does not begin, because nothing is left to do. */
export function dropOp({ control }: Job, { op }: OpApproval): void {
  control?.approved.delete(op.id);
  control?.completed.push(op);
}

/** Approvals that were not used are void, as are those in an answer that did not arrive: operations still wanted must be requested again. */
export function voidApprovals(control: ControlState): void {
  const unused = [...control.approved.values(), ...(control.call?.asked.values() ?? [])];
  control.unused.push(...unused.map(({ op }) => op));
  control.approved.clear();
}

/** Forgets the controller's answers, and one still to come: they were for a scheduler that is down now. */
export function forgetAnswers({ control }: Job): void {
  if (!control) return;
  voidApprovals(control);
  control.call = null;
}

/** Ends any operation under way in a slot, successful or not. */
export function completeOp(job: Job, slot: number): void {
  const op = job.control?.underWay.get(slot);
  if (op === undefined || !job.control) return;
  job.control.underWay.delete(slot);
  job.control.completed.push(op);
}

/** Something changed that concerns the controller: it is called as soon as possible. */
export function wakeControl(twine: Twine, job: Job): void {
  const { control } = job;
  if (!control) return;
  if (control.call?.isUnderWay) control.isStale = true;
  else askAt(twine, job, control.askedAt + Math.max(1, twine.world.scaled(control.everyMs)));
}

/** The scheduler waits this many times longer than usual if nothing changed. */
const IDLE_FACTOR = 5;

/** Nothing changed, but the controller may decide differently after a while. */
export function askAgain(twine: Twine, job: Job): void {
  const { control } = job;
  if (control) askAt(twine, job, twine.world.now + Math.max(1, twine.world.scaled(IDLE_FACTOR * control.everyMs)));
}

function askAt({ world }: Twine, job: Job, wanted: number): void {
  const { control } = job;
  const at = Math.max(wanted, world.now);
  if (!control || (control.dueAt !== null && control.dueAt <= at)) return;
  control.dueAt = at;
  world.at(at, { kind: 'control-due', job: job.name, at });
}
