import type { EtcdRecords } from './etcdRecords';
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

/** What became of it, and which parts cannot be believed. */
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
