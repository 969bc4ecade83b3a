import type { Unit } from './unit';

/**
 * The units of a phase: `*` for all, `label:value` by label, else a unit's name. A unit id with a colon is written as
 * `name:<id>`.
 */
export type Scope = string;

export function inScope(scope: Scope, unit: Pick<Unit, 'id' | 'labels'>): boolean {
  if (scope === '*') return true;
  const colon = scope.indexOf(':');
  if (colon < 0) return unit.id === scope;
  const [label, value] = [scope.slice(0, colon), scope.slice(colon + 1)];
  return label === 'name' ? unit.id === value : unit.labels[label] === value;
}
