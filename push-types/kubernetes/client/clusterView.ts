import { setTimeout as delay } from 'node:timers/promises';
import type { KubernetesApi, ObjectListing } from './api';
import { isKubernetesError, type KubernetesError } from './errors';
import { CLIENT_LIMITS } from './limits';
import type { KubeObject, WatchEvent } from './objects';
import type { ObjectRef, ResourceKind } from './resources';
import { trimObject } from './trim';

export interface ClusterViewOptions extends ObjectListing {
  readonly kinds: readonly ResourceKind[];
  readonly now?: () => number;
  readonly random?: () => number;
  /** Default: those of CLIENT_LIMITS. */
  readonly backOff?: { readonly firstMs: number; readonly mostMs: number };
  /** After each change, once for a whole list. */
  readonly onChange?: (kind: ResourceKind) => void;
}

interface SeenKind {
  objects: ReadonlyMap<string, KubeObject> & Map<string, KubeObject>;
  /** The last sign of the server; undefined before the first list. */
  seenAtMs: number | undefined;
  /** Why the kind cannot be seen at present. */
  trouble: Error | undefined;
}

/**
 * The objects of a cluster as its API server reports them, kept up to date by watches: a list, its changes, and another list once the server has
 * forgotten the version or shows no change for long. Holds what decisions need of each object and no more (trim.ts).
 */
export class ClusterView {
  private readonly kinds: ReadonlyMap<ResourceKind, SeenKind>;
  private readonly now: () => number;
  private readonly random: () => number;

  constructor(
    private readonly api: KubernetesApi,
    private readonly options: ClusterViewOptions,
  ) {
    this.now = options.now ?? Date.now;
    this.random = options.random ?? Math.random;
    this.kinds = new Map(
      options.kinds.map((kind) => [kind, { objects: new Map(), seenAtMs: undefined, trouble: undefined }]),
    );
  }

  /** Follows the cluster until the signal aborts. Failures are tried again for ever and shown by `whyStale`. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([...this.kinds].map(([kind, seen]) => this.follow(kind, seen, signal)));
  }

  /** Objects of a kind in no particular order; empty before the first list. */
  list(kind: ResourceKind, filter: (object: KubeObject) => boolean = () => true): readonly KubeObject[] {
    return [...this.take(kind).objects.values()].filter(filter);
  }

  get({ kind, namespace, name }: ObjectRef): KubeObject | undefined {
    return this.take(kind).objects.get(formatKey(namespace, name));
  }

  /** Whether each kind was listed once. */
  get isComplete(): boolean {
    return [...this.kinds.values()].every(({ seenAtMs }) => seenAtMs !== undefined);
  }

  /** A right that the account lost: nothing is known any more, however fresh the view was. */
  get missingRight(): KubernetesError | undefined {
    return [...this.kinds.values()]
      .map(({ trouble }) => trouble)
      .find((trouble) => isKubernetesError(trouble) && trouble.isMissingRight) as KubernetesError | undefined;
  }

  /** Why the view is older than `mostAgeMs`, or was never complete; undefined if it is fresh. */
  whyStale(mostAgeMs: number = CLIENT_LIMITS.viewAgeMs): string | undefined {
    for (const [kind, { seenAtMs, trouble }] of this.kinds) {
      const ageMs = seenAtMs === undefined ? Infinity : this.now() - seenAtMs;
      if (ageMs <= mostAgeMs) continue;
      const age = seenAtMs === undefined ? 'never' : `not for ${Math.round(ageMs / 1000)} s`;
      return `${kind}s were ${age} seen${trouble === undefined ? '' : `: ${trouble.message}`}`;
    }
    return undefined;
  }

  private take(kind: ResourceKind): SeenKind {
    const seen = this.kinds.get(kind);
    if (seen === undefined) throw new RangeError(`this view does not follow ${kind}`);
    return seen;
  }

  private async follow(kind: ResourceKind, seen: SeenKind, signal: AbortSignal): Promise<void> {
    for (let failures = 0; !signal.aborted;)
      try {
        const resourceVersion = await this.relist(kind, seen);
        failures = 0;
        const { namespace, labelSelector } = this.options;
        const place = {
          ...(namespace !== undefined && { namespace }),
          ...(labelSelector !== undefined && { labelSelector }),
        };
        const onOpen = (): void => void (seen.trouble = undefined);
        for await (const event of this.api.watch(kind, { ...place, resourceVersion, signal, onOpen }))
          this.apply(kind, seen, event);
      } catch (error) {
        if (signal.aborted) return;
        // An expired version is no failure; but a list that is expired as soon as it has come would be asked for without end.
        failures += 1;
        seen.trouble = error instanceof Error ? error : new Error(String(error));
        await this.wait(isKubernetesError(error, 'Gone') ? Math.min(failures, 3) : failures, signal);
      }
  }

  private async relist(kind: ResourceKind, seen: SeenKind): Promise<string> {
    const { namespace, labelSelector } = this.options;
    const { items, resourceVersion } = await this.api.list(kind, {
      ...(namespace !== undefined && { namespace }),
      ...(labelSelector !== undefined && { labelSelector }),
    });
    seen.objects = new Map(items.map((object) => [keyFor(object), trimObject(kind, object)]));
    this.note(kind, seen);
    return resourceVersion;
  }

  private apply(kind: ResourceKind, seen: SeenKind, event: WatchEvent): void {
    if (event.type === 'DELETED') seen.objects.delete(keyFor(event.object));
    else if (event.type !== 'BOOKMARK') seen.objects.set(keyFor(event.object), trimObject(kind, event.object));
    seen.trouble = undefined;
    if (event.type === 'BOOKMARK') seen.seenAtMs = this.now();
    else this.note(kind, seen);
  }

  private note(kind: ResourceKind, seen: SeenKind): void {
    seen.seenAtMs = this.now();
    // A list does not show that watches are permitted again.
    const { trouble } = seen;
    if (!isKubernetesError(trouble) || !trouble.isMissingRight || trouble.verb !== 'watch') seen.trouble = undefined;
    this.options.onChange?.(kind);
  }

  private async wait(failures: number, signal: AbortSignal): Promise<void> {
    const { firstMs, mostMs } = this.options.backOff ?? {
      ...{ firstMs: CLIENT_LIMITS.firstBackOffMs, mostMs: CLIENT_LIMITS.mostBackOffMs },
    };
    const fullMs = Math.min(mostMs, firstMs * 2 ** Math.min(failures - 1, 20));
    await delay(fullMs * (0.5 + this.random() / 2), undefined, { signal }).catch(() => undefined);
  }
}

const formatKey = (namespace: string | undefined, name: string): string => `${namespace ?? ''}/${name}`;
const keyFor = ({ metadata }: KubeObject): string => formatKey(metadata.namespace, metadata.name);
