import fc from 'fast-check';
import { attempt, buildBacktest, type Trial } from '../../../domain/health/backtest';
import { drawBacktest } from '../../../domain/health/plot';
import type { Tick } from '../../../domain/health/replay';
import { betterLimit, criticalLimit, limitText } from '../../../domain/health/tuning';
import { evaluateCheck } from '../../../domain/health/evaluate';
import { healthCheckSchema, type HealthCheck } from '../../../domain/spec/health';

const MINUTE = 60_000;
const START = Date.UTC(2026, 10, 1, 12);

const check = (fields: object = {}): HealthCheck =>
  healthCheckSchema.parse({ name: 'errors', metric: 'errors', lookback: '1m', threshold: { above: 0.05 }, ...fields });

/** One evaluation a minute of one unit: what was observed, and what it was compared with. */
function ticks(of: HealthCheck, observed: readonly (number | null)[], reference: number | null = null): Tick[] {
  return observed.map((value, minute) => {
    const at = START + (minute + 1) * MINUTE;
    const window = { start: at - MINUTE, end: at };
    const side = (number: number | null) => ({
      tasks: number === null ? 0 : 1,
      series:
        number === null
          ? []
          : [{ labels: {}, points: [at, at - 1, at - 2].reverse().map((time): [number, number] => [time, number]) }],
    });
    const sides = { fresh: side(value), control: side(reference), before: side(null) };
    const evidence = evaluateCheck({ check: of, ...sides, window, baseline: window });
    return { at, updatedAt: START, response: { units: [{ id: 'x', checks: [evidence] }], deploy: { checks: [] } } };
  });
}

const trial = (id: string, isBad: boolean | null, seen: readonly Tick[], more: Partial<Trial> = {}): Trial => ({
  ...{ id, isBad, why: 'said so', faultAt: null, cutShort: false, ticks: seen },
  ...more,
});

const backtest = (of: HealthCheck, trials: readonly Trial[]) =>
  buildBacktest(
    of,
    trials.map((one) => attempt(of, one)),
  );

const known = (of: HealthCheck, isBad: boolean, seen: readonly Tick[]) => ({
  isBad,
  critical: criticalLimit(of, seen),
});

const results = (of: HealthCheck, trials: readonly Trial[]) =>
  Object.fromEntries(backtest(of, trials).tried.map(({ id, result }) => [id, result]));

test('says of each past deploy whether the check would have been right, and counts only what is known', () => {
  const errors = check();
  const bad = ticks(errors, [0.01, 0.2, 0.2]);
  const good = ticks(errors, [0.01, 0.01, 0.02]);
  const trials = [
    trial('found', true, bad),
    trial('false-negative', true, good),
    trial('false-positive', false, bad),
    trial('passed', false, good),
    trial('cut-short', true, good, { cutShort: true }),
    trial('nobody-knows', null, bad),
    trial('no-data', false, ticks(errors, [null, null])),
    trial('too-early', true, bad, { faultAt: START + 3 * MINUTE }),
  ];
  const { tried, quality } = backtest(errors, trials);
  expect(tried.map(({ id, result, foundAfterMs }) => [id, result, foundAfterMs])).toEqual([
    ['found', 'found', 2 * MINUTE],
    ['false-negative', 'false-negative', null],
    ['false-positive', 'false-positive', 2 * MINUTE],
    ['passed', 'passed', null],
    ['cut-short', 'cut-short', null],
    ['nobody-knows', 'unknown', 2 * MINUTE],
    ['no-data', 'unknown', null],
    ['too-early', 'false-positive', 2 * MINUTE],
  ]);
  expect(quality).toMatchObject({ truePositives: 1, falseNegatives: 1, falsePositives: 2, trueNegatives: 1 });
  expect(quality.delayMs).toEqual({ median: 2 * MINUTE, p90: 2 * MINUTE });
});

test('counts the delay from the fault where a label says when it began', () => {
  const errors = check();
  const late = trial('late', true, ticks(errors, [0.01, 0.01, 0.01, 0.2]), { faultAt: START + 3 * MINUTE });
  expect(backtest(errors, [late]).tried[0]).toMatchObject({ result: 'found', foundAfterMs: MINUTE });
});

test('a check that is only reported, or would pause, is tried as if it reverted', () => {
  for (const onUnhealthy of ['ignore', 'pause']) {
    const errors = check({ onUnhealthy });
    expect(results(errors, [trial('bad', true, ticks(errors, [0.2]))])).toEqual({ bad: 'found' });
  }
});

test('for is held as a deploy holds it', () => {
  const errors = check({ for: { evaluations: 2 } });
  const trials = [trial('blip', false, ticks(errors, [0.2, 0, 0.2, 0])), trial('bad', true, ticks(errors, [0.2, 0.2]))];
  expect(results(errors, trials)).toEqual({ blip: 'passed', bad: 'found' });
});

