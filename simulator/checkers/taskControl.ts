import type { FleetEvent, TaskEvent } from '../events';
import { checker } from './checker';

/** The approval that a controller must have given for each deliberate stop, by its cause. A task that leaves the job is stopped. */
const NEEDED_APPROVALS: Partial<Record<TaskEvent['why'], Extract<FleetEvent, { kind: 'op-approved' }>['op']>> = {
  ...{ update: 'update', move: 'move', stop: 'stop', restart: 'restart', resize: 'stop' },
};

/**
 * 1: no running task of a job that has a controller is stopped on purpose without the controller's approval, given in
 * its last answer, to the scheduler that runs now.
 */
export const taskControlChecker = checker<Map<string, Set<string>>>({
  name: 'task-control',
  invariant: 1,
  fresh: () => new Map(),
  see: (event, approved, fleet) => {
    if (event.kind === 'op-approved')
      approved.set(event.job, (approved.get(event.job) ?? new Set()).add(`${event.op} ${event.slot}`));
    if (event.kind === 'controller-asked') approved.delete(event.job);
    if (event.kind === 'scheduler-down')
      for (const job of approved.keys()) if (fleet.jobs.get(job)?.region === event.region) approved.delete(job);
    if (event.kind !== 'task' || event.from !== 'running' || !fleet.jobs.get(event.job)?.control) return null;
    const op = NEEDED_APPROVALS[event.why];
    // One approval is good for one operation.
    if (op === undefined || approved.get(event.job)?.delete(`${op} ${event.slot}`)) return null;
    return `${event.job}/${event.slot} was stopped (${event.why}) without leave of its controller`;
  },
});
