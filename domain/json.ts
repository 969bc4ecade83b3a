/** An object of JSON or YAML whose fields nobody has checked yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether two values are the same, whatever the order of their fields. */
export function sameJson(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((item, index) => sameJson(item, other[index]));
  if (!isJsonObject(one) || !isJsonObject(other)) return one === other;
  const keys = Object.keys(one);
  const isIn = (key: string): boolean => Object.hasOwn(other, key) && sameJson(one[key], other[key]);
  return keys.length === Object.keys(other).length && keys.every(isIn);
}

export const isText = (value: unknown): value is string => typeof value === 'string';
export const areTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
export const isMissing = (value: unknown): boolean => value === undefined || value === null;
