import { z } from 'zod';
import { NAME } from '../domain/ids';
import { REQUEST_LIMITS } from '../domain/limits';
import { DEPLOY_VERBS, PIPELINE_VERBS, RELEASE_VERBS } from '../domain/verbs';
import { artifactSchema } from '../sdk/protocol/common';
import { sentMetadata } from './webhookMetadata';

/** Schemas of requests and responses; `/openapi.json` is generated from them. */

const key = z.string().min(1);
const triggerKind = z.enum(['manual', 'api']).default('api').describe('whether a person or a program asked for it');

export const releaseRequest = z.strictObject({
  artifacts: z
    .array(
      artifactSchema.extend({
        metadata: sentMetadata,
        name: z.string().regex(NAME, { error: 'expected lower-case letters, digits and hyphens' }),
        version: z.string().min(1),
        kind: z.string().min(1).optional().describe('the kind; defaults to the name'),
      }),
    )
    .default([]),
  trigger: triggerKind,
  reason: z.string().trim().min(1).optional().describe('why; it is recorded'),
  idempotencyKey: key
    .optional()
    .describe('repeating a key returns the same release; the header Idempotency-Key does the same'),
});

export const rerunRequest = z.strictObject({
  trigger: triggerKind,
  reason: releaseRequest.shape.reason,
  idempotencyKey: releaseRequest.shape.idempotencyKey,
});

export const listQuery = z.strictObject({
  pipeline: z.string().regex(NAME).optional(),
  state: z.string().min(1).optional(),
  limit: z.coerce.number().int().min(1).max(REQUEST_LIMITS.rows.max).default(100),
});

/** The query of resources that can be read without a worker. */
export const liveQuery = z.strictObject({
  live: z
    .enum(['true', 'false'])
    .default('false')
    .describe('true: if no worker answers, return an error instead of the last known state'),
});

export const logsQuery = z.strictObject({ attempt: z.coerce.number().int().min(1).optional() });

export const pipelineVerb = z.enum(PIPELINE_VERBS);
/** A release passes verbs that it does not know to its only running deploy. */
export const releaseVerb = z.enum([...new Set([...RELEASE_VERBS, ...DEPLOY_VERBS])]);

export const startedAnswer = z.object({
  id: z.string(),
  number: z.number().int(),
  duplicate: z.boolean().describe('true if the same key started it before'),
  passedOver: z
    .array(z.string())
    .optional()
    .describe('for omitted inputs whose latest version failed: the version used instead'),
});

export const deliveredAnswer = z.object({
  releases: z.array(z.object({ id: z.string(), duplicate: z.boolean() })),
  awaiting: z
    .array(z.object({ pipeline: z.string(), artifacts: z.array(z.string()) }))
    .describe('pipelines that keep the artifact but start no release, and their inputs that have no value yet'),
  refused: z.array(z.object({ pipeline: z.string(), code: z.string(), message: z.string() })),
  left: z
    .number()
    .int()
    .describe('pipelines that were not reached in time; the next sweep of their finder brings it to them'),
});

export const receiptAnswer = z.object({ id: z.string(), accepted: z.literal(true), effect: z.string() });

export const failureAnswer = z.object({
  error: z.object({
    ...{ code: z.string(), message: z.string(), hint: z.string() },
    retryable: z.boolean().describe('whether the same request may succeed later'),
    exit: z.number().int().describe('the exit code of the command line'),
  }),
});

export const time = z.iso.datetime();
const trigger = z.looseObject({ kind: z.string(), actor: z.string(), key: z.string().nullable() });

const staleFields = {
  live: z.literal(false).optional().describe('no worker answers: the last state known to the Temporal server'),
  problem: z.string().optional().describe('why it is not current'),
};

const lockHolder = z
  .object({ id: z.string().describe('its release'), since: time.nullable() })
  .optional()
  .describe('the holder of the lock that it waits for');

const pauseFields = {
  by: z.string(),
  actor: z.string().nullable(),
  at: time,
  reason: z.string(),
  until: z.literal('resumed').optional().describe('the request was refused: only a person ends this pause'),
};

const undone = z
  .looseObject({
    by: z.string().describe('the release that undid it'),
    at: time.nullable().describe('null until then'),
    state: z.string().optional().describe('the state of the rollback until it has ended'),
  })
  .optional()
  .describe('the rollback that has undone it, or is going to');

const runsNow = z
  .array(z.looseObject({ action: z.string(), version: z.string(), by: z.string().nullable() }))
  .optional()
  .describe('once it is undone: the version that runs now, and the release that brought it');

const releaseFields = {
  ...staleFields,
  id: z.string(),
  kind: z.literal('release'),
  pipeline: z.string(),
  number: z.number().int(),
  state: z.enum(['queued', 'running', 'paused', 'succeeded', 'failed', 'cancelled']),
  cause: z.string().nullable(),
  rerunOf: z.number().int().optional().describe('the release of which it reruns the failed part'),
  trigger,
  startedAt: time,
  endedAt: time.nullable(),
  artifacts: z.array(artifactSchema),
  undone,
  replacedBy: z
    .string()
    .optional()
    .describe(
      'in its pipeline and the history: the release of another pipeline that has replaced its version everywhere',
    ),
  paused: z
    .looseObject(pauseFields)
    .optional()
    .describe('in its pipeline: who paused the release itself, when and why'),
  pausedDeploy: z
    .looseObject({ id: z.string(), ...pauseFields })
    .optional()
    .describe('in lists and in its pipeline: a paused deploy of it'),
};

const brokenUses = z
  .array(
    z.looseObject({
      ...{ action: z.string(), release: z.number().int(), from: z.string(), offer: z.string(), why: z.string() },
    }),
  )
  .optional()
  .describe('the broken offers of other pipelines that its deploys use');

