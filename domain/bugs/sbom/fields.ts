/** Fields of JSON of which nobody knows yet whether they are there. */

export type JsonFields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is JsonFields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Undefined of what is not text, or an empty one. */
export const textIn = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** Those that are objects; none of what is not a list. */
export const objectsIn = (value: unknown): readonly JsonFields[] =>
  Array.isArray(value) ? value.filter(isFields) : [];

/** How many entries of a list are no objects. */
export const othersIn = (value: unknown): number => (Array.isArray(value) ? value.length - objectsIn(value).length : 0);

/** `esbuild@0.21.5`; of what has no version, its name. */
export function componentName(name: unknown, version: unknown): string {
  const at = textIn(version);
  return `${textIn(name) ?? '?'}${at === undefined ? '' : `@${at}`}`;
}
