import fc from 'fast-check';
import { evaluateCheck } from '../../../domain/health/evaluate';
import type { HealthSeries, Point, Side, TimeRange } from '../../../domain/health/series';
import { healthCheckSchema, type HealthCheck } from '../../../domain/spec/health';

/** Properties of all data, for any check. */

const MINUTE = 60_000;
const POINTS = 5;
const window = { start: 100 * MINUTE, end: (100 + POINTS) * MINUTE };
const baseline = { start: 40 * MINUTE, end: (40 + POINTS) * MINUTE };

type Rows = readonly (readonly number[])[];

/** One series a row, a point a minute, the last at the end of the window. */
const side = (rows: Rows, { end }: TimeRange = window): Side => ({
  tasks: rows.length,
  series: rows.map((values): HealthSeries => ({
    labels: {},
    points: values.map((value, index): Point => [end - (values.length - 1 - index) * MINUTE, value]),
  })),
});

const check = (fields: object): HealthCheck =>
  healthCheckSchema.parse({ name: 'errors', metric: 'm', minSamples: 1, ...fields });

/** The verdict on the updated tasks; `compare` says which of the others counts. */
const verdict = (fields: object, fresh: Rows, old: Rows) =>
  evaluateCheck({
    ...{ check: check(fields), fresh: side(fresh), control: side(old), before: side(old, baseline) },
    ...{ window, baseline },
  }).verdict;

/** Whole numbers, since the last digit of a sum is not to be compared. */
const rowsOf = (least: number) =>
  fc.array(fc.array(fc.integer({ min: 0, max: 100 }), { minLength: least, maxLength: POINTS }), {
    minLength: least,
    maxLength: 6,
  });
const rows = rowsOf(1);

const rising = fc.oneof(
  fc.record({ threshold: fc.record({ above: fc.integer({ min: 0, max: 100 }) }) }),
  fc.record({
    threshold: fc.record({ increase: fc.oneof(fc.integer({ min: 0, max: 50 }), fc.constantFrom('0%', '10%', '150%')) }),
    compare: fc.constantFrom('control', 'before'),
    zeroBaseline: fc.constantFrom('unhealthy', 'absolute'),
  }),
);
const falling = fc.oneof(
  fc.record({ threshold: fc.record({ below: fc.integer({ min: 0, max: 100 }) }) }),
  fc.record({
    threshold: fc.record({ decrease: fc.oneof(fc.integer({ min: 0, max: 50 }), fc.constantFrom('0%', '10%', '90%')) }),
    compare: fc.constantFrom('control', 'before'),
  }),
);
const shape = fc.record({
  reduce: fc.constantFrom('mean', 'max', 'min', 'sum', 'p50', 'p90', 'p99'),
  transform: fc.constantFrom(
    ...[[], ['max'], ['min'], ['sum'], [{ average: 2 * MINUTE }], [{ fill: 'zero' }]],
    ...[[{ percentile: { q: 90, over: 3 * MINUTE } }], [{ average: 2 * MINUTE }, 'max']],
  ),
});

const RANKS = { compare: 'control', threshold: { increase: '10%' }, method: 'mann-whitney' };

/** The same tasks, each point worse by what its place says. */
const worse = (tasks: Rows, by: Rows, sign: 1 | -1): number[][] =>
  tasks.map((values, task) => values.map((value, point) => value + sign * (by[task % by.length]?.[point] ?? 0)));

describe('more of a fault never turns unhealthy into anything else', () => {
  test.each([
    ['that rises, in any task at any time', rising, 1],
    ['that falls', falling, -1],
  ] as const)('%s', (_title, kind, sign) => {
    fc.assert(
      fc.property(kind, shape, rows, rows, rows, (fields, shaped, fresh, old, by) => {
        const all = { ...fields, ...shaped };
        fc.pre(verdict(all, fresh, old) === 'unhealthy');
        expect(verdict(all, worse(fresh, by, sign), old)).toBe('unhealthy');
      }),
    );
  });

  test('nor with mann-whitney, in one task alone', () => {
    fc.assert(
      fc.property(rowsOf(3), rowsOf(3), fc.nat(100), fc.nat(5), fc.nat(100), (rest, old, shift, nth, by) => {
        const fresh = rest.map((values) => values.map((value) => value + shift));
        fc.pre(verdict(RANKS, fresh, old) === 'unhealthy');
        const one = fresh.map((values, task) =>
          task === nth % fresh.length ? values.map((value) => value + by) : values,
        );
        expect(verdict(RANKS, one, old)).toBe('unhealthy');
      }),
    );
  });
});

describe('healthy data added never makes a unit unhealthy', () => {
  /** A task that would be healthy by itself. */
  const added = (fields: object, fresh: Rows, old: Rows, task: readonly number[]) => {
    fc.pre(verdict(fields, fresh, old) === 'healthy' && verdict(fields, [task], old) === 'healthy');
    return verdict(fields, [...fresh, task], old);
  };
  const task = fc.array(fc.integer({ min: 0, max: 100 }), { minLength: 1, maxLength: POINTS });

  test('with max, under above and increase, whatever it is compared with', () => {
    fc.assert(
      fc.property(rising, shape, rows, rows, task, (fields, { transform }, fresh, old, healthy) => {
        expect(added({ ...fields, transform, reduce: 'max' }, fresh, old, healthy)).toBe('healthy');
      }),
    );
  });

  test('nor with mann-whitney, where no value of it is above any that it is compared with', () => {
    fc.assert(
      fc.property(rowsOf(3), rowsOf(3), task, (fresh, old, values) => {
        const least = Math.min(...old.flat());
        fc.pre(verdict(RANKS, fresh, old) === 'healthy');
        const calm = values.map((value) => Math.min(value, least));
        expect(verdict(RANKS, [...fresh, calm], old)).not.toBe('unhealthy');
      }),
    );
  });
});

test('neither the order of the tasks nor that of their points changes anything', () => {
  const shuffled = (all: Rows) => fc.shuffledSubarray([...all], { minLength: all.length });
  const both = rows.chain((fresh) => fc.tuple(fc.constant(fresh), shuffled(fresh)));
  const evidence = (fields: object, fresh: Side, old: Rows) =>
    evaluateCheck({
      ...{ check: check(fields), fresh, control: side(old), before: side(old, baseline), window, baseline },
    });
  fc.assert(
    fc.property(fc.oneof(rising, falling), shape, both, rows, (fields, shaped, [fresh, mixed], old) => {
      const all = { ...fields, ...shaped };
      const { tasks, series } = side(mixed);
      const reversed = series.map(({ labels, points }) => ({ labels, points: [...points].reverse() }));
      expect(evidence(all, { tasks, series: reversed }, [...old].reverse())).toEqual(evidence(all, side(fresh), old));
    }),
  );
});

test('both sides scaled, nothing relative changes', () => {
  const scaled = (all: Rows, by: number): Rows => all.map((values) => values.map((value) => value * by));
  const relative = fc.record({
    threshold: fc.constantFrom({ increase: '10%' }, { increase: '150%' }, { decrease: '5%' }, { decrease: '60%' }),
    compare: fc.constantFrom('control', 'before'),
    method: fc.constantFrom('threshold', 'mann-whitney'),
  });
  fc.assert(
    // Powers of two keep every digit of a double, so that only the scale changes.
    fc.property(relative, shape, rows, rows, fc.integer({ min: -6, max: 6 }), (fields, shaped, fresh, old, power) => {
      const all = { ...fields, ...shaped };
      const by = 2 ** power;
      expect(verdict(all, scaled(fresh, by), scaled(old, by))).toBe(verdict(all, fresh, old));
    }),
  );
});
