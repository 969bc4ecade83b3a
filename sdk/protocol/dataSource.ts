import { z } from 'zod';
import { MIB, type Protocol } from './common';
import { SERIES_RULES } from './contradictions/others';

/** The health data source protocol (docs/reference/protocols.md#data-source). Times are ms since the epoch, `step` is ms. */
export const seriesSchema = z.object({
  labels: z.record(z.string(), z.string()),
  points: z.array(z.tuple([z.number(), z.number()])),
});
export type Series = z.infer<typeof seriesSchema>;

/** One point a minute for many tasks over a week. */
export const MAX_SERIES_BYTES = 64 * MIB;

export const dataSourceProtocol = {
  query: {
    request: z.object({
      metric: z.string(),
      selector: z.object({
        unit: z.string(),
        tasks: z.array(z.string()).optional(),
        labels: z.record(z.string(), z.string()).optional(),
      }),
      start: z.number(),
      end: z.number(),
      step: z.number(),
    }),
    response: z.object({ series: z.array(seriesSchema) }),
    contradictions: SERIES_RULES,
    maxAnswerBytes: MAX_SERIES_BYTES,
    mutates: false,
  },
} as const satisfies Protocol;
export type DataSourceProtocol = typeof dataSourceProtocol;
