import { setTimeout as delay } from 'node:timers/promises';
import type { ApplyOptions, ClusterConnection, CreateOptions, ObjectListing, PatchOptions } from './api';
import { checkAnswer, readObject, refuseClusterAnswer } from './answers';
import { describeCollection, describeOne } from './describeRequest';
import { isKubernetesError } from './errors';
import type { ClusterAccess } from './access';
import { CLIENT_LIMITS, type ClientSettings } from './limits';
import { createPace } from './limiter';
import { listSchema, versionSchema, type KubeObject } from './objects';
import { createRequester, type KubernetesRequester } from './requester';
import { buildPath, RESOURCES, type ObjectRef, type ResourceKind } from './resources';
import { openTransport } from './transport';
import { watchObjects } from './watch';

export interface ClusterClientOptions {
  /** Default: those of CLIENT_LIMITS. */
  readonly settings?: Partial<ClientSettings>;
  readonly env?: NodeJS.ProcessEnv;
  readonly now?: () => number;
  readonly random?: () => number;
}

/** Under which the server records who set a field. */
const FIELD_MANAGER = 'conveyor';

const CONTENT_TYPES = {
  strategic: 'application/strategic-merge-patch+json',
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

/** Opens the client of one API server; the first request makes the connection. */
export function connectCluster(access: ClusterAccess, options: ClusterClientOptions = {}): ClusterConnection {
  const { env = process.env, now = Date.now, random = Math.random } = options;
  const settings: ClientSettings = { ...CLIENT_LIMITS, ...options.settings };
  const transport = openTransport(access, { env, now });
  const sleep = (ms: number): Promise<void> => delay(Math.ceil(ms));
  const pace = createPace(settings.requestsPerSecond, settings.inFlight, { now, sleep });
  const requester = createRequester({ transport, pace, settings, cluster: access.name, sleep, random });
  return {
    get: (ref) => getObject(requester, ref),
    list: (kind, listing) => listObjects(requester, settings, kind, listing),
    patch: (ref, patch, patching) => patchObject(requester, ref, patch, patching),
    apply: (ref, object, applying) => applyObject(requester, ref, object, applying),
    create: (kind, object, creating) => createObject(requester, kind, object, creating),
    remove: (ref, removing) => removeObject(requester, ref, removing),
    watch: (kind, watching) =>
      watchObjects(
        { requester, settings, random, now, words: describeCollection(requester, 'watch', kind, watching) },
        kind,
        watching,
      ),
    readVersion: () => readServerVersion(requester),
    close: () => transport.close(),
  };
}

async function getObject(requester: KubernetesRequester, ref: ObjectRef): Promise<KubeObject | undefined> {
  const words = describeOne(requester, 'get', ref);
  try {
    return readObject(words, await requester.send(words, { method: 'GET', path: buildPath(ref.kind, ref) }));
  } catch (error) {
    if (isKubernetesError(error, 'NotFound')) return undefined;
    throw error;
  }
}

/** Starts again if the server forgets the moment of the list between two pages. */
const MOST_LIST_TRIES = 3;

async function listObjects(
  requester: KubernetesRequester,
  settings: ClientSettings,
  kind: ResourceKind,
  options: ObjectListing,
): Promise<{ items: KubeObject[]; resourceVersion: string }> {
  for (let tries = 1; ; tries += 1)
    try {
      return await listPages(requester, settings, kind, options);
    } catch (error) {
      if (!isKubernetesError(error, 'Gone') || tries === MOST_LIST_TRIES) throw error;
    }
}

async function listPages(
  requester: KubernetesRequester,
  { pageSize, listItems }: ClientSettings,
  kind: ResourceKind,
  options: ObjectListing,
): Promise<{ items: KubeObject[]; resourceVersion: string }> {
  const words = describeCollection(requester, 'list', kind, options);
  const items: KubeObject[] = [];
  for (let next: string | undefined; ;) {
    const query = buildQuery({ labelSelector: options.labelSelector, limit: pageSize, continue: next });
    const answer = await requester.send(words, { method: 'GET', path: buildPath(kind, options) + query });
    const page = checkAnswer(words, listSchema, answer);
    // Items of a list have neither kind nor version of their own.
    for (const item of page.items ?? []) items.push({ ...item, kind, apiVersion: RESOURCES[kind].apiVersion });
    if (items.length > listItems)
      throw refuseClusterAnswer(words, `there are more than ${listItems}; select fewer by labels`);
    next = page.metadata.continue || undefined;
    if (next === undefined) return { items, resourceVersion: page.metadata.resourceVersion };
  }
}

async function patchObject(
  requester: KubernetesRequester,
  ref: ObjectRef,
  patch: object,
  { type, subresource, dryRun }: PatchOptions,
): Promise<KubeObject> {
  const words = describeOne(requester, 'patch', ref, subresource);
  const query = buildQuery({ fieldManager: FIELD_MANAGER, dryRun: dryRun ? 'All' : undefined });
  const path = buildPath(ref.kind, { ...ref, ...(subresource && { subresource }) }) + query;
  const outgoing = { method: 'PATCH', path, body: patch, contentType: CONTENT_TYPES[type] } as const;
  return readObject(words, await requester.send(words, outgoing));
}

async function applyObject(
  requester: KubernetesRequester,
  ref: ObjectRef,
  object: object,
  { force = false, fieldManager = FIELD_MANAGER, dryRun }: ApplyOptions = {},
): Promise<KubeObject> {
  const words = describeOne(requester, 'patch', ref);
  const body = { apiVersion: RESOURCES[ref.kind].apiVersion, kind: ref.kind, ...object };
  const query = buildQuery({ fieldManager, force: String(force), dryRun: dryRun ? 'All' : undefined });
  const path = buildPath(ref.kind, ref) + query;
  const outgoing = { method: 'PATCH', path, body, contentType: CONTENT_TYPES.apply } as const;
  return readObject(words, await requester.send(words, outgoing));
}

async function createObject(
  requester: KubernetesRequester,
  kind: ResourceKind,
  object: object,
  { namespace, name, subresource, dryRun }: CreateOptions = {},
): Promise<KubeObject> {
  const words =
    name === undefined
      ? describeCollection(requester, 'create', kind, { ...(namespace !== undefined && { namespace }) })
      : describeOne(requester, 'create', { kind, name, ...(namespace !== undefined && { namespace }) }, subresource);
  const place = { ...(namespace !== undefined && { namespace }), ...(name !== undefined && { name }) };
  const query = buildQuery({ fieldManager: FIELD_MANAGER, dryRun: dryRun ? 'All' : undefined });
  const path = buildPath(kind, { ...place, ...(subresource && { subresource }) }) + query;
  // The rows of a subresource are of another kind, which the object names itself.
  const body = subresource ? object : { apiVersion: RESOURCES[kind].apiVersion, kind, ...object };
  // A budget that refuses an eviction answers 429: that is the answer, and not a reason to repeat the request.
  const sending = {
    repeats: subresource !== 'eviction',
    ...(kind === 'SelfSubjectAccessReview' && { urgency: 'normal' as const }),
  };
  const answer = await requester.send(words, { method: 'POST', path, body }, sending);
  if (subresource === 'eviction') return { metadata: { name: name ?? '', uid: '', resourceVersion: '' } };
  return readObject(words, answer, kind === 'SelfSubjectAccessReview');
}

async function removeObject(
  requester: KubernetesRequester,
  ref: ObjectRef,
  { uid, graceSeconds }: { readonly uid?: string; readonly graceSeconds?: number } = {},
): Promise<void> {
  const words = describeOne(requester, 'delete', ref);
  const body = {
    ...{ apiVersion: 'v1', kind: 'DeleteOptions' },
    ...(uid !== undefined && { preconditions: { uid } }),
    ...(graceSeconds !== undefined && { gracePeriodSeconds: graceSeconds }),
  };
  try {
    await requester.send(words, { method: 'DELETE', path: buildPath(ref.kind, ref), body });
  } catch (error) {
    if (!isKubernetesError(error, 'NotFound')) throw error;
  }
}

async function readServerVersion(requester: KubernetesRequester): Promise<readonly [number, number]> {
  const words = { verb: 'get', target: 'the version of the server', cluster: requester.cluster };
  const { major, minor } = checkAnswer(
    words,
    versionSchema,
    await requester.send(words, { method: 'GET', path: '/version' }),
  );
  // Some platforms write the minor version as `28+`.
  return [Number.parseInt(major, 10), Number.parseInt(minor, 10)];
}

function buildQuery(parameters: Readonly<Record<string, string | number | undefined>>): string {
  const kept = Object.entries(parameters).flatMap(([name, value]) => (value === undefined ? [] : [[name, `${value}`]]));
  return kept.length === 0 ? '' : `?${new URLSearchParams(kept as [string, string][]).toString()}`;
}
