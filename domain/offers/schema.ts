import { areTexts, isJsonObject } from '../json';

/**
 * The type of a value, in four keywords of JSON Schema. A part that it does not name may have any type. It has no more keywords, so that two can be
 * compared (`compareSchemas`), and none makes a check slow, such as a pattern.
 */
export interface ValueSchema {
  readonly type: ValueType;
  /** Only of an object. */
  readonly properties?: Readonly<Record<string, ValueSchema>>;
  /** Only of an object. */
  readonly required?: readonly string[];
  /** Only of an array. */
  readonly items?: ValueSchema;
}

export const VALUE_TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean'] as const;
export type ValueType = (typeof VALUE_TYPES)[number];

const findType = (value: unknown): string =>
  Array.isArray(value) ? 'array' : value === null ? 'null' : Number.isInteger(value) ? 'integer' : typeof value;

/** Every integer is a number, too. */
const isOfType = (type: string, wanted: ValueType): boolean =>
  type === wanted || (type === 'integer' && wanted === 'number');

const withArticle = (type: string): string => (type === 'null' ? type : `${/^[aio]/.test(type) ? 'an' : 'a'} ${type}`);

const namePart = (at: string): string => (at === '' ? 'the value' : at);

const atKey = (at: string, key: string): string => (at === '' ? key : `${at}.${key}`);

/** Why a value does not have a type, such as `net.size is a string, not an integer`; undefined if it does. */
export function whyMismatch(value: unknown, schema: ValueSchema, at = ''): string | undefined {
  const type = findType(value);
  if (!isOfType(type, schema.type)) return `${namePart(at)} is ${withArticle(type)}, not ${withArticle(schema.type)}`;
  const { properties = {}, required = [], items } = schema;
  if (Array.isArray(value))
    return items && findFirst(value, (item, index) => whyMismatch(item, items, `${at}[${index}]`));
  if (!isJsonObject(value)) return undefined;
  const missing = required.find((key) => !Object.hasOwn(value, key));
  if (missing !== undefined) return `${atKey(at, missing)} is missing`;
  return findFirst(Object.entries(properties), ([key, part]) =>
    Object.hasOwn(value, key) ? whyMismatch(value[key], part, atKey(at, key)) : undefined,
  );
}

function findFirst<T, R>(list: readonly T[], find: (item: T, index: number) => R | undefined): R | undefined {
  for (const [index, item] of list.entries()) {
    const found = find(item, index);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The parts of a value with their types, without the values themselves. Two values of one shape fit the same schemas. */
export function findShape(value: unknown): unknown {
  if (Array.isArray(value)) return { items: [...new Set(value.map((item) => JSON.stringify(findShape(item))))].sort() };
  if (!isJsonObject(value)) return findType(value);
  const keys = Object.keys(value).sort();
  return keys.map((key) => [key, findShape(value[key])]);
}

/** Whether every value of one schema has the type that another one wants. `undecidable`: the first does not say enough. */
export type Comparison =
  { readonly verdict: 'fits' } | { readonly verdict: 'does-not-fit' | 'undecidable'; readonly why: string };

const FITS: Comparison = { verdict: 'fits' };

export function compareSchemas(offered: ValueSchema | undefined, wished: ValueSchema, at = ''): Comparison {
  if (offered === undefined) return { verdict: 'undecidable', why: `the type of ${namePart(at)} is not known` };
  if (!isOfType(offered.type, wished.type))
    return {
      verdict: 'does-not-fit',
      why: `${namePart(at)} is ${withArticle(offered.type)}, not ${withArticle(wished.type)}`,
    };
  const missing = (wished.required ?? []).find((key) => !(offered.required ?? []).includes(key));
  if (missing !== undefined) return { verdict: 'does-not-fit', why: `${atKey(at, missing)} may be missing` };
  const known = new Map(Object.entries(offered.properties ?? {}));
  const parts = Object.entries(wished.properties ?? {}).map(([key, part]) =>
    compareSchemas(known.get(key), part, atKey(at, key)),
  );
  const items = wished.items ? [compareSchemas(offered.items, wished.items, `${at}[]`)] : [];
  const all = [...parts, ...items];
  const find = (verdict: Comparison['verdict']): Comparison | undefined => all.find((one) => one.verdict === verdict);
  return find('does-not-fit') ?? find('undecidable') ?? FITS;
}

/** A person can send a schema by hand. */
export const isValueSchema = (value: unknown): value is ValueSchema =>
  isJsonObject(value) &&
  VALUE_TYPES.some((type) => type === value['type']) &&
  (value['required'] === undefined || areTexts(value['required'])) &&
  (value['items'] === undefined || isValueSchema(value['items'])) &&
  (value['properties'] === undefined ||
    (isJsonObject(value['properties']) && Object.values(value['properties']).every(isValueSchema)));

/** The parts of a schema that its type does not have, such as `items` of an object. */
export function listMisplaced(schema: ValueSchema, at = ''): string[] {
  const isMisplaced =
    (schema.type !== 'object' && (schema.properties !== undefined || schema.required !== undefined)) ||
    (schema.type !== 'array' && schema.items !== undefined);
  return [
    ...(isMisplaced ? [namePart(at)] : []),
    ...Object.entries(schema.properties ?? {}).flatMap(([key, part]) => listMisplaced(part, atKey(at, key))),
    ...(schema.items ? listMisplaced(schema.items, `${at}[]`) : []),
  ];
}
