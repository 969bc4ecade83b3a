import { z } from 'zod';
import { CLIENT_OPERATIONS } from '../../../client/operations';
import { lookRoute, type ApiRoute } from '../../../server/apiRoute';
import { time } from '../../../server/schemas';

const freshnessAnswer = z.object({
  at: time,
  weekly: z.number().nullable().describe('the share of pipelines whose last deploy is at most a week old'),
  tickets: z
    .looseObject({
      ...{ at: time, problem: z.string().nullable(), open: z.number().int(), late: z.number().int() },
      ...{ refused: z.number().int(), said: z.array(z.string()), unticketed: z.number().int() },
    })
    .nullable()
    .describe('the last daily run that completed'),
  pipelines: z
    .array(
      z.looseObject({
        ...{ id: z.string(), kind: z.literal('pipeline'), owners: z.array(z.string()) },
        ...{ state: z.enum(['fresh', 'stale', 'overdue', 'never']), traffic: z.enum(['high', 'low']) },
        ...{ deployedAt: time.nullable(), days: z.number().int().nullable(), dueAt: time.nullable() },
        because: z
          .enum(['held', 'frozen'])
          .nullable()
          .describe('what keeps it from deploying; its age grows all the same'),
        ticket: z
          .object({ name: z.string().nullable(), state: z.enum(['waits', 'open', 'escalated', 'resting']) })
          .nullable()
          .describe('resting: a person closed it; it is reopened when it escalates'),
      }),
    )
    .describe('worst first'),
});

export const FRESHNESS_ROUTE: ApiRoute = lookRoute(CLIENT_OPERATIONS.freshness.route, {
  summary: 'Which pipelines have not been deployed for long, as `conveyor freshness` shows them',
  answer: freshnessAnswer,
  run: ({ client }) => client.freshness(),
});
