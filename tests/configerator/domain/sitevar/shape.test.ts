import fc from 'fast-check';
import { SITEVAR_LIMITS } from '../../../../domain/limits';
import { deviations } from '../../../../configerator/domain/sitevar/deviation';
import { describeShape, inferShape } from '../../../../configerator/domain/sitevar/shape';

const JSON_VALUE = fc.jsonValue({ maxDepth: 4 });
const TIME = '2026-11-24T08:00:00Z';

describe('the shape of past values of a sitevar', () => {
  test.each<[readonly unknown[], string]>([
    [[true, false], 'true or false'],
    [[1, 2.5], 'a number'],
    [['a', 'b'], 'a text'],
    [['{"a":1}', '[2]'], 'a text (json)'],
    [[TIME, '2026-11-25'], 'a text (timestamp)'],
    [[TIME, '{"a":1}'], 'a text'],
    [['2026-13-45', '2026-01-01'], 'a text'],
    [['5', 'true'], 'a text'],
    [[[1], [2, 3]], 'a list, each a number'],
    [[[]], 'a list'],
    [[{ a: 1 }], 'an object'],
    [[null, 'a'], 'null or a text'],
  ])('%j was %s', (history, expected) => {
    expect(describeShape(inferShape(history)!)).toBe(expected);
  });
});

describe('a value that deviates', () => {
  test.each<[readonly unknown[], unknown, readonly string[]]>([
    [[1, 2], '3', [': was a number so far, and is a text now']],
    [[1, 2], 2.5, []],
    [[TIME], 'tomorrow', [': was always a time so far, and is none']],
    [['{"a":1}'], '{"a":1', [': was always JSON so far, and cannot be read as such']],
    [[[1]], [1, 'x'], ['[1]: was a number so far, and is a text now']],
    [[{ cpu: 1, zone: 'a' }, { cpu: 2 }], { cpu: 3 }, []],
    [
      [{ cpu: 1, zone: 'a' }, { cpu: 2 }],
      { cpus: 3 },
      ['cpu: was always there so far, and is missing', 'cpus: was never there so far'],
    ],
    [[{ limits: { cpu: 1 } }], { limits: { cpu: 'many' } }, ['limits.cpu: was a number so far, and is a text now']],
    [[{ a: 1 }], JSON.parse('{"a":1,"__proto__":2}'), ['__proto__: was never there so far']],
    [['a', null], null, []],
    [['a'], null, [': was a text so far, and is null now']],
  ])('after %j, %j: %j', (history, value, expected) => {
    const found = deviations(inferShape(history)!, value);
    expect(found.map(({ path, why }) => `${path}: ${why}`)).toEqual(expected);
  });

  test('is never one of those that were there before', () => {
    fc.assert(
      fc.property(fc.array(JSON_VALUE, { minLength: 1, maxLength: 8 }), (history) => {
        const shape = inferShape(history)!;
        for (const value of history) expect(deviations(shape, value)).toEqual([]);
      }),
    );
  });

  test('deviates no more once it has been there', () => {
    fc.assert(
      fc.property(fc.array(JSON_VALUE, { minLength: 1, maxLength: 5 }), JSON_VALUE, (history, value) => {
        expect(deviations(inferShape([...history, value])!, value)).toEqual([]);
      }),
    );
  });

  test('does so however the order of its history, and that twice says no more than once', () => {
    fc.assert(
      fc.property(fc.array(JSON_VALUE, { minLength: 1, maxLength: 6 }), JSON_VALUE, (history, value) => {
        const sorted = (all: readonly unknown[]): string[] =>
          deviations(inferShape(all)!, value)
            .map(({ path, why }) => `${path} ${why}`)
            .sort();
        expect(sorted([...history].reverse())).toEqual(sorted(history));
        expect(sorted([...history, ...history])).toEqual(sorted(history));
      }),
    );
  });

  test('is inspected only to a readable depth, and shows 20 places at most', () => {
    const nested = (depth: number, end: unknown): unknown => (depth === 0 ? end : { in: nested(depth - 1, end) });
    const deep = SITEVAR_LIMITS.depth.max + 5;
    expect(deviations(inferShape([nested(deep, 1)])!, nested(deep, 'x'))).toEqual([]);
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`f${n}`, 1]));
    expect(deviations(inferShape([{}])!, many)).toHaveLength(SITEVAR_LIMITS.deviations.max);
  });

  test('is held against the newest hundred alone', () => {
    const history = ['text', ...Array.from({ length: SITEVAR_LIMITS.history.max }, (_, n) => n)];
    expect(deviations(inferShape(history)!, 'text')).toHaveLength(1);
  });
});
