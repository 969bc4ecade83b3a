import { z } from 'zod';
import { listNotJson } from '../json';
import { SPEC_LIMITS } from '../limits';
import { VALUE_TYPES, type ValueSchema } from '../offers/schema';
import { listOf, name, text } from './scalars';

/** The offers of a pipeline to others, and its wishes for theirs (docs/reference/pipelines.md#offers-and-wishes; µs, section 4). */

/** A semantic version, as npm knows it. */
const VERSION = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/;
const RANGE = /^(?:\^|~|>=)?\d+(?:\.\d+){0,2}$/;

/** A few keywords of JSON Schema (domain/offers/schema.ts). */
export const offerSchema: z.ZodType<ValueSchema, ValueSchema> = z.strictObject({
  type: z.enum(VALUE_TYPES),
  get properties() {
    return z.record(text(), offerSchema).exactOptional();
  },
  required: listOf(text(), SPEC_LIMITS.needs).exactOptional(),
  get items() {
    return offerSchema.exactOptional();
  },
});

export const offerVersion = text(SPEC_LIMITS.offerVersion).regex(VERSION, {
  error: 'expected a semantic version such as 2.3.0',
});
/** Patterns of pipelines. */
export const offerTo = listOf(text(SPEC_LIMITS.offerTo).min(1), SPEC_LIMITS.offerTos).min(1);

/** Workflows carry it as JSON. */
const value = z.record(text(), z.unknown()).superRefine((given, context) => {
  for (const { path, what } of listNotJson(given)) {
    const hint = 'write a text, a finite number, true, false, null, a list or a mapping';
    const message = `${what} is no JSON, and users of the offer would get another value`;
    context.addIssue({ code: 'custom', path: [...path], message, params: { code: 'not-json', hint } });
  }
});

const offer = z.strictObject({
  name,
  /** The deploy whose success makes the offer; the only deploy of the pipeline if it is left out. */
  after: name.optional(),
  version: offerVersion.optional(),
  value: value.default({}),
  /** The type of the value, for those who write wishes. */
  schema: offerSchema.optional(),
  to: offerTo.default(['*']),
});

const wish = z.strictObject({
  from: name,
  offer: name,
  version: text(SPEC_LIMITS.offerVersion)
    .regex(RANGE, { error: 'expected a range such as ^2, ~2.3, >=2.3.0 or 2.3' })
    .optional(),
  /** The type that the value must have. */
  schema: offerSchema.optional(),
  /** If the offer is withdrawn, it waits until the pipeline no longer uses it, or the pipeline is undeployed by itself. */
  onWithdraw: z.enum(['hold', 'undeploy']).optional(),
  /** The actions that need it; all deploys if it is left out. */
  for: listOf(name, SPEC_LIMITS.needs).min(1).optional(),
});

/** Files written for 0.3.0 have neither. */
export const offersAndWishes = {
  offers: listOf(offer, SPEC_LIMITS.offers).optional(),
  wishes: listOf(wish, SPEC_LIMITS.wishes).optional(),
};

export type OfferSpec = z.output<typeof offer>;
export type WishSpec = z.output<typeof wish>;
