/**
 * Whether a workflow with this status continues. `PAUSED` means that a person paused it in Temporal: it keeps its
 * locks, and acts again after the pause. A workflow that continued as new has a following run.
 */
export const isOpenStatus = (name: string): boolean => OPEN.has(name);

const OPEN: ReadonlySet<string> = new Set(['RUNNING', 'PAUSED', 'CONTINUED_AS_NEW']);
