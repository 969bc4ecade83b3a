/** Unchecked fields of JSON. */

export type JsonFields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is JsonFields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Undefined for an empty text and for other values. */
export const textIn = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** The objects in a list; none for other values. */
export const objectsIn = (value: unknown): readonly JsonFields[] =>
  Array.isArray(value) ? value.filter(isFields) : [];

/** The number of entries of a list that are not objects. */
export const othersIn = (value: unknown): number => (Array.isArray(value) ? value.length - objectsIn(value).length : 0);

/** `esbuild@0.21.5`; only the name if there is no version. */
export function componentName(name: unknown, version: unknown): string {
  const at = textIn(version);
  return `${textIn(name) ?? '?'}${at === undefined ? '' : `@${at}`}`;
}
