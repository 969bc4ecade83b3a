import { z } from 'zod';
import { listBounds, CHANGES, LIMITS, refusesAll } from '../health/threshold';
import { findLongestReach } from '../health/transform';
import { SPEC_LIMITS } from '../limits';
import { formatDuration, joinWords } from '../text';
import { checkFields, stretch, wireStretch, type CheckFields } from './healthFields';
import { suggest } from './problem';
import { duration, wireDuration } from './scalars';
import { STANDARD_CHECKS } from './standardChecks';

/** Health checks in the form of files and in the form for services (docs/reference/health.md). */

const LONGEST_LOOKBACK_MS = SPEC_LIMITS.lookback.max * 60_000;

function coherent(check: CheckFields, context: z.RefinementCtx): void {
  const comparing = CHANGES.some((kind) => kind in check.threshold);
  const issue = (message: string, hint: string, field = 'compare'): void =>
    context.addIssue({ code: 'custom', path: [field], message, params: { hint } });
  if (comparing && check.compare === undefined)
    issue(`${joinWords(CHANGES, 'and')} need something to compare with`, 'add compare: control, before or { version }');
  if (!comparing && check.compare !== undefined)
    issue(`${joinWords(LIMITS, 'and')} compare with nothing`, `use ${joinWords(CHANGES, 'or')}, or remove compare`);
  if (!comparing && refusesAll(listBounds(check.threshold)))
    issue('every value is above the one limit or below the other', 'let above be the larger of the two', 'threshold');
  if (!comparing && typeof check.method === 'object')
    issue(
      'mann-whitney compares two sides',
      `use ${joinWords(CHANGES, 'or')} with compare, or remove method`,
      'method',
    );
  const [written, reach] = [check.lookback ?? 0, findLongestReach(check.transform)];
  if (Math.max(written, reach) > LONGEST_LOOKBACK_MS)
    issue(
      `a check looks back ${formatDuration(LONGEST_LOOKBACK_MS)} at most`,
      'look back less: older points say little of the tasks that were just updated',
      written > LONGEST_LOOKBACK_MS ? 'lookback' : 'transform',
    );
}

/** A check between services: durations are ms, or text as in a file. */
export const healthCheckSchema = z.strictObject(checkFields(wireDuration, wireStretch)).superRefine(coherent);

export type HealthCheck = z.output<typeof healthCheckSchema>;

const PREFIX = 'standard/';
/** The possible values of `uses`. */
const STANDARD_NAMES = Object.keys(STANDARD_CHECKS).map((name) => PREFIX + name);

/** The form in a file. */
export const writtenCheck = z
  .strictObject({ uses: z.enum(STANDARD_NAMES).optional(), ...checkFields(duration, stretch) })
  .superRefine(coherent);

type WrittenCheck = z.input<typeof writtenCheck>;
/** A check in a file: complete, or a ready check with overrides. */
type HealthCheckSource = WrittenCheck | (Partial<WrittenCheck> & { readonly uses: string });

/**
 * A check in a pipeline file: durations are text, and with `uses` the ready check provides the other fields. The parsed check is
 * complete.
 */
export const healthCheckInFile = z.preprocess(
  takeReady,
  writtenCheck.transform(({ uses: _taken, ...check }): HealthCheck => check),
);

/** A check from callers of the Health Check Service: as in a file, but durations may also be ms. */
export const healthCheckInRequest = z.preprocess(takeReady, healthCheckSchema);

/** Leaves any other check to the schema. */
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
  // A limit compares with nothing, so the comparison of the ready check is dropped.
  const { compare: _compare, method: _method, ...simple } = ready;
  return { name: short, ...(isLimit(changes.threshold) ? simple : ready), ...changes } as WrittenCheck;
}

const isLimit = (threshold: unknown): boolean =>
  typeof threshold === 'object' && threshold !== null && LIMITS.some((kind) => kind in threshold);

function hintFor(uses: unknown): string {
  const all = `known here: ${STANDARD_NAMES.join(', ')}`;
  const hint = suggest(String(uses), STANDARD_NAMES);
  return hint === all ? all : `${hint} ${all}`;
}
