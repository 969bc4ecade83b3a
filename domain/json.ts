/** An object of JSON or YAML whose fields nobody has checked yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isText = (value: unknown): value is string => typeof value === 'string';
export const areTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
export const isMissing = (value: unknown): boolean => value === undefined || value === null;
