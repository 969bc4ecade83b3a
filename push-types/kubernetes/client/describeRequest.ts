import type { ObjectListing } from './api';
import type { RequestWords } from './errors';
import type { KubernetesRequester } from './requester';
import { formatRef, RESOURCES, type ObjectRef, type ResourceKind } from './resources';

export const describeOne = (
  { cluster }: KubernetesRequester,
  verb: string,
  ref: ObjectRef,
  subresource?: string,
): RequestWords => ({
  ...{ verb, cluster, target: `${subresource === undefined ? '' : `${subresource} of `}${formatRef(ref)}` },
  right: { resource: nameResource(ref.kind, subresource), namespace: ref.namespace },
});

/** As a Role names it, with its group. */
function nameResource(kind: ResourceKind, subresource?: string): string {
  const { apiVersion, plural } = RESOURCES[kind];
  const [group, version] = apiVersion.split('/');
  return `${plural}${subresource === undefined ? '' : `/${subresource}`}${version === undefined ? '' : ` of ${group}`}`;
}

export const describeCollection = (
  { cluster }: KubernetesRequester,
  verb: string,
  kind: ResourceKind,
  { namespace }: ObjectListing,
): RequestWords => ({
  ...{ verb, cluster },
  target: `${RESOURCES[kind].plural}${RESOURCES[kind].namespaced ? ` in ${namespace ?? 'all namespaces'}` : ''}`,
  right: { resource: nameResource(kind), namespace },
});
