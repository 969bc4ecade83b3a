import { z } from 'zod';
import { DEFAULT_PACE } from '../deploy/defaults';
import { LOCKSTEP } from './expressible';
import { healthCheckInFile } from './health';
import { SPEC_LIMITS } from '../limits';
import { amount, duration, listOf, phaseAmount, text } from './scalars';

/** The `with` of a `deploy` action (docs/reference/pipelines.md, docs/design/deploy.md). Durations become ms, amounts `Amount`. */

const serviceCall = z.strictObject({ service: text(), with: z.record(text(), z.unknown()).default({}) });
const commandCall = z.strictObject({ command: listOf(text(SPEC_LIMITS.argument), SPEC_LIMITS.arguments).min(1) });
const call = z.union([serviceCall, commandCall], { error: 'expected { service, with } or { command: [...] }' });
const around = {
  undo: call.optional(),
  timeout: duration.optional(),
  onFailure: z.enum(['pause', 'revert']).default('pause'),
};
const step = z.union([serviceCall.extend(around), commandCall.extend(around)], {
  error: 'expected { service, with } or { command: [...] }',
});

const DEFAULT_HEALTH_INTERVAL_MS = 60_000;

const pacing = {
  bake: duration.default(DEFAULT_PACE.bake),
  success: amount.default(DEFAULT_PACE.success),
  updateTimeout: duration.default(DEFAULT_PACE.updateTimeout),
  pre: listOf(step, SPEC_LIMITS.steps).default([]),
  post: listOf(step, SPEC_LIMITS.steps).default([]),
};

/** The same syntax that `inScope` reads. Only the name of a unit may contain colons. */
const SCOPE = /^(\*|[^\s:*]+|name:\S+|[^\s:]+:[^\s:]([^:]*[^\s:])?)$/;

const scope = text().regex(SCOPE, { error: 'expected *, the name of a unit, or label:value such as region:x' });

const phase = z.union(
  [
    z.strictObject({ name: text().optional(), scope, amount: phaseAmount, ...pacing }),
    z.strictObject({ name: text().optional(), forEach: text().min(1), amount: phaseAmount, ...pacing }),
  ],
  { error: 'expected a phase with scope (or forEach) and amount' },
);

const completion = z.strictObject({
  bake: duration.optional(),
  success: amount.optional(),
  updateTimeout: duration.optional(),
  pre: listOf(step, SPEC_LIMITS.steps).optional(),
  post: listOf(step, SPEC_LIMITS.steps).optional(),
});

export const deployFields = z.strictObject({
  pushType: text().min(1),
  config: z.record(text(), z.unknown()).default({}),
  mode: z.enum(['sequential', 'parallel']).default('sequential'),
  lockstep: z.boolean().default(false),
  pauseBy: text().default('unit'),
  maxPaused: z.number().int().nonnegative().optional(),
  onUnitUnavailable: z.enum(['pause', 'skip']).default('pause'),
  allowEmpty: z.boolean().default(false),
  phases: listOf(phase, SPEC_LIMITS.phases).optional(),
  completion: completion.optional(),
  healthChecks: listOf(healthCheckInFile, SPEC_LIMITS.healthChecks).default([]),
  healthInterval: duration.default(DEFAULT_HEALTH_INTERVAL_MS),
  onUnhealthy: z.enum(['revert', 'pause']).default('revert'),
});

export const deployWith = deployFields.meta(LOCKSTEP);

export type DeploySpec = z.output<typeof deployWith>;
/** A step before or after a phase. `timeout` is in ms, and also applies to its `undo`. */
export type StepSpec = z.output<typeof step>;
export type StepCall = z.output<typeof call>;
export type PhaseSpec = z.output<typeof phase>;
export type CompletionSpec = z.output<typeof completion>;
