import { conjugate } from '../../domain/text';
import { LISTS, STATUSES } from '../builders/pictures';
import { NOW } from '../builders/cliSamples';

const view = { width: Infinity, color: false, now: NOW, timeZone: 'UTC' };

/** Verbs of one thing, and words that end in an s. */
const FINE = /^1 (\w+ )?(is|was|has|refuses|contains|waits|runs|holds|subscribes|fits|does|status)$/;
const nounsAfterOne = (text: string): string[] =>
  [...text.matchAll(/(?<![\d.,–-])\b1 (?:more |other )?[a-z]+s\b/g)]
    .map(([found]) => found)
    .filter((found) => !FINE.test(found));
const verbsAfterOne = (text: string): string[] =>
  [...text.matchAll(/(?<![\d.,])\b1 [a-z]+ (?:that was under way )?(?:wait|run|contain|hold|subscribe|are)\b/g)].map(
    ([found]) => found,
  );

test.each([...Object.entries(STATUSES), ...Object.entries(LISTS).map(([name, { draw }]) => [name, draw] as const)])(
  '%s counts one thing as one',
  (_name, draw) => {
    const text = draw(view);
    expect(text).not.toBe('');
    expect([...nounsAfterOne(text), ...verbsAfterOne(text)]).toEqual([]);
  },
);

test('a wrong count would be seen', () => {
  expect(nounsAfterOne('of 1 phases; 1 more units; 21 tasks; kv:1.1 tasks; 1 release waits')).toEqual([
    '1 phases',
    '1 more units',
  ]);
  expect(verbsAfterOne('1 pipeline wait for a ticket, 1 release that was under way contain it')).toHaveLength(2);
});

test.each([
  [0, 'wait'],
  [1, 'waits'],
  [2, 'wait'],
])('%i things take the verb %s', (count, verb) => {
  expect(conjugate(count, 'wait')).toBe(verb);
});
