import { z } from 'zod';
import type { KubeObject } from './client/objects';
import type { ObjectRef } from './client/resources';
import { SERVING_GATE } from './records';
import type { WorkloadKind } from './settings';

/** Pods, workloads and their neighbours as decisions see them, checked on arrival. */

const containerFields = z.looseObject({ name: z.string(), image: z.string().default('') });
const podTemplateSchema = z.looseObject({
  metadata: z.looseObject({ labels: z.record(z.string(), z.string()).optional() }).nullish(),
  spec: z.looseObject({
    containers: z.array(containerFields),
    initContainers: z.array(containerFields).nullish(),
  }),
});
/** The pod template of a workload, of a ReplicaSet or of a ControllerRevision. */
export type PodTemplate = z.output<typeof podTemplateSchema>;

/** Undefined for what is no template. */
export const parsePodTemplate = (value: unknown): PodTemplate | undefined => podTemplateSchema.safeParse(value).data;

const containerStateSchema = z.looseObject({
  waiting: z.looseObject({ reason: z.string().default(''), message: z.string().default('') }).nullish(),
  running: z.looseObject({}).nullish(),
  terminated: z.looseObject({ exitCode: z.number().int().default(0), reason: z.string().default('') }).nullish(),
});

const podSpecSchema = z.looseObject({
  nodeName: z.string().optional(),
  restartPolicy: z.string().optional(),
  containers: z.array(containerFields),
  readinessGates: z.array(z.looseObject({ conditionType: z.string() })).nullish(),
});

const podStatusSchema = z.looseObject({
  phase: z.string().optional(),
  conditions: z
    .array(
      z.looseObject({
        type: z.string(),
        status: z.string(),
        reason: z.string().nullish(),
        message: z.string().nullish(),
      }),
    )
    .nullish(),
  containerStatuses: z
    .array(
      z.looseObject({
        name: z.string(),
        image: z.string().default(''),
        imageID: z.string().default(''),
        containerID: z.string().default(''),
        ready: z.boolean().default(false),
        restartCount: z.number().int().default(0),
        state: containerStateSchema.nullish(),
      }),
    )
    .nullish(),
});

/** The state of the container whose image changes. */
export interface ContainerView {
  readonly image: string;
  readonly imageID: string;
  readonly containerID: string;
  readonly restarts: number;
  readonly isReady: boolean;
  readonly isRunning: boolean;
  readonly waiting: { readonly reason: string; readonly message: string } | undefined;
  readonly exitCode: number | undefined;
}

export interface PodView {
  readonly ref: ObjectRef;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly node: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Empty if the pod lacks the container. */
  readonly image: string;
  readonly status: ContainerView | undefined;
  /** All its containers, and its readiness gates. */
  readonly isReady: boolean;
  /** All its containers. */
  readonly areContainersReady: boolean;
  readonly hasGate: boolean;
  /** Undefined while the gate was never set. */
  readonly isServing: boolean | undefined;
  /** It is being deleted, or has ended for good. */
  readonly isLeaving: boolean;
  /** Why no node takes it. */
  readonly unschedulable: string | undefined;
}

