import { createSuccessEnding } from '../../../domain/deploy/outcome';
import { describeUnlisted, type UnlistedUnit } from '../../../domain/deploy/unlistedUnits';

const one: UnlistedUnit = { id: 'y', version: 'kv:1', tasks: { updated: 2, size: 6 } };

test.each<[string, number, readonly UnlistedUnit[], string]>([
  ['what it runs', 1, [one], 'y (2 of 6 tasks run kv:2) is not listed any more'],
  [
    'what it ran, where the push type says no more',
    1,
    [{ id: 'y', version: 'kv:1' }],
    'y (it ran kv:1 before, and its present version is unknown) is not listed any more',
  ],
  ['of an unknown version', 1, [{ id: 'y', version: null }], 'y (its version is unknown) is not listed any more'],
  [
    'the first of many',
    9,
    [one, { id: 'z', version: null }],
    'y (2 of 6 tasks run kv:2), z (its version is unknown) and 7 others are not listed any more',
  ],
])('a unit that is not listed any more is named with %s', (_, count, units, words) => {
  expect(describeUnlisted({ count, units }, 'kv:2')).toBe(words);
});

test('a success does not count among all units those that are not listed any more', () => {
  const record = { skipped: ['x'], missing: null, unlisted: { count: 1, units: [one] } };
  expect(createSuccessEnding({ version: 'kv:2' }, record)).toMatchObject({
    reason: expect.stringMatching(
      /^every available unit that is listed runs kv:2; y \(2 of 6 tasks run kv:2\) is not listed any more, without x, unavailable/,
    ) as string,
  });
  expect(createSuccessEnding({ version: 'kv:2' }, { skipped: [], missing: null, unlisted: null })).toEqual({
    kind: 'succeeded',
  });
});
