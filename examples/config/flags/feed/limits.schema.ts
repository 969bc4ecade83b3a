import { z } from 'zod';

/** Requests a second that the feed accepts from one user. */
export const limits = z.strictObject({ soft: z.number(), hard: z.number().default(100) });
