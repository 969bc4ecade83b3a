import { checker } from './checker';

/** 9: a key has one effect. */
export const onceEachChecker = checker<Set<string>>({
  name: 'once-each',
  invariant: 9,
  fresh: () => new Set(),
  see: (event, seen) => {
    if (event.kind !== 'effect') return null;
    const id = `${event.service} ${event.method} ${event.key}`;
    if (seen.has(id)) return `${event.service} ${event.method} had a second effect with the key ${event.key}`;
    seen.add(id);
    return null;
  },
});
