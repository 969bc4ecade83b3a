import { errorAt, type Finding, type Path } from '../problem';
import { isMapping, keyOf, type Origins } from './placeholders';

/** What each matrix made, by the name under which it is written. */
export type Groups = ReadonlyMap<string, readonly string[]>;

type Fields = Readonly<Record<string, unknown>>;

/** An action in which the name of a matrix stands for all that it made. `origins` learns where what was made of one entry is written. */
export function resolve(action: Fields, at: Path, groups: Groups, origins: Origins): Fields {
  const changed = { ...action };
  for (const field of ['needs', 'when']) {
    const list = action[field];
    if (!Array.isArray(list) || !list.some((item) => groups.has(nameIn(item)))) continue;
    const written = list.map((_, index) => originAt([...at, field], index, origins));
    const items = list.flatMap((item: unknown, index) => members(item, groups).map((member) => ({ member, index })));
    items.forEach(({ index }, place) => origins.set(keyOf([...at, field, place]), written[index] ?? at));
    changed[field] = items.map(({ member }) => member);
  }
  const { with: own } = action;
  const kept = isMapping(own) && action['type'] === 'canary' ? groups.get(nameIn(own['keepUntil'])) : undefined;
  return kept?.length === 1 ? { ...changed, with: { ...(own as object), keepUntil: kept[0] } } : changed;
}

/** A canary is kept until one action ends. */
export function severalKept(action: Fields, at: Path, groups: Groups): Finding[] {
  const { with: own } = action;
  const until = isMapping(own) && action['type'] === 'canary' ? nameIn(own['keepUntil']) : '';
  const kept = groups.get(until) ?? [];
  if (kept.length < 2) return [];
  const message = `keepUntil waits for one action, and ${until} is ${kept.length}`;
  const hint = `name one of them, such as ${kept[0] ?? until}`;
  return [errorAt([...at, 'with', 'keepUntil'], 'several-actions', message, hint)];
}

/** Of a clause of `when`, the action that it looks at. */
const nameIn = (item: unknown): string => {
  const name = isMapping(item) ? item['action'] : item;
  return typeof name === 'string' ? name : '';
};

function members(item: unknown, groups: Groups): unknown[] {
  const made = groups.get(nameIn(item));
  if (made === undefined) return [item];
  return isMapping(item) ? made.map((action) => ({ ...item, action })) : [...made];
}

function originAt(list: Path, index: number, origins: Origins): Path {
  const of = origins.get(keyOf([...list, index]));
  return of ?? [...(origins.get(keyOf(list)) ?? list), index];
}
