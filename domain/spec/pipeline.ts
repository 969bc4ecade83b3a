import { z } from 'zod';
import { DEFAULT_PACE } from '../deploy/defaults';
import { deployFields, deployWith } from './deploy';
import {
  CALENDAR_MODE,
  CANARY,
  COUNTED,
  DEPLOY,
  FINDER,
  MAKER_OF_NOTHING,
  PICK,
  RECEIVER,
  VERSION_OF,
  WINDOWS,
} from './expressible';
import { SPEC_LIMITS } from '../limits';
import { KEYLESS_FORMATS } from '../notify/formats';
import { NOTIFY_ON } from '../notify/notice';
import { amount, duration, positiveDuration, listOf, name, principal, text, zone } from './scalars';
import { offersAndWishes } from './offers';
import { LONGEST_PAGE_WAIT_MS, WHO_IS_PAGED } from '../onCall';
import { blackouts, window } from './times';

/** The time for which an emergency waits for approvals. */
const DEFAULT_APPROVAL_TIMEOUT_MS = 3_600_000;

const DEFAULT_PAGE_WAIT_MS = 600_000;

/** The pipeline file (docs/reference/pipelines.md). One schema serves YAML, TypeScript, editors and the code; unknown keys are errors. */

/** The fields that every action may have. */
const common = {
  needs: listOf(name, SPEC_LIMITS.needs).default([]),
  inputs: listOf(name, SPEC_LIMITS.inputs).default([]),
  outputs: listOf(name, SPEC_LIMITS.outputs).default([]),
  runIf: z.enum(['success', 'failure', 'always']).default('success'),
  join: z.enum(['all', 'any']).default('all'),
  when: listOf(
    z.union(
      [
        z.strictObject({ artifact: name, field: text(), in: listOf(text(), SPEC_LIMITS.whenIn).min(1) }),
        z.strictObject({ action: name, outcome: z.enum(['succeeded', 'failed', 'cancelled', 'skipped']) }),
        z.strictObject({ changed: name }),
      ],
      { error: 'expected { artifact, field, in }, { action, outcome } or { changed }' },
    ),
    SPEC_LIMITS.when,
  ).default([]),
  mutex: listOf(name, SPEC_LIMITS.actionMutex).default([]),
  timeout: duration.optional(),
  retry: z
    .strictObject({ attempts: z.number().int().min(1).max(SPEC_LIMITS.retries.max), backoff: duration.default(0) })
    .default({ attempts: 1, backoff: 0 }),
  window: z
    .union([window, listOf(window, SPEC_LIMITS.windows).min(1).meta(WINDOWS)], {
      error: 'expected a window { days, from, to, timezone }, or a list of them',
    })
    .optional(),
  blackouts: blackouts.optional(),
};

const free = z.record(text(), z.unknown()).default({});

/** The newest release of another pipeline, or the one with this release's version of an artifact, or with a given version. */
const waitForFields = z
  .strictObject({ pipeline: name, artifact: name.optional(), version: text().min(1).optional() })
  .refine(({ artifact, version }) => version === undefined || artifact !== undefined, {
    error: 'a version needs the artifact that it is of',
    path: ['version'],
  })
  .meta(VERSION_OF);

export const ACTION_TYPES = [
  'build',
  'pkg',
  'deploy',
  'canary',
  'integr-test',
  'perf-test',
  'custom-script',
  'manual-pick',
  'wait-for',
  'custom',
] as const;

const soakTime = positiveDuration('expected more than 0s: nothing soaks in no time');

/** The version has to have run for this long, in another action of this release or in another pipeline. */
const soak = z
  .union(
    [
      z.strictObject({ action: name, for: soakTime }),
      z.strictObject({ pipeline: name, artifact: name, for: soakTime }),
    ],
    { error: 'expected { action, for } or { pipeline, artifact, for }' },
  )
  .optional();

export const action = z
  .discriminatedUnion(
    'type',
    [
      z.strictObject({ type: z.literal('build'), with: free, ...common }),
      z.strictObject({ type: z.literal('pkg'), with: free, ...common }),
      z.strictObject({ type: z.literal('integr-test'), with: free, ...common }),
      z.strictObject({ type: z.literal('perf-test'), with: free, ...common }),
      z.strictObject({ type: z.literal('deploy'), with: deployWith, soak, ...common }).meta(DEPLOY),
      z
        .strictObject({
          type: z.literal('canary'),
          with: deployFields
            .pick({ pushType: true, config: true, healthChecks: true, healthInterval: true })
            .extend({ amount, bake: duration.default(DEFAULT_PACE.bake), keepUntil: name.optional() }),
          soak,
          ...common,
        })
        .meta(CANARY),
      z
        .strictObject({
          type: z.literal('custom-script'),
          with: z.strictObject({
            command: listOf(text(SPEC_LIMITS.argument), SPEC_LIMITS.arguments).min(1),
            env: listOf(text(), SPEC_LIMITS.variables).default([]),
          }),
          ...common,
        })
        .meta(MAKER_OF_NOTHING),
      z
        .strictObject({
          type: z.literal('manual-pick'),
          with: z
            .strictObject({
              timeout: duration.optional(),
              principals: listOf(principal, SPEC_LIMITS.principals).default([]),
            })
            .default({ principals: [] }),
          ...common,
        })
        .meta(PICK),
      z.strictObject({ type: z.literal('wait-for'), with: waitForFields, ...common }).meta(MAKER_OF_NOTHING),
      z.strictObject({ type: z.literal('custom'), with: z.looseObject({ service: text().min(1) }), ...common }),
    ],
    {
      error:
        'expected a type: build, pkg, deploy, canary, integr-test, perf-test, custom-script, manual-pick, wait-for or custom',
    },
  )
  .meta(COUNTED);

