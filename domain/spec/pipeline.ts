import { z } from 'zod';
import { deployWith } from './deploy';
import { amount, duration, name, principal } from './scalars';

/** How long an emergency waits for approvals. */
const DEFAULT_APPROVAL_TIMEOUT_MS = 3_600_000;

/** The pipeline file (pipeline-spec.md). One schema for YAML, TypeScript, editors and the code; unknown keys are errors. */

const common = {
  needs: z.array(name).default([]),
  inputs: z.array(name).default([]),
  outputs: z.array(name).default([]),
  runIf: z.enum(['success', 'failure', 'always']).default('success'),
  join: z.enum(['all', 'any']).default('all'),
  when: z
    .array(
      z.union(
        [
          z.strictObject({ artifact: name, field: z.string(), in: z.array(z.string()).min(1) }),
          z.strictObject({ action: name, outcome: z.enum(['succeeded', 'failed', 'cancelled', 'skipped']) }),
          z.strictObject({ changed: name }),
        ],
        { error: 'expected { artifact, field, in }, { action, outcome } or { changed }' },
      ),
    )
    .default([]),
  mutex: z.array(name).default([]),
  timeout: duration.optional(),
  retry: z
    .strictObject({ attempts: z.number().int().min(1).max(100), backoff: duration.default(0) })
    .default({ attempts: 1, backoff: 0 }),
  window: z
    .strictObject({
      days: z.array(z.enum(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'])).min(1),
      from: z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, { error: 'expected a time such as 09:00' }),
      to: z.string().regex(/^(([01]\d|2[0-3]):[0-5]\d|24:00)$/, { error: 'expected a time such as 18:00' }),
      timezone: z.string(),
      onClose: z.enum(['pause', 'finish-phase']).default('pause'),
    })
    .optional(),
};

const free = z.record(z.string(), z.unknown()).default({});

/** Another pipeline's newest release, or one with this release's version of an artifact, or with a version that is named. */
const waitFor = z
  .strictObject({ pipeline: name, artifact: name.optional(), version: z.string().min(1).optional() })
  .refine(({ artifact, version }) => version === undefined || artifact !== undefined, {
    error: 'a version needs the artifact that it is of',
    path: ['version'],
  });

const action = z.discriminatedUnion(
  'type',
  [
    z.strictObject({ type: z.literal('build'), with: free, ...common }),
    z.strictObject({ type: z.literal('pkg'), with: free, ...common }),
    z.strictObject({ type: z.literal('integr-test'), with: free, ...common }),
    z.strictObject({ type: z.literal('perf-test'), with: free, ...common }),
    z.strictObject({ type: z.literal('deploy'), with: deployWith, ...common }),
    z.strictObject({
      type: z.literal('canary'),
      with: deployWith
        .pick({ pushType: true, config: true, healthChecks: true, healthInterval: true })
        .extend({ amount, bake: duration, keepUntil: name.optional() }),
      ...common,
    }),
    z.strictObject({
      type: z.literal('custom-script'),
      with: z.strictObject({ command: z.array(z.string()).min(1), env: z.array(z.string()).default([]) }),
      ...common,
    }),
    z.strictObject({
      type: z.literal('manual-pick'),
      with: z
        .strictObject({ timeout: duration.optional(), principals: z.array(principal).default([]) })
        .default({ principals: [] }),
      ...common,
    }),
    z.strictObject({ type: z.literal('wait-for'), with: waitFor, ...common }),
    z.strictObject({ type: z.literal('custom'), with: z.looseObject({ service: z.string().min(1) }), ...common }),
  ],
  {
    error:
      'expected a type: build, pkg, deploy, canary, integr-test, perf-test, custom-script, manual-pick, wait-for or custom',
  },
);

const selection = z.union([z.array(name).min(1), z.strictObject({ label: z.record(z.string(), z.string()) })], {
  error: 'expected a list of pipelines, or { label: { key: value } }',
});

export const pipelineSchema = z.strictObject({
  pipeline: name,
  description: z.string().default(''),
  owners: z.array(principal).min(1, { error: 'a pipeline needs at least one owner' }),
  labels: z.record(z.string(), z.string()).default({}),
  priority: z.enum(['low', 'normal', 'high', 'critical']).default('normal'),
  schedule: z
    .strictObject({
      mode: z.enum(['continuous', 'calendar', 'manual']).default('continuous'),
      gates: z.enum(['deploys', 'releases']).default('deploys'),
      calendar: z.string().optional(),
      timezone: z.string().optional(),
    })
    .default({ mode: 'continuous', gates: 'deploys' }),
  releases: z
    .strictObject({
      maxActive: z.number().int().positive().default(5),
      supersede: z.enum(['waiting', 'never', 'running']).default('waiting'),
      onRevert: z.enum(['until-newer', 'hold', 'continue']).default('until-newer'),
    })
    .default({ maxActive: 5, supersede: 'waiting', onRevert: 'until-newer' }),
  artifacts: z.record(name, z.strictObject({ finder: z.string().min(1), with: free })).default({}),
  mutex: z.record(name, z.strictObject({ scope: z.enum(['pipeline', 'global']).default('pipeline') })).default({}),
  actions: z.record(name, action),
  children: z
    .strictObject({
      pipelines: selection,
      artifacts: z.array(name).default([]),
      jitter: duration.default(0),
      maxConcurrent: z.number().int().positive().default(50),
      first: z
        .strictObject({ label: z.record(z.string(), z.string()), atLeast: z.number().int().positive() })
        .optional(),
    })
    .optional(),
  emergency: z
    .strictObject({
      approvals: z.number().int().nonnegative().default(0),
      timeout: duration.default(DEFAULT_APPROVAL_TIMEOUT_MS),
    })
    .optional(),
  notify: z
    .array(
      z.strictObject({
        on: z.array(z.enum(['reverted', 'paused', 'failed', 'succeeded', 'cancelled'])).min(1),
        url: z.string(),
      }),
    )
    .default([]),
});

export type PipelineSpec = z.output<typeof pipelineSchema>;
export type PipelineSource = z.input<typeof pipelineSchema>;
export type ActionSpec = PipelineSpec['actions'][string];
export type DeployAction = Extract<ActionSpec, { type: 'deploy' }>;
export type CanaryAction = Extract<ActionSpec, { type: 'canary' }>;

/** For pipelines written in TypeScript: `export default definePipeline({ … })`, checked by the compiler and the same schema. */
export const definePipeline = (source: PipelineSource): PipelineSource => source;
