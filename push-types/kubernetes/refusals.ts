import { z } from 'zod';
import { readIntent, readReplacement, SERVING_GATE } from './records';
import type { PodsConfig, WorkloadKind } from './settings';
import { RESOURCES } from './client/resources';
import { listRivals } from './rivals';
import { readTemplateImage, type WorkloadView } from './views';

/** Why a workload cannot be updated by patches of its pods, and what to do. Pure. */

/** The oldest Kubernetes on which updates in place are permitted. */
const OLDEST_MINOR = 28;

/** Settings that do not go together. */
export function explainMode({
  mode,
  template,
  drain,
}: Pick<PodsConfig, 'mode' | 'template' | 'drain'>): string | undefined {
  if (mode === 'in-place' && template !== undefined)
    return 'pods in place change their image alone: for other fields write mode: recreate, which replaces pods';
  if (mode === 'recreate' && drain !== undefined)
    return 'a pod that is replaced leaves its Services by itself: leave drain out';
  return undefined;
}

/** The container whose image changes, or why it is not known. */
export function findContainer(
  { template, ref }: WorkloadView,
  name: string | undefined,
): { readonly container: string } | { readonly problem: string } {
  const { containers, initContainers } = template.spec;
  const names = containers.map((one) => one.name);
  if (name === undefined) {
    const [only, ...others] = names;
    if (only !== undefined && others.length === 0) return { container: only };
    return { problem: `${ref.name} has the containers ${names.join(', ')}: write container: NAME` };
  }
  if (names.includes(name)) return { container: name };
  if (initContainers?.some((one) => one.name === name))
    return {
      problem: `${name} of ${ref.name} is an init container, and a new image of it restarts nothing: change it by a rollout of Kubernetes`,
    };
  return { problem: `${ref.name} has no container ${name}; it has ${names.join(', ')}` };
}

/** Reasons that do not pass by themselves. */
export function explainUnfit(workload: WorkloadView, container: string): string | undefined {
  const { ref, owners, isPaused, annotations } = workload;
  const [owner] = owners;
  if (owner !== undefined)
    return `${ref.name} belongs to ${owner.kind} ${owner.name}, whose controller would undo every change: deploy by that, or remove that owner`;
  if (isPaused && readIntent(annotations) === undefined && readReplacement(annotations) === undefined)
    return `a person has paused ${ref.name}: resume it first (kubectl rollout resume)`;
  if (!restartsAlways(workload, container))
    return `the pods of ${ref.name} do not restart their containers (restartPolicy), so a new image would never start`;
  if (readTemplateImage(workload.template, container) === '')
    return `container ${container} of ${ref.name} has no image`;
  return undefined;
}

const restartFields = z.looseObject({
  restartPolicy: z.string().nullish(),
  containers: z.array(z.looseObject({ name: z.string(), restartPolicy: z.string().nullish() })),
});

function restartsAlways({ template }: WorkloadView, container: string): boolean {
  const { restartPolicy, containers } = restartFields.parse(template.spec);
  const own = containers.find(({ name }) => name === container)?.restartPolicy;
  return (own ?? restartPolicy ?? 'Always') === 'Always';
}

const gateFields = z.looseObject({ readinessGates: z.array(z.looseObject({ conditionType: z.string() })).nullish() });

/** Whether new pods of a workload are ready only once the push type has put them into service. */
export const hasServingGate = ({ template }: WorkloadView): boolean =>
  !!gateFields
    .safeParse(template.spec)
    .data?.readinessGates?.some(({ conditionType }) => conditionType === SERVING_GATE);

/** In-place changes were tried with no older cluster. @param version such as [1, 37] */
export const explainOldCluster = ([major, minor]: readonly [number, number]): string | undefined =>
  major > 1 || (major === 1 && minor >= OLDEST_MINOR)
    ? undefined
    : `it runs Kubernetes ${major}.${minor}: upgrade it to 1.${OLDEST_MINOR} or newer`;

/** A right that the push type needs. */
export interface NeededVerb {
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly verbs: readonly string[];
}

/** For the templates of before. */
function listRevisionRights(kind: WorkloadKind, mode: PodsConfig['mode']): readonly NeededVerb[] {
  if (kind === 'Deployment') return [{ group: 'apps', resource: 'replicasets', verbs: ['list', 'patch', 'delete'] }];
  if (mode === 'recreate') return [{ group: 'apps', resource: 'controllerrevisions', verbs: ['list', 'delete'] }];
  return kind === 'DaemonSet' ? [{ group: 'apps', resource: 'controllerrevisions', verbs: ['list'] }] : [];
}

/** The rights in a namespace for a kind of workload; examples/kubernetes/rbac.yaml grants all of them. */
export const listNeededRights = (
  kind: WorkloadKind,
  { hasGate, mode }: Pick<PodsConfig, 'mode'> & { readonly hasGate: boolean },
): readonly NeededVerb[] => [
  { group: 'apps', resource: `${kind.toLowerCase()}s`, verbs: ['get', 'list', 'watch', 'patch'] },
  { group: '', resource: 'pods', verbs: ['list', 'watch', 'patch', ...(mode === 'recreate' ? ['delete'] : [])] },
  ...(hasGate ? [{ group: '', resource: 'pods', subresource: 'status', verbs: ['patch'] }] : []),
  ...(mode === 'recreate' ? [{ group: '', resource: 'pods', subresource: 'eviction', verbs: ['create'] }] : []),
  { group: 'policy', resource: 'poddisruptionbudgets', verbs: ['list', 'watch'] },
  ...listRevisionRights(kind, mode),
  ...listRivals(kind).map((rival) => {
    const { apiVersion, plural } = RESOURCES[rival.kind];
    return { group: apiVersion.slice(0, apiVersion.indexOf('/')), resource: plural, verbs: ['list'] };
  }),
];

/** The rights that belong to the whole cluster. */
export const CLUSTER_RIGHTS: readonly NeededVerb[] = [{ group: '', resource: 'nodes', verbs: ['list', 'watch'] }];
