import { errorAt, type Finding, type Path } from '../problem';
import { pathKey, type Origins } from './placeholders';
import { isJsonObject, type JsonObject } from '../../json';

/** The actions of each matrix, by the name under which it is written. */
export type MatrixGroups = ReadonlyMap<string, readonly string[]>;

/** An action in which the name of a matrix is replaced by the names of all its actions. `origins` records the places of the replaced entries. */
export function resolveNames(action: JsonObject, at: Path, groups: MatrixGroups, origins: Origins): JsonObject {
  const changed = { ...action };
  for (const field of ['needs', 'when']) {
    const list = action[field];
    if (!Array.isArray(list) || !list.some((item) => groups.has(nameIn(item)))) continue;
    const written = list.map((_, index) => originAt([...at, field], index, origins));
    const items = list.flatMap((item: unknown, index) => members(item, groups).map((member) => ({ member, index })));
    items.forEach(({ index }, place) => origins.set(pathKey([...at, field, place]), written[index] ?? at));
    changed[field] = items.map(({ member }) => member);
  }
  for (const { path, name } of listSingleReferences(action)) {
    const [field, key] = path;
    const [only, ...others] = groups.get(name) ?? [];
    if (only !== undefined && others.length === 0) changed[field] = { ...(changed[field] as object), [key]: only };
  }
  return changed;
}

export function findAmbiguousReferences(action: JsonObject, at: Path, groups: MatrixGroups): Finding[] {
  return listSingleReferences(action).flatMap(({ path, name, says }) => {
    const made = groups.get(name) ?? [];
    if (made.length < 2) return [];
    const message = `${says} one action, and ${name} is ${made.length}`;
    return [errorAt([...at, ...path], 'several-actions', message, `name one of them, such as ${made[0] ?? name}`)];
  });
}

interface Single {
  readonly path: readonly [string, string];
  readonly name: string;
  readonly says: string;
}

/** Fields that name a single action, and therefore cannot refer to a matrix with several. */
function listSingleReferences({ type, with: own, soak }: JsonObject): Single[] {
  const until = isJsonObject(own) && type === 'canary' ? nameIn(own['keepUntil']) : '';
  return [
    { path: ['with', 'keepUntil'] as const, name: until, says: 'keepUntil waits for' },
    { path: ['soak', 'action'] as const, name: isJsonObject(soak) ? nameIn(soak) : '', says: 'a version soaks in' },
  ].filter(({ name }) => name !== '');
}

/** The action to which a clause of `when`, or a soak, refers. */
const nameIn = (item: unknown): string => {
  const name = isJsonObject(item) ? item['action'] : item;
  return typeof name === 'string' ? name : '';
};

function members(item: unknown, groups: MatrixGroups): unknown[] {
  const made = groups.get(nameIn(item));
  if (made === undefined) return [item];
  return isJsonObject(item) ? made.map((action) => ({ ...item, action })) : [...made];
}

function originAt(list: Path, index: number, origins: Origins): Path {
  const of = origins.get(pathKey([...list, index]));
  return of ?? [...(origins.get(pathKey(list)) ?? list), index];
}
