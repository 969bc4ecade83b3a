import type { TaskControlRequest, TaskOp } from '../../sdk/protocol/taskController';
import { draw, openStream } from '../../simulator/kernel/random';

/** `{ id: 'update kv-x/3', task: 'kv-x/3', kind: 'update' }`. */
export const op = (task: string, kind: TaskOp['kind'] = 'update'): TaskOp => ({ id: `${kind} ${task}`, task, kind });

export const tasksOf = (ops: readonly TaskOp[]): string[] => ops.map(({ task }) => task);

/** A request of job `kv-x` unless it says otherwise. */
export const requestOf = (change: Partial<TaskControlRequest> & { sequenceNumber: number }): TaskControlRequest => ({
  ...{ jobHandle: 'kv-x', request: [], completed: [], advanceNotices: [], allUnhealthyTasks: [] },
  ...change,
});

/**
 * One replica of each shard in each of the groups of tasks, such as fault domains, by chance and evenly within a group. Of a
 * seed, so that the same always.
 */
export function placeShards(groups: readonly (readonly string[])[], shards: number, seed = 1): Map<string, string[]> {
  const stream = openStream(seed, 'placement');
  const placement = new Map(groups.flat().map((task) => [task, [] as string[]]));
  for (const tasks of groups) {
    const order = Array.from({ length: shards }, (_, shard) => ({ shard, at: draw(stream) })).sort(
      (a, b) => a.at - b.at,
    );
    for (const [index, { shard }] of order.entries())
      placement.get(tasks[index % tasks.length] ?? '')?.push(`s${shard}`);
  }
  return placement;
}
