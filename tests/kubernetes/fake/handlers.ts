import { RESOURCES, type ResourceKind } from '../../../push-types/kubernetes/client/resources';
import { admitChange, admitNew, findBudgetRefusal, isUnreadyPodFree } from './admission';
import { isReady } from './controllers/pods';
import { copy, isFields, type Fields, type Json, type Thing } from './json';
import { patchJson, patchMerge, patchStrategic, PatchError } from './patches';
import { parseSelector, readSelector } from './selectors';
import { Refusal, type FakeStore } from './store';

/** A request as the API server understands it. */
export interface Asked {
  readonly method: string;
  readonly kind: ResourceKind;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  readonly query: URLSearchParams;
  readonly contentType: string;
  readonly body: Json | undefined;
}

const BY_PATH = new Map(
  Object.entries(RESOURCES).map(([kind, { apiVersion, plural }]) => [`${apiVersion}/${plural}`, kind as ResourceKind]),
);

/** @throws Refusal 404 for a path that is no resource */
export function readPath(path: string): Pick<Asked, 'kind' | 'namespace' | 'name' | 'subresource'> {
  const parts = path.split('/').filter((part) => part !== '');
  const version = parts[0] === 'api' ? parts.splice(0, 2)[1] : parts.splice(0, 3).slice(1).join('/');
  const isInside = parts[0] === 'namespaces' && parts.length > 2;
  const [, namespace] = isInside ? parts.splice(0, 2) : [];
  const [plural, name, subresource] = parts;
  const kind = BY_PATH.get(`${version}/${plural}`);
  if (kind === undefined) throw new Refusal(404, 'NotFound', 'the server could not find the requested resource');
  return { kind, namespace, name, subresource };
}

