import { z } from 'zod';

/** Metadata of an artifact from a program: a whole number, such as a `sequence`, becomes text as written. */
export const sentMetadata = z
  .record(z.string(), z.union([z.string(), z.int().transform(String)], { error: 'expected text, or a whole number' }))
  .default({});
