/**
 * Plain data with maps, sets and typed arrays as JSON text and back: the whole world in one string. Non-finite numbers
 * survive.
 */
const ARRAYS = { Uint8Array, Int32Array, Uint32Array, Float64Array } as const;
type ArrayName = keyof typeof ARRAYS;

export const encode = (value: unknown): string => JSON.stringify(value, replace);

export const decode = (text: string): unknown => JSON.parse(text, revive) as unknown;

function replace(_key: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) return { $number: String(value) };
  if (value instanceof Map) return { $map: [...value] };
  if (value instanceof Set) return { $set: [...value] };
  if (!ArrayBuffer.isView(value)) return value;
  return {
    $array: value.constructor.name,
    bytes: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64'),
  };
}

function revive(_key: string, value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value;
  if ('$number' in value) return Number(value.$number);
  if ('$map' in value) return new Map(value.$map as [unknown, unknown][]);
  if ('$set' in value) return new Set(value.$set as unknown[]);
  if (!('$array' in value) || !('bytes' in value)) return value;
  const bytes = Uint8Array.from(Buffer.from(String(value.bytes), 'base64'));
  return new ARRAYS[value.$array as ArrayName](bytes.buffer);
}
