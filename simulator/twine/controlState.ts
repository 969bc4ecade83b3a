import type { TaskControlRequest, TaskOp } from '../../sdk/protocol/taskController';

/** How the scheduler reaches a job's controller, and how long it waits for it. */
export interface ControlSpec {
  /** `external` for one at its own url, else one of the controllers that come with the world. */
  readonly kind: string;
  readonly url: string | null;
  /** Simulated ms after which an answer is too late. */
  readonly deadlineMs: number;
  /** The least simulated ms between two calls. */
  readonly everyMs: number;
  /** Slot of the task that leads at first. */
  readonly leader: number;
  /** The other options of the kind. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** An operation that was approved and has not begun. */
export interface OpApproval {
  readonly op: TaskOp;
  readonly slot: number;
  /** The update or the fault that wants it. */
  readonly owner: string;
}

/** A call as it is sent. A call without an answer is sent again unchanged, unless there is news by then. */
export interface ControllerCall {
  readonly request: TaskControlRequest;
  /** The operations in it, by id. */
  readonly asked: ReadonlyMap<string, OpApproval>;
  isUnderWay: boolean;
}

/** The scheduler's whole memory of its exchange with a job's controller, as plain data. */
export interface ControlState extends ControlSpec {
  sequence: number;
  call: ControllerCall | null;
  /** By operation. Void as soon as the controller is called again, or the scheduler is down. */
  approved: Map<string, OpApproval>;
  /** Operations approved but never begun and now void, or perhaps approved in a lost answer: reported as completed, unless requested again. */
  unused: TaskOp[];
  /** By slot. */
  readonly underWay: Map<number, TaskOp>;
  /** Completed and not yet reported. */
  completed: TaskOp[];
  /** The time of the last call, and of the next. */
  askedAt: number;
  dueAt: number | null;
  /** Something changed while a call was under way. */
  isStale: boolean;
  /** The controller's knowledge of the job's tasks, as of the last call that it answered. */
  told: Pick<TaskControlRequest, 'allUnhealthyTasks' | 'advanceNotices'>;
  /** Why the last call got no answer. */
  trouble: string | null;
  /** The part of the wanted tasks in the last request, if they are too many for one call. */
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
