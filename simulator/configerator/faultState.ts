/** The faults at each level of the tree; a leader is elected when its fault ends. */
export type ConfigFault = { readonly id: string } & (
  | { readonly kind: 'leader' }
  | { readonly kind: 'observer'; readonly observer: number }
  | { readonly kind: 'partition'; readonly region: string }
  | { readonly kind: 'proxy-slow'; readonly hosts: readonly number[]; readonly delayMs: number }
  | { readonly kind: 'proxy-restart' | 'proxy-disk'; readonly hosts: readonly number[] }
);

/** The transaction up to which a cache on a disk without writes is complete. */
export interface FrozenCache {
  readonly at: number;
}
