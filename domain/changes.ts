import type { PhaseAmount } from './fleet/amount';
import { isJsonObject } from './json';

/** One difference between two specs. `from` is undefined for what is new, `to` for what is gone. */
export interface SpecChange {
  readonly path: string;
  readonly from?: unknown;
  readonly to?: unknown;
}

/** All differences between two parsed specs, path by path; list items that have a name go by it, not by their place. */
export function changesBetween(before: unknown, after: unknown, path: string = ''): SpecChange[] {
  if (isEqualJson(before, after)) return [];
  const [left, right] = [childrenOf(before), childrenOf(after)];
  if (left === undefined || right === undefined) return [changeAt(path, before, after)];
  const keys = [...new Set([...left.keys(), ...right.keys()])];
  const changes = keys.flatMap((key) =>
    changesBetween(left.get(key), right.get(key), path === '' ? key : `${path}.${key}`),
  );
  // Nothing differs by name, so the order does.
  return changes.length > 0 ? changes : [{ path, from: [...left.keys()], to: [...right.keys()] }];
}

function changeAt(path: string, from: unknown, to: unknown): SpecChange {
  return { path, ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
}

/** JSON values only, and a key that holds undefined is a key that is not there. */
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

/** Named children of what can be compared in depth; undefined for what is one value: texts, numbers, amounts, plain lists. */
function childrenOf(value: unknown): Map<string, unknown> | undefined {
  if (Array.isArray(value)) {
    if (value.length === 0 || !value.every(isJsonObject)) return undefined;
    const names = value.map((item, at) => (typeof item.name === 'string' ? item.name : String(at)));
    return new Set(names).size === names.length
      ? new Map(value.map((item, at) => [names[at] ?? String(at), item]))
      : undefined;
  }
  return isJsonObject(value) && !isAmount(value) ? new Map(Object.entries(value)) : undefined;
}

/** One value, however it is written. */
export function isAmount(value: unknown): value is PhaseAmount {
  if (!isJsonObject(value)) return false;
  const [key, ...others] = Object.keys(value);
  if (others.length > 0) return false;
  return key === 'units' ? isAmount(value.units) : key === 'count' || key === 'percent' || key === 'all';
}
