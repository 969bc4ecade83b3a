import { SITEVAR_LIMITS } from '../../../domain/limits';

/** The common shape of all past values of a sitevar. */
export interface Shape {
  readonly kinds: readonly Kind[];
  /** For its texts, if there are any. */
  readonly text?: TextKind;
  /** For the entries of its lists, if there are any. */
  readonly items?: Shape;
  /** For its objects. */
  readonly fields?: Readonly<Record<string, Field>>;
}

export type Kind = 'boolean' | 'number' | 'text' | 'list' | 'object' | 'null';
/** The most specific kind that all texts have: JSON of an object or a list, an ISO 8601 time, or any text. */
export type TextKind = 'json' | 'timestamp' | 'general';

export interface Field {
  readonly shape: Shape;
  /** Every object had it. */
  readonly always: boolean;
}

/** The shape of a sitevar's past values; undefined if it has none. Only the newest values of a long history count. */
export function inferShape(history: readonly unknown[]): Shape | undefined {
  const newest = history.slice(-SITEVAR_LIMITS.history.max);
  return newest.length === 0 ? undefined : mergeValueShapes(newest, 0);
}

export function getValueKind(value: unknown): Kind {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'list';
  return typeof value === 'string' ? 'text' : (typeof value as 'boolean' | 'number' | 'object');
}

export function detectTextKind(text: string): TextKind {
  if (isTimestamp(text)) return 'timestamp';
  return isJson(text) ? 'json' : 'general';
}

/** `a text (timestamp)`, `a list of numbers`, `an object`. */
export function describeShape({ kinds, text, items }: Shape): string {
  const one = (kind: Kind): string => {
    if (kind === 'text' && text !== undefined && text !== 'general') return `a text (${text})`;
    if (kind === 'list' && items) return `a list, each ${describeShape(items)}`;
    return WORDS[kind];
  };
  return kinds.map(one).join(' or ');
}

export const WORDS: Readonly<Record<Kind, string>> = {
  boolean: 'true or false',
  number: 'a number',
  text: 'a text',
  list: 'a list',
  object: 'an object',
  null: 'null',
};

function mergeValueShapes(values: readonly unknown[], depth: number): Shape {
  const kinds = [...new Set(values.map(getValueKind))].sort();
  const texts = values.filter((value) => typeof value === 'string');
  const lists = values.filter((value) => Array.isArray(value));
  const objects = values.filter((value): value is Record<string, unknown> => getValueKind(value) === 'object');
  const items = lists.flat();
  const isDeep = depth >= SITEVAR_LIMITS.depth.max;
  return {
    kinds,
    ...(texts.length > 0 && { text: textKindOfAll(texts) }),
    ...(items.length > 0 && !isDeep && { items: mergeValueShapes(items, depth + 1) }),
    ...(objects.length > 0 && !isDeep && { fields: inferFields(objects, depth) }),
  };
}

function textKindOfAll(texts: readonly string[]): TextKind {
  const kinds = new Set(texts.map(detectTextKind));
  const [only] = kinds;
  return kinds.size === 1 && only !== undefined ? only : 'general';
}

function inferFields(objects: readonly Readonly<Record<string, unknown>>[], depth: number): Record<string, Field> {
  const values = new Map<string, unknown[]>();
  for (const object of objects)
    for (const [name, value] of Object.entries(object)) {
      const known = values.get(name);
      if (known) known.push(value);
      else values.set(name, [value]);
    }
  return Object.fromEntries(
    [...values].map(([name, all]) => [
      name,
      { shape: mergeValueShapes(all, depth + 1), always: all.length === objects.length },
    ]),
  );
}

const TIMESTAMP = /^\d{4}-(\d\d)-(\d\d)([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/;
const isTimestamp = (text: string): boolean => TIMESTAMP.test(text) && !Number.isNaN(Date.parse(text));

function isJson(text: string): boolean {
  if (!/^\s*[[{]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
