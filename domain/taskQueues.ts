/**
 * What shares the slots of a worker, so that none of these waits for another: whatever holds its slot for long, or comes by the
 * thousand, keeps no revert from beginning. Workflow tasks and all other activities are on the main task queue.
 */
export const SIDE_QUEUES = ['urgent', 'looks', 'scripts'] as const;
export type SideQueue = (typeof SIDE_QUEUES)[number];

/** The name of a task queue beside the main one. */
export const sideQueue = (main: string, side: SideQueue): string => `${main}-${side}`;

/** What Temporal calls all workers of Conveyor together, where they are versioned. */
export const DEPLOYMENT = 'conveyor';
