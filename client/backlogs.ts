import type { QueueBacklog } from '../domain/metrics';
import { SIDE_QUEUES, sideQueue } from '../domain/taskQueues';
import type { Temporal } from './connection';

/** Task queues have workflows and activities; those of workflows are on the main one alone. */
const TYPES = { workflow: 1, activity: 2 } as const;

/**
 * How much waits for a worker, and since when, from Temporal itself: also where no worker runs, and where none gets round to anything new. A
 * server of Temporal that does not count has no rows.
 */
export async function queueBacklogs(
  { client, namespace }: Pick<Temporal, 'client' | 'namespace'>,
  main: string,
): Promise<QueueBacklog[]> {
  const look = async (queue: QueueBacklog['queue'], kind: QueueBacklog['kind']): Promise<QueueBacklog[]> => {
    const name = queue === 'main' ? main : sideQueue(main, queue);
    const { stats } = await client.workflowService.describeTaskQueue({
      ...{ namespace, taskQueue: { name }, taskQueueType: TYPES[kind], reportStats: true },
    });
    if (!stats) return [];
    const { seconds, nanos } = stats.approximateBacklogAge ?? {};
    const ageMs = Number(seconds ?? 0) * 1000 + (nanos ?? 0) / 1e6;
    return [{ queue, kind, tasks: Number(stats.approximateBacklogCount ?? 0), ageMs }];
  };
  const found = [
    look('main', 'workflow'),
    look('main', 'activity'),
    ...SIDE_QUEUES.map((side) => look(side, 'activity')),
  ];
  return (await Promise.all(found)).flat();
}
