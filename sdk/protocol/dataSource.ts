import { z } from 'zod';
import { MIB, type Protocol } from './common';
import { SERIES_RULES } from './contradictions/others';

/** One series of an answer (docs/reference/protocols.md#data-source). Times are ms since the epoch, `step` is ms. */
export const seriesSchema = z.object({
  labels: z.record(z.string(), z.string()),
  /** `[ms since the epoch, value]`, the oldest first. */
  points: z.array(z.tuple([z.number(), z.number()])),
});
/** A series in the answer of `query`: the samples of one task (docs/reference/protocols.md#query). */
export type Series = z.infer<typeof seriesSchema>;

/** One point a minute for many tasks over a week. */
export const MAX_SERIES_BYTES = 64 * MIB;

/** The data source protocol (docs/reference/protocols.md#data-source). */
export const dataSourceProtocol = {
  query: {
    request: z.object({
      metric: z.string(),
      selector: z.object({
        unit: z.string(),
        /** Only these tasks. */
        tasks: z.array(z.string()).optional(),
        /** In place of `tasks`: all tasks of the unit that have these labels, such as `version`. */
        labels: z.record(z.string(), z.string()).optional(),
      }),
      /** ms since the epoch, like `end`. */
      start: z.number(),
      end: z.number(),
      /** The distance of points that suffices, in ms; more points do no harm. */
      step: z.number(),
    }),
    response: z.object({ series: z.array(seriesSchema) }),
    contradictions: SERIES_RULES,
    maxAnswerBytes: MAX_SERIES_BYTES,
    mutates: false,
  },
} as const satisfies Protocol;
/** The methods of a data source (docs/reference/protocols.md#data-source). */
export type DataSourceProtocol = typeof dataSourceProtocol;
