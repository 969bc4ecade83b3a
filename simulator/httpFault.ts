import { z } from 'zod';

/** A fault in the answers of a service (`POST /control/faults`, kind `http`). */
export const httpFaultSchema = z.strictObject({
  kind: z.literal('http'),
  service: z.string().min(1),
  method: z.string().min(1).optional(),
  mode: z.enum(['down', 'error', 'delay', 'lose-reply', 'duplicate', 'garbage']),
  /** Share of the calls that it hits; all by default. */
  rate: z.number().gt(0).max(1).default(1),
  /** The fault ends after this many calls. */
  count: z.number().int().positive().optional(),
  /** The fault ends this long after the first call that it hits, in simulated ms. */
  forMs: z.number().positive().optional(),
  /** For `delay`, in simulated ms. */
  delayMs: z.number().nonnegative().default(1000),
});
export type Input = z.infer<typeof httpFaultSchema>;
/** `untilMs` is set from the first call on. */
export type HttpFault = Omit<Input, 'count'> & { left: number | null; untilMs?: number };
export const newHttpFault = ({ count, ...fault }: Input): HttpFault => ({ ...fault, left: count ?? null });
