import type { z } from 'zod';
import type { TaskControlAnswer, TaskControlRequest } from '../../sdk/protocol/taskController';

/** Answers the calls of one job. May hold memory, but must do without it: the world may be written out and read again. */
export type ControllerHandler = (request: TaskControlRequest) => TaskControlAnswer;

/** What a controller may see of its job besides what it is asked. Tasks are named as in the protocol: `kvstore-x/3`. */
export interface ControllerView {
  readonly job: string;
  /** ms since the epoch, of the world. */
  readonly now: () => number;
  /** Divides simulated durations: 60 s in options are a second of `now` at 60. */
  readonly speed: number;
  /** Of all tasks, running or not, in order: slot 3 of `kvstore-x` is the task `kvstore-x/3`. */
  readonly slots: () => readonly number[];
  /** How many main switch boards its region has; a new task of slot n is on board n modulo that. */
  readonly msbs: () => number;
  /** How many of them run. */
  readonly running: () => number;
  /** Who leads; while that task does not run another one does. Null when none runs. */
  readonly leader: () => string | null;
  /** CPU of the running tasks now, 0 to 1, on average. */
  readonly cpu: () => number;
}

/** A kind of controller that comes with the world: `controller: { kind, …options }` of a job. */
export interface StandardController {
  /** What the options must be, so that a job with others is refused. */
  readonly options: z.ZodType;
  readonly make: (options: unknown, view: ControllerView) => ControllerHandler;
}

/** A kind whose type of options nobody else needs to know. */
export const standardController = <O>(
  options: z.ZodType<O>,
  make: (options: O, view: ControllerView) => ControllerHandler,
): StandardController => ({ options, make: (given, view) => make(options.parse(given), view) });
