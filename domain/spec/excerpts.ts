import { z } from 'zod';
import { SPEC_LIMITS } from '../limits';
import { offerSchema, offerTo, offerVersion } from './offers';
import { listOf, name, text } from './scalars';

/**
 * The excerpt of a pipeline: its offers without their values, which are known only once they are made (µs, section 4.4). Files of other versions
 * may have more fields.
 */
export const excerptSchema = z.object({
  pipeline: name,
  offers: listOf(
    z.object({
      name,
      version: offerVersion.nullable(),
      to: offerTo,
      /** The paths of the parts of its value: `id`, `net.size`. */
      parts: z.array(text(SPEC_LIMITS.offerValue)),
      schema: offerSchema.optional(),
    }),
    SPEC_LIMITS.offers,
  ),
});

export type Excerpt = z.output<typeof excerptSchema>;
