import { z } from 'zod';
import { parseAmount } from '../fleet/amount';
import { reachOf } from '../health/transform';
import { SPEC_LIMITS } from '../limits';
import { formatDuration } from '../text';
import { ANY_AMOUNT } from './expressible';
import { suggest } from './problem';
import { AMOUNT_TEXT, duration, listOf, text, wireDuration } from './scalars';
import { STANDARD_CHECKS } from './standardChecks';

/** Health checks as people write them and as services get them (health.md). */

const CHANGE = 'expected a percentage such as 10% or an absolute number';

/** A change: `10%` relative, or an absolute number. */
const change = z
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

const REDUCES = ['mean', 'max', 'min', 'sum', 'count'] as const;
const REDUCE = `expected one of ${REDUCES.join(', ')} or a percentile p1 to p99`;
const reduce = z.union([z.enum(REDUCES), z.string().regex(/^p([1-9]|[1-9]\d)$/, { error: REDUCE })], { error: REDUCE });

const TRANSFORMS = 'rate, max, min, sum, { average: 3m }, { percentile: { q: 99, over: 3m } } or { fill: zero }';

const transformWith = (time: typeof duration | typeof wireDuration) =>
  z.union(
    [
      z.enum(['rate', 'max', 'min', 'sum']),
      z.strictObject({ average: time }),
      z.strictObject({ percentile: z.strictObject({ q: z.number().gt(0).lt(100), over: time }) }),
      z.strictObject({ fill: z.enum(['zero', 'last', 'drop']) }),
    ],
    { error: `expected ${TRANSFORMS}` },
  );

const CONFIDENCE = 0.98;

/** How the two sides of a comparison are told apart (health.md). */
const method = z
  .union(
    [
      z.enum(['threshold', 'mann-whitney']),
      z.strictObject({
        'mann-whitney': z.strictObject({
          confidence: z.number().min(0.5).lt(1).default(CONFIDENCE),
          /** Share of the median of what is compared with; left out, the amount of the threshold is tolerated. */
          tolerance: z.number().nonnegative().optional(),
          /** Cliff's delta, 0 to 1, that a shift must at least have to count. */
          effect: z.number().min(0).max(1).optional(),
        }),
      }),
    ],
    { error: 'expected threshold, mann-whitney or { mann-whitney: { confidence: 0.98, tolerance: 0.25 } }' },
  )
  .transform((value) => (value === 'mann-whitney' ? { 'mann-whitney': { confidence: CONFIDENCE } } : value));

const HOLD = 'expected a duration such as 5m, { evaluations: 3 } in a row, or { failures: 3, within: 10 }';

const failuresWithin = z
  .strictObject({
    failures: z.number().int().positive(),
    within: z.number().int().positive().max(SPEC_LIMITS.evaluations.max),
  })
  .refine(({ failures, within }) => failures <= within, { error: 'more failures than evaluations can never be' });

const checkFields = (time: typeof duration | typeof wireDuration) => ({
  name: text().min(1),
  metric: text(SPEC_LIMITS.argument).min(1),
  source: text().optional(),
  transform: listOf(transformWith(time), SPEC_LIMITS.transforms).default([]),
  reduce: reduce.default('mean'),
  threshold: z.union(
    [
      z.strictObject({ above: z.number() }),
      z.strictObject({ below: z.number() }),
      z.strictObject({ above: z.number(), below: z.number() }),
      z.strictObject({ increase: change }),
      z.strictObject({ decrease: change }),
      z.strictObject({ increase: change, decrease: change }),
    ],
    { error: 'expected above, below or both, or increase, decrease or both' },
  ),
  compare: z
    .union([z.enum(['control', 'before']), z.strictObject({ version: text() })], {
      error: 'expected control, before or { version }',
    })
    .optional(),
  lookback: time.optional(),
  minSamples: z.number().int().positive().optional(),
  /** How many of the updated tasks have to report for a healthy verdict; text, so that services get what files say. */
  reporting: z
    .union([z.number(), text()], { error: AMOUNT_TEXT })
    .refine((value) => parseAmount(value) !== undefined, { error: AMOUNT_TEXT })
    .meta(ANY_AMOUNT)
    .optional(),
  for: z
    .union([time, z.strictObject({ evaluations: z.number().int().positive() }), failuresWithin], { error: HOLD })
    .optional(),
  /** Healthy evaluations in a row that it takes to pass. */
  passes: z.number().int().positive().max(SPEC_LIMITS.evaluations.max).optional(),
  method: method.optional(),
  zeroBaseline: z.enum(['healthy', 'unhealthy', 'absolute']).optional(),
  scope: z.enum(['unit', 'deploy']).default('unit'),
  onUnhealthy: z.enum(['revert', 'pause', 'ignore']).optional(),
});

