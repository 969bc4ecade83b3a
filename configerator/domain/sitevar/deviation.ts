import { SITEVAR_LIMITS } from '../../../domain/limits';
import { describeShape, getValueKind, detectTextKind, WORDS, type Shape } from './shape';

/** A place at which a value differs from all former ones. */
export interface Deviation {
  /** `limits.cpu`; empty for the value itself. */
  readonly path: string;
  readonly why: string;
}

/** Places that a person should check again before they propose the value; empty for a value that occurred before. */
export function deviations(shape: Shape, value: unknown): readonly Deviation[] {
  const found: Deviation[] = [];
  compare(shape, value, '', (path, why) => void found.push({ path, why }), 0);
  return found.slice(0, SITEVAR_LIMITS.deviations.max);
}

type Report = (path: string, why: string) => void;

function compare(shape: Shape, value: unknown, path: string, report: Report, depth: number): void {
  const kind = getValueKind(value);
  if (!shape.kinds.includes(kind)) return report(path, `was ${describeShape(shape)} so far, and is ${WORDS[kind]} now`);
  if (typeof value === 'string') return compareText(shape, value, path, report);
  if (depth >= SITEVAR_LIMITS.depth.max) return;
  if (Array.isArray(value)) {
    const { items } = shape;
    if (items) value.forEach((item, index) => compare(items, item, `${path}[${index}]`, report, depth + 1));
    return;
  }
  if (kind === 'object') compareFields(shape, value as Record<string, unknown>, path, report, depth);
}

function compareText({ text = 'general' }: Shape, value: string, path: string, report: Report): void {
  if (text === 'general' || detectTextKind(value) === text) return;
  report(
    path,
    text === 'json' ? 'was always JSON so far, and cannot be read as such' : 'was always a time so far, and is none',
  );
}

function compareFields(
  { fields = {} }: Shape,
  value: Readonly<Record<string, unknown>>,
  path: string,
  report: Report,
  depth: number,
): void {
  const at = (name: string): string => (path === '' ? name : `${path}.${name}`);
  const missing = Object.keys(fields).filter((name) => fields[name]?.always && !Object.hasOwn(value, name));
  for (const name of missing) report(at(name), 'was always there so far, and is missing');
  for (const [name, inner] of Object.entries(value)) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field) compare(field.shape, inner, at(name), report, depth + 1);
    else report(at(name), 'was never there so far');
  }
}
