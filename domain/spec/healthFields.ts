import { z } from 'zod';
import { parseAmount } from '../fleet/amount';
import { CHANGES, LIMITS, type Threshold, type ThresholdKind, type ThresholdValues } from '../health/threshold';
import { SPEC_LIMITS } from '../limits';
import { ANY_AMOUNT } from './expressible';
import { AMOUNT_TEXT, listOf, positiveDuration, text, type duration, type wireDuration } from './scalars';

/** The individual fields of a health check (docs/reference/health.md); rules between fields are in health.ts. */
const CHANGE = 'expected a percentage such as 10% or an absolute number';

/** A change: `10%` relative, or an absolute number. */
const changeLimit = z
  .union(
    [
      z.number().nonnegative(),
      text().regex(/^\d+(\.\d+)?%$/, { error: CHANGE }),
      z.strictObject({ percent: z.number().nonnegative() }),
      z.strictObject({ absolute: z.number().nonnegative() }),
    ],
    { error: CHANGE },
  )
  .transform((value): { percent: number } | { absolute: number } => {
    if (typeof value === 'number') return { absolute: value };
    return typeof value === 'string' ? { percent: Number(value.slice(0, -1)) } : value;
  });

/** The notation of each kind of threshold; its effect is its row in domain/health/threshold.ts. */
const THRESHOLD_VALUES = {
  above: z.number(),
  below: z.number(),
  increase: changeLimit,
  decrease: changeLimit,
} satisfies { readonly [K in ThresholdKind]: z.ZodType<ThresholdValues[K]> };

type WrittenThreshold = { readonly [K in ThresholdKind]?: z.input<(typeof THRESHOLD_VALUES)[K]> };

const formatAlternatives = (kinds: readonly string[]): string =>
  `${kinds.join(', ')} or ${kinds.length === 2 ? 'both' : 'several of them'}`;
const THRESHOLD = `expected ${formatAlternatives(LIMITS)}, or ${formatAlternatives(CHANGES)}`;

/** This kind, and any others that compare in the same way. */
function withKind(kind: ThresholdKind): z.ZodType<Threshold, WrittenThreshold> {
  const family = LIMITS.includes(kind) ? LIMITS : CHANGES;
  const valueOf = (other: ThresholdKind) =>
    other === kind ? THRESHOLD_VALUES[other] : THRESHOLD_VALUES[other].optional();
  return z.strictObject(Object.fromEntries(family.map((other) => [other, valueOf(other)])));
}

const threshold = z.union([...LIMITS, ...CHANGES].map(withKind), { error: THRESHOLD });

const REDUCES = ['mean', 'max', 'min', 'sum', 'count'] as const;
const REDUCE = `expected one of ${REDUCES.join(', ')} or a percentile p1 to p99`;
const reduce = z.union([z.enum(REDUCES), z.string().regex(/^p([1-9]|[1-9]\d)$/, { error: REDUCE })], { error: REDUCE });

const TRANSFORMS = 'rate, max, min, sum, { average: 3m }, { percentile: { q: 99, over: 3m } } or { fill: zero }';

type DurationField = typeof duration | typeof wireDuration;

/** The length of a look back; zero would contain no data. */
export const stretch = positiveDuration('there is no data of no time; look back 3m, say');
export const wireStretch = z.union([z.number().positive(), stretch]);
type StretchField = typeof stretch | typeof wireStretch;

const transformWith = (time: StretchField) =>
  z.union(
    [
      z.enum(['rate', 'max', 'min', 'sum']),
      z.strictObject({ average: time }),
      z.strictObject({ percentile: z.strictObject({ q: z.number().gt(0).lt(100), over: time }) }),
      z.strictObject({ fill: z.enum(['zero', 'last', 'drop']) }),
    ],
    { error: `expected ${TRANSFORMS}` },
  );

const DEFAULT_CONFIDENCE = 0.98;

/** The method that distinguishes the two sides of a comparison (docs/reference/health.md#what-to-compare-with). */
const comparisonMethod = z
  .union(
    [
      z.enum(['threshold', 'mann-whitney']),
      z.strictObject({
        'mann-whitney': z.strictObject({
          confidence: z.number().min(0.5).lt(1).default(DEFAULT_CONFIDENCE),
          /**
           * The tolerated share of the median of the compared side. If left out, the amount of the threshold is
           * tolerated.
           */
          tolerance: z.number().nonnegative().optional(),
          /** The minimum of Cliff's delta, 0 to 1, at which a shift counts. */
          effect: z.number().min(0).max(1).optional(),
        }),
      }),
    ],
    { error: 'expected threshold, mann-whitney or { mann-whitney: { confidence: 0.98, tolerance: 0.25 } }' },
  )
  .transform((value) => (value === 'mann-whitney' ? { 'mann-whitney': { confidence: DEFAULT_CONFIDENCE } } : value));

const HOLD = 'expected a duration such as 5m, { evaluations: 3 } in a row, or { failures: 3, within: 10 }';

const failuresWithin = z
  .strictObject({
    failures: z.number().int().positive(),
    within: z.number().int().positive().max(SPEC_LIMITS.evaluations.max),
  })
  .refine(({ failures, within }) => failures <= within, { error: 'more failures than evaluations can never be' });

/** @param time the notation of durations; @param back the notation of those that must be longer than zero */
export const checkFields = (time: DurationField, back: StretchField) => ({
  name: text().min(1),
  metric: text(SPEC_LIMITS.argument).min(1),
  source: text().optional(),
  transform: listOf(transformWith(back), SPEC_LIMITS.transforms).default([]),
  reduce: reduce.default('mean'),
  threshold,
  compare: z
    .union([z.enum(['control', 'before']), z.strictObject({ version: text() })], {
      error: 'expected control, before or { version }',
    })
    .optional(),
  lookback: back.optional(),
  minSamples: z.number().int().positive().optional(),
  /**
   * The number of updated tasks that have to report for a healthy verdict. It is text, so that services get the same
   * form as files.
   */
  reporting: z
    .union([z.number(), text()], { error: AMOUNT_TEXT })
    .refine((value) => parseAmount(value) !== undefined, { error: AMOUNT_TEXT })
    .meta(ANY_AMOUNT)
    .optional(),
  for: z
    .union([time, z.strictObject({ evaluations: z.number().int().positive() }), failuresWithin], { error: HOLD })
    .optional(),
  /** The number of healthy evaluations in a row that are needed to pass. */
  passes: z.number().int().positive().max(SPEC_LIMITS.evaluations.max).optional(),
  method: comparisonMethod.optional(),
  zeroBaseline: z.enum(['healthy', 'unhealthy', 'absolute']).optional(),
  scope: z.enum(['unit', 'deploy']).default('unit'),
  onUnhealthy: z.enum(['revert', 'pause', 'ignore']).optional(),
});

export type Transform = z.output<ReturnType<typeof transformWith>>;

/** A complete check, before rules between fields. */
export type CheckFields = z.output<z.ZodObject<ReturnType<typeof checkFields>>>;

/** The fields that a ready check defines. */
export type HealthCheckFields = Omit<z.input<z.ZodObject<ReturnType<typeof checkFields>>>, 'name'>;
