import { refusalWords } from '../../domain/text';

test.each([
  ['twine rejected needsPush (409): it is full', 'twine rejected needsPush (409): it is full'],
  [
    'twine answered needsPush in violation of its protocol: units: none',
    'twine answered needsPush in violation of its protocol: units: none',
  ],
  ['no signature of it counts', 'twine refused needsPush: no signature of it counts'],
  ['shop rejected needsPush (409): it is full', 'twine refused needsPush: shop rejected needsPush (409): it is full'],
])('a refusal names who refused and what once: %s', (why, words) => {
  expect(refusalWords('twine', 'needsPush', why)).toBe(words);
});
