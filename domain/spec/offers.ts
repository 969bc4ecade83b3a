import { z } from 'zod';
import { SPEC_LIMITS } from '../limits';
import { listOf, name, text } from './scalars';

/** The offers of a pipeline to others, and its wishes for theirs (docs/reference/pipelines.md#offers-and-wishes; µs, section 4). */

/** A semantic version, as npm knows it. */
const VERSION = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/;
const RANGE = /^(?:\^|~|>=)?\d+(?:\.\d+){0,2}$/;

const offer = z.strictObject({
  name,
  /** The deploy whose success makes the offer; the only deploy of the pipeline if it is left out. */
  after: name.optional(),
  version: text(SPEC_LIMITS.offerVersion)
    .regex(VERSION, { error: 'expected a semantic version such as 2.3.0' })
    .optional(),
  value: z.record(text(), z.unknown()).default({}),
  /** Patterns of pipelines. */
  to: listOf(text(SPEC_LIMITS.offerTo).min(1), SPEC_LIMITS.offerTos).min(1).default(['*']),
});

const wish = z.strictObject({
  from: name,
  offer: name,
  version: text(SPEC_LIMITS.offerVersion)
    .regex(RANGE, { error: 'expected a range such as ^2, ~2.3, >=2.3.0 or 2.3' })
    .optional(),
  /** The deploys that need it; all deploys if it is left out. */
  for: listOf(name, SPEC_LIMITS.needs).min(1).optional(),
});

/** Files written for 0.3.0 have neither. */
export const offersAndWishes = {
  offers: listOf(offer, SPEC_LIMITS.offers).optional(),
  wishes: listOf(wish, SPEC_LIMITS.wishes).optional(),
};

export type OfferSpec = z.output<typeof offer>;
export type WishSpec = z.output<typeof wish>;
