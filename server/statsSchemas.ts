import { z } from 'zod';
import { GROUPINGS } from '../domain/stats/tallies';

export const statsQuery = z.strictObject({
  since: z.iso
    .datetime({ offset: true, local: false })
    .optional()
    .describe('the start of the range, by end; defaults to 21 days ago'),
  by: z.enum(GROUPINGS).default('category'),
});

const breakdowns = z.array(
  z.looseObject({ category: z.string(), whole: z.number(), counts: z.record(z.string(), z.number()) }),
);

export const statsAnswer = z.looseObject({
  ...{ since: z.string(), until: z.string(), readUntil: z.string().nullable(), unread: z.number() },
  ...{ schedules: breakdowns, endStates: breakdowns, spans: breakdowns, failedActions: breakdowns },
  ...{ failedChecks: breakdowns, progress: breakdowns, pipelineSizes: breakdowns, actionTypes: breakdowns },
});
