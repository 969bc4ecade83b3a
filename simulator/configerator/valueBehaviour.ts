import { z } from 'zod';
import { behaviourSchema } from '../metrics/behaviour';

/** The effect of a value on its readers (`POST /control/config/behaviours`). */
export const valueBehaviourSchema = behaviourSchema
  .pick({
    ...{ errorRatio: true, cpuFactor: true, latencyFactor: true, connectionsFactor: true, engagementFactor: true },
    ...{ onlyRegion: true, atShare: true },
  })
  .extend({
    crashesPerMinute: z.number().positive().max(100).optional(),
    /** Why its applications refuse it. */
    refuses: z.string().min(1).max(200).optional(),
  });

const CONDITIONS = ['equals', 'above', 'below', 'contains'] as const;

/** The values that match; without a `field`, such as `limits.soft`, the whole value is tested. All conditions must hold. */
export const whenSchema = z
  .strictObject({
    field: z.string().min(1).max(256).optional(),
    equals: z.json().optional(),
    above: z.number().optional(),
    below: z.number().optional(),
    contains: z.string().min(1).max(256).optional(),
  })
  .refine((when) => CONDITIONS.some((condition) => when[condition] !== undefined), {
    error: `expected one of ${CONDITIONS.join(', ')}`,
  });

export type When = z.infer<typeof whenSchema>;
type ValueBehaviourSpec = z.infer<typeof valueBehaviourSchema>;

/** The effect of values on the metrics of a task. */
export type Acts = Omit<ValueBehaviourSpec, 'refuses' | 'onlyRegion' | 'atShare'>;

/** Applies from `since` on (ms since the epoch), until another one of the same `key`. */
export interface ValueBehaviour {
  readonly since: number;
  readonly key: string;
  /** Index of the path. */
  readonly of: number;
  readonly when: When;
  /** Only tasks that run this version have the bug that the value exposes. */
  readonly version: string | null;
  readonly spec: ValueBehaviourSpec;
}
