import { z } from 'zod';
import type { Unit, UnitProgress } from '../../domain/fleet/unit';
import { healthCheckSchema } from '../../domain/spec/health';
import { artifactSchema, emptySchema, MIB, type Protocol } from './common';
import { HEALTH_RULES, NEEDS_RULES, PROGRESS_RULES, REMOVAL_RULES, UNITS_RULES } from './contradictions/pushType';

/** At least so many tasks of a unit, in an update (docs/reference/protocols.md#executeupdates). `percent` is of all tasks of the unit. */
export const amountSchema = z.union([
  z.object({ count: z.number().int().positive() }).strict(),
  z.object({ percent: z.number().positive().max(100) }).strict(),
  z.object({ all: z.literal(true) }).strict(),
]);

const wantedFields = {
  version: z.string(),
  artifacts: z.array(artifactSchema),
  /**
   * Bring at least this many of the unit's current tasks to `version`. With `updatedBy`, which only lockstep combines with it: take no more of those
   * tasks than this, counting those on their way to `version`, and first those that are down.
   */
  amount: amountSchema.optional(),
  /**
   * All tasks that these updates touched, or that inherited their version: tasks added since, and those that a canary
   * returned to the version that one of these updates had set for the whole unit.
   */
  updatedBy: z.array(z.string()).optional(),
  /** Update ids whose tasks must not be touched or counted: running canaries. Such updates do not make a unit busy. */
  exclude: z.array(z.string()).optional(),
};
/** A target of `needsPush`, `executeUpdates` and `prefetch`, with the fields of `common` filled in. */
export const targetSchema = z.object({ unit: z.string(), ...wantedFields });
/** A unit, the version that it is to run with its artifacts, and the tasks that are meant. */
export type Target = z.infer<typeof targetSchema>;

/**
 * Targets. Fields with the same value for all may be given once in `common`; a field of a target itself takes
 * precedence. Conveyor uses `common` for push types that return their units in pages.
 */
const targetsFields = {
  targets: z.array(
    z
      .object({ unit: z.string(), ...wantedFields })
      .partial()
      .required({ unit: true }),
  ),
  common: z.object(wantedFields).partial().optional(),
};
const targetsSchema = z.object(targetsFields).superRefine(({ targets, common }, context) => {
  targets.forEach((target, index) => {
    for (const field of ['version', 'artifacts'] as const)
      if (target[field] === undefined && common?.[field] === undefined)
        context.addIssue({ code: 'custom', path: ['targets', index, field], message: 'missing, also in common' });
  });
});

const withCommonFields = <R extends z.infer<typeof targetsSchema>>({ targets, common, ...rest }: R) => ({
  ...(rest as Omit<R, 'targets' | 'common'>),
  targets: targets.map((target) => ({ ...common, ...target }) as Target),
});

/** A unit in the answer of `fetchDeployUnits` (docs/reference/protocols.md#fetchdeployunits). */
export const unitSchema = z.object({
  id: z.string(),
  labels: z.record(z.string(), z.string()),
  /** The number of its tasks now. */
  size: z.number().int().nonnegative(),
  /** The version on which an added task starts, and to which a revert goes back; null if there never was one, or if the unit was removed. */
  version: z.string().nullable(),
  /** Whether its tasks run more than one version. */
  mixed: z.boolean(),
  /** Whether it can be updated now; a deploy leaves it out until then. */
  available: z.boolean(),
}) satisfies z.ZodType<Unit>;

/** The progress of one unit in the answer of `trackUpdates`; counts are tasks (docs/reference/protocols.md#trackupdates). */
export const unitProgressSchema = z.object({
  id: z.string(),
  state: z.enum(['pending', 'updating', 'paused', 'done', 'failed']),
  /** Tasks that the update has chosen: they were not up on the version. */
  targeted: z.number().int().nonnegative(),
  /** Targeted tasks that have left their old version, or have come up on the version. */
  updated: z.number().int().nonnegative(),
  /** Targeted tasks that run on the version and pass their liveness check now. */
  live: z.number().int().nonnegative(),
  /** Targeted tasks that were tried and did not come up. */
  failed: z.number().int().nonnegative(),
  /** Targeted tasks that cannot be asked now. */
  unreachable: z.number().int().nonnegative(),
  /** Targeted tasks that no longer exist; a removal is done once all of them are gone. */
  gone: z.number().int().nonnegative(),
  /** Why it failed or does not advance. */
  reason: z.string().optional(),
  /** The number of others that go first, if it waits for its turn. */
  ahead: z.number().int().nonnegative().optional(),
}) satisfies z.ZodType<UnitProgress>;

/** The verdict of a check in the answer of `runHealthChecks`: only `unhealthy` reverts (docs/reference/protocols.md#runhealthchecks). */
export const verdictSchema = z.enum(['healthy', 'inconclusive', 'errored', 'unhealthy']);

/** One check in the answer of `runHealthChecks`, with its evidence (docs/reference/protocols.md#runhealthchecks). */
export const evidenceSchema = z.object({
  name: z.string(),
  verdict: verdictSchema,
  /** The metric of the updated tasks, transformed and reduced. */
  observed: z.number().nullable(),
  /** The same for the tasks that they are compared with; null if there are none. */
  reference: z.number().nullable(),
  /** The limit, in the unit of `observed`. */
  threshold: z.number().nullable(),
  /** The number of points on the new side behind the verdict. */
  samples: z.number().int().nonnegative(),
  /** The number of updated tasks that had points. */
  tasks: z.number().int().nonnegative(),
  /** The time range of the points, in ms since the epoch. */
  window: z.object({ start: z.number(), end: z.number() }),
  reason: z.string(),
  /** The result of a rank test: `p`, the shift and Cliff's delta. */
  test: z
    .object({
      p: z.number(),
      shift: z.object({ estimate: z.number(), low: z.number(), high: z.number() }),
      effect: z.number(),
    })
    .optional(),
});
/** The verdict of one check of one unit or of the deploy, and the numbers behind it. */
export type Evidence = z.infer<typeof evidenceSchema>;

