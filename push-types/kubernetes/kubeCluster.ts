import type { KubernetesApi } from './client/api';
import type { ClusterReader } from './unitReader';

/** A cluster that the platform has registered. */
export interface KubeCluster {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly api: KubernetesApi;
  readonly reader: ClusterReader;
  readonly readVersion: () => Promise<readonly [number, number]>;
}

/** The cluster of a round, to which it writes. */
export interface ClusterWriter {
  readonly api: KubernetesApi;
  readonly log: (line: string) => void;
}
