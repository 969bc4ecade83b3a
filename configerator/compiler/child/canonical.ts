/** The place of a value that JSON cannot express, and the reason. */
export class NoJson extends Error {}

/**
 * JSON with the keys of objects in order, so that equal values give equal texts: indented by two, with a newline at
 * the end. Members that are undefined are left out, as everywhere in JavaScript.
 * @throws NoJson
 */
export const canonicalValue = (value: unknown): string => `${writeCanonical(value, '', '', [])}\n`;

function writeCanonical(value: unknown, path: string, indent: string, above: readonly object[]): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return JSON.stringify(value);
    throw new NoJson(`${at(path)} is ${value}, which is not a number in JSON`);
  }
  if (typeof value !== 'object') throw new NoJson(`${at(path)} is ${describeKind(value)}, which JSON does not have`);
  if (above.includes(value)) throw new NoJson(`${at(path)} contains itself`);
  if (above.length >= MAX_DEPTH) throw new NoJson(`${at(path)} is nested more than ${MAX_DEPTH} levels deep`);
  const inner = `${indent}  `;
  const deeper = [...above, value];
  if (Array.isArray(value)) {
    // Holes count as undefined.
    const items = Array.from(
      value,
      (item, index) => `${inner}${writeCanonical(item, `${path}.${index}`, inner, deeper)}`,
    );
    return items.length === 0 ? '[]' : `[\n${items.join(',\n')}\n${indent}]`;
  }
  if (!isPlain(value)) throw new NoJson(`${at(path)} is ${describeKind(value)}, which JSON does not have`);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(
      ([key, member]) => `${inner}${JSON.stringify(key)}: ${writeCanonical(member, `${path}.${key}`, inner, deeper)}`,
    );
  return members.length === 0 ? '{}' : `{\n${members.join(',\n')}\n${indent}}`;
}

const MAX_DEPTH = 100;

const at = (path: string): string => (path === '' ? 'the value' : path.slice(1));

/** Includes objects of another realm, which have a different prototype. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function describeKind(value: unknown): string {
  if (typeof value !== 'object' || value === null)
    return typeof value === 'undefined' ? 'undefined' : `a ${typeof value}`;
  const { name } = (value.constructor ?? {}) as { readonly name?: unknown };
  return typeof name === 'string' && name !== '' ? `a ${name}` : 'an object of a class';
}
