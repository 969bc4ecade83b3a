import type { TaskOp } from '../protocol/taskController';
import type { Decide } from './conversation';

/** A replicated service with one leader, such as a ZooKeeper ensemble. */
export interface Ensemble {
  /** The number of tasks that vote. */
  readonly members: number;
  /** The task that leads now; null while none does. */
  readonly leader: string | null;
}

/**
 * Followers first, as many at once as leave a majority; the leader when nothing else is left to do (Twine §2.5), so
 * that a release costs one change of leader. While no task leads, running tasks are left alone. If the majority is
 * lost, tasks that are down are operated on one by one, since that loses nothing.
 */
export function leaderLast({ members, leader }: Ensemble): Decide {
  // One or two members have no majority to keep: they are operated on one by one.
  const spare = Math.max(1, Math.floor((members - 1) / 2));
  return ({ pending, inFlight, unhealthy }) => {
    const away = new Set([...inFlight, ...unhealthy]);
    const approved: TaskOp[] = [];
    const begin = (op: TaskOp): void => {
      const alone = inFlight.size === 0 && approved.length === 0;
      if (unhealthy.has(op.task) ? away.size > spare && !alone : away.size >= spare) return;
      away.add(op.task);
      approved.push(op);
    };
    const followers = pending.filter(({ task }) => task !== leader);
    // Tasks that are down first: they take nothing from the majority.
    for (const op of followers.filter(({ task }) => unhealthy.has(task))) begin(op);
    if (leader === null) return approved;
    for (const op of followers.filter(({ task }) => !unhealthy.has(task))) begin(op);
    if (followers.length === 0 && inFlight.size === 0) for (const op of pending) begin(op);
    return approved;
  };
}
