/** The kinds of objects that the push type reads or writes: the API version, the name in paths, and whether objects are in a namespace. */
export const RESOURCES = {
  Pod: { apiVersion: 'v1', plural: 'pods', namespaced: true },
  Node: { apiVersion: 'v1', plural: 'nodes', namespaced: false },
  Namespace: { apiVersion: 'v1', plural: 'namespaces', namespaced: false },
  Service: { apiVersion: 'v1', plural: 'services', namespaced: true },
  Secret: { apiVersion: 'v1', plural: 'secrets', namespaced: true },
  Deployment: { apiVersion: 'apps/v1', plural: 'deployments', namespaced: true },
  ReplicaSet: { apiVersion: 'apps/v1', plural: 'replicasets', namespaced: true },
  StatefulSet: { apiVersion: 'apps/v1', plural: 'statefulsets', namespaced: true },
  DaemonSet: { apiVersion: 'apps/v1', plural: 'daemonsets', namespaced: true },
  ControllerRevision: { apiVersion: 'apps/v1', plural: 'controllerrevisions', namespaced: true },
  PodDisruptionBudget: { apiVersion: 'policy/v1', plural: 'poddisruptionbudgets', namespaced: true },
  /** Of Argo Rollouts and of Flagger, where they are installed. */
  Rollout: { apiVersion: 'argoproj.io/v1alpha1', plural: 'rollouts', namespaced: true },
  Canary: { apiVersion: 'flagger.app/v1beta1', plural: 'canaries', namespaced: true },
  SelfSubjectAccessReview: {
    ...{ apiVersion: 'authorization.k8s.io/v1', plural: 'selfsubjectaccessreviews', namespaced: false },
  },
} as const satisfies Readonly<Record<string, Resource>>;

interface Resource {
  readonly apiVersion: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

export type ResourceKind = keyof typeof RESOURCES;

/** One object; `namespace` is required for kinds that are in one. */
export interface ObjectRef {
  readonly kind: ResourceKind;
  readonly namespace?: string;
  readonly name: string;
}

/** A name that RFC 1123 permits, or one with the colons of RBAC: nothing that changes a path. */
const SAFE_SEGMENT = /^[A-Za-z0-9](?:[A-Za-z0-9.:-]{0,251}[A-Za-z0-9])?$/;

/**
 * The path of a collection, of an object, or of its subresource.
 * @throws RangeError if a name could lead elsewhere, or if an object of a namespaced kind has no namespace
 */
export function buildPath(
  kind: ResourceKind,
  { namespace, name, subresource }: { namespace?: string; name?: string; subresource?: string },
): string {
  const { apiVersion, plural, namespaced } = RESOURCES[kind];
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  if (namespaced && name !== undefined && namespace === undefined)
    throw new RangeError(`${kind} ${name} needs a namespace`);
  const inside = namespaced && namespace !== undefined ? ['namespaces', checkSegment(namespace)] : [];
  const parts = [...inside, plural, ...(name === undefined ? [] : [checkSegment(name)])];
  return [root, ...parts, ...(subresource === undefined ? [] : [subresource])].join('/');
}

function checkSegment(text: string): string {
  if (!SAFE_SEGMENT.test(text)) throw new RangeError(`${JSON.stringify(text)} is no name of a Kubernetes object`);
  return text;
}

/** `Deployment shop/web`, as in messages. */
export const formatRef = ({ kind, namespace, name }: ObjectRef): string =>
  `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
