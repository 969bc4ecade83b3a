import { z } from 'zod';
import type { Protocol } from './common';
import { APPROVAL_RULES } from './contradictions/others';

/** An operation on a running task that the cluster manager performs only if it is approved. */
export const taskOpSchema = z.object({
  id: z.string(),
  /** `kvstore-x/3`: a task by its slot, so that its name survives restarts and moves. */
  task: z.string(),
  kind: z.enum(['update', 'restart', 'move', 'stop']),
  /** With `update`: the version that the task will run. */
  toVersion: z.string().optional(),
});
/** An operation in the request of `process`: one that waits, or one that is over (docs/reference/protocols.md#process). */
export type TaskOp = z.infer<typeof taskOpSchema>;

/** Planned maintenance. Times are ms since the epoch; it cannot be blocked past its deadline. */
export const advanceNoticeSchema = z.object({
  machineIds: z.array(z.string()),
  kind: z.string(),
  start: z.number(),
  end: z.number(),
  deadline: z.number(),
});
/** Planned maintenance of machines, in the request of `process` (docs/reference/protocols.md#process). */
export type AdvanceNotice = z.infer<typeof advanceNoticeSchema>;

/**
 * The task controller protocol (docs/reference/protocols.md#task-controller; Twine §2.5). The cluster manager calls it, never Conveyor, so requests
 * carry no context. `request` lists the operations that wait for approval now: they are not under way, whatever the earlier answers were. `completed`
 * lists operations that were approved, perhaps in a lost answer, and are over or no longer wanted; it repeats them until a call that names them was
 * answered. An answer approves any subset of `request`; no answer, an error or a slow answer approves nothing. For a task on a machine of an advance
 * notice both a `move` and a `stop` are requested: approve one of them, or neither to keep it running until the deadline. A `stop` alone is for a
 * task that is to leave its job. `sequenceNumber` rises by one from call to call; the same number again is the same call, and gets the same answer.
 */
export const taskControllerProtocol = {
  process: {
    request: z.object({
      /** The name of the job whose operations these are. */
      jobHandle: z.string(),
      request: z.array(taskOpSchema),
      completed: z.array(taskOpSchema),
      advanceNotices: z.array(advanceNoticeSchema),
      /** Tasks that do not run, for any reason. */
      allUnhealthyTasks: z.array(z.string()),
      sequenceNumber: z.number().int().positive(),
    }),
    response: z.object({ ack: z.array(z.string()) }),
    contradictions: APPROVAL_RULES,
    mutates: false,
    contextFree: true,
  },
} as const satisfies Protocol;
/** The methods of a task controller (docs/reference/protocols.md#task-controller). */
export type TaskControllerProtocol = typeof taskControllerProtocol;
/** The request of `process`: the operations of one job that wait, and those that are over (docs/reference/protocols.md#process). */
export type TaskControlRequest = z.infer<TaskControllerProtocol['process']['request']>;
/** The answer of `process`: the ids of the operations that may begin (docs/reference/protocols.md#process). */
export type TaskControlAnswer = z.infer<TaskControllerProtocol['process']['response']>;
