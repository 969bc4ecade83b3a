/** JSON that the fake server changes in place; only it does, on copies of its own. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Fields = { [key: string]: Json };

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const copy = <T>(value: T): T => structuredClone(value);

/** Equal as JSON, whatever the order of keys. */
export function areEqual(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((item, index) => areEqual(item, other[index]));
  if (!isFields(one) || !isFields(other)) return one === other;
  const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...keys].every((key) => areEqual(one[key], other[key]));
}

/** A stored object of any kind. */
export interface Thing {
  apiVersion: string;
  kind: string;
  metadata: Metadata;
  spec: Fields;
  status: Fields;
  /** Of ControllerRevisions. */
  data?: Json;
  revision?: number;
}

export interface Owner {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

export interface Metadata {
  name: string;
  namespace?: string;
  uid: string;
  resourceVersion: string;
  generation?: number;
  labels?: { [key: string]: string };
  annotations?: { [key: string]: string };
  creationTimestamp: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  ownerReferences?: Owner[];
}