const pages = z
  .array(
    z.looseObject({
      ...{ number: z.number().int(), deploy: z.string(), kind: z.enum(['paused', 'reverted']), reason: z.string() },
      ...{ since: time, dueAt: time, state: z.enum(['due', 'paged', 'failed', 'over']) },
      ...{ to: z.string().nullable(), note: z.string().nullable() },
      ...{ answeredBy: z.string().nullable(), answeredAt: time.nullable() },
    }),
  )
  .optional()
  .describe('pages of the person on call about deploys that paused or reverted by themselves');

export const releaseAnswer = z.looseObject({
  ...releaseFields,
  runsNow,
  brokenUses,
  pages,
  actions: z.array(
    z.looseObject({
      name: z.string(),
      type: z.string(),
      state: z.enum(['waiting', 'blocked', 'running', 'succeeded', 'failed', 'cancelled', 'skipped']),
      attempt: z.number().int(),
      blockedBy: z.string().nullable(),
      until: z.string().nullable(),
      heldBy: lockHolder,
      deploy: z.string().nullable(),
      paused: z
        .looseObject({
          ...pauseFields,
          now: z
            .looseObject({ answers: z.boolean(), at: time.nullable(), said: z.string(), nextAt: time.nullable() })
            .optional()
            .describe(
              'the present state of the dependency that caused the pause; the reason is from the start of the pause',
            ),
        })
        .optional()
        .describe('its deploy is paused'),
      carriedFrom: z.number().int().optional().describe('the release in which it succeeded; it was not run again'),
    }),
  ),
});

export const historyAnswer = z.array(z.looseObject({ ...releaseFields, durationMs: z.number().nullable() }));

export const findersAnswer = z.array(
  z.looseObject({
    id: z.string(),
    kind: z.literal('finder'),
    state: z.enum(['answers', 'failing', 'idle', 'paused', 'unasked']),
    answeredAt: time.nullable(),
    since: time.nullable(),
    reason: z.string().nullable(),
    nextAt: time.nullable(),
    refused: z.array(z.string()),
  }),
);

const pipelineFields = {
  ...staleFields,
  id: z.string(),
  kind: z.literal('pipeline'),
  owners: z.array(z.string()),
  labels: z.record(z.string(), z.string()),
  state: z.enum(['active', 'held', 'frozen']),
  active: z.array(z.number().int()),
  lastRelease: z.number().int().nullable(),
  deployedAt: time.optional(),
  stopped: z
    .looseObject({ actor: z.string(), at: time, reason: z.string() })
    .optional()
    .describe('in lists: who holds, froze or retired it'),
};

export const pipelinesAnswer = z.array(z.looseObject(pipelineFields));

export const offerState = z.enum(['unmade', 'made', 'changing', 'removing', 'withdrawing', 'broken']);
export const offerFields = {
  notMadeBy: z.number().int().optional().describe('the release that runs now, if it does not make it'),
};
export const offerUser = z.looseObject({
  ...{ user: z.string(), behind: z.boolean() },
  risk: z.string().optional().describe('why the offer as it is now does not fit it; missing if it does'),
});
const pipelineOffers = z.array(
  z.looseObject({
    name: z.string(),
    version: z.string().nullable(),
    state: offerState,
    since: time.nullable(),
    release: z.number().int().nullable(),
    ...offerFields,
    users: z.array(offerUser),
  }),
);

export const pipelineAnswer = z.looseObject({
  ...pipelineFields,
  finders: findersAnswer.optional(),
  offers: pipelineOffers.optional().describe('to other pipelines, with the deploys that use them'),
  brokenUses,
  releases: z.array(z.looseObject(releaseFields)),
  rerunnable: z.array(z.number().int()).optional().describe('the releases among them that can run again now'),
});

export const deployAnswer = z.looseObject({
  id: z.string(),
  kind: z.literal('deploy'),
  ...staleFields,
  state: z.string(),
  outcome: z.enum(['succeeded', 'reverted', 'failed', 'cancelled', 'revert-failed']).nullable(),
  version: z.string(),
  summary: z.string(),
  ahead: z.number().int().optional().describe('how many changes land before its own'),
  heldBy: lockHolder,
  ...{ undone, runsNow },
  landed: z
    .looseObject({ change: z.number().int(), commit: z.string() })
    .optional()
    .describe('for a cancelled or failed deploy of configuration: its change is on the branch nevertheless'),
  phases: z.array(z.looseObject({ index: z.number().int(), name: z.string(), state: z.string() })),
});

export const releasesAnswer = z.array(z.looseObject(releaseFields));
export const deploysAnswer = z.array(
  deployAnswer.omit({
    summary: true,
    ahead: true,
    heldBy: true,
    undone: true,
    runsNow: true,
    landed: true,
    phases: true,
  }),
);

export const logsAnswer = z.object({
  ...{ id: z.string(), attempt: z.number().int() },
  ended: z.boolean().describe('this attempt will not write any more'),
  runs: z.array(
    z.looseObject({
      ...{ run: z.string(), title: z.string(), state: z.enum(['running', 'succeeded', 'failed', 'cancelled']) },
      ...{ message: z.string().nullable(), url: z.string().nullable() },
      log: z.looseObject({ head: z.string(), tail: z.string() }).nullable(),
    }),
  ),
});

export const meAnswer = z.object({
  principal: z.string(),
  groups: z.array(z.string()).describe('the groups of the platform that it belongs to'),
  door: z
    .enum(['token', 'oidc', 'development'])
    .describe('how it signed in: with a token of the configuration or of an identity provider, or by naming itself'),
  expiresAt: time.nullable(),
});

export const offersAnswer = z.array(z.object({ issuer: z.string(), client: z.string(), scopes: z.array(z.string()) }));
