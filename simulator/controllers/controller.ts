import type { z } from 'zod';
import type { TaskControlAnswer, TaskControlRequest } from '../../sdk/protocol/taskController';

/** Answers the calls of one job. It may hold memory but must work without it: the world may be saved and loaded. */
export type ControllerHandler = (request: TaskControlRequest) => TaskControlAnswer;

/** A controller's view of its job, in addition to the request. Tasks are named as in the protocol: `kvstore-x/3`. */
export interface ControllerView {
  readonly job: string;
  /** ms since the epoch, of the world. */
  readonly now: () => number;
  /** Divides simulated durations: 60 s in options are a second of `now` at 60. */
  readonly speed: number;
  /** The slots of all tasks, running or not, in order: slot 3 of `kvstore-x` is the task `kvstore-x/3`. */
  readonly slots: () => readonly number[];
  /** The number of main switch boards in its region; a new task of slot n is on board n modulo that. */
  readonly msbs: () => number;
  /** The number of running tasks. */
  readonly running: () => number;
  /** The task that leads; when it stops, another running task leads. Null if none runs. */
  readonly leader: () => string | null;
  /** Mean CPU of the running tasks now, 0 to 1. */
  readonly cpu: () => number;
}

/** A kind of controller that comes with the world: `controller: { kind, …options }` of a job. */
export interface StandardController {
  /** The schema of the options: a job with other options is refused. */
  readonly options: z.ZodType;
  readonly make: (options: unknown, view: ControllerView) => ControllerHandler;
}

/** Hides the type of the options from the callers of a kind. */
export const standardController = <O>(
  options: z.ZodType<O>,
  make: (options: O, view: ControllerView) => ControllerHandler,
): StandardController => ({ options, make: (given, view) => make(options.parse(given), view) });
