import { createHash } from 'node:crypto';

/** How the names of all that is made for a run begin. */
export const markOf = (runId: string): string =>
  `conveyor-script-${createHash('sha256').update(runId).digest('hex').slice(0, 16)}-`;
