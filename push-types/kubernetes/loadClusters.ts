import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { KUBERNETES_LIMITS } from '../../sdk';
import { readYamlFile } from '../hosts/readYamlFile';
import { connectCluster } from './client/connection';
import type { ClusterAccess } from './client/access';
import { readInClusterAccess, readKubeconfig } from './client/kubeconfig';
import type { KubeCluster } from './kubeCluster';
import { clustersFileSchema, type ClusterFields, type ClustersFile } from './settings';
import { ViewedReader } from './viewedReader';

/** Reads the file of the clusters. @throws Error that names the file and the mistake */
export function loadClustersFile(path: string): ClustersFile {
  const parsed = clustersFileSchema.safeParse(readYamlFile(path, KUBERNETES_LIMITS.file.max));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Error(`${path}: ${issue?.path.map(String).join('.') || 'the file'}: ${issue?.message}`);
}

/** Opens the clusters of a file; none is asked anything yet. @throws Error for a kubeconfig with a mistake */
export function openClusters(
  path: string,
  { clusters }: ClustersFile,
  { env, signal }: { readonly env: NodeJS.ProcessEnv; readonly signal: AbortSignal },
): ReadonlyMap<string, KubeCluster> {
  return new Map(
    Object.entries(clusters).map(([name, fields]) => {
      const api = connectCluster({ ...findAccess(path, fields, env), name }, { env });
      signal.addEventListener('abort', () => api.close(), { once: true });
      const reader = new ViewedReader(api, signal);
      return [name, { name, labels: fields.labels, api, reader, readVersion: () => api.readVersion() }];
    }),
  );
}

function findAccess(path: string, { kubeconfig, context }: ClusterFields, env: NodeJS.ProcessEnv): ClusterAccess {
  if (kubeconfig === undefined) return readInClusterAccess(env);
  const file = kubeconfig.startsWith('~/') ? join(homedir(), kubeconfig.slice(2)) : resolve(dirname(path), kubeconfig);
  return readKubeconfig(file, context);
}
