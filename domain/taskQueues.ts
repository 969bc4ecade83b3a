/**
 * Task queues with separate slots on a worker, so that none waits for another: long or numerous activities never keep a
 * revert from beginning. Workflow tasks and all other activities are on the main task queue.
 */
export const SIDE_QUEUES = ['urgent', 'looks', 'scripts'] as const;
export type SideQueue = (typeof SIDE_QUEUES)[number];

/** The name of a task queue next to the main one. */
export const sideQueue = (main: string, side: SideQueue): string => `${main}-${side}`;

/** The name of Temporal's worker deployment for all versioned workers of Conveyor. */
export const DEPLOYMENT = 'conveyor';
