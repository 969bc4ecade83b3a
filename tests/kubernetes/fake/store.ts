import { randomUUID } from 'node:crypto';
import { areEqual, copy, type Fields, type Thing } from './json';

/** A refusal in the form of Kubernetes. */
export class Refusal extends Error {
  constructor(
    readonly code: number,
    readonly reason: string,
    message: string,
    readonly more: {
      readonly retryAfter?: number;
      readonly causes?: readonly { reason: string; message: string }[];
    } = {},
  ) {
    super(message);
  }
}

export interface Change {
  readonly version: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: Thing;
  /** For watches by label: an object can begin or cease to match. */
  readonly before: Thing | undefined;
}

export type NewThing = Pick<Thing, 'kind' | 'apiVersion'> &
  Partial<Omit<Thing, 'metadata'>> & { metadata: Partial<Thing['metadata']> & { generateName?: string } };

/** Kinds whose `metadata.generation` counts the changes of their spec. */
const COUNTED = new Set(['Pod', 'Deployment', 'ReplicaSet', 'StatefulSet', 'DaemonSet', 'PodDisruptionBudget']);

export const keyOf = (namespace: string | undefined, name: string): string => `${namespace ?? ''}/${name}`;

/** The objects of a fake cluster with their versions and their past: one counter for all, as etcd has. Objects are never changed once they are in it. */
export class FakeStore {
  private readonly objects = new Map<string, Map<string, Thing>>();
  private changes: Change[] = [];
  private version = 100;
  private compacted = 0;
  /** The version of the last change of each kind. */
  private kindVersions = new Map<string, number>();
  private readonly listeners = new Set<(change: Change) => void>();
  /** Pods that a namespace may have, as a ResourceQuota limits them. */
  readonly podQuota = new Map<string, number>();

  constructor(readonly now: () => number = Date.now) {}

  get currentVersion(): number {
    return this.version;
  }

  /** The version of the last change of this kind in any namespace; a server knows no newer one of a kind until etcd reports its progress. */
  findKindVersion(kind: string): number {
    return this.kindVersions.get(kind) ?? 0;
  }

  /** A backup of etcd. The function restores it: later changes never happened, and the counter goes back. No watch shows that. */
  takeBackup(): () => void {
    const [version, kindVersions] = [this.version, new Map(this.kindVersions)];
    const objects = [...this.objects].map(([kind, things]) => [kind, new Map(things)] as const);
    return () => {
      this.objects.clear();
      for (const [kind, things] of objects) this.objects.set(kind, new Map(things));
      [this.version, this.kindVersions] = [version, new Map(kindVersions)];
      this.changes = this.changes.filter((change) => change.version <= version);
    };
  }

  /** Forgets the changes so far: a watch from before them is expired. */
  compact(): void {
    this.compacted = this.version;
    this.changes = [];
  }

  isExpired(version: number): boolean {
    return version < this.compacted;
  }

  changesAfter(version: number): readonly Change[] {
    return this.changes.filter((change) => change.version > version);
  }