const labels = () => z.record(text(SPEC_LIMITS.labelKey), text(SPEC_LIMITS.labelValue));
const selectingLabels = labels().meta({ minProperties: 1, maxProperties: SPEC_LIMITS.childLabels.max });

const childrenSelector = z.union(
  [listOf(name, SPEC_LIMITS.children).min(1), z.strictObject({ label: selectingLabels })],
  {
    error: 'expected a list of pipelines, or { label: { key: value } }',
  },
);

export const pipelineSchema = z.strictObject({
  pipeline: name,
  description: text(SPEC_LIMITS.description).default(''),
  owners: listOf(principal, SPEC_LIMITS.owners).min(1, { error: 'a pipeline needs at least one owner' }),
  labels: labels().meta({ maxProperties: SPEC_LIMITS.labels.max }).default({}),
  priority: z.enum(['low', 'normal', 'high', 'critical']).default('normal'),
  schedule: z
    .strictObject({
      mode: z.enum(['continuous', 'calendar', 'manual']).default('continuous'),
      gates: z.enum(['deploys', 'releases']).default('deploys'),
      calendar: text().optional(),
      timezone: zone().optional(),
    })
    .meta(CALENDAR_MODE)
    .default({ mode: 'continuous', gates: 'deploys' }),
  /** For deploys, canaries and every action with a window; missing in files of 0.2.0. */
  blackouts: blackouts.optional(),
  releases: z
    .strictObject({
      maxActive: z.number().int().positive().max(SPEC_LIMITS.maxActive.max).default(5),
      supersede: z.enum(['waiting', 'never', 'running']).default('waiting'),
      onRevert: z.enum(['until-newer', 'hold', 'continue']).default('until-newer'),
      expireAfter: positiveDuration('expected more than 0s: a release that expires at once never starts').optional(),
    })
    .default({ maxActive: 5, supersede: 'waiting', onRevert: 'until-newer' }),
  artifacts: z
    .record(name, z.strictObject({ finder: text(SPEC_LIMITS.finder).min(1), with: free }).meta(FINDER))
    .meta({ maxProperties: SPEC_LIMITS.artifacts.max })
    .default({}),
  mutex: z
    .record(name, z.strictObject({ scope: z.enum(['pipeline', 'global']).default('pipeline') }))
    .meta({ maxProperties: SPEC_LIMITS.mutex.max })
    .default({}),
  actions: z.record(name, action),
  ...offersAndWishes,
  children: z
    .strictObject({
      pipelines: childrenSelector,
      artifacts: listOf(name, SPEC_LIMITS.childArtifacts).default([]),
      jitter: duration.default(0),
      maxConcurrent: z.number().int().positive().default(50),
      first: z.strictObject({ label: selectingLabels, atLeast: z.number().int().positive() }).optional(),
    })
    .optional(),
  emergency: z
    .strictObject({
      approvals: z.number().int().nonnegative().default(0),
      timeout: duration.default(DEFAULT_APPROVAL_TIMEOUT_MS),
    })
    .optional(),
  /** Pages a person if a deploy pauses or reverts by itself and no person acts on it in time. */
  onCall: z
    .strictObject({
      page: text(SPEC_LIMITS.url).regex(WHO_IS_PAGED, {
        error: 'expected a person, a group, a receiver of the settings, or the URL of a schedule',
      }),
      after: duration.default(DEFAULT_PAGE_WAIT_MS),
    })
    .refine(({ after }) => after <= LONGEST_PAGE_WAIT_MS, { error: 'a page waits for 24h at most', path: ['after'] })
    .optional(),
  notify: listOf(
    z
      .strictObject({
        on: listOf(z.enum(NOTIFY_ON), SPEC_LIMITS.events).min(1),
        url: text(SPEC_LIMITS.url).optional(),
        /** Without a format the host decides (`hosts` of a format); all other hosts get CloudEvents. */
        format: z.enum(KEYLESS_FORMATS).optional(),
        /** A receiver of the platform's settings, which have its address, format and key. */
        to: name.optional(),
      })
      .refine(({ url, to }) => (url === undefined) !== (to === undefined), {
        error: 'expected a url, or to with the name of a receiver',
      })
      .refine(({ format, to }) => format === undefined || to === undefined, {
        error: 'the settings of the platform have the format of this receiver',
        path: ['format'],
      })
      .meta(RECEIVER),
    SPEC_LIMITS.notify,
  ).default([]),
});

export type PipelineSpec = z.output<typeof pipelineSchema>;
export type PipelineSource = z.input<typeof pipelineSchema>;
export type ActionSpec = PipelineSpec['actions'][string];
export type DeployAction = Extract<ActionSpec, { type: 'deploy' }>;
/** The soak that a version needs before a deploy or a canary. */
export type SoakSpec = NonNullable<z.output<typeof soak>>;
export type CanaryAction = Extract<ActionSpec, { type: 'canary' }>;
