import { isJsonObject } from '../../../domain/json';
import { MOBILE_LIMITS, type Limit } from '../../../domain/limits';
import { textBytes } from '../../../domain/size';

export type FieldType = 'boolean' | 'integer' | 'number' | 'text';
export type FieldValue = boolean | number | string;

/** The fields of a config that one version of an app knows. */
export type MobileSchema = Readonly<Record<string, FieldType>>;

/** The source of the value of a field. */
export type Source =
  | { readonly constant: FieldValue }
  /** A value of the configuration, or a field of it: `limits.video`. */
  | { readonly config: string; readonly field?: string }
  /** The default values are true and false. */
  | { readonly gate: string; readonly on?: FieldValue; readonly off?: FieldValue };

/** The source of each field of each config: one value of the configuration, changed without any client. */
export type Translation = Readonly<Record<string, Readonly<Record<string, Source>>>>;

/** Queries to the sources. Either may throw, or return undefined if it knows nothing. */
export interface Backends {
  readonly config: (path: string) => unknown;
  /** The result for the requesting user. */
  readonly gate: (project: string) => boolean | undefined;
}

export interface TranslationResult {
  readonly values: Readonly<Record<string, FieldValue>>;
  /** Fields without a known value at present: the client keeps its own. */
  readonly kept: Readonly<Record<string, string>>;
}

/** Returns exactly the fields of the schema. A fault affects only the fields that depend on it. */
export function translate(
  schema: MobileSchema,
  sources: Translation[string] | undefined,
  backends: Backends,
): TranslationResult {
  const values: Record<string, FieldValue> = {};
  const kept: Record<string, string> = {};
  for (const [field, type] of Object.entries(schema)) {
    const source = sources && Object.hasOwn(sources, field) ? sources[field] : undefined;
    const read = source ? readSource(source, backends) : { why: 'it is mapped to nothing' };
    if ('why' in read) kept[field] = read.why;
    else if (isFieldValue(type, read.value)) values[field] = read.value;
    else kept[field] = `it would be no ${type}`;
  }
  return { values, kept };
}

export function isFieldValue(type: FieldType, value: unknown): value is FieldValue {
  if (type === 'text') return typeof value === 'string' && textBytes(value) <= MOBILE_LIMITS.text.max;
  if (type === 'boolean') return typeof value === 'boolean';
  return type === 'integer' ? Number.isSafeInteger(value) : Number.isFinite(value);
}

type SourceReadResult = { readonly value: unknown } | { readonly why: string };

function readSource(source: Source, { config, gate }: Backends): SourceReadResult {
  try {
    if ('constant' in source) return { value: source.constant };
    if ('config' in source)
      return toReadResult(
        source.field === undefined ? config(source.config) : inside(config(source.config), source.field),
      );
    const isOpen = gate(source.gate);
    if (isOpen === undefined) return { why: 'its gate is not known' };
    return { value: isOpen ? (source.on ?? true) : (source.off ?? false) };
  } catch (error) {
    return { why: error instanceof Error ? error.message : String(error) };
  }
}

const toReadResult = (value: unknown): SourceReadResult =>
  value === undefined ? { why: 'its configuration is not there' } : { value };

function inside(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((at, name) => {
    const isThere = typeof at === 'object' && at !== null && Object.hasOwn(at, name);
    return isThere ? (at as Readonly<Record<string, unknown>>)[name] : undefined;
  }, value);
}

/** Why a value is not a translation; undefined if it is. */
export function whyNotTranslation(value: unknown): string | undefined {
  if (!isJsonObject(value)) return 'expected an object of configs';
  const configs = Object.entries(value);
  if (configs.length > MOBILE_LIMITS.configs.max) return tooMany(MOBILE_LIMITS.configs, configs.length);
  for (const [config, fields] of configs) {
    if (!isJsonObject(fields)) return `${config}: expected an object of fields`;
    const entries = Object.entries(fields);
    if (entries.length > MOBILE_LIMITS.fields.max) return `${config}: ${tooMany(MOBILE_LIMITS.fields, entries.length)}`;
    const wrong = entries.find(([, source]) => !isSource(source));
    if (wrong) return `${config}.${wrong[0]}: expected { constant }, { config, field? } or { gate, on?, off? }`;
  }
  return undefined;
}

/** Why a client's schema is refused. */
export function whyNotSchema(value: unknown): string | undefined {
  if (!isJsonObject(value)) return 'expected an object of fields';
  const fields = Object.entries(value);
  if (fields.length > MOBILE_LIMITS.fields.max) return tooMany(MOBILE_LIMITS.fields, fields.length);
  const wrong = fields.find(([name, type]) => !FIELD.test(name) || !TYPES.includes(type as FieldType));
  return wrong && `${wrong[0].slice(0, 64)}: expected a name, and ${TYPES.join(', ')}`;
}

const TYPES: readonly FieldType[] = ['boolean', 'integer', 'number', 'text'];
const FIELD = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;

function isSource(source: unknown): boolean {
  if (!isJsonObject(source)) return false;
  const { constant, config, field, gate, on, off } = source;
  const only = (...names: string[]): boolean => Object.keys(source).every((name) => names.includes(name));
  if (constant !== undefined) return isValue(constant) && only('constant');
  if (config !== undefined)
    return typeof config === 'string' && ['string', 'undefined'].includes(typeof field) && only('config', 'field');
  return (
    typeof gate === 'string' && [on, off].every((it) => it === undefined || isValue(it)) && only('gate', 'on', 'off')
  );
}

const isValue = (value: unknown): boolean => ['boolean', 'number', 'string'].includes(typeof value);
const tooMany = ({ of, max }: Limit, count: number): string => `${of} is ${count}, more than ${max}`;
