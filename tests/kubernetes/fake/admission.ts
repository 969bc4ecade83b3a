import { RESOURCES } from '../../../push-types/kubernetes/client/resources';
import { areEqual, copy, isFields, type Fields, type Json, type Thing } from './json';
import { Refusal } from './store';

/** The defaults and the rules of the API server for the kinds that the push type changes. */

/** Completes a new object. @throws Refusal 422 */
export function admitNew(object: Thing): Thing {
  const made = copy(object);
  const { spec } = made;
  if (made.kind === 'Deployment')
    setDefaults(spec, {
      ...{ replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } },
    });
  if (made.kind === 'ReplicaSet') setDefaults(spec, { replicas: 1 });
  if (made.kind === 'StatefulSet')
    setDefaults(spec, {
      ...{ replicas: 1, revisionHistoryLimit: 10, podManagementPolicy: 'OrderedReady' },
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
    });
  if (made.kind === 'DaemonSet')
    setDefaults(spec, {
      revisionHistoryLimit: 10,
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
    });
  if (isFields(spec['template'])) checkTemplate(made);
  if (made.kind === 'DaemonSet') setTemplateGeneration(made, 1);
  if (made.kind === 'Pod') {
    setDefaults(spec, POD_DEFAULTS);
    made.status = { phase: 'Pending', ...made.status };
  }
  return made;
}

const POD_DEFAULTS = { restartPolicy: 'Always', terminationGracePeriodSeconds: 30, dnsPolicy: 'ClusterFirst' };

function setDefaults(spec: Fields, defaults: Fields): void {
  for (const [name, value] of Object.entries(defaults)) {
    const present = spec[name];
    if (present === undefined) spec[name] = copy(value);
    else if (isFields(present) && isFields(value) && (present['type'] ?? value['type']) === value['type'])
      setDefaults(present, value);
  }
}

function checkTemplate(object: Thing): void {
  const template = object.spec['template'] as Fields;
  const podSpec = isFields(template['spec']) ? template['spec'] : (template['spec'] = {});
  setDefaults(podSpec, POD_DEFAULTS);
  const selector = isFields(object.spec['selector']) ? object.spec['selector'] : {};
  const labels = isFields(template['metadata']) ? template['metadata']['labels'] : undefined;
  const wanted = isFields(selector['matchLabels']) ? selector['matchLabels'] : {};
  if (!Object.entries(wanted).every(([key, value]) => isFields(labels) && labels[key] === value))
    throw invalid(object, 'spec.template.metadata.labels: Invalid value: `selector` does not match template `labels`');
  const containers = podSpec['containers'];
  if (!Array.isArray(containers) || containers.length === 0)
    throw invalid(object, 'spec.template.spec.containers: Required value');
}

/** A changed object; status comes only by its own subresource. @throws Refusal 422 */
export function admitChange(before: Thing, changed: Thing, subresource: string | undefined): Thing {
  const made = copy(changed);
  if (subresource === 'status') {
    made.spec = copy(before.spec);
    return made;
  }
  made.status = copy(before.status);
  if (before.kind === 'Pod') checkPodChange(before, made);
  if (isFields(made.spec['template'])) checkTemplate(made);
  if (made.kind !== 'Pod' && !areEqual(before.spec['selector'], made.spec['selector']) && RESTRICTED.has(made.kind))
    throw invalid(made, 'spec.selector: Invalid value: field is immutable');
  if (made.kind === 'StatefulSet') checkStatefulSetChange(before, made);
  if (made.kind === 'ControllerRevision' && !areEqual(before.data, made.data))
    throw invalid(made, 'data: Invalid value: field is immutable');
  if (made.kind === 'DaemonSet' && !areEqual(before.spec['template'], made.spec['template']))
    setTemplateGeneration(made, readTemplateGeneration(before) + 1);
  return made;
}

const RESTRICTED = new Set(['Deployment', 'ReplicaSet', 'StatefulSet', 'DaemonSet']);

/** Only the images of a running pod may change (and a few fields that no one here writes). */
function checkPodChange(before: Thing, made: Thing): void {
  const allowed = copy(before.spec);
  for (const list of ['containers', 'initContainers'] as const) {
    const changed = made.spec[list];
    const present = allowed[list];
    if (!Array.isArray(changed) || !Array.isArray(present) || changed.length !== present.length) continue;
    present.forEach((container, index) => {
      const image = (changed[index] as Fields)['image'];
      if (isFields(container) && image !== undefined) container['image'] = image;
    });
  }
  if (!areEqual(allowed, made.spec))
    throw invalid(
      made,
      'spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
    );
}

const STATEFUL_SET_FIELDS = [
  ...['replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit'],
  ...['persistentVolumeClaimRetentionPolicy', 'minReadySeconds'],
];

function checkStatefulSetChange(before: Thing, made: Thing): void {
  const names = new Set([...Object.keys(before.spec), ...Object.keys(made.spec)]);
  for (const name of names)
    if (!STATEFUL_SET_FIELDS.includes(name) && !areEqual(before.spec[name], made.spec[name]))
      throw invalid(
        made,
        `spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden`,
      );
}

const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

export const readTemplateGeneration = ({ metadata }: Thing): number =>
  Number(metadata.annotations?.[TEMPLATE_GENERATION] ?? 1);

function setTemplateGeneration(object: Thing, generation: number): void {
  object.metadata.annotations = { ...object.metadata.annotations, [TEMPLATE_GENERATION]: String(generation) };
}

function invalid({ kind, metadata }: Thing, message: string): Refusal {
  const group = kind in RESOURCES ? RESOURCES[kind as keyof typeof RESOURCES].apiVersion.split('/') : [];
  const name = group.length === 2 ? `${kind}.${group[0]}` : kind;
  return new Refusal(422, 'Invalid', `${name} "${metadata.name}" is invalid: ${message}`, {
    causes: [{ reason: 'FieldValueInvalid', message }],
  });
}

/** A pod that is not ready costs nothing while the others suffice, or always if the budget says so. */
export const isUnreadyPodFree = ({ spec, status }: Thing): boolean =>
  spec['unhealthyPodEvictionPolicy'] === 'AlwaysAllow' ||
  (Number(status['desiredHealthy']) > 0 && Number(status['currentHealthy']) >= Number(status['desiredHealthy']));

/** The answer to `create pods/eviction`: the budget loses one disruption, and the pod goes. @throws Refusal 429 */
export function findBudgetRefusal(budget: Thing): Refusal | undefined {
  const { disruptionsAllowed, observedGeneration } = budget.status;
  const message = "Cannot evict pod as it would violate the pod's disruption budget.";
  const { name } = budget.metadata;
  if (observedGeneration === undefined || Number(observedGeneration) < Number(budget.metadata.generation))
    return new Refusal(429, 'TooManyRequests', message, {
      retryAfter: 10,
      causes: [
        {
          reason: 'DisruptionBudget',
          message: `The disruption budget ${name} is still being processed by the server.`,
        },
      ],
    });
  if (Number(disruptionsAllowed) > 0) return undefined;
  const numbers: Json[] = [budget.status['desiredHealthy'] ?? 0, budget.status['currentHealthy'] ?? 0];
  return new Refusal(429, 'TooManyRequests', message, {
    causes: [
      {
        reason: 'DisruptionBudget',
        message: `The disruption budget ${name} needs ${String(numbers[0])} healthy pods and has ${String(numbers[1])} currently`,
      },
    ],
  });
}
