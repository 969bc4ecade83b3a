import type { PhaseAmount } from './fleet/amount';
import { isJsonObject } from './json';

/** One difference between two specs. `from` is undefined for an addition, `to` for a removal. */
export interface SpecChange {
  readonly path: string;
  readonly from?: unknown;
  readonly to?: unknown;
}

/** All differences between two parsed specs, path by path. Named list items are matched by name, others by position. */
export function changesBetween(before: unknown, after: unknown, path: string = ''): SpecChange[] {
  if (isEqualJson(before, after)) return [];
  const [left, right] = [listNamedChildren(before), listNamedChildren(after)];
  if (left === undefined || right === undefined) return [changeAt(path, before, after)];
  const keys = [...new Set([...left.keys(), ...right.keys()])];
  const changes = keys.flatMap((key) =>
    changesBetween(left.get(key), right.get(key), path === '' ? key : `${path}.${key}`),
  );
  // No item differs by name, so their order does.
  return changes.length > 0 ? changes : [{ path, from: [...left.keys()], to: [...right.keys()] }];
}

function changeAt(path: string, from: unknown, to: unknown): SpecChange {
  return { path, ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
}

/** Compares JSON values only; a key with the value undefined counts as absent. */
function isEqualJson(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(withSortedKeys(a)) === JSON.stringify(withSortedKeys(b));
}

function withSortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSortedKeys);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, withSortedKeys(item)]),
  );
}

/**
 * Named children of a value that can be compared in depth; undefined for a single value: a text, number, amount or
 * plain list.
 */
function listNamedChildren(value: unknown): Map<string, unknown> | undefined {
  if (Array.isArray(value)) {
    if (value.length === 0 || !value.every(isJsonObject)) return undefined;
    const names = value.map((item, at) => (typeof item.name === 'string' ? item.name : String(at)));
    return new Set(names).size === names.length
      ? new Map(value.map((item, at) => [names[at] ?? String(at), item]))
      : undefined;
  }
  return isJsonObject(value) && !isAmount(value) ? new Map(Object.entries(value)) : undefined;
}

/** Whether a value is an amount, in any notation. */
export function isAmount(value: unknown): value is PhaseAmount {
  if (!isJsonObject(value)) return false;
  const [key, ...others] = Object.keys(value);
  if (others.length > 0) return false;
  return key === 'units' ? isAmount(value.units) : key === 'count' || key === 'percent' || key === 'all';
}
