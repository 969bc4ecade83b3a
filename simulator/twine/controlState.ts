import type { TaskControlRequest, TaskOp } from '../../sdk/protocol/taskController';

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
export interface OpApproval {
  readonly op: TaskOp;
  readonly slot: number;
  /** The update or the fault that wants it. */
  readonly owner: string;
}

/** A call as it is sent. One that got no answer is sent again as it was, unless there is something else to say by then. */
export interface ControllerCall {
  readonly request: TaskControlRequest;
  /** What each operation in it is for, by its id. */
  readonly asked: ReadonlyMap<string, OpApproval>;
  isUnderWay: boolean;
}

/** All that the scheduler remembers of its talk with a job's controller, as plain data. */
export interface ControlState extends ControlSpec {
  sequence: number;
  call: ControllerCall | null;
  /** Void as soon as the controller is asked again, or the scheduler is down. By operation. */
  approved: Map<string, OpApproval>;
  /** Approved, never begun and void, or perhaps approved in an answer that was lost: reported as over, unless it is requested again. */
  unused: TaskOp[];
  /** By slot. */
  readonly underWay: Map<number, TaskOp>;
  /** Over, and not yet reported. */
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
  /** Which part of the wanted tasks was requested last, where they are too many for one call. */
  page: number;
}

export const freshControl = (spec: ControlSpec): ControlState => ({
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
