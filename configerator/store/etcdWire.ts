/** etcd v3 through its JSON gateway: numbers are texts there, keys and values are base64. */

export interface KeyRange {
  readonly key: string;
  /** The first key after it; without it the range is one key. */
  readonly end?: string;
}

export interface RangeRequest extends KeyRange {
  /** Reads the state at that revision. */
  readonly revision?: number;
  /** Reads only later changes. */
  readonly minModRevision?: number;
  readonly keysOnly?: boolean;
  readonly limit?: number;
}

export interface KeyValue {
  readonly key: string;
  readonly value: string;
  readonly modRevision: number;
}

export type EtcdOperation =
  | { readonly put: { readonly key: string; readonly value: string; readonly lease?: string } }
  | { readonly delete: KeyRange }
  | { readonly range: RangeRequest };

interface RawKeyValue {
  readonly key: string;
  readonly value?: string;
  readonly mod_revision: string;
}

export interface RangeAnswer {
  readonly header?: { readonly revision?: string };
  readonly kvs?: readonly RawKeyValue[];
}

export interface TxnAnswer {
  readonly header?: { readonly revision?: string };
  readonly succeeded?: boolean;
  readonly responses?: readonly { readonly response_range?: RangeAnswer }[];
}

export interface WatchLine {
  readonly result?: {
    readonly events?: readonly unknown[];
    readonly canceled?: boolean;
    readonly cancel_reason?: string;
    readonly compact_revision?: string;
  };
  readonly error?: unknown;
}

export const base64 = (text: string): string => Buffer.from(text).toString('base64');

const decodeBase64 = (encoded: string): string => Buffer.from(encoded, 'base64').toString();

export const decodeKeyValue = ({ key, value = '', mod_revision }: RawKeyValue): KeyValue => ({
  ...{ key: decodeBase64(key), value: decodeBase64(value), modRevision: Number(mod_revision) },
});

export const encodeKeyRange = ({ key, end }: KeyRange) => ({
  key: base64(key),
  ...(end === undefined ? {} : { range_end: base64(end) }),
});

export const encodeRange = ({ revision, minModRevision, keysOnly, limit, ...range }: RangeRequest) => ({
  ...encodeKeyRange(range),
  ...(revision === undefined ? {} : { revision: String(revision) }),
  ...(minModRevision === undefined ? {} : { min_mod_revision: String(minModRevision) }),
  ...(keysOnly ? { keys_only: true } : {}),
  ...(limit === undefined ? {} : { limit: String(limit) }),
});

export function encodeOperation(operation: EtcdOperation): object {
  if ('range' in operation) return { request_range: encodeRange(operation.range) };
  if ('delete' in operation) return { request_delete_range: encodeKeyRange(operation.delete) };
  const { key, value, lease } = operation.put;
  return { request_put: { key: base64(key), value: base64(value), ...(lease === undefined ? {} : { lease }) } };
}