/** A pod, or undefined for one that cannot be read. */
export function viewPod({ metadata, spec, status }: KubeObject, container: string): PodView | undefined {
  const [parsedSpec, parsedStatus] = [podSpecSchema.safeParse(spec), podStatusSchema.safeParse(status ?? {})];
  if (!parsedSpec.success || !parsedStatus.success) return undefined;
  const { nodeName, containers, readinessGates } = parsedSpec.data;
  const { phase, conditions, containerStatuses } = parsedStatus.data;
  const find = (type: string) => conditions?.find((one) => one.type === type);
  const holds = (type: string): boolean => find(type)?.status === 'True';
  const scheduled = find('PodScheduled');
  const gate = find(SERVING_GATE);
  const own = containerStatuses?.find((one) => one.name === container);
  const { name, namespace, uid, resourceVersion, labels = {}, annotations = {} } = metadata;
  return {
    ref: { kind: 'Pod', name, ...(namespace !== undefined && { namespace }) },
    ...{ name, uid, resourceVersion, node: nodeName, labels, annotations },
    image: containers.find((one) => one.name === container)?.image ?? '',
    status: own && {
      ...{ image: own.image, imageID: own.imageID, containerID: own.containerID, restarts: own.restartCount },
      ...{ isReady: own.ready, isRunning: !!own.state?.running, exitCode: own.state?.terminated?.exitCode },
      waiting: own.state?.waiting ?? undefined,
    },
    ...{ isReady: holds('Ready'), areContainersReady: holds('ContainersReady') },
    hasGate: (readinessGates ?? []).some(({ conditionType }) => conditionType === SERVING_GATE),
    isServing: gate && gate.status === 'True',
    isLeaving: !!metadata.deletionTimestamp || phase === 'Succeeded' || phase === 'Failed',
    unschedulable:
      scheduled?.status === 'False' && scheduled.reason === 'Unschedulable' ? (scheduled.message ?? '') : undefined,
  };
}

const podCount = z.number().int().default(0);

const conditionsSchema = z
  .array(z.looseObject({ type: z.string(), status: z.string(), message: z.string().nullish() }))
  .nullish();

/** Why a ReplicaSet or a Deployment can make no pods. */
const findReplicaFailure = (conditions: z.output<typeof conditionsSchema>): string | undefined =>
  conditions?.find((one) => one.type === 'ReplicaFailure' && one.status === 'True')?.message ?? undefined;

const workloadSpecSchema = z.looseObject({
  replicas: z.number().int().optional(),
  paused: z.boolean().optional(),
  minReadySeconds: podCount,
  selector: z.unknown().optional(),
  template: podTemplateSchema,
  updateStrategy: z.looseObject({ type: z.string().optional() }).optional(),
  podManagementPolicy: z.string().optional(),
});

const workloadStatusSchema = z.looseObject({
  observedGeneration: podCount,
  replicas: podCount,
  updatedReplicas: podCount,
  currentRevision: z.string().default(''),
  updateRevision: z.string().default(''),
  desiredNumberScheduled: podCount,
  updatedNumberScheduled: podCount,
  conditions: conditionsSchema,
});

export interface WorkloadView {
  readonly ref: ObjectRef & { readonly kind: WorkloadKind; readonly namespace: string };
  readonly uid: string;
  readonly resourceVersion: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly owners: readonly { readonly kind: string; readonly name: string }[];
  readonly selector: unknown;
  readonly template: PodTemplate;
  readonly isPaused: boolean;
  /** A StatefulSet makes its next pod once the one before is ready. */
  readonly isOrdered: boolean;
  /** The pods that it should have. */
  readonly size: number;
  /** The pods that its controller counts, and those of its newest template among them. */
  readonly counted: number;
  readonly updated: number;
  /** Whether its controller has seen its last change. */
  readonly isObserved: boolean;
  readonly minReadySeconds: number;
  readonly strategy: Readonly<Record<string, unknown>>;
  readonly currentRevision: string;
  readonly updateRevision: string;
  /** Why its controller can make no pods, such as a quota; of a Deployment that is not paused. */
  readonly failure: string | undefined;
}

/** A Deployment, StatefulSet or DaemonSet. @throws ZodError if it is none */
export function viewWorkload(kind: WorkloadKind, { metadata, ...object }: KubeObject): WorkloadView {
  const spec = workloadSpecSchema.parse(object.spec);
  const status = workloadStatusSchema.parse(object.status ?? {});
  const { name, namespace = '', uid, resourceVersion, labels = {}, annotations = {} } = metadata;
  const isDaemon = kind === 'DaemonSet';
  return {
    ...{ ref: { kind, namespace, name }, uid, resourceVersion, labels, annotations },
    owners: metadata.ownerReferences ?? [],
    ...{ selector: spec.selector, template: spec.template, isPaused: spec.paused ?? false },
    isOrdered: kind === 'StatefulSet' && spec.podManagementPolicy !== 'Parallel',
    size: isDaemon ? status.desiredNumberScheduled : (spec.replicas ?? 1),
    counted: isDaemon ? status.desiredNumberScheduled : status.replicas,
    updated: isDaemon ? status.updatedNumberScheduled : status.updatedReplicas,
    isObserved: status.observedGeneration >= (metadata.generation ?? 0),
    ...{ minReadySeconds: spec.minReadySeconds, strategy: spec.updateStrategy ?? {} },
    ...{ currentRevision: status.currentRevision, updateRevision: status.updateRevision },
    failure: findReplicaFailure(status.conditions),
  };
}

