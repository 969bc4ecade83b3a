import fc from 'fast-check';
import { parse } from 'yaml';
import { listBounds, CHANGES, LIMITS, type Threshold, type ThresholdKind } from '../../../domain/health/threshold';
import { healthCheckSchema } from '../../../domain/spec/health';

const KINDS = [...LIMITS, ...CHANGES];

/** Each kind around a number, as a file has it; an upper limit is above a lower one, so that some value is within both. */
const WRITTEN: { readonly [K in ThresholdKind]: (value: number) => unknown } = {
  above: (value) => value + 1,
  below: (value) => value,
  increase: (value) => value,
  decrease: (value) => value,
};

/** A check as a file has it, with this under its threshold. */
const checkOf = (threshold: object) =>
  healthCheckSchema.safeParse({
    ...{ name: 'errors', metric: 'm', threshold },
    ...(CHANGES.some((kind) => kind in threshold) ? { compare: 'control' } : {}),
  });

/** At least one: a threshold that the file format refuses fails here, not silently. */
const boundsIn = (threshold: object) => listBounds(checkOf(threshold).data?.threshold as Threshold);

describe.each(KINDS)('the threshold %s', (kind) => {
  const numbers = fc.integer({ min: 0, max: 1_000 });

  test('reads back what it proposes to write', () =>
    fc.assert(
      fc.property(numbers, numbers, (written, other) => {
        for (const bound of boundsIn({ [kind]: WRITTEN[kind](written) })) {
          const possible = Math.max(other, bound.lowest);
          const [again] = boundsIn(parse(bound.rewrite(possible)) as object);
          expect(again?.written).toBe(possible);
        }
      }),
    ));

  test('is healthy at its limit, unhealthy beyond it, and farther the farther it goes', () => {
    for (const bound of boundsIn({ [kind]: WRITTEN[kind](10) })) {
      const measured = (observed: number) => ({ observed, reference: 100, zeroBaseline: undefined });
      const limit = bound.judge(measured(100), 'others').limit ?? NaN;
      const beyond = limit + bound.sign;
      expect(bound.judge(measured(limit), 'others').verdict).toBe('healthy');
      expect(bound.judge(measured(beyond), 'others').verdict).toBe('unhealthy');
      expect(bound.distance(measured(beyond))).toBeGreaterThan(bound.distance(measured(limit)) ?? NaN);
      expect(bound.describe('others')).toMatch(/\d/);
    }
  });
});

test.each(CHANGES)('the threshold %s tolerates twice as much where twice as much is written', (kind) => {
  const amount = (written: number): number => {
    const [bound] = boundsIn({ [kind]: WRITTEN[kind](written) });
    return Object.values(bound?.allowed ?? {})[0] as number;
  };
  expect(amount(20) / amount(10)).toBeCloseTo(2);
});

test('limits go with limits and changes with changes, in any number but none', () => {
  const some = fc.uniqueArray(fc.constantFrom<ThresholdKind>(...KINDS));
  fc.assert(
    fc.property(some, (kinds) => {
      const threshold = Object.fromEntries(kinds.map((kind) => [kind, WRITTEN[kind](1)]));
      const isOneFamily = [LIMITS, CHANGES].some((family) => kinds.every((kind) => family.includes(kind)));
      expect(checkOf(threshold).success).toBe(kinds.length > 0 && isOneFamily);
    }),
  );
});
