import fc from 'fast-check';
import ms, { type StringValue } from 'ms';
import { DURATION, parseDuration } from '../../../domain/spec/duration';

test.each<[string, number]>([
  ['90s', 90_000],
  ['10m', 600_000],
  ['1.5h', 5_400_000],
  ['.5h', 1_800_000],
  ['1 hour', 3_600_000],
  ['10min', 600_000],
  ['2 days', 172_800_000],
  ['3 weeks', 1_814_400_000],
  ['1y', 31_557_600_000],
  ['90S', 90_000],
  ['2 Hrs', 7_200_000],
  ['250 msecs', 250],
])('%s is a duration', (text, expected) => {
  expect(parseDuration(text)).toBe(expected);
});

test.each([
  '',
  '10',
  '1.5',
  '-5m',
  '5 moons',
  '1h 30m',
  '1\th',
  's',
  '.',
  '1.s',
  '1e3s',
  '37000d',
  `${'9'.repeat(101)}s`,
])('%j is none', (text) => {
  expect(parseDuration(text)).toBeUndefined();
});

const UNITS =
  'milliseconds msecs ms second secs sec s minute mins min m hours hr h day d week w year yrs yr y moon'.split(' ');

test('a duration is what ms takes with a unit, and not below nothing', () => {
  const part = fc.oneof(fc.constantFrom(...UNITS, 'S', 'Min', ' ', '  ', '.', '-', '0', '\t'), fc.nat(99).map(String));
  fc.assert(
    fc.property(fc.array(part, { maxLength: 5 }), (parts) => {
      const text = parts.join('');
      const taken = /^[^-].*[a-z]$/i.test(text) && ms(text as StringValue) !== undefined;
      expect(DURATION.test(text)).toBe(taken);
    }),
    { numRuns: 2000 },
  );
});
