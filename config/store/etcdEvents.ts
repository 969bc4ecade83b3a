import { decodeOverride, decodeValue } from './etcdKeys';
import type { KeyValue } from './etcdWire';
import type { StoreEvent } from './port';

/** That the value or the overrides of a path have changed. */
export interface WatchedChange {
  readonly path: string;
  readonly part: 'value' | 'override';
  readonly key: string;
  /** Of the value, or of the mark of its overrides; 0 where there is none. */
  readonly modRevision: number;
  readonly position: string;
  /** What it is now, where that came with it. */
  readonly kvs?: readonly KeyValue[];
}

export function eventOf({ path, part, position }: WatchedChange, kvs: readonly KeyValue[]): StoreEvent {
  if (part === 'override') {
    const overrides = kvs.map(({ value }) => decodeOverride(path, value));
    return overrides.length === 0
      ? { kind: 'override-removed', path, position }
      : { kind: 'override', path, overrides, position };
  }
  const { stored, commit, sequence } = decodeValue(path, kvs[0]?.value ?? '{}');
  return stored === null
    ? { kind: 'removed', path, commit, sequence, position }
    : { kind: 'value', path, value: stored, position };
}
