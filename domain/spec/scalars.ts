import { z } from 'zod';
import { ZONE_PATTERN } from '../calendar/zoneName';
import { NAME } from '../ids';
import { SPEC_LIMITS, type Limit } from '../limits';
import { PRINCIPAL } from '../principals';
import { DURATION, isShortEnough, toMs } from './duration';
import { ANY_AMOUNT, MORE_THAN_NOTHING, NOT_RESERVED } from './expressible';
import { parseAmount, type Amount } from '../fleet/amount';

/** The small grammars of the pipeline file. Each converts the written form to the form in the code. */

/** A text with a maximum length. */
export const text = (limit: Limit = SPEC_LIMITS.word) => z.string().max(limit.max);

/** Editors check the form. Lint also checks whether the zone exists, and suggests another. */
export const zone = () => text().meta({ pattern: ZONE_PATTERN });

/** A list with a maximum length. */
export const listOf = <T extends z.ZodType>(item: T, limit: Limit) => z.array(item).max(limit.max);

const durationText = () =>
  z
    .string({ error: 'expected a duration such as 90s, 10m, 8h or 14d' })
    .max(SPEC_LIMITS.word.max)
    .regex(DURATION, { error: 'expected a duration such as 90s, 10m, 8h or 14d', abort: true })
    .refine(isShortEnough, { error: `a duration is ${SPEC_LIMITS.duration.max}d at most`, abort: true });

/** `90s`, `10m`, `8h`, `14d` → ms; bare numbers are refused. */
export const duration = durationText().transform(toMs);

/** A duration longer than zero; `error` is the message. */
export const positiveDuration = (error: string) =>
  durationText()
    .refine((text) => toMs(text) > 0, { error })
    .meta(MORE_THAN_NOTHING)
    .transform(toMs);

/** Like `duration`, but also ms as numbers: between services, files have already been parsed. */
export const wireDuration = z.union([z.number().nonnegative(), duration]);

export const AMOUNT_TEXT = 'expected a count such as 3 or a percentage such as 5%';

/** `3` or `5%`. */
export const amount = z
  .union([z.number(), text()], { error: AMOUNT_TEXT })
  .meta(ANY_AMOUNT)
  .transform((value, context): Amount => {
    const parsed = parseAmount(value);
    if (parsed) return parsed;
    context.addIssue({ code: 'custom', message: AMOUNT_TEXT });
    return z.NEVER;
  });

export const phaseAmount = z.union([amount, z.strictObject({ units: amount })], {
  error: `${AMOUNT_TEXT}, or { units: 5% }`,
});

export const name = z
  .string()
  .regex(NAME, {
    error: 'expected lower-case letters, digits and hyphens, at most 63, not beginning or ending with a hyphen',
  })
  .refine((text) => text !== 'constructor', { error: 'constructor is a reserved word; choose another name' })
  .meta(NOT_RESERVED);

export const principal = z
  .string()
  .max(SPEC_LIMITS.principal.max)
  .regex(PRINCIPAL, { error: 'expected a principal such as user:alice, group:storage or service:ci' });