/** The `targets` of `runHealthChecks`: units, and which of their tasks to judge (docs/reference/protocols.md#runhealthchecks). */
export const healthTargetsSchema = z.object({
  units: z.array(z.string()),
  /** Update ids: the tasks that one of these updates touched last; all tasks if it is empty. */
  updatedBy: z.array(z.string()),
  /** Update ids: the tasks of these updates are not judged. */
  exclude: z.array(z.string()).optional(),
});
/** The units to judge, and the updates that touched the tasks to judge. */
export type HealthTargets = z.infer<typeof healthTargetsSchema>;

const updatesSchema = targetsSchema.safeExtend({
  updateId: z.string(),
  wholeUnit: z.boolean(),
  urgency: z.enum(['normal', 'revert']),
});

const updateRef = z.object({ updateId: z.string(), units: z.array(z.string()).optional() });

/** The row of one unit in the answer of `needsPush`; counts are tasks (docs/reference/protocols.md#needspush). */
export const unitNeedSchema = z.object({
  id: z.string(),
  /** All tasks of the unit. */
  size: z.number().int().nonnegative(),
  /** Tasks that the target means and that are not up on its version; with an `amount`, as many as are missing to it. */
  outdated: z.number().int().nonnegative(),
  /** How many of the outdated tasks have left their old version and are not up: lockstep sends them no traffic. Left out: none. */
  down: z.number().int().nonnegative().optional(),
  /** How many of its tasks may be unavailable at once; lockstep takes this many at a step. Left out: a twentieth of them. */
  budget: z.number().int().nonnegative().optional(),
});

/** The push type protocol (docs/reference/protocols.md#push-type; Conveyor §5.2, Push article "Push Types"). */
export const pushTypeProtocol = {
  validateConfig: {
    /** At the start of a deploy, also its version and artifacts. */
    request: z.object({ version: z.string().optional(), artifacts: z.array(artifactSchema).optional() }),
    response: z.object({ problems: z.array(z.object({ path: z.string(), message: z.string() })) }),
    mutates: false,
  },
  fetchDeployUnits: {
    /** A page of at most `limit` units, after the page whose answer had `next: cursor`. */
    request: z.object({ cursor: z.string().optional(), limit: z.number().int().positive().optional() }),
    /**
     * `next`: the cursor of the next page; null after the last. A push type that returns it, even as null, promises to accept an update in several
     * requests with different units, and shared fields in `common`. A push type that omits it returns all units at once.
     */
    response: z.object({ service: z.string(), units: z.array(unitSchema), next: z.string().nullish() }),
    contradictions: UNITS_RULES,
    maxAnswerBytes: 4 * MIB,
    mutates: false,
  },
  needsPush: {
    request: targetsSchema,
    expand: withCommonFields<z.infer<typeof targetsSchema>>,
    response: z.object({
      /**
       * A task that is on its way to the version counts as outdated until it is up: a later update to the same version
       * takes over such tasks, and is not done before them.
       */
      units: z.array(unitNeedSchema),
    }),
    contradictions: NEEDS_RULES,
    mutates: false,
  },
  executeUpdates: {
    /** If units come in pages, the same update may come in several requests, each with different units and its own key. */
    request: updatesSchema,
    expand: withCommonFields<z.infer<typeof updatesSchema>>,
    response: z.object({ accepted: z.array(z.string()) }),
    mutates: true,
  },
  trackUpdates: {
    /** `units`: applies only to these. */
    request: z.object({ updateId: z.string(), units: z.array(z.string()).optional() }),
    response: z.object({ units: z.array(unitProgressSchema) }),
    contradictions: PROGRESS_RULES,
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
    contradictions: HEALTH_RULES,
    maxAnswerBytes: 16 * MIB,
    mutates: false,
  },
  /**
   * For each unit, `percent` (to four decimals) of the requests go to tasks on `toVersion` from now on, even if there are none yet, and the rest to
   * its other tasks, until the next call. Without units nothing changes: such a call only asks whether the push type supports it.
   */
  shiftTraffic: {
    request: z.object({ units: z.array(z.string()), percent: z.number(), toVersion: z.string() }),
    response: emptySchema,
    mutates: true,
    optional: true,
  },
  prefetch: {
    request: targetsSchema,
    expand: withCommonFields<z.infer<typeof targetsSchema>>,
    response: emptySchema,
    mutates: true,
    optional: true,
  },
  /**
   * Stops all tasks of these units for good, as one update: `trackUpdates` follows it, and the same commands apply to it. Without units nothing
   * changes: such a call only asks whether the push type supports it.
   */
  removeUnits: {
    request: z.object({ updateId: z.string(), units: z.array(z.string()) }),
    response: z.object({ accepted: z.array(z.string()) }),
    contradictions: REMOVAL_RULES,
    mutates: true,
    optional: true,
  },
} as const satisfies Protocol;
/** The methods of a push type (docs/reference/protocols.md#push-type). */
export type PushTypeProtocol = typeof pushTypeProtocol;
