import { z } from 'zod';
import { KUBERNETES_LIMITS } from '../../sdk';
import { durationField } from '../durationField';
import { parseLabelSelector } from './selectors';

/** The file of `conveyor push-type kubernetes --clusters FILE`, and the `config` of pipelines (docs/reference/kubernetes.md). */

const name = z
  .string()
  .max(KUBERNETES_LIMITS.name.max)
  .regex(/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/, 'expected a name of lower-case letters, digits, dots and dashes');
const selector = z
  .string()
  .refine((text) => parseLabelSelector(text) !== undefined, 'expected a label selector such as tier in (prod)');

const clusterFields = z
  .strictObject({
    /** The file of the context; a relative path begins at this file. */
    kubeconfig: z.string().min(1).optional(),
    context: z.string().min(1).optional(),
    /** The cluster in which the push type runs. */
    inCluster: z.literal(true).optional(),
    labels: z.record(z.string().min(1), z.string()).default({}),
  })
  .refine(({ kubeconfig, inCluster }) => (kubeconfig === undefined) !== (inCluster === undefined), {
    message: 'expected kubeconfig, or inCluster: true',
  });

export const clustersFileSchema = z.strictObject({
  clusters: z
    .record(name, clusterFields)
    .refine((clusters) => Object.keys(clusters).length > 0, 'expected a cluster')
    .refine(
      (clusters) => Object.keys(clusters).length <= KUBERNETES_LIMITS.clusters.max,
      `more than ${KUBERNETES_LIMITS.clusters.max} clusters`,
    ),
  /** The name of this Conveyor on workloads, where several might deploy the same. */
  owner: name.optional(),
  /** Whether a version may be a tag, which can move, in place of a digest. */
  allowTags: z.boolean().default(false),
  /** How often each unit is looked at. */
  interval: durationField().prefault('2s'),
  /** How long a pod may take until it is live. */
  startTimeout: durationField().prefault('5m'),
});

export type ClustersFile = z.output<typeof clustersFileSchema>;
export type ClusterFields = ClustersFile['clusters'][string];

export const WORKLOAD_KINDS = ['Deployment', 'StatefulSet', 'DaemonSet'] as const;
export type WorkloadKind = (typeof WORKLOAD_KINDS)[number];

const workloadFields = z
  .strictObject({
    kind: z.enum(WORKLOAD_KINDS),
    namespace: name,
    name: name.optional(),
    /** All workloads of the kind with these labels. */
    selector: selector.optional(),
    /** The container whose image changes; it may be left out if there is only one. */
    container: name.optional(),
  })
  .refine((workload) => (workload.name === undefined) !== (workload.selector === undefined), {
    message: 'expected name or selector',
  });

export const podsConfigSchema = z.strictObject({
  workloads: z.array(workloadFields).min(1).max(KUBERNETES_LIMITS.workloads.max),
  /** Names of clusters, or a selector of their labels. Default: all. */
  clusters: z.union([z.array(name).min(1), z.strictObject({ label: selector })]).optional(),
  /** The name of the lock. Default: namespace and name of the first workload. */
  service: z.string().min(1).max(KUBERNETES_LIMITS.name.max).optional(),
  /** The repository of the image. Default: that of the artifact, or of the running image. */
  image: z
    .string()
    .regex(/^[a-z0-9][^@\s]*$/, 'expected a repository such as ghcr.io/acme/web')
    .optional(),
  mode: z.enum(['in-place', 'recreate']).default('in-place'),
  /** Fields of the pod template that come with the version, as a strategic merge patch; for `recreate` alone. */
  template: z
    .record(z.string(), z.unknown())
    .refine(
      (fields) => JSON.stringify(fields).length <= KUBERNETES_LIMITS.template.max,
      `more than ${KUBERNETES_LIMITS.template.max} bytes`,
    )
    .optional(),
  /** How long a pod with the readiness gate is out of service before it changes. */
  drain: durationField().optional(),
  /** How long a pod has to be ready. Default: that of the workload. */
  minReadySeconds: z.number().int().min(0).max(3600).optional(),
  /** Pods that may be out of service at once, for any reason. */
  maxUnavailable: z
    .union([z.number().int().positive(), z.string().regex(/^([1-9]\d?|100)%$/, 'expected a number, or 1% to 100%')])
    .default('25%'),
});

export type PodsConfig = z.output<typeof podsConfigSchema>;
export type WorkloadFields = PodsConfig['workloads'][number];

/** The pods of a unit that may be out of service at once: at least one, and of a share no more than it says. */
export const countUnavailable = (written: PodsConfig['maxUnavailable'], size: number): number =>
  typeof written === 'number' ? written : Math.max(1, Math.floor((Number.parseInt(written, 10) / 100) * size));
