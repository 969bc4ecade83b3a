import fc from 'fast-check';
import { parse } from 'yaml';
import { boundsOf, CHANGES, LIMITS, type ThresholdKind } from '../../../domain/health/threshold';
import { healthCheckSchema } from '../../../domain/spec/health';

const KINDS = [...LIMITS, ...CHANGES];

/** A check as a file has it, with this under its threshold. */
const checkOf = (threshold: object) =>
  healthCheckSchema.safeParse({
    ...{ name: 'errors', metric: 'm', threshold },
    ...(CHANGES.some((kind) => kind in threshold) ? { compare: 'control' } : {}),
  });

const boundsIn = (threshold: object) => boundsOf(checkOf(threshold).data?.threshold ?? {});

describe.each(KINDS)('the threshold %s', (kind) => {
  const numbers = fc.integer({ min: 0, max: 1_000 });

  test('reads back what it proposes to write', () =>
    fc.assert(
      fc.property(numbers, numbers, (written, other) => {
        for (const bound of boundsIn({ [kind]: written })) {
          const [again] = boundsIn(parse(bound.rewrite(other)) as object);
          expect(again?.written).toBe(other);
        }
      }),
    ));

  test('is healthy at its limit, unhealthy beyond it, and farther the farther it goes', () => {
    for (const bound of boundsIn({ [kind]: 10 })) {
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

test('limits go with limits and changes with changes, in any number but none', () => {
  const some = fc.uniqueArray(fc.constantFrom<ThresholdKind>(...KINDS));
  fc.assert(
    fc.property(some, (kinds) => {
      // The upper limit is written as the larger one, so that some value is within both.
      const threshold = Object.fromEntries(kinds.map((kind) => [kind, kind === 'above' ? 2 : 1]));
      const isOneFamily = [LIMITS, CHANGES].some((family) => kinds.every((kind) => family.includes(kind)));
      expect(checkOf(threshold).success).toBe(kinds.length > 0 && isOneFamily);
    }),
  );
});