const LONGEST_LOOKBACK_MS = SPEC_LIMITS.lookback.max * 60_000;

/** What a ready check has of its own. */
export type HealthCheckFields = Omit<z.input<z.ZodObject<ReturnType<typeof checkFields>>>, 'name'>;

function coherent(check: z.output<z.ZodObject<ReturnType<typeof checkFields>>>, context: z.RefinementCtx): void {
  const comparing = 'increase' in check.threshold || 'decrease' in check.threshold;
  const issue = (message: string, hint: string, field = 'compare'): void =>
    context.addIssue({ code: 'custom', path: [field], message, params: { hint } });
  if (comparing && check.compare === undefined)
    issue('increase and decrease need something to compare with', 'add compare: control, before or { version }');
  if (!comparing && check.compare !== undefined)
    issue('above and below compare with nothing', 'use increase or decrease, or remove compare');
  if ('above' in check.threshold && 'below' in check.threshold && check.threshold.above < check.threshold.below)
    issue('every value is above the one limit or below the other', 'let above be the larger of the two', 'threshold');
  if (!comparing && typeof check.method === 'object')
    issue('mann-whitney compares two sides', 'use increase or decrease with compare, or remove method', 'method');
  const [written, reach] = [check.lookback ?? 0, reachOf(check.transform)];
  if (Math.max(written, reach) > LONGEST_LOOKBACK_MS)
    issue(
      `a check looks back ${formatDuration(LONGEST_LOOKBACK_MS)} at most`,
      'look back less: older points say little of the tasks that were just updated',
      written > LONGEST_LOOKBACK_MS ? 'lookback' : 'transform',
    );
}

/** A check between services: durations are ms, or text as in a file. */
export const healthCheckSchema = z.strictObject(checkFields(wireDuration)).superRefine(coherent);

export type HealthCheck = z.output<typeof healthCheckSchema>;

const PREFIX = 'standard/';
/** What `uses` may say. */
const STANDARD_NAMES = Object.keys(STANDARD_CHECKS).map((name) => PREFIX + name);

/** What a file may write. */
export const writtenCheck = z
  .strictObject({ uses: z.enum(STANDARD_NAMES).optional(), ...checkFields(duration) })
  .superRefine(coherent);

type Written = z.input<typeof writtenCheck>;
/** A check as it is written in a file: whole, or a ready one with what is to be different. */
type HealthCheckSource = Written | (Partial<Written> & { readonly uses: string });

/** A check in a pipeline file: durations are text, and with `uses` the rest is that of a ready one. What comes out is whole. */
export const healthCheckInFile = z.preprocess(
  takeReady,
  writtenCheck.transform(({ uses: _taken, ...check }): HealthCheck => check),
);

/** A check as callers of the Health Check Service write it: as in a file, but durations may be ms. */
export const healthCheckInRequest = z.preprocess(takeReady, healthCheckSchema);

/** Anything that is no ready check is left to the schema. */
function takeReady(source: HealthCheckSource, context: z.RefinementCtx): HealthCheckSource {
  if (typeof source !== 'object' || source === null || source.uses === undefined) return source;
  const { uses, ...changes } = source;
  const short = String(uses).startsWith(PREFIX) ? String(uses).slice(PREFIX.length) : '';
  const ready = Object.hasOwn(STANDARD_CHECKS, short) ? STANDARD_CHECKS[short] : undefined;
  if (ready === undefined) {
    const message = `there is no ready check ${JSON.stringify(uses)}`;
    context.addIssue({
      code: 'custom',
      path: ['uses'],
      message,
      params: { code: 'unknown-check', hint: hintFor(uses) },
    });
    return z.NEVER;
  }
  // A limit compares with nothing: what the ready check was compared with falls away.
  const { compare: _compare, method: _method, ...simple } = ready;
  return { name: short, ...(isLimit(changes.threshold) ? simple : ready), ...changes } as Written;
}

const isLimit = (threshold: unknown): boolean =>
  typeof threshold === 'object' && threshold !== null && ('above' in threshold || 'below' in threshold);

function hintFor(uses: unknown): string {
  const all = `known here: ${STANDARD_NAMES.join(', ')}`;
  const hint = suggest(String(uses), STANDARD_NAMES);
  return hint === all ? all : `${hint} ${all}`;
}
