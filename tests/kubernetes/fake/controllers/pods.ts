import { createHash } from 'node:crypto';
import { areEqual, copy, isFields, type Fields, type Json, type Thing } from '../json';
import type { FakeStore } from '../store';

/** The parts that the controllers of all workloads share. */

/** Returns ms after which a controller has to look again because of time alone. */
export type Reconcile = (store: FakeStore) => number | undefined;

export const ownerUid = ({ metadata }: Thing): string | undefined =>
  metadata.ownerReferences?.find(({ controller }) => controller)?.uid;

export const ownedBy = (store: FakeStore, kind: string, owner: Thing): Thing[] =>
  store.list(kind, owner.metadata.namespace).filter((one) => ownerUid(one) === owner.metadata.uid);

export const ownerReference = ({ apiVersion, kind, metadata }: Thing) => ({
  ...{ apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true, blockOwnerDeletion: true },
});

export const isEnding = ({ metadata }: Thing): boolean => metadata.deletionTimestamp !== undefined;
export const isActive = (pod: Thing): boolean =>
  !isEnding(pod) && pod.status['phase'] !== 'Succeeded' && pod.status['phase'] !== 'Failed';

export function findCondition({ status }: Thing, type: string): Fields | undefined {
  const conditions = Array.isArray(status['conditions']) ? status['conditions'] : [];
  return conditions.filter(isFields).find((condition) => condition['type'] === type);
}

export const isReady = (pod: Thing): boolean => findCondition(pod, 'Ready')?.['status'] === 'True';

/** ms until a pod is available: ready for `minReadySeconds`. 0 if it is, undefined if it is not ready. */
export function countToAvailable(store: FakeStore, pod: Thing, minReadySeconds: number): number | undefined {
  const ready = findCondition(pod, 'Ready');
  if (ready?.['status'] !== 'True') return undefined;
  return Math.max(0, Date.parse(String(ready['lastTransitionTime'])) + minReadySeconds * 1000 - store.now());
}

export const numberIn = (fields: Fields, name: string, otherwise = 0): number =>
  typeof fields[name] === 'number' ? fields[name] : otherwise;

export const fieldsIn = (fields: Fields, name: string): Fields => {
  const value = fields[name];
  return isFields(value) ? value : {};
};

/** A number, or a percentage of `total`. */
export function resolveAmount(
  amount: Json | undefined,
  total: number,
  round: 'up' | 'down',
  otherwise: number,
): number {
  if (typeof amount === 'number') return amount;
  if (typeof amount !== 'string') return otherwise;
  const part = (Number.parseInt(amount, 10) * total) / 100;
  return round === 'up' ? Math.ceil(part) : Math.floor(part);
}

/** Short, of a template and the collisions so far, as in the names of ReplicaSets and revisions. */
export const hashTemplate = (template: Json, collisions: number): string =>
  createHash('sha256')
    .update(`${JSON.stringify(sortKeys(template))} ${collisions}`)
    .digest('hex')
    .slice(0, 10);

const sortKeys = (value: Json): Json =>
  isFields(value)
    ? Object.fromEntries(
        Object.keys(value)
          .sort()
          .map((key) => [key, sortKeys(value[key] ?? null)]),
      )
    : Array.isArray(value)
      ? value.map(sortKeys)
      : value;

export const HASH_LABEL = 'pod-template-hash';

/** A template without the label that the Deployment's controller adds. */
export function withoutHash(template: Json | undefined): Json {
  const made = copy(template ?? {});
  if (isFields(made)) delete fieldsIn(fieldsIn(made, 'metadata'), 'labels')[HASH_LABEL];
  return made;
}

export const sameTemplate = (one: Json | undefined, other: Json | undefined): boolean =>
  areEqual(withoutHash(one), withoutHash(other));

interface NewPod {
  readonly name?: string;
  readonly template: Fields;
  readonly labels?: Readonly<Record<string, string>>;
  readonly nodeName?: string;
}

/** @throws Refusal if a quota or a name is in the way */
export function createPod(store: FakeStore, owner: Thing, { name, template, labels, nodeName }: NewPod): Thing {
  const metadata = fieldsIn(template, 'metadata');
  return store.create({
    ...{ apiVersion: 'v1', kind: 'Pod' },
    metadata: {
      ...(name === undefined ? { generateName: `${owner.metadata.name}-` } : { name }),
      ...(owner.metadata.namespace !== undefined && { namespace: owner.metadata.namespace }),
      labels: { ...(copy(fieldsIn(metadata, 'labels')) as Record<string, string>), ...labels },
      annotations: copy(fieldsIn(metadata, 'annotations')) as Record<string, string>,
      ownerReferences: [ownerReference(owner)],
    },
    spec: { ...copy(fieldsIn(template, 'spec')), ...(nodeName !== undefined && { nodeName }) },
    status: { phase: 'Pending' },
  });
}

/** Sets or replaces a condition; its time changes only with its status. */
export function withCondition(
  store: FakeStore,
  object: Thing,
  type: string,
  status: string,
  ...[reason, message]: readonly [reason: string, message?: string]
): Json[] {
  const conditions = Array.isArray(object.status['conditions']) ? object.status['conditions'] : [];
  const before = findCondition(object, type);
  const lastTransitionTime = before?.['status'] === status ? before['lastTransitionTime'] : store.formatNow();
  const others = conditions.filter((one) => isFields(one) && one['type'] !== type);
  return [
    ...copy(others),
    { type, status, reason, ...(message !== undefined && { message }), lastTransitionTime: lastTransitionTime ?? null },
  ];
}