/** The answer of the server for everything but lists and watches. @throws Refusal */
export function answerRequest(store: FakeStore, asked: Asked): { readonly status: number; readonly body: object } {
  const isDry = asked.query.get('dryRun') === 'All';
  if (asked.method === 'GET') return { status: 200, body: find(store, asked) };
  if (asked.method === 'POST' && asked.subresource === 'eviction') return evict(store, asked, isDry);
  if (asked.method === 'POST') return { status: 201, body: create(store, asked, isDry) };
  if (asked.method === 'PATCH') return patch(store, asked, isDry);
  if (asked.method === 'DELETE') return remove(store, asked, isDry);
  throw new Refusal(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource');
}

function find(store: FakeStore, { kind, namespace, name = '' }: Asked): Thing {
  const found = store.get(kind, namespace, name);
  if (found === undefined) throw new Refusal(404, 'NotFound', `${RESOURCES[kind].plural} "${name}" not found`);
  return found;
}

function create(store: FakeStore, { kind, namespace, body }: Asked, isDry: boolean): object {
  if (!isFields(body)) throw new Refusal(400, 'BadRequest', 'the body is no object');
  if (kind === 'SelfSubjectAccessReview') return body;
  const metadata = {
    ...(isFields(body['metadata']) ? body['metadata'] : {}),
    ...(namespace !== undefined && { namespace }),
  };
  if (namespace !== undefined && store.get('Namespace', undefined, namespace) === undefined)
    throw new Refusal(404, 'NotFound', `namespaces "${namespace}" not found`);
  const { apiVersion } = RESOURCES[kind];
  const given = { spec: {}, status: {}, ...body, ...{ kind, apiVersion, metadata } } as unknown as Thing;
  const made = admitNew(given);
  if (!isDry) return store.create(made);
  if (store.get(kind, namespace, made.metadata.name))
    throw new Refusal(409, 'AlreadyExists', `${RESOURCES[kind].plural} "${made.metadata.name}" already exists`);
  return made;
}

function patch(store: FakeStore, asked: Asked, isDry: boolean): { status: number; body: object } {
  const { kind, namespace, name = '', subresource, contentType, body = null } = asked;
  const isApply = contentType.startsWith('application/apply-patch');
  if (isApply && store.get(kind, namespace, name) === undefined) {
    const given = isFields(body) ? body : {};
    const metadata = { ...(isFields(given['metadata']) ? given['metadata'] : {}), name };
    return { status: 201, body: create(store, { ...asked, body: { ...given, metadata } }, isDry) };
  }
  const before = find(store, asked);
  checkIdentity(before, body);
  if (subresource === 'scale') return { status: 200, body: patchScale(store, before, body, isDry) };
  const changed = applyPatch(before as unknown as Json, body, contentType) as unknown as Thing;
  const expected = readExpected(body, changed);
  const admitted = admitChange(before, { ...changed, kind, apiVersion: before.apiVersion }, subresource);
  if (isDry) return { status: 200, body: checkVersion(before, admitted, expected) };
  return { status: 200, body: store.update(before, admitted, expected) };
}

/** A patch that names the uid is for that object alone. */
function checkIdentity({ kind, metadata }: Thing, body: Json): void {
  const given = isFields(body) && isFields(body['metadata']) ? body['metadata']['uid'] : undefined;
  if (given !== undefined && given !== metadata.uid)
    throw new Refusal(409, 'Conflict', `${kind} "${metadata.name}": the UID in the precondition is another`);
}

function checkVersion(before: Thing, admitted: Thing, expected: string | undefined): Thing {
  if (expected !== undefined && expected !== before.metadata.resourceVersion)
    throw new Refusal(409, 'Conflict', 'the object has been modified; please apply your changes to the latest version');
  return admitted;
}

/** Only a version that the patch itself names is compared. */
function readExpected(body: Json, changed: Thing): string | undefined {
  if (Array.isArray(body)) {
    const names = body.some((operation) => isFields(operation) && operation['path'] === '/metadata/resourceVersion');
    return names ? changed.metadata.resourceVersion : undefined;
  }
  const metadata = isFields(body) && isFields(body['metadata']) ? body['metadata'] : {};
  return typeof metadata['resourceVersion'] === 'string' ? metadata['resourceVersion'] : undefined;
}

function applyPatch(before: Json, body: Json, contentType: string): Json {
  try {
    if (contentType.startsWith('application/json-patch')) return patchJson(before, body);
    if (contentType.startsWith('application/merge-patch')) return patchMerge(before, body);
    // Without the ownership of fields: only a real server knows managers.
    if (/^application\/(strategic-merge-patch|apply-patch)/.test(contentType)) return patchStrategic(before, body);
  } catch (error) {
    if (error instanceof PatchError) throw new Refusal(422, 'Invalid', error.message);
    throw error;
  }
  throw new Refusal(415, 'UnsupportedMediaType', `the body of the request was in an unknown format: ${contentType}`);
}

function patchScale(store: FakeStore, before: Thing, body: Json, isDry: boolean): object {
  const scale = {
    metadata: { ...before.metadata },
    spec: { replicas: before.spec['replicas'] ?? 1 },
  } as unknown as Json;
  const { spec } = patchMerge(scale, body) as { spec: Fields };
  const made = copy(before);
  made.spec['replicas'] = spec['replicas'] ?? 1;
  const after = isDry ? made : store.update(before, made);
  return {
    ...{ apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: after.metadata },
    ...{ spec: { replicas: after.spec['replicas'] }, status: { replicas: after.status['replicas'] ?? 0 } },
  };
}

function remove(store: FakeStore, asked: Asked, isDry: boolean): { status: number; body: object } {
  const object = find(store, asked);
  const options = isFields(asked.body) ? asked.body : {};
  const wanted = isFields(options['preconditions']) ? options['preconditions']['uid'] : undefined;
  if (wanted !== undefined && wanted !== object.metadata.uid)
    throw new Refusal(
      ...([409, 'Conflict'] as const),
      `Precondition failed: UID in precondition: ${String(wanted)}, UID in object meta: ${object.metadata.uid}`,
    );
  const graceSeconds = options['gracePeriodSeconds'];
  if (!isDry) store.remove(object, typeof graceSeconds === 'number' ? { graceSeconds } : {});
  return { status: 200, body: object };
}

/** Budgets guard evictions of ready pods alone; a pod that does not run goes without one. */
function evict(store: FakeStore, asked: Asked, isDry: boolean): { status: number; body: object } {
  const pod = find(store, { ...asked, subresource: undefined });
  const { deleteOptions = {} } = isFields(asked.body) ? asked.body : {};
  const { preconditions = {} } = isFields(deleteOptions) ? deleteOptions : {};
  checkIdentity(pod, { metadata: preconditions });
  const budgets = store
    .list('PodDisruptionBudget', asked.namespace)
    .filter(({ spec }) => readSelector(spec['selector'])(pod.metadata.labels));
  if (budgets.length > 1)
    throw new Refusal(
      500,
      'InternalError',
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    );
  const [budget] = budgets;
  if (budget !== undefined && pod.status['phase'] === 'Running' && pod.metadata.deletionTimestamp === undefined) {
    const isFree = !isReady(pod) && isUnreadyPodFree(budget);
    const refused = isFree ? undefined : findBudgetRefusal(budget);
    if (refused) throw refused;
    if (!isDry && !isFree)
      store.setStatus(budget, { disruptionsAllowed: Number(budget.status['disruptionsAllowed']) - 1 });
  }
  if (!isDry) store.remove(pod);
  return { status: 201, body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 } };
}

/** A collection as lists and watches see it. */
export function selectCollection(query: URLSearchParams): (object: Thing) => boolean {
  const matches = parseSelector(query.get('labelSelector') ?? '');
  return (object) => matches(object.metadata.labels);
}
