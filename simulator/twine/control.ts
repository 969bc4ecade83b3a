import type { TaskControlRequest, TaskOp } from '../../sdk/protocol/taskController';
import type { Twine } from './fleet';
import type { Job } from './job';

/** How a job's controller is reached, and how patient the scheduler is with it. */
export interface ControlSpec {
  /** `external` for one at a url of its own, else one of the controllers that come with the world. */
  readonly kind: string;
  readonly url: string | null;
  /** Simulated ms after which an answer comes too late. */
  readonly deadlineMs: number;
  /** Simulated ms that lie between two calls at least. */
  readonly everyMs: number;
  /** Slot of the task that leads at first. */
  readonly leader: number;
  /** What the kind wants to know besides. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** An operation that was approved and has not begun. */
export interface Approval {
  readonly op: TaskOp;
  readonly slot: number;
  /** The update or the fault that wants it. */
  readonly owner: string;
}

/** A call as it is sent. One that got no answer is sent again as it was, unless there is something else to say by then. */
export interface ControllerCall {
  readonly request: TaskControlRequest;
  /** What each operation in it is for, by its id. */
  readonly asked: ReadonlyMap<string, Approval>;
  isUnderWay: boolean;
}

/** All that the scheduler remembers of its talk with a job's controller, as plain data. */
export interface Control extends ControlSpec {
  sequence: number;
  call: ControllerCall | null;
  /** Void as soon as the controller is asked again, or the scheduler is down. By operation. */
  approved: Map<string, Approval>;
  /** Approved, never begun and void, or perhaps approved in an answer that was lost: told to be over, unless it is asked for again. */
  unused: TaskOp[];
  /** By slot. */
  readonly underWay: Map<number, TaskOp>;
  /** Over, and not yet told. */
  completed: TaskOp[];
  /** When it was asked last, and when it will be asked next. */
  askedAt: number;
  dueAt: number | null;
  /** Something changed while it was thinking. */
  isStale: boolean;
  /** What it knows of the state of the job's tasks, as of the last call that it answered. */
  told: Pick<TaskControlRequest, 'allUnhealthyTasks' | 'advanceNotices'>;
  /** Why there was no answer the last time. */
  trouble: string | null;
  /** Which part of what is wanted was asked for last, where it is too much for one call. */
  page: number;
}

export const freshControl = (spec: ControlSpec): Control => ({
  ...spec,
  sequence: 0,
  call: null,
  approved: new Map(),
  unused: [],
  told: { allUnhealthyTasks: [], advanceNotices: [] },
  underWay: new Map(),
  completed: [],
  askedAt: 0,
  dueAt: null,
  isStale: false,
  trouble: null,
  page: 0,
});

/** `kvstore-x/3`: what controllers call a task. */
export const taskIdOf = (job: Job, slot: number): string => `${job.name}/${slot}`;

/** An approved operation begins. */
export function beginOp({ control }: Job, { op, slot }: Approval): void {
  control?.approved.delete(op.id);
  control?.underWay.set(slot, op);
}

/** An approved operation does not begin, because there is nothing left to do. */
export function dropOp({ control }: Job, { op }: Approval): void {
  control?.approved.delete(op.id);
  control?.completed.push(op);
}

/** Approvals that were not used are void, as are those in an answer that did not arrive: what is still wanted has to be asked for again. */
export function voidApprovals(control: Control): void {
  const unused = [...control.approved.values(), ...(control.call?.asked.values() ?? [])];
  control.unused.push(...unused.map(({ op }) => op));
  control.approved.clear();
}

/** What the controller said was to a scheduler that is down now, and so is what it may be about to say. */
export function forgetAnswers({ control }: Job): void {
  if (!control) return;
  voidApprovals(control);
  control.call = null;
}

/** Whatever was under way in a slot is over, well or not. */
export function completeOp(job: Job, slot: number): void {
  const op = job.control?.underWay.get(slot);
  if (op === undefined || !job.control) return;
  job.control.underWay.delete(slot);
  job.control.completed.push(op);
}

/** Something changed that the controller may want to know: it is asked as soon as it may be. */
export function wakeControl(twine: Twine, job: Job): void {
  const { control } = job;
  if (!control) return;
  if (control.call?.isUnderWay) control.isStale = true;
  else askAt(twine, job, control.askedAt + Math.max(1, twine.world.scaled(control.everyMs)));
}

/** As many times longer than usual the scheduler waits when nothing changed. */
const PATIENCE = 5;

/** Nothing changed, but the controller may think otherwise after a while. */
export function askAgain(twine: Twine, job: Job): void {
  const { control } = job;
  if (control) askAt(twine, job, twine.world.now + Math.max(1, twine.world.scaled(PATIENCE * control.everyMs)));
}

function askAt({ world }: Twine, job: Job, wanted: number): void {
  const { control } = job;
  const at = Math.max(wanted, world.now);
  if (!control || (control.dueAt !== null && control.dueAt <= at)) return;
  control.dueAt = at;
  world.at(at, { kind: 'control-due', job: job.name, at });
}
