import type { KubernetesApi } from './client/api';
import type { ResourceKind } from './client/resources';
import { parseLabelSelector } from './selectors';
import type { ClusterReader } from './unitReader';

type Listing = ReturnType<KubernetesApi['list']>;

/**
 * Reads of one moment for many workloads: a namespace is listed once, and not once for each of them. An answer of the server is kept as long as the reader.
 */
export function shareReads(api: ClusterReader): ClusterReader {
  const lists = new Map<string, Listing>();
  const listNamespace = (kind: ResourceKind, namespace: string | undefined): Listing => {
    const key = `${kind} ${namespace ?? ''}`;
    const listing = lists.get(key) ?? api.list(kind, { ...(namespace !== undefined && { namespace }) });
    lists.set(key, listing);
    return listing;
  };
  return {
    get: async ({ kind, namespace, name }) =>
      (await listNamespace(kind, namespace)).items.find(({ metadata }) => metadata.name === name),
    list: async (kind, { namespace, labelSelector = '' }) => {
      const { items, resourceVersion } = await listNamespace(kind, namespace);
      const matches = labelSelector === '' ? () => true : parseLabelSelector(labelSelector);
      return { items: items.filter(({ metadata }) => matches?.(metadata.labels ?? {})), resourceVersion };
    },
  };
}
