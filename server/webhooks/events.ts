import { z } from 'zod';
import type { Artifact } from '../../domain/artifact';
import { unfitArtifact, unfitArtifacts } from '../../domain/excess';
import type { InvalidInput } from '../../domain/unfit';
import type { FinderEvent } from '../../domain/finder/match';
import { repositoryNames, type WebhookScope } from '../../domain/finder/scope';
import { formatTime } from '../../domain/text';
import { artifactSchema } from '../../sdk/protocol/common';
import { sentMetadata } from '../webhookMetadata';

/** The parsed contents of a delivery; null if it is irrelevant. */
export type WebhookEvent = FinderEvent | { readonly pipeline: string; readonly artifacts: readonly Artifact[] } | null;

/** The relevant part of GitHub's `push`. */
export const pushSchema = z.object({
  ref: z.string(),
  /** The commit that the branch now points to. */
  after: z.string().regex(/^[0-9a-f]{40,64}$/, { error: 'expected a commit' }),
  /** The previous commit: deliveries may arrive in another order than the pushes. */
  before: z.string().optional(),
  head_commit: z.object({ timestamp: z.string().optional() }).nullish(),
  deleted: z.boolean().default(false),
  repository: z.object({
    full_name: z.string(),
    /** The time of the push: seconds since the epoch, or a written time from some forges. */
    pushed_at: z.union([z.number().transform((seconds) => seconds * 1000), z.string().transform(Date.parse)]).nullish(),
  }),
});

type GithubPush = z.output<typeof pushSchema>;

const BRANCH = 'refs/heads/';
/** GitHub redelivers up to three days later. */
const AGE_MS = 3 * 24 * 3_600_000;

/** Rejects an old push despite its valid signature, since a captured delivery could be replayed for ever. */
export function whyTooOld({ repository }: GithubPush, nowMs: number): string | undefined {
  const ageMs = nowMs - (getPushedAtMs(repository) ?? nowMs);
  return ageMs > AGE_MS ? `it is of a push ${Math.floor(ageMs / 3_600_000)} h ago` : undefined;
}

const MAX_TIME_MS = 8.64e15;

/** The time of the push; GitHub reports it on the repository. */
function getPushedAtMs({ pushed_at: atMs }: GithubPush['repository']): number | undefined {
  return typeof atMs === 'number' && Math.abs(atMs) <= MAX_TIME_MS ? atMs : undefined;
}

/** A push to a branch is a new version for `commits`; a push of a tag and the deletion of a branch are not. */
export function parsePush(push: GithubPush): WebhookEvent {
  const { ref, after, deleted, repository } = push;
  if (deleted || !ref.startsWith(BRANCH) || /^0+$/.test(after)) return null;
  const branch = ref.slice(BRANCH.length);
  return {
    finder: 'commits',
    about: { repository: repository.full_name, branch },
    ignoresCase: ['repository'],
    artifact: {
      kind: 'source',
      version: after,
      builtFrom: { repository: repository.full_name, revision: after },
      metadata: { repository: repository.full_name, branch, ...orderMetadata(push) },
    },
  };
}

/** The same push, also for subscriptions that leave out the owner of the repository. */
export function addRepositoryNames(event: WebhookEvent, scopes: readonly (WebhookScope | null)[]): WebhookEvent {
  const repository = event !== null && 'finder' in event ? event.about['repository'] : undefined;
  if (event === null || !('finder' in event) || typeof repository !== 'string') return event;
  return { ...event, about: { ...event.about, repository: repositoryNames(repository, scopes) } };
}

/**
 * The metadata that orders an artifact (domain/pipeline/order.ts). A new branch has no predecessor. It may begin at an
 * old commit, so the date of that commit is useless unless the forge reports the time of the push.
 */
function orderMetadata({ before, head_commit: commit, repository }: GithubPush): Record<string, string> {
  const isNew = before !== undefined && /^0+$/.test(before);
  const saysNothing = isNew && getPushedAtMs(repository) === undefined;
  return {
    ...(before === undefined || /^0*$/.test(before) ? {} : { before }),
    ...(commit?.timestamp === undefined || saysNothing ? {} : { committedAt: commit.timestamp }),
    ...(getPushedAtMs(repository) === undefined ? {} : { pushedAt: formatTime(getPushedAtMs(repository) ?? 0) }),
  };
}

const published = artifactSchema.extend({
  ...{ name: z.string().optional(), kind: z.string().optional() },
  metadata: sentMetadata,
});

/** The body of a Standard Webhooks delivery, addressed to subscribers or to one pipeline. */
export const standardSchema = z.object({
  type: z.string(),
  data: z.union(
    [
      z.strictObject({
        finder: z.string().min(1),
        /** The fields of a subscription's `with`; a list if a resource has several names. */
        with: z.record(z.string(), z.union([z.string(), z.array(z.string()).min(1)])).default({}),
        artifact: published,
      }),
      z.strictObject({
        pipeline: z.string().min(1),
        artifacts: z.array(published.extend({ name: z.string().min(1) })).min(1),
      }),
    ],
    { error: 'expected { finder, with, artifact } or { pipeline, artifacts }' },
  ),
});

/** The only type of event that is accepted. */
export const PUBLISHED = 'artifact.published';

/** Only a forge may set the time of a push, because it must never go back. */
const dropPushTime = ({ metadata: { pushedAt: _theirs, ...metadata }, ...rest }: z.output<typeof published>) => ({
  ...rest,
  metadata,
});

export function parseStandardData({ data }: z.output<typeof standardSchema>): WebhookEvent {
  if ('pipeline' in data)
    return {
      pipeline: data.pipeline,
      artifacts: data.artifacts.map((artifact) => nameArtifact(artifact, artifact.name)),
    };
  const { name: _theirs, ...artifact } = nameArtifact(data.artifact, data.artifact.kind ?? 'artifact');
  return { finder: data.finder, about: data.with, artifact };
}

/** A value in the event that no pipeline would accept. */
export function findInvalidInput(event: WebhookEvent): InvalidInput | undefined {
  if (event === null) return undefined;
  return 'finder' in event
    ? unfitArtifact({ ...event.artifact, name: event.artifact.kind })
    : unfitArtifacts(event.artifacts);
}

/** The kind defaults to the name, as on the command line. */
const nameArtifact = ({ kind, ...rest }: z.output<typeof published>, name: string): Artifact => ({
  ...dropPushTime(rest),
  name,
  kind: kind ?? name,
});
