/**
 * Ids are paths, and they are the idempotency keys (docs/design/workflows.md#ids). People type `kvstore`, `kvstore/12`,
 * `kvstore/12/deploy`; workflows carry the kind in front and the attempt behind.
 */
export const NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

export const workflowIds = {
  pipeline: (name: string): string => `pipeline/${name}`,
  release: (name: string, number: number): string => `release/${name}/${number}`,
  deploy: (name: string, number: number, action: string, attempt: number): string =>
    `deploy/${name}/${number}/${action}/${attempt}`,
  children: (name: string, number: number): string => `release/${name}/${number}/children`,
  childrenShard: (name: string, number: number, shard: number): string => `release/${name}/${number}/children/${shard}`,
  /** The lock of an exclusion group with `scope: global`. */
  groupLock: (group: string): string => `lock/${group}`,
  /** The units of a large deploy; followed by the number of the page. */
  snapshot: (deployId: string, digest: string): string => `snapshot/${deployId}/${digest}`,
  /** The workflow that lands changes of a configuration repository. */
  landing: (repository: string): string => `landing/${repository}`,
  /** A test of the whole path that work takes. */
  examination: (uuid: string): string => `examination/${uuid}`,
  /** All reported bugs of a namespace. */
  bugs: 'bugs',
  /** The offers of a pipeline. */
  offers: (name: string): string => `offers/${name}`,
  /** The end of one session, by its id. */
  signOut: (session: string): string => `sign-out/session/${session}`,
  /** The end of all sessions that a principal has then. */
  signOutEverywhere: (principal: string): string => `sign-out/everywhere/${principal}`,
  serviceLock: (pushType: string, service: string): string => `lock/${pushType}/${service}`,
} as const;

/** The id of a finder's Temporal Schedule, and the beginning of the ids of workflows that it starts. */
export const sweepId = (finder: string): string => `sweep/${finder}`;

/**
 * The id of the Temporal Schedule that looks for stale pipelines, and the beginning of the ids of workflows that it
 * starts.
 */
export const FRESHNESS_ID = 'freshness';

export const releaseId = (pipeline: string, number: number): string => `${pipeline}/${number}`;
export const deployId = (pipeline: string, number: number, action: string): string => `${pipeline}/${number}/${action}`;

/** The possible meanings of an id that a person typed. */
export type Id =
  | { readonly kind: 'pipeline'; readonly pipeline: string }
  | { readonly kind: 'release'; readonly pipeline: string; readonly number: number }
  | { readonly kind: 'action'; readonly pipeline: string; readonly number: number; readonly action: string };

/** A release, or one action of it. */
export type OfRelease = Exclude<Id, { readonly kind: 'pipeline' }>;

/** Reads `kvstore`, `kvstore/12` or `kvstore/12/deploy`; undefined for any other text. */
export function parseId(text: string): Id | undefined {
  const [pipeline = '', number, action, ...rest] = text.split('/');
  if (!NAME.test(pipeline) || rest.length > 0) return undefined;
  if (number === undefined) return { kind: 'pipeline', pipeline };
  if (!/^[1-9]\d{0,9}$/.test(number)) return undefined;
  if (action === undefined) return { kind: 'release', pipeline, number: Number(number) };
  return NAME.test(action) ? { kind: 'action', pipeline, number: Number(number), action } : undefined;
}

/**
 * The id of the workflow that follows a run of an action service: the release, for an action such as
 * `kvstore/12/build/1`; the deploy, for a step such as `deploy/kvstore/12/deploy/1/0/pre/0/1`. Undefined for any other
 * id.
 */
export function workflowOfRun(runId: string): string | undefined {
  const parts = runId.split('/');
  const [pipeline, number, action, attempt] = parts.length === 4 ? parts : parts.slice(1);
  const isAction = [pipeline, action].every((name) => NAME.test(name ?? ''));
  if (!isAction || ![number, attempt].every((n) => /^[1-9]\d{0,9}$/.test(n ?? ''))) return undefined;
  if (parts.length === 4) return `release/${pipeline}/${number}`;
  return parts.length > 5 && parts[0] === 'deploy' ? parts.slice(0, 5).join('/') : undefined;
}

/**
 * `<deploy workflow id>/<phase | revert | remove>/<try>`: the name of an update for a push type
 * (docs/reference/protocols.md#executeupdates).
 */
export const updateId = (deployWorkflowId: string, phase: number | 'revert' | 'remove', attempt: number): string =>
  `${deployWorkflowId}/${phase}/${attempt}`;
