import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { areTexts, isJsonObject, isText, parseNestedJson, type JsonObject } from '../domain/json';
import type { Answer, HostPathState } from '../configerator/domain/heldValue';
import { hasBlobId } from './blobId';
import { sha256 } from './digest';

/** The state of a path that a proxy keeps on its disk, for applications to read when the proxy itself is gone. */
export interface CachedPath {
  readonly path: string;
  readonly answer: Answer;
  readonly held: HostPathState;
  /** When the store last confirmed it, in ms since the epoch; null if it never did. */
  readonly confirmedAt: number | null;
  /** When an application last asked for it. */
  readonly askedAt: number;
  /** The name under which the proxy acknowledges it; missing if an earlier version wrote it. */
  readonly host?: string;
}

/** The file of a path, in the folder of a cache. */
export const cacheFile = (path: string): string => `${sha256(path)}.json`;

/** Begins with the digest of the rest, so that a truncated file is detected. */
export function writeCached(cached: CachedPath): string {
  const body = JSON.stringify(cached);
  return `${sha256(body)}\n${body}`;
}

/** Undefined for a file that no proxy wrote, that is incomplete, or whose value does not match its version. */
export function parseCached(text: string): CachedPath | undefined {
  const at = text.indexOf('\n');
  const body = text.slice(at + 1);
  if (at === -1 || text.slice(0, at) !== sha256(body)) return undefined;
  try {
    const cached = parseNestedJson(body);
    return isCached(cached) ? cached : undefined;
  } catch {
    return undefined;
  }
}

/** Any process can write a digest, and another version of Conveyor may have written something else. */
function isCached(value: unknown): value is CachedPath {
  if (!isJsonObject(value)) return false;
  const { path, answer, held, confirmedAt, askedAt } = value;
  const areTimes = typeof askedAt === 'number' && (confirmedAt === null || typeof confirmedAt === 'number');
  return isText(path) && areTimes && isJsonObject(answer) && answer['path'] === path && isValue(answer) && isHeld(held);
}

function isHeld(held: unknown): boolean {
  if (!isJsonObject(held)) return false;
  const { committed, overrides } = held;
  const isNumbered =
    isJsonObject(committed) && typeof committed['sequence'] === 'number' && isText(committed['commit']);
  if (committed !== null && !(isNumbered && isValue(committed))) return false;
  return Array.isArray(overrides) && overrides.every((one) => isJsonObject(one) && isValue(one) && isAim(one));
}

function isAim({ id, revision, hosts = [], below = 0, labels = {} }: JsonObject): boolean {
  return [id, revision].every(isText) && areTexts(hosts) && typeof below === 'number' && isJsonObject(labels);
}

/** Checks the value: if the store offers the same commit again, nothing is replaced, so a wrong value would stay. */
const isValue = ({ value, version }: JsonObject): boolean =>
  isText(version) && (value === null || (isText(value) && hasBlobId(value, version)));

/** The proxy's last state of a path on this host; undefined if none can be read. */
export async function readCached(folder: string, path: string): Promise<CachedPath | undefined> {
  const text = await readFile(join(folder, cacheFile(path)), 'utf8').catch(() => undefined);
  const cached = text === undefined ? undefined : parseCached(text);
  return cached?.path === path ? cached : undefined;
}
