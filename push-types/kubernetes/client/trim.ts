import type { KubeObject } from './objects';
import type { ResourceKind } from './resources';

/**
 * An object without the parts that no decision reads, in the same form: managed fields, long annotations, and of templates and pods all but names,
 * images and states. 5,000 pods take less than 40 MB.
 */
export function trimObject(kind: ResourceKind, { metadata, spec, status, ...rest }: KubeObject): KubeObject {
  const { kind: _kind, apiVersion } = rest;
  const rows = TRIMS[kind] ?? {};
  return {
    ...{ kind, ...(apiVersion !== undefined && { apiVersion }) },
    metadata: trimMetadata(metadata),
    ...(spec !== undefined && { spec: (rows.spec ?? keepAll)(spec) }),
    ...(status !== undefined && { status: (rows.status ?? keepAll)(status) }),
  };
}

type PartFields = Readonly<Record<string, unknown>>;
type Trim = (fields: PartFields) => Record<string, unknown>;

/** kubectl keeps whole manifests in annotations. */
const MOST_ANNOTATION = 1_024;
/** The records of the push type, whatever their length. */
const OWN = 'conveyor.dev/';

function trimMetadata(metadata: KubeObject['metadata']): KubeObject['metadata'] {
  const { name, namespace, uid, resourceVersion, generation, labels, annotations } = metadata;
  const { creationTimestamp, deletionTimestamp, ownerReferences } = metadata;
  const short = Object.entries(annotations ?? {}).filter(
    ([key, value]) => key.startsWith(OWN) || value.length <= MOST_ANNOTATION,
  );
  return dropMissing({
    ...{ name, namespace, uid, resourceVersion, generation, labels, creationTimestamp, deletionTimestamp },
    annotations: short.length === 0 ? undefined : Object.fromEntries(short),
    ownerReferences: ownerReferences?.map((owner) => ({
      ...{ kind: owner.kind, name: owner.name, uid: owner.uid },
      ...(owner.controller !== undefined && { controller: owner.controller }),
    })),
  }) as KubeObject['metadata'];
}

const keepAll: Trim = (fields) => ({ ...fields });

const keepFields =
  (...names: readonly string[]): Trim =>
  (fields) =>
    dropMissing(Object.fromEntries(names.map((name) => [name, fields[name]])));

const dropMissing = (fields: PartFields): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

const mapEach = (list: unknown, trim: Trim): unknown =>
  Array.isArray(list) ? list.map((one: unknown) => (isPartFields(one) ? trim(one) : one)) : undefined;

const isPartFields = (value: unknown): value is PartFields => typeof value === 'object' && value !== null;

const trimContainer = keepFields('name', 'image', 'restartPolicy');
const trimCondition = keepFields('type', 'status', 'reason', 'message', 'lastTransitionTime');
const trimContainerStatus = keepFields('name', 'image', 'imageID', 'ready', 'restartCount', 'state', 'containerID');

const trimPodSpec: Trim = (spec) =>
  dropMissing({
    ...keepFields('nodeName', 'restartPolicy', 'readinessGates', 'terminationGracePeriodSeconds')(spec),
    containers: mapEach(spec['containers'], trimContainer),
    initContainers: mapEach(spec['initContainers'], trimContainer),
  });

const trimPodStatus: Trim = (status) =>
  dropMissing({
    ...keepFields('phase', 'reason', 'message', 'podIP', 'startTime')(status),
    conditions: mapEach(status['conditions'], trimCondition),
    containerStatuses: mapEach(status['containerStatuses'], trimContainerStatus),
    initContainerStatuses: mapEach(status['initContainerStatuses'], trimContainerStatus),
  });

const trimWorkloadSpec: Trim = (spec) => {
  const { template, volumeClaimTemplates: _claims, ...others } = spec;
  if (!isPartFields(template)) return others;
  const { metadata, spec: podSpec } = template;
  const labels = isPartFields(metadata) ? keepFields('labels', 'annotations')(metadata) : {};
  return { ...others, template: { metadata: labels, spec: isPartFields(podSpec) ? trimPodSpec(podSpec) : {} } };
};

const TRIMS: Readonly<Partial<Record<ResourceKind, { readonly spec?: Trim; readonly status?: Trim }>>> = {
  Pod: { spec: trimPodSpec, status: trimPodStatus },
  Node: {
    spec: keepFields('unschedulable', 'taints', 'providerID'),
    status: (status) => dropMissing({ conditions: mapEach(status['conditions'], trimCondition) }),
  },
  Deployment: { spec: trimWorkloadSpec },
  ReplicaSet: { spec: trimWorkloadSpec },
  StatefulSet: { spec: trimWorkloadSpec },
  DaemonSet: { spec: trimWorkloadSpec },
  PodDisruptionBudget: {
    status: keepFields(
      'disruptionsAllowed',
      'currentHealthy',
      'desiredHealthy',
      'expectedPods',
      'observedGeneration',
      'conditions',
    ),
  },
};