test('each bake is judged from its beginning, as a deploy does: a limit that held for long enough only over two is not found', () => {
  const errors = check({ for: { evaluations: 2 } });
  const [first, second] = ticks(errors, [0.2, 0.2]) as [Tick, Tick];
  const bakes = [first, { ...second, updatedAt: first.at }];
  expect(results(errors, [trial('bad', true, bakes)])).toEqual({ bad: 'false-negative' });
});

test('bakes that are shorter than the check looks back show nothing of it', () => {
  const errors = check();
  const short = ticks(errors, [0.01]).map((tick) => ({ ...tick, updatedAt: tick.at - MINUTE / 2 }));
  const { tried, quality } = backtest(errors, [trial('short', true, short)]);
  expect(tried).toMatchObject([{ result: 'unknown', why: 'no evaluation was conclusive' }]);
  expect(quality.falseNegatives).toBe(0);
});

test('a fault that began after the last evaluation was nothing to be found', () => {
  const errors = check();
  const late = { faultAt: START + 10 * MINUTE };
  const trials = [trial('quiet', true, ticks(errors, [0.01]), late), trial('early', true, ticks(errors, [0.2]), late)];
  expect(backtest(errors, trials).tried).toMatchObject([
    { result: 'unknown', why: 'its fault began after the last evaluation' },
    { result: 'false-positive' },
  ]);
});

test('a better limit does not stop a bad version before its fault began', () => {
  const errors = check();
  const early = trial('early', true, ticks(errors, [0.1, 0.1, 0.3]), { faultAt: START + 3 * MINUTE });
  expect(backtest(errors, [early]).better).toEqual({
    ...{ limit: 0.2, text: 'above: 0.2', falsePositives: 0, falseNegatives: 0 },
  });
});

