import { SPEC_LIMITS } from '../../limits';
import { isWishPlaceholder } from '../../offers/placeholders';
import { jsonBytes } from '../../size';
import { excessText, over } from '../../excess';
import { errorAt, suggest, type Finding, type Path } from '../problem';

/** `${region}` stands for a parameter: with its own type if it is the whole text, else as text. `$${` is a literal `${`. */
const PLACEHOLDER = /\$\$\{|\$\{([^{}]*)(\}?)/g;
const ALONE = /^\$\{([^{}]*)\}$/;

/** A value of a parameter, and its place in the file. */
export interface ParamValue {
  readonly value: unknown;
  readonly path: Path;
}
export type ParamScope = ReadonlyMap<string, ParamValue>;

/** Parts of a value that come from another place, by the `pathKey` of their path. */
export type Origins = Map<string, Path>;
export const pathKey = (path: Path): string => JSON.stringify(path);

/** Placeholders that no parameter can fill, one for each place in the file. */
export function faultsIn(value: unknown, path: Path, known: readonly string[]): Finding[] {
  return textsIn(value, path).flatMap(({ text, path: at, isKey }) =>
    [...text.matchAll(PLACEHOLDER)].flatMap(([whole, name, end]): Finding[] => {
      if (name === undefined) return [];
      if (isKey)
        return [
          { ...errorAt(at, 'bad-placeholder', `${text} is a key, into which nothing is put`, IN_KEY), at: 'key' },
        ];
      if (end === '')
        return [
          errorAt(at, 'bad-placeholder', `${whole} is not closed`, `write \${name}, or $${whole} for the text itself`),
        ];
      if (known.includes(name) || isWishPlaceholder(name)) return [];
      const hint = known.length === 0 ? '' : `${suggest(name, known)}; `;
      return [errorAt(at, 'unknown-param', `there is no parameter ${name}`, `${hint}$${whole} is the text itself`)];
    }),
  );
}

const IN_KEY = 'use values, or let the whole mapping be a parameter';

/** The parameters for which a value has placeholders. */
export const namesIn = (value: unknown): ReadonlySet<string> =>
  new Set(textsIn(value, []).flatMap(({ text }) => [...text.matchAll(PLACEHOLDER)].map(([, name]) => name ?? '')));

interface Text {
  readonly text: string;
  readonly path: Path;
  readonly isKey: boolean;
}

/** All texts and keys, in the order of the file. A value that contains itself is visited once. */
function textsIn(value: unknown, path: Path, around: readonly unknown[] = []): Text[] {
  if (typeof value === 'string') return [{ text: value, path, isKey: false }];
  if (typeof value !== 'object' || value === null || around.includes(value)) return [];
  const inside = [...around, value];
  if (Array.isArray(value)) return value.flatMap((item, index) => textsIn(item, [...path, index], inside));
  return Object.entries(value).flatMap(([key, item]) => [
    { text: key, path: [...path, key], isKey: true },
    ...textsIn(item, [...path, key], inside),
  ]);
}

/** Fills in values, and records mistakes and the origins of values. There is one for each file. */
export class Filler {
  readonly findings: Finding[] = [];
  readonly origins: Origins = new Map();
  private bytes = 0;

  /** Fills `value`, which is written at `from`, for its new place `at`. */
  fill(value: unknown, at: Path, from: Path, scope: ParamScope, around: readonly unknown[] = []): unknown {
    if (typeof value === 'string') return this.fillText(value, at, from, scope);
    if (typeof value !== 'object' || value === null || around.includes(value)) return value;
    const inside = [...around, value];
    const item = (key: string | number, part: unknown): unknown =>
      this.fill(part, [...at, key], [...from, key], scope, inside);
    if (Array.isArray(value)) return value.map((part, index) => item(index, part));
    // This does not use assignment, so that __proto__ is a key like any other.
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, item(key, part)]));
  }

  private fillText(text: string, at: Path, from: Path, scope: ParamScope): unknown {
    const alone = scope.get(ALONE.exec(text)?.[1] ?? '');
    if (alone !== undefined) {
      this.origins.set(pathKey(at), alone.path);
      return this.hasRoom(measureValue(alone.value), from) ? alone.value : null;
    }
    if (!this.hasRoom(text.length, from)) return null;
    return text.replace(PLACEHOLDER, (whole, name: string | undefined) => {
      if (name === undefined) return '${';
      const given = scope.get(name);
      if (given === undefined) return whole;
      if (typeof given.value === 'object') {
        this.findings.push(notText(from, text, name));
        return '';
      }
      const part = String(given.value);
      return this.hasRoom(part.length, from) ? part : '';
    });
  }

  /** A small file must not expand into a huge one: the result has to fit into a pipeline. */
  private hasRoom(bytes: number, path: Path): boolean {
    const wasFull = this.bytes > SPEC_LIMITS.spec.max;
    this.bytes += bytes;
    const excess = over(SPEC_LIMITS.spec, this.bytes);
    if (excess && !wasFull)
      this.findings.push(errorAt(path, 'over-limit', excessText(excess), 'make several pipelines of it'));
    return excess === undefined;
  }
}

const notText = (path: Path, text: string, name: string): Finding =>
  errorAt(
    path,
    'bad-placeholder',
    `${name} is not text, and ${text} has more than it`,
    `let "\${${name}}" stand alone`,
  );

/** A TypeScript file may contain values that JSON cannot represent. */
function measureValue(value: unknown): number {
  try {
    return jsonBytes(value);
  } catch {
    return 0;
  }
}
