import { z } from 'zod';
import type { Unit, UnitProgress } from '../../domain/fleet/unit';
import { healthCheckSchema } from '../../domain/spec/health';
import { artifactSchema, emptySchema, type Protocol } from './common';

/** The push type protocol (protocols.md; Conveyor §5.2, Push article "Push Types"). */
export const amountSchema = z.union([
  z.object({ count: z.number().int().positive() }).strict(),
  z.object({ percent: z.number().positive().max(100) }).strict(),
  z.object({ all: z.literal(true) }).strict(),
]);

export const targetSchema = z.object({
  unit: z.string(),
  version: z.string(),
  artifacts: z.array(artifactSchema),
  /** Bring the unit to at least this many of its current tasks on `version`. Left out with `updatedBy`. */
  amount: amountSchema.optional(),
  /** All tasks that these updates touched, or that inherited their version. */
  updatedBy: z.array(z.string()).optional(),
  /** Update ids whose tasks are not to be touched or counted: running canaries. Such updates do not make a unit busy. */
  exclude: z.array(z.string()).optional(),
});
export type Target = z.infer<typeof targetSchema>;

export const unitSchema = z.object({
  id: z.string(),
  labels: z.record(z.string(), z.string()),
  size: z.number().int().nonnegative(),
  version: z.string().nullable(),
  mixed: z.boolean(),
  available: z.boolean(),
}) satisfies z.ZodType<Unit>;

export const unitProgressSchema = z.object({
  id: z.string(),
  state: z.enum(['pending', 'updating', 'paused', 'done', 'failed']),
  targeted: z.number().int().nonnegative(),
  updated: z.number().int().nonnegative(),
  live: z.number().int().nonnegative(),
  failed: z.number().int().nonnegative(),
  unreachable: z.number().int().nonnegative(),
  gone: z.number().int().nonnegative(),
  reason: z.string().optional(),
}) satisfies z.ZodType<UnitProgress>;

export const verdictSchema = z.enum(['healthy', 'inconclusive', 'errored', 'unhealthy']);

export const evidenceSchema = z.object({
  name: z.string(),
  verdict: verdictSchema,
  observed: z.number().nullable(),
  reference: z.number().nullable(),
  threshold: z.number().nullable(),
  /** Points that the verdict rests on, of the new side. */
  samples: z.number().int().nonnegative(),
  tasks: z.number().int().nonnegative(),
  window: z.object({ start: z.number(), end: z.number() }),
  reason: z.string(),
  /** What a rank test found: `p`, the shift and Cliff's delta. */
  test: z
    .object({
      p: z.number(),
      shift: z.object({ estimate: z.number(), low: z.number(), high: z.number() }),
      effect: z.number(),
    })
    .optional(),
});
export type Evidence = z.infer<typeof evidenceSchema>;

export const healthTargetsSchema = z.object({
  units: z.array(z.string()),
  updatedBy: z.array(z.string()),
  exclude: z.array(z.string()).optional(),
});
export type HealthTargets = z.infer<typeof healthTargetsSchema>;

const updateRef = z.object({ updateId: z.string(), units: z.array(z.string()).optional() });

export const pushTypeProtocol = {
  validateConfig: {
    request: z.object({}),
    response: z.object({ problems: z.array(z.object({ path: z.string(), message: z.string() })) }),
    mutates: false,
  },
  fetchDeployUnits: {
    request: z.object({}),
    response: z.object({ service: z.string(), units: z.array(unitSchema) }),
    mutates: false,
  },
  needsPush: {
    request: z.object({ targets: z.array(targetSchema) }),
    response: z.object({
      /** A task that is on its way to the version differs until it is up: a later update of it takes over such tasks, and is not done before them. */
      units: z.array(z.object({ id: z.string(), size: z.number().int(), outdated: z.number().int() })),
    }),
    mutates: false,
  },
  executeUpdates: {
    request: z.object({
      updateId: z.string(),
      targets: z.array(targetSchema),
      wholeUnit: z.boolean(),
      urgency: z.enum(['normal', 'revert']),
    }),
    response: z.object({ accepted: z.array(z.string()) }),
    mutates: true,
  },
  trackUpdates: {
    request: z.object({ updateId: z.string() }),
    response: z.object({ units: z.array(unitProgressSchema) }),
    mutates: false,
  },
  pauseUpdates: { request: updateRef, response: emptySchema, mutates: true },
  resumeUpdates: { request: updateRef, response: emptySchema, mutates: true },
  cancelUpdates: { request: updateRef, response: emptySchema, mutates: true },
  runHealthChecks: {
    request: z.object({
      targets: healthTargetsSchema,
      checks: z.array(healthCheckSchema),
      baseline: z.object({ start: z.number(), end: z.number() }),
      now: z.number(),
    }),
    response: z.object({
      units: z.array(z.object({ id: z.string(), checks: z.array(evidenceSchema) })),
      deploy: z.object({ checks: z.array(evidenceSchema) }),
    }),
    mutates: false,
  },
  shiftTraffic: {
    request: z.object({ units: z.array(z.string()), percent: z.number(), toVersion: z.string() }),
    response: emptySchema,
    mutates: true,
    optional: true,
  },
  prefetch: {
    request: z.object({ targets: z.array(targetSchema) }),
    response: emptySchema,
    mutates: true,
    optional: true,
  },
} as const satisfies Protocol;
export type PushTypeProtocol = typeof pushTypeProtocol;