  listen(listener: (change: Change) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  get(kind: string, namespace: string | undefined, name: string): Thing | undefined {
    return this.objects.get(kind)?.get(keyOf(namespace, name));
  }

  list(kind: string, namespace?: string): readonly Thing[] {
    const all = [...(this.objects.get(kind)?.values() ?? [])];
    return namespace === undefined ? all : all.filter(({ metadata }) => metadata.namespace === namespace);
  }

  /** @throws Refusal 409 if there is one of this name */
  create(given: NewThing): Thing {
    const { kind } = given;
    const { generateName, namespace, name = `${generateName}${randomSuffix()}`, ...metadata } = given.metadata;
    if (this.get(kind, namespace, name)) throw new Refusal(409, 'AlreadyExists', `${kind} "${name}" already exists`);
    if (kind === 'Pod') this.checkQuota(namespace ?? '', name);
    const version = (this.version += 1);
    const object: Thing = {
      ...copy({ ...given, spec: given.spec ?? {}, status: given.status ?? {} }),
      metadata: {
        ...copy(metadata),
        ...(namespace !== undefined && { namespace }),
        ...{ name, uid: randomUUID(), resourceVersion: String(version), creationTimestamp: this.formatNow() },
        ...(COUNTED.has(kind) && { generation: 1 }),
      },
    };
    this.put(object);
    this.record({ version, type: 'ADDED', object, before: undefined });
    return object;
  }

  /**
   * Puts a changed copy in the place of an object; one that changes nothing leaves the version as it is, as a real server does.
   * @throws Refusal 409 if `expected` is not its version
   */
  update(before: Thing, changed: Thing, expected?: string): Thing {
    const present = this.get(before.kind, before.metadata.namespace, before.metadata.name);
    if (present === undefined) throw new Refusal(404, 'NotFound', `${before.kind} "${before.metadata.name}" not found`);
    if (expected !== undefined && expected !== '' && expected !== present.metadata.resourceVersion)
      throw new Refusal(
        ...([409, 'Conflict'] as const),
        `Operation cannot be fulfilled on ${before.kind} "${before.metadata.name}": the object has been modified; please apply your changes to the latest version and try again`,
      );
    const { uid, creationTimestamp, resourceVersion, generation } = present.metadata;
    const object = copy(changed);
    Object.assign(object.metadata, { uid, creationTimestamp, resourceVersion });
    if (generation !== undefined)
      object.metadata.generation = areEqual(present.spec, object.spec) ? generation : generation + 1;
    if (areEqual(present, object)) return present;
    const version = (this.version += 1);
    object.metadata.resourceVersion = String(version);
    this.put(object);
    this.record({ version, type: 'MODIFIED', object, before: present });
    return object;
  }

  /** For controllers: `change` gets a copy, and its result replaces the newest state. Does nothing if the object is gone. */
  edit(object: Thing, change: (draft: Thing) => void): Thing | undefined {
    const present = this.get(object.kind, object.metadata.namespace, object.metadata.name);
    if (present === undefined || present.metadata.uid !== object.metadata.uid) return undefined;
    const draft = copy(present);
    change(draft);
    return this.update(present, draft);
  }

  setStatus(object: Thing, status: Fields): Thing | undefined {
    return this.edit(object, (draft) => Object.assign(draft.status, status));
  }

  /** Pods on nodes get a time of deletion first, and their kubelet removes them; everything else goes at once. */
  remove(object: Thing, { graceSeconds }: { readonly graceSeconds?: number } = {}): void {
    const present = this.get(object.kind, object.metadata.namespace, object.metadata.name);
    if (present === undefined || present.metadata.uid !== object.metadata.uid) return;
    const { terminationGracePeriodSeconds: own = 30, nodeName } = present.spec;
    const grace = graceSeconds ?? Number(own);
    if (present.kind === 'Pod' && grace > 0 && nodeName !== undefined) {
      if (present.metadata.deletionTimestamp !== undefined) return;
      this.edit(present, ({ metadata }) =>
        Object.assign(metadata, { deletionTimestamp: this.formatNow(), deletionGracePeriodSeconds: grace }),
      );
      return;
    }
    this.objects.get(present.kind)?.delete(keyOf(present.metadata.namespace, present.metadata.name));
    const version = (this.version += 1);
    const last = copy(present);
    last.metadata.resourceVersion = String(version);
    this.record({ version, type: 'DELETED', object: last, before: present });
  }

  /** Kubernetes has no fractions of seconds in these times. */
  formatNow(): string {
    return new Date(this.now()).toISOString().replace(/\.\d+Z$/, 'Z');
  }

  private checkQuota(namespace: string, name: string): void {
    const quota = this.podQuota.get(namespace);
    const used = this.list('Pod', namespace).length;
    if (quota !== undefined && used >= quota)
      throw new Refusal(
        ...([403, 'Forbidden'] as const),
        `pods "${name}" is forbidden: exceeded quota: pods, requested: pods=1, used: pods=${used}, limited: pods=${quota}`,
      );
  }

  private put(object: Thing): void {
    const { kind, metadata } = object;
    const known = this.objects.get(kind) ?? new Map<string, Thing>();
    this.objects.set(kind, known.set(keyOf(metadata.namespace, metadata.name), object));
  }

  private record(change: Change): void {
    this.changes.push(change);
    this.kindVersions.set(change.object.kind, change.version);
    for (const listener of this.listeners) listener(change);
  }
}

const LETTERS = 'bcdfghjklmnpqrstvwxz2456789';
/** As in the names of pods. */
export const randomSuffix = (): string =>
  Array.from({ length: 5 }, () => LETTERS[Math.floor(Math.random() * LETTERS.length)]).join('');
