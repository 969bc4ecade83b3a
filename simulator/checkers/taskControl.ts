import { checker } from './checker';

/** 1: no running task of a job that has a controller is stopped on purpose without the controller's leave. */
export const taskControlChecker = checker<Set<string>>({
  name: 'task-control',
  invariant: 1,
  fresh: () => new Set(),
  see: (event, approved, fleet) => {
    if (event.kind === 'op-approved') approved.add(`${event.op} ${event.job}/${event.slot}`);
    if (event.kind !== 'task' || event.from !== 'running' || !fleet.jobs.get(event.job)?.control) return null;
    if (event.why !== 'update' && event.why !== 'move' && event.why !== 'stop') return null;
    // One approval is good for one operation.
    if (approved.delete(`${event.why} ${event.job}/${event.slot}`)) return null;
    return `${event.job}/${event.slot} was stopped (${event.why}) without leave of its controller`;
  },
});
