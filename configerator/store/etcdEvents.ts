import type { EtcdRecords } from './etcdRecords';
import type { KeyValue } from './etcdWire';
import type { StoreEvent } from './port';

/** A change of the value or the overrides of a path. */
export interface WatchedChange {
  readonly path: string;
  readonly part: 'value' | 'override';
  readonly key: string;
  /** The revision of the value, or of the mark of its overrides; 0 if there is none. */
  readonly modRevision: number;
  readonly position: string;
  /** The new records, if the watch delivered them. */
  readonly kvs?: readonly KeyValue[];
}

/** The events of a change, including records that cannot be trusted. */
export function toStoreEvents(
  { path, part, position, key }: WatchedChange,
  kvs: readonly KeyValue[],
  records: EtcdRecords,
): StoreEvent[] {
  const at = { path, position };
  const disbelieved = (why: string): StoreEvent => ({ kind: 'disbelieved', ...at, part, why });
  if (part === 'value') {
    const { it, fault } = records.value(key, path, kvs[0]?.value ?? '');
    if (it === undefined || fault !== undefined) return [disbelieved(fault ?? '')];
    const { stored, commit, sequence, overrules } = it;
    return [
      stored === null
        ? { kind: 'removed', ...at, commit, sequence, overrules }
        : { kind: 'value', ...at, value: stored },
    ];
  }
  const found = kvs.map((kv) => records.override(kv.key, path, kv.value));
  const overrides = found.flatMap(({ it, fault }) => (it !== undefined && fault === undefined ? [it] : []));
  const known: StoreEvent =
    overrides.length === 0 ? { kind: 'override-removed', ...at } : { kind: 'override', ...at, overrides };
  return [known, ...found.flatMap(({ fault }) => (fault === undefined ? [] : [disbelieved(fault)]))];
}
