import { checker } from './checker';

/** 2: no forward update touches another task of a job after the update was paused, cancelled or stopped by a failed liveness check there. */
export const forwardMotionChecker = checker<{ halted: Map<string, string>; reverts: Set<string> }>({
  name: 'forward-motion',
  invariant: 2,
  fresh: () => ({ halted: new Map(), reverts: new Set() }),
  see: (event, { halted, reverts }) => {
    if (event.kind === 'update-accepted' && event.urgency === 'revert') reverts.add(event.update);
    if (event.kind === 'update-commanded') {
      if (event.verb === 'resume') halted.delete(`${event.update} ${event.job}`);
      else halted.set(`${event.update} ${event.job}`, event.verb === 'pause' ? 'paused' : 'cancelled');
    }
    if (event.kind === 'update-ended' && event.how !== 'done') halted.set(`${event.update} ${event.job}`, event.how);
    if (event.kind !== 'task' || event.why !== 'update' || event.update === null || reverts.has(event.update))
      return null;
    const how = halted.get(`${event.update} ${event.job}`);
    return how === undefined
      ? null
      : `${event.update} is ${how} on ${event.job}, but took task ${event.job}/${event.slot}`;
  },
});
