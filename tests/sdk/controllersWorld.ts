import type { TaskControlRequest, TaskOp } from '../../sdk/protocol/taskController';

/** `{ id: 'update kv-x/3', task: 'kv-x/3', kind: 'update' }`. */
export const op = (task: string, kind: TaskOp['kind'] = 'update'): TaskOp => ({ id: `${kind} ${task}`, task, kind });

export const tasksOf = (ops: readonly TaskOp[]): string[] => ops.map(({ task }) => task);

/** A request of job `kv-x` unless it says otherwise. */
export const requestOf = (change: Partial<TaskControlRequest> & { sequenceNumber: number }): TaskControlRequest => ({
  ...{ jobHandle: 'kv-x', request: [], completed: [], advanceNotices: [], allUnhealthyTasks: [] },
  ...change,
});