describe('names a limit that would have erred less', () => {
  const cases: [string, object, readonly number[], readonly number[], number | null, string][] = [
    ['a higher one', { threshold: { above: 0.05 } }, [0.06, 0.08], [0.2, 0.3], null, 'above: 0.1'],
    ['a lower one', { threshold: { above: 0.5 } }, [0.06, 0.08], [0.2, 0.3], null, 'above: 0.1'],
    ['of what may not fall', { threshold: { below: 50 } }, [80, 90], [60, 70], null, 'below: 75'],
    ['in percent', { threshold: { increase: '5%' }, compare: 'control' }, [1.1, 1.2], [1.5, 2], 1, 'increase: 40%'],
    ['of a fall', { threshold: { decrease: '5%' }, compare: 'control' }, [9, 8.9], [5, 4], 10, 'decrease: 30%'],
    ['as a number', { threshold: { increase: 0.1 }, compare: 'control' }, [1.4], [3], 1, 'increase: 1'],
  ];
  test.each(cases)('%s', (_, fields, good, bad, reference, expected) => {
    const of = check({ minSamples: 1, ...fields });
    const of3 = (value: number) => ticks(of, [value, value, value], reference);
    const better = betterLimit(of, [
      ...good.map((value) => known(of, false, of3(value))),
      ...bad.map((value) => known(of, true, of3(value))),
    ]);
    expect(better).toMatchObject({ falsePositives: 0, falseNegatives: 0 });
    expect(limitText(of, better?.limit ?? NaN)).toBe(expected);
  });

  test('none when the present one is as good as any', () => {
    const of = check();
    const samples = [known(of, false, ticks(of, [0.01])), known(of, true, ticks(of, [0.2]))];
    expect(betterLimit(of, samples)).toBeNull();
  });

  test('one that stops nothing when all deploys were good', () => {
    const of = check();
    expect(betterLimit(of, [known(of, false, ticks(of, [0.2]))])).toEqual({
      ...{ limit: 0.2, falsePositives: 0, falseNegatives: 0 },
    });
  });

  test('one that finds all when all deploys were bad', () => {
    const of = check();
    const bad = [0.03, 0.04].map((value) => known(of, true, ticks(of, [value])));
    expect(betterLimit(of, bad)).toEqual({ limit: 0.01, falsePositives: 0, falseNegatives: 0 });
  });

  test('only one that a pipeline file may say', () => {
    const of = check({ threshold: { increase: '5%' }, compare: 'control', minSamples: 1 });
    const fell = (isBad: boolean, value: number) => known(of, isBad, ticks(of, [value], 1));
    expect(betterLimit(of, [fell(false, 0.5), fell(true, 0.9)])).toBeNull();
  });

  test('for ranks a tolerance', () => {
    const of = check({
      ...{ threshold: { increase: '10%' }, compare: 'control', lookback: '10m' },
      method: { 'mann-whitney': { confidence: 0.98, tolerance: 0.1 } },
    });
    const sample = (rise: number): Tick[] => {
      const window = { start: START, end: START + 10 * MINUTE };
      const side = (level: number) => ({
        tasks: 2,
        series: [0, 1].map((task) => ({
          labels: { task: String(task) },
          points: Array.from({ length: 10 }, (_u, minute): [number, number] => [
            START + (minute + 1) * MINUTE,
            level + 0.01 * ((minute * 7 + task * 3) % 5),
          ]),
        })),
      });
      const sides = { fresh: side(rise), control: side(1), before: side(1) };
      const evidence = evaluateCheck({ check: of, ...sides, window, baseline: window });
      return [
        {
          at: window.end,
          updatedAt: START,
          response: { units: [{ id: 'x', checks: [evidence] }], deploy: { checks: [] } },
        },
      ];
    };
    const better = betterLimit(of, [known(of, false, sample(1.2)), known(of, true, sample(1.8))]);
    expect(better).toMatchObject({ falsePositives: 0, falseNegatives: 0 });
    expect(limitText(of, better?.limit ?? NaN)).toBe('tolerance: 0.5');
  });

  test('a version that is unhealthy with every limit is found with every limit', () => {
    const of = check({ threshold: { increase: '5%' }, compare: 'control', zeroBaseline: 'unhealthy', minSamples: 1 });
    const [bad, good] = [known(of, true, ticks(of, [5], 0)), known(of, false, ticks(of, [1.25], 1))];
    expect(betterLimit(of, [bad])).toBeNull();
    expect(betterLimit(of, [bad, good])).toEqual({ limit: 25, falsePositives: 0, falseNegatives: 0 });
  });

  const kinds: [string, object, (limit: number) => object][] = [
    ['a limit', { threshold: { above: 0.5 } }, (limit) => ({ above: limit })],
    ['a lower limit', { threshold: { below: 0.5 } }, (limit) => ({ below: limit })],
    ['a rise in percent', { threshold: { increase: '50%' } }, (limit) => ({ increase: { percent: limit } })],
    ['a fall in percent', { threshold: { decrease: '50%' } }, (limit) => ({ decrease: { percent: limit } })],
    ['a rise', { threshold: { increase: 0.2 } }, (limit) => ({ increase: limit })],
    [
      'a rise from zero',
      { threshold: { increase: '50%' }, zeroBaseline: 'unhealthy' },
      (limit) => ({ increase: { percent: limit } }),
    ],
    [
      'a rise from zero that has a size',
      { threshold: { increase: '50%' }, zeroBaseline: 'absolute' },
      (limit) => ({ increase: { percent: limit } }),
    ],
  ];
  test.each(kinds)('proposes limits for %s, and errs as little as it claims, for any past', (_, fields, written) => {
    const values = fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 1, maxLength: 3 });
    const reference = fc.oneof(fc.constant(0), fc.double({ min: -1, max: 1, noNaN: true }));
    const samples = fc.array(fc.record({ isBad: fc.boolean(), values, reference }), { minLength: 1, maxLength: 5 });
    const hold = fc.constantFrom(undefined, { evaluations: 2 });
    fc.assert(
      fc.property(samples, hold, (drawn, held) => {
        const compare = JSON.stringify(fields).includes('crease') ? { compare: 'control' } : {};
        const of = check({ ...fields, ...compare, minSamples: 1, ...(held ? { for: held } : {}) });
        const triedWith = (tried: HealthCheck) =>
          backtest(
            tried,
            drawn.map((one, nth) => trial(String(nth), one.isBad, ticks(tried, one.values, one.reference))),
          );
        const errorsOf = ({ quality }: ReturnType<typeof backtest>) => [quality.falsePositives, quality.falseNegatives];
        const present = triedWith(of);
        if (present.better === null) return;
        const { limit, falsePositives, falseNegatives } = present.better;
        const better = triedWith(check({ ...of, threshold: written(limit) }));
        expect(errorsOf(better)).toEqual([falsePositives, falseNegatives]);
        const [positives = 0, negatives = 0] = errorsOf(present);
        expect(falsePositives + falseNegatives).toBeLessThan(positives + negatives);
      }),
      { numRuns: 60 },
    );
  });
});

test('the plot shows of each deploy what was measured, the verdicts, and when it would have stopped', () => {
  const errors = check({ name: 'errors <&>' });
  const plot = drawBacktest(
    backtest(errors, [trial('kvstore/1/deploy', false, ticks(errors, [0.01, 0.2])), trial('empty', null, [])]),
  );
  expect(plot).toContain('kvstore/1/deploy: false positive, after 2m');
  expect(plot).toContain('errors &lt;&amp;&gt;');
  expect(plot.match(/<circle/g)).toHaveLength(4 + 2);
  expect(plot).toContain('errors &lt;&amp;&gt; is 0.2, above the limit of 0.05');
  // Every tag that is opened is closed.
  for (const tag of ['svg', 'g', 'text', 'circle', 'title'])
    expect(plot.match(new RegExp(`<${tag}[ >]`, 'g'))?.length).toBe(plot.match(new RegExp(`</${tag}>`, 'g'))?.length);
  expect(plot).not.toMatch(/NaN|undefined|Infinity/);
});

test('a deploy of a hundred phases that baked for long has a plot as well', () => {
  const errors = check();
  const { tried, ...rest } = backtest(errors, [trial('long', false, ticks(errors, [0.01, 0.2]))]);
  const long = tried.map((one) => ({ ...one, evaluations: Array(100_000).fill(one.evaluations[0]) as [] }));
  expect(drawBacktest({ ...rest, tried: long }).match(/<circle/g)).toHaveLength(100_000 + 4);
});
