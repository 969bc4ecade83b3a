import fc from 'fast-check';
import { evaluateCheck } from '../../../domain/health/evaluate';
import type { HealthSeries, Point, Side } from '../../../domain/health/series';
import { healthCheckInFile, healthCheckSchema } from '../../../domain/spec/health';

const MINUTE = 60_000;
const END = 100 * MINUTE;
const window = { start: END - 10 * MINUTE, end: END };

const side = (rows: readonly (readonly number[])[]): Side => ({
  tasks: rows.length,
  series: rows.map((values): HealthSeries => ({
    labels: {},
    points: values.map((value, index): Point => [END - (values.length - 1 - index) * MINUTE, value]),
  })),
});
/** Three tasks, ten minutes, a spread of a tenth around the value. */
const around = (value: number): Side =>
  side(
    [0, 1, 2].map((task) => Array.from({ length: 10 }, (_, at) => value * (0.955 + ((task * 7 + at * 3) % 10) / 100))),
  );
/** A third of them as the others are. */
const mostly = (value: number): Side => ({
  tasks: 3,
  series: [...around(value).series.slice(1), ...around(20).series.slice(1, 2)],
});
const constant = (value: number, length = 10): Side => side([0, 1, 2].map(() => new Array<number>(length).fill(value)));

const check = (fields: object) =>
  healthCheckSchema.parse({
    name: 'latency',
    metric: 'rpc.latency',
    threshold: { increase: '10%' },
    compare: 'control',
    method: 'mann-whitney',
    ...fields,
  });
const evaluate = (fields: object, fresh: Side, control: Side) =>
  evaluateCheck({ check: check(fields), fresh, control, before: side([]), window, baseline: window });

// prettier-ignore
test.each([
  ['a clear increase', {}, around(30), around(20), 'unhealthy',
    'latency is 30 against 20 of the 3 tasks not yet updated, higher by 10 (98% sure: 9.45 to 10.55; effect 1); an increase of 2 is allowed (mean of 3 tasks over the last 10m)'],
  ['what is tolerated', {}, around(21), around(20), 'healthy', /higher by 1 .* an increase of 2 is allowed/],
  ['the tolerance goes before the threshold', { method: { 'mann-whitney': { tolerance: 0.6 } } }, around(30), around(20), 'healthy', /an increase of 12 is allowed/],
  ['an absolute amount', { threshold: { increase: 3 } }, around(30), around(20), 'unhealthy', /an increase of 3 is allowed/],
  ['the other direction', {}, around(10), around(20), 'healthy', /lower by/],
  ['a decrease', { threshold: { decrease: '10%' } }, around(10), around(20), 'unhealthy', /a decrease of 2 is allowed/],
  ['the same constant', {}, constant(5), constant(5), 'healthy', /not shifted/],
  ['constants that differ', {}, constant(6), constant(5), 'unhealthy', /higher by 1 \(98% sure: 1 to 1; effect 1\)/],
  ['zero on both sides', {}, constant(0), constant(0), 'healthy', /not shifted/],
  ['a rise from zero', {}, around(0.2), constant(0), 'inconclusive', /from a median of zero has no percentage \(see zeroBaseline\)/],
  ['a rise from zero that is meant to fail', { zeroBaseline: 'unhealthy' }, around(0.2), constant(0), 'unhealthy', /zeroBaseline says unhealthy/],
  ['a rise from zero within an absolute tolerance', { zeroBaseline: 'absolute', threshold: { increase: '50%' } }, around(0.2), constant(0), 'healthy', /an increase of 0.5 is allowed/],
  ['the last digits of a sum', {threshold: { increase: 0 }}, constant(0.1 + 0.2), constant(0.3), 'healthy', /an increase of 0 is allowed/],
  ['too small an effect', { method: { 'mann-whitney': { effect: 0.9, tolerance: 0 } } }, mostly(21), around(20), 'healthy', /effect 0\.47/],
  ['an effect that is large enough', { method: { 'mann-whitney': { effect: 0.4, tolerance: 0 } } }, mostly(21), around(20), 'unhealthy', /effect 0\.47/],
  ['too few values, whatever they are', {}, side([[9, 9, 9]]), side([[1, 1, 1]]), 'inconclusive',
    /has 3 values against 3 of the 1 task not yet updated, too few to be 98% sure of anything/],
] as const)('mann-whitney: %s', (_, fields, fresh, control, verdict, reason) => {
  const evidence = evaluate(fields, fresh, control);
  expect(evidence.reason).toMatch(reason);
  expect(evidence.verdict).toBe(verdict);
});

test('evidence has the numbers of the test', () => {
  const { test: ranks, threshold } = evaluate({}, around(30), around(20));
  expect(ranks).toMatchObject({ effect: 1 });
  expect(ranks?.p).toBeLessThan(1e-6);
  expect(threshold).toBeCloseTo(22, 9);
});

test('a file says mann-whitney alone or with its numbers, and only of a comparison', () => {
  const file = { name: 'latency', metric: 'm', threshold: { increase: '10%' }, compare: 'control' };
  const methods = ['mann-whitney', { 'mann-whitney': { confidence: 0.9 } }, 'threshold', undefined];
  expect(methods.map((method) => healthCheckInFile.parse({ ...file, method }).method)).toEqual([
    { 'mann-whitney': { confidence: 0.98 } },
    { 'mann-whitney': { confidence: 0.9 } },
    'threshold',
    undefined,
  ]);
  const simple = { ...file, threshold: { above: 1 }, compare: undefined, method: 'mann-whitney' };
  expect(healthCheckInFile.safeParse(simple).error?.issues).toMatchObject([{ path: ['method'] }]);
});

describe('for all data, mann-whitney', () => {
  const values = fc.array(fc.array(fc.double({ min: 0.1, max: 100, noNaN: true }), { minLength: 5, maxLength: 10 }), {
    minLength: 2,
    maxLength: 6,
  });
  const verdict = (fresh: number[][], old: number[][]) => evaluate({}, side(fresh), side(old)).verdict;

  test('says the same when tasks change places', () => {
    fc.assert(
      fc.property(
        values,
        values,
        (fresh, old) => verdict(fresh, old) === verdict([...fresh].reverse(), [...old].reverse()),
      ),
    );
  });

  test('says the same of both sides doubled', () => {
    const twice = (rows: number[][]) => rows.map((row) => row.map((value) => 2 * value));
    fc.assert(fc.property(values, values, (fresh, old) => verdict(fresh, old) === verdict(twice(fresh), twice(old))));
  });

  test('never finds a worse version healthy that it found unhealthy', () => {
    const worse = (rows: number[][], by: number) => rows.map((row) => row.map((value) => value + by));
    fc.assert(
      fc.property(values, values, fc.double({ min: 0, max: 50, noNaN: true }), (fresh, old, by) => {
        if (verdict(fresh, old) === 'unhealthy') expect(verdict(worse(fresh, by), old)).toBe('unhealthy');
      }),
    );
  });
});
