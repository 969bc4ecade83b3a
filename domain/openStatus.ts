/**
 * Whether a workflow of this status continues. Temporal says `PAUSED` of one that somebody paused there: it holds what it held, and acts
 * again once that is over. One that continued as new has a run that follows.
 */
export const isOpenStatus = (name: string): boolean => OPEN.has(name);

const OPEN: ReadonlySet<string> = new Set(['RUNNING', 'PAUSED', 'CONTINUED_AS_NEW']);
