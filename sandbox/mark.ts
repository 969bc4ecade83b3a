import { createHash } from 'node:crypto';

/** The prefix of all names created for a run. */
export const formatRunMark = (runId: string): string =>
  `conveyor-script-${createHash('sha256').update(runId).digest('hex').slice(0, 16)}-`;
