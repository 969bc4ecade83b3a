import type { Artifact } from '../artifact';
import { isJsonObject } from '../json';

/** Placeholders of a file whose values become known later: `${wishes.registry.vpc.id}`, and `${vpc.metadata.id}` in an offer. */

const PLACEHOLDER = /\$\{([^{}]*)\}/g;
const ALONE = /^\$\{([^{}]*)\}$/;
const WISH = /^wishes\.([^.]*)\.([^.]*)((?:\.[^.]+)*)$/;

/** A part of the value of an offer of another pipeline, as a text of a file names it. */
export interface WishedPart {
  /** `wishes.registry.vpc.id` */
  readonly name: string;
  readonly from: string;
  readonly offer: string;
  /** `id`; empty for the whole value. */
  readonly path: string;
}

/** Whether a placeholder is for a wish; it is filled in only when a deploy begins. */
export const isWishPlaceholder = (name: string): boolean => name === 'wishes' || name.startsWith('wishes.');

/** The parts of offers that the texts of a value name; `broken` for a placeholder that names none. */
export const listWishedParts = (value: unknown): readonly (WishedPart | { readonly broken: string })[] =>
  listPlaceholders(value)
    .filter(isWishPlaceholder)
    .map((name) => parseWishedPart(name) ?? { broken: name });

function parseWishedPart(name: string): WishedPart | undefined {
  const [, from, offer, path = ''] = WISH.exec(name) ?? [];
  return from && offer ? { name, from, offer, path: path.slice(1) } : undefined;
}

/** All names between `${` and `}` in the texts of a value, each once. */
export const listPlaceholders = (value: unknown): string[] => [
  ...new Set(listTexts(value).flatMap((text) => [...text.matchAll(PLACEHOLDER)].map(([, name = '']) => name))),
];

const listTexts = (value: unknown): string[] =>
  typeof value === 'string'
    ? [value]
    : typeof value === 'object' && value !== null
      ? Object.values(value).flatMap(listTexts)
      : [];

/**
 * The value with each placeholder that `values` knows filled in: with its own type if it is the whole text, else as text. Others stay as they
 * are.
 */
export function fillPlaceholders(value: unknown, values: ReadonlyMap<string, unknown>): unknown {
  if (typeof value === 'string') return fillText(value, values);
  if (Array.isArray(value)) return value.map((item) => fillPlaceholders(item, values));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, fillPlaceholders(part, values)]));
}

function fillText(text: string, values: ReadonlyMap<string, unknown>): unknown {
  const alone = ALONE.exec(text)?.[1];
  if (alone !== undefined && values.has(alone)) return values.get(alone);
  return text.replace(PLACEHOLDER, (whole, name: string) => {
    const part = values.get(name);
    return part === undefined ? whole : typeof part === 'string' ? part : JSON.stringify(part);
  });
}

/** The part of a value at `a.b`; undefined if there is none. */
export function findPart(value: unknown, path: string): unknown {
  if (path === '') return value;
  return path
    .split('.')
    .reduce<unknown>((part, key) => (isJsonObject(part) && Object.hasOwn(part, key) ? part[key] : undefined), value);
}

const OF_ARTIFACT = /^([^.]+)\.(version|digest|uri|metadata\.(.+))$/;

/** The artifact and the field that a placeholder of an offer's value names: `vpc.version`, `vpc.metadata.id`. */
export function parseArtifactField(name: string): { readonly artifact: string; readonly field: string } | undefined {
  const [, artifact, field] = OF_ARTIFACT.exec(name) ?? [];
  return artifact && field ? { artifact, field } : undefined;
}

/** The field of an artifact; undefined if it has none. */
export function findArtifactField(artifact: Artifact, field: string): string | undefined {
  if (field === 'version' || field === 'digest' || field === 'uri') return artifact[field];
  const key = field.slice('metadata.'.length);
  return Object.hasOwn(artifact.metadata, key) ? artifact.metadata[key] : undefined;
}