/** An older state of a workload: a ReplicaSet, or a ControllerRevision with its number. */
export interface RevisionView {
  readonly ref: ObjectRef;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly template: PodTemplate;
  /** Pods that a ReplicaSet should have. */
  readonly size: number;
  readonly revision: number;
  /** Why a ReplicaSet can make no pods. */
  readonly failure: string | undefined;
}

const revisionSchema = z.looseObject({
  spec: z.looseObject({ replicas: z.number().int().default(1), template: podTemplateSchema.optional() }).optional(),
  data: z.looseObject({ spec: z.looseObject({ template: podTemplateSchema }) }).optional(),
  status: z.looseObject({ conditions: conditionsSchema }).optional(),
  revision: podCount,
});

/** The ReplicaSets or ControllerRevisions of a workload. */
export function viewRevisions(
  kind: 'ReplicaSet' | 'ControllerRevision',
  objects: readonly KubeObject[],
  owner: Pick<WorkloadView, 'uid'>,
): readonly RevisionView[] {
  return objects.flatMap((object) => {
    const {
      name,
      namespace = '',
      uid,
      resourceVersion,
      labels = {},
      ownerReferences,
      deletionTimestamp,
    } = object.metadata;
    const parsed = revisionSchema.safeParse(object);
    const template = parsed.data?.spec?.template ?? parsed.data?.data?.spec.template;
    if (template === undefined || !!deletionTimestamp || !ownerReferences?.some((one) => one.uid === owner.uid))
      return [];
    const { spec, status, revision = 0 } = parsed.data ?? {};
    const ref = { kind, namespace, name };
    const failure = findReplicaFailure(status?.conditions);
    return [{ ref, uid, resourceVersion, labels, template, size: spec?.replicas ?? 0, revision, failure }];
  });
}

/** The image of a container in a template; undefined if there is no such container. */
export const readTemplateImage = ({ spec }: PodTemplate, container: string): string | undefined =>
  spec.containers.find(({ name }) => name === container)?.image;

/** A disruption budget of other people. */
export interface BudgetView {
  readonly name: string;
  readonly selector: unknown;
  readonly allowed: number;
}

const budgetSchema = z.looseObject({
  spec: z.looseObject({ selector: z.unknown().optional() }).default({ selector: undefined }),
  status: z.looseObject({ disruptionsAllowed: podCount }).default({ disruptionsAllowed: 0 }),
});

export function viewBudget(object: KubeObject): BudgetView {
  const { spec, status } = budgetSchema.parse(object);
  return { name: object.metadata.name, selector: spec.selector, allowed: status.disruptionsAllowed };
}

export interface NodeView {
  readonly name: string;
  readonly zone: string;
  readonly region: string;
  /** Its kubelet has not reported for a while. */
  readonly isSilent: boolean;
}

const nodeStatusSchema = z.looseObject({
  conditions: z.array(z.looseObject({ type: z.string(), status: z.string() })).nullish(),
});

export function viewNode({ metadata, status }: KubeObject): NodeView {
  const { conditions } = nodeStatusSchema.parse(status ?? {});
  const { name, labels = {} } = metadata;
  return {
    name,
    zone: labels['topology.kubernetes.io/zone'] ?? '',
    region: labels['topology.kubernetes.io/region'] ?? '',
    isSilent: conditions?.find(({ type }) => type === 'Ready')?.status !== 'True',
  };
}
