import { z } from 'zod';

/** Settings that the servers of the feed read while they run. */
export const settings = z.strictObject({
  /** Requests a second of one user: the rate above which they are slowed down, and the one above which they are refused. */
  soft: z.number(),
  hard: z.number().default(100),
  /** How often a request to the store is retried. */
  retries: z.int().min(0).max(10).default(2),
  encoding: z.enum(['gzip', 'zstd']).default('gzip'),
});
