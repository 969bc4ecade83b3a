import { formatAmount, type PhaseAmount } from '../../domain/fleet/amount';
import { formatDuration } from '../../domain/text';
import { paint, fold, type View } from './paint';

/** One difference between two specs. `from` is undefined for what is new, `to` for what is gone. */
export interface Change {
  readonly path: string;
  readonly from?: unknown;
  readonly to?: unknown;
}

/** All differences between two parsed specs, path by path; list items that have a name go by it, not by their place. */
export function changesBetween(before: unknown, after: unknown, path: string = ''): Change[] {
  if (isSame(before, after)) return [];
  const [left, right] = [childrenOf(before), childrenOf(after)];
  if (left === undefined || right === undefined) return [changeAt(path, before, after)];
  const keys = [...new Set([...left.keys(), ...right.keys()])];
  const changes = keys.flatMap((key) =>
    changesBetween(left.get(key), right.get(key), path === '' ? key : `${path}.${key}`),
  );
  // Nothing differs by name, so the order does.
  return changes.length > 0 ? changes : [{ path, from: [...left.keys()], to: [...right.keys()] }];
}

/** `~ actions.deploy.with.phases.first.bake: 10m → 5m`, with + and - for what is new and gone. */
export function renderChanges(changes: readonly Change[], view: View): string {
  const colors = paint(view.color);
  const lines = changes.map(({ path, from, to }) => {
    if (from === undefined) return colors.green(`  + ${path}: ${valueWord(path, to)}`);
    if (to === undefined) return colors.red(`  - ${path}: ${valueWord(path, from)}`);
    return `${colors.yellow('  ~')} ${path}: ${colors.red(valueWord(path, from))} → ${colors.green(valueWord(path, to))}`;
  });
  return lines.flatMap((line) => fold(line, view.width)).join('\n');
}

function changeAt(path: string, from: unknown, to: unknown): Change {
  return { path, ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
}

/** JSON values only, and a key that holds undefined is a key that is not there. */
function isSame(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, sorted(item)]),
  );
}

/** Named children of what can be compared in depth; undefined for what is one value: texts, numbers, amounts, plain lists. */
function childrenOf(value: unknown): Map<string, unknown> | undefined {
  if (Array.isArray(value)) {
    if (value.length === 0 || !value.every(isRecord)) return undefined;
    const names = value.map((item, at) => (typeof item.name === 'string' ? item.name : String(at)));
    return new Set(names).size === names.length
      ? new Map(value.map((item, at) => [names[at] ?? String(at), item]))
      : undefined;
  }
  return isRecord(value) && !isAmount(value) ? new Map(Object.entries(value)) : undefined;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function isAmount(value: unknown): value is PhaseAmount {
  if (!isRecord(value)) return false;
  const [key, ...others] = Object.keys(value);
  if (others.length > 0) return false;
  return key === 'units' ? isAmount(value.units) : key === 'count' || key === 'percent' || key === 'all';
}

const DURATIONS = /(^|\.)(bake|timeout|updateTimeout|healthInterval|lookback|backoff|jitter|for|average|over)$/;

/** As in the file: durations and amounts in words, everything else as JSON. */
function valueWord(path: string, value: unknown): string {
  if (typeof value === 'number' && DURATIONS.test(path)) return formatDuration(value);
  if (isAmount(value)) return formatAmount(value);
  if (typeof value === 'string') return value === '' ? '""' : value;
  return JSON.stringify(value);
}
