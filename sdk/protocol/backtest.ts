import { z } from 'zod';
import { RESULTS } from '../../domain/health/result';
import { healthCheckInRequest } from '../../domain/spec/health';
import { duration } from '../../domain/spec/scalars';
import { MIB, type Method } from './common';
import { seriesSchema } from './dataSource';
import { verdictSchema } from './pushType';

/** ms since the epoch, or an ISO 8601 time. */
const timeSchema = z.union([z.number(), z.iso.datetime({ offset: true }).transform((text) => Date.parse(text))], {
  error: 'expected a time such as 2026-11-23T09:00:00Z',
});
const side = z.object({ tasks: z.number().int().nonnegative(), series: z.array(seriesSchema) });
const outcomeFields = {
  /** Whether the version was bad. */
  bad: z.boolean(),
  /** When the fault began: an earlier alarm is a false one. */
  faultAt: timeSchema.optional(),
  why: z.string().optional(),
};
const recordingLabelSchema = z.strictObject({
  name: z.string(),
  /** The check that it is for; all of them if left out. */
  check: z.string().optional(),
  ...outcomeFields,
  /** Measurements around one deploy: `fresh`, `control` and `before`, in the format of a data source. */
  recording: z.object({
    ...{ fresh: side, control: side, before: side },
    updatedAt: timeSchema,
    until: timeSchema,
    baseline: z.object({ start: timeSchema, end: timeSchema }),
  }),
});

/** A person's knowledge of a deploy, or their own recording. */
export const labelSchema = z.union([z.strictObject({ deploy: z.string(), ...outcomeFields }), recordingLabelSchema], {
  error: 'expected { deploy, bad } or { name, bad, recording }',
});
export type Label = z.output<typeof labelSchema>;
export type RecordingLabel = z.output<typeof recordingLabelSchema>;

const shareSchema = z.object({
  ...{ of: z.number(), count: z.number(), share: z.number().nullable() },
  ...{ low: z.number(), high: z.number() },
});
const observedFields = {
  observed: z.number().nullable(),
  reference: z.number().nullable(),
  threshold: z.number().nullable(),
};
const evaluation = z.object({ at: z.number(), verdict: verdictSchema, ...observedFields, reason: z.string() });
const tried = z.object({
  id: z.string(),
  result: z.enum(RESULTS),
  ...{ why: z.string(), reason: z.string() },
  foundAt: z.number().nullable(),
  foundAfterMs: z.number().nullable(),
  evaluations: z.array(evaluation).readonly(),
});
const errorFields = { falsePositives: z.number(), falseNegatives: z.number() };

/**
 * Tries a check on the deploys of `pipeline` since a time, or in a period (`14d`); without a pipeline, on those of each
 * pipeline that has a check of that name.
 */
export const backtestMethod = {
  request: z.object({
    check: healthCheckInRequest,
    since: z.union([duration.transform((ago) => ({ ago })), timeSchema.transform((at) => ({ at }))], {
      error: 'expected a duration such as 14d, or a time',
    }),
    pipeline: z.string().optional(),
    labels: z.array(labelSchema).default([]),
  }),
  response: z.object({
    check: z.string(),
    tried: z.array(tried).readonly(),
    quality: z.object({
      ...{ truePositives: z.number(), trueNegatives: z.number(), ...errorFields },
      ...{ precision: shareSchema, recall: shareSchema, falseAlarms: shareSchema },
      delayMs: z.object({ median: z.number(), p90: z.number() }).nullable(),
    }),
    better: z.object({ limit: z.number(), text: z.string(), ...errorFields }).nullable(),
    /** The metric of each deploy with its verdicts, as SVG. */
    plot: z.string(),
    /** Deploys past Temporal's retention. */
    lost: z.array(z.string()).readonly(),
  }),
  maxAnswerBytes: 64 * MIB,
  mutates: false,
  contextFree: true,
} as const satisfies Method;
