import type { KubeObject, WatchEvent } from './objects';
import type { ObjectRef, ResourceKind } from './resources';

/** Whose objects, and which of them; a selector has the syntax of `kubectl -l`. */
export interface ObjectListing {
  readonly namespace?: string;
  readonly labelSelector?: string;
}

export interface PatchOptions {
  /** `strategic` merges lists such as containers by their keys, `merge` replaces lists (RFC 7386), `json` is a list of operations (RFC 6902). */
  readonly type: 'strategic' | 'merge' | 'json';
  readonly subresource?: 'status' | 'scale';
  readonly dryRun?: boolean;
}

export interface CreateOptions {
  readonly namespace?: string;
  /** The object whose subresource is created. */
  readonly name?: string;
  readonly subresource?: 'eviction';
  readonly dryRun?: boolean;
}

export interface ObjectWatch extends ObjectListing {
  /** Changes after this version, which a list returns. */
  readonly resourceVersion: string;
  readonly signal: AbortSignal;
  /** After each connection that the server has accepted: the account may watch, although nothing may happen for long. */
  readonly onOpen?: () => void;
}

/** The requests of the push type to one cluster. All but `get` throw KubernetesError; see its kinds for the meanings. */
export interface KubernetesApi {
  /** Undefined if there is no such object. */
  get(ref: ObjectRef): Promise<KubeObject | undefined>;
  /** All pages of one moment. */
  list(
    kind: ResourceKind,
    options: ObjectListing,
  ): Promise<{ readonly items: readonly KubeObject[]; readonly resourceVersion: string }>;
  /** With `metadata.resourceVersion` in the patch, a stale one is refused (`Conflict`). */
  patch(ref: ObjectRef, patch: object, options: PatchOptions): Promise<KubeObject>;
  create(kind: ResourceKind, object: object, options?: CreateOptions): Promise<KubeObject>;
  /** With `uid`, another object of the same name stays, and the error is `Conflict`. An object that is already gone is no error. */
  remove(ref: ObjectRef, options?: { readonly uid?: string }): Promise<void>;
  /**
   * Changes as they come, until the signal aborts, which ends the loop without an error. An ended connection is opened again at the last version.
   * Throws `Gone` if the server has forgotten that version, or shows neither a change nor a bookmark for `watchIdleMs`: list again. Throws every refusal that time does not end.
   */
  watch(kind: ResourceKind, options: ObjectWatch): AsyncIterable<WatchEvent>;
}

export interface ApplyOptions {
  /** Takes fields from other managers. */
  readonly force?: boolean;
  readonly fieldManager?: string;
  readonly dryRun?: boolean;
}

/** All requests; the push type itself uses those of `KubernetesApi`. */
export interface ClusterConnection extends KubernetesApi {
  /** Server-side apply: creates the object, or takes over the fields that `object` names. */
  apply(ref: ObjectRef, object: object, options?: ApplyOptions): Promise<KubeObject>;
  /** `graceSeconds: 0` removes a pod without its kubelet. */
  remove(ref: ObjectRef, options?: { readonly uid?: string; readonly graceSeconds?: number }): Promise<void>;
  /** `[1, 37]` */
  readVersion(): Promise<readonly [number, number]>;
  /** Requests under way fail. */
  close(): void;
}
