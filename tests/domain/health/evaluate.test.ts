import fc from 'fast-check';
import { evaluateCheck, type Evaluation } from '../../../domain/health/evaluate';
import { summariseSide, type SideSummary } from '../../../domain/health/reduce';
import type { HealthSeries, Point, Side } from '../../../domain/health/series';
import { healthCheckSchema, type HealthCheck } from '../../../domain/spec/health';

const MINUTE = 60_000;
const END = 100 * MINUTE;
const window = { start: END - 3 * MINUTE, end: END };
const baseline = { start: 40 * MINUTE, end: 43 * MINUTE };

const check = (fields: object): HealthCheck =>
  healthCheckSchema.parse({ name: 'errors', metric: 'rpc.error_ratio', threshold: { above: 0.05 }, ...fields });

/** One series a row; its values are the last of the window, a minute apart. */
const side = (rows: readonly (readonly number[])[], tasks = rows.length, end = END): Side => ({
  tasks,
  series: rows.map((values): HealthSeries => ({
    labels: {},
    points: values.map((value, index): Point => [end - (values.length - 1 - index) * MINUTE, value]),
  })),
});
const none = side([]);

const evaluate = (fields: object, fresh: Side, control: Side = none, before: Side = none) =>
  evaluateCheck({ check: check(fields), fresh, control, before, window, baseline });

const A_TASK_OF = (value: number): number[] => [value, value, value];
const THREE = (value: number): Side => side([A_TASK_OF(value), A_TASK_OF(value), A_TASK_OF(value)]);
const EARLIER = (value: number): Side => side([A_TASK_OF(value), A_TASK_OF(value), A_TASK_OF(value)], 3, baseline.end);

describe('a verdict is a sentence that a tired person understands at three in the morning', () => {
  const up10 = { compare: 'control', threshold: { increase: '10%' } };
  test.each([
    [
      'simple, too high',
      {},
      THREE(0.21),
      none,
      none,
      'unhealthy',
      'errors is 0.21, above the limit of 0.05 (mean of 3 tasks over the last 3m)',
    ],
    [
      'simple, fine',
      {},
      THREE(0.01),
      none,
      none,
      'healthy',
      'errors is 0.01, within the limit of 0.05 (mean of 3 tasks over the last 3m)',
    ],
    [
      'below',
      { threshold: { below: 9 }, reduce: 'min' },
      THREE(8),
      none,
      none,
      'unhealthy',
      'errors is 8, below the limit of 9 (min of 3 tasks over the last 3m)',
    ],
    [
      'control',
      up10,
      THREE(0.45),
      THREE(0.3),
      none,
      'unhealthy',
      'errors is 0.45, 50% above 0.3 of the 3 tasks not yet updated; an increase of 10% is allowed (mean of 3 tasks over the last 3m)',
    ],
    [
      'before',
      { compare: 'before', threshold: { decrease: '5%' } },
      THREE(90),
      none,
      EARLIER(100),
      'unhealthy',
      'errors is 90, 10% below 100 of the same 3 tasks before the deploy; a decrease of 5% is allowed (mean of 3 tasks over the last 3m)',
    ],
    [
      'no control group left',
      up10,
      THREE(0.3),
      none,
      EARLIER(0.3),
      'healthy',
      'errors is 0.3, the same as 0.3 of the same 3 tasks before the deploy; an increase of 10% is allowed (mean of 3 tasks over the last 3m); compared with before the deploy, because no task is left that was not updated',
    ],
    [
      'nothing reported',
      {},
      side([], 3),
      none,
      none,
      'inconclusive',
      'errors has no data of the 3 updated tasks (rpc.error_ratio, 3m)',
    ],
    [
      'too few points',
      up10,
      side([[1, 1]]),
      THREE(1),
      none,
      'inconclusive',
      'errors has 2 samples of the updated task in 3m and needs 3',
    ],
    [
      'a silent task',
      {},
      side([A_TASK_OF(0), A_TASK_OF(0)], 3),
      none,
      none,
      'inconclusive',
      'errors is 0, within the limit of 0.05 (mean of 2 tasks over the last 3m); but 1 of the 3 updated tasks reported nothing',
    ],
  ] as const)('%s', (_title, fields, fresh, control, before, verdict, reason) => {
    expect(evaluate(fields, fresh, control, before)).toMatchObject({ verdict, reason });
  });
});

describe('a threshold', () => {
  const change = (how: object, compare = 'control') => ({ compare, threshold: how });
  test.each([
    ['is strict: the limit itself is within it', {}, 0.05, 0, 'healthy'],
    ['below is strict as well', { threshold: { below: 0.05 } }, 0.05, 0, 'healthy'],
    ['increase in percent, just within', change({ increase: '50%' }), 1.5, 1, 'healthy'],
    ['increase in percent, just beyond', change({ increase: '50%' }), 1.51, 1, 'unhealthy'],
    ['increase does not mind a fall', change({ increase: '10%' }), 0.1, 1, 'healthy'],
    ['decrease in percent', change({ decrease: '5%' }), 0.94, 1, 'unhealthy'],
    ['decrease does not mind a rise', change({ decrease: '5%' }), 9, 1, 'healthy'],
    ['an absolute increase', change({ increase: 2 }), 5.5, 3, 'unhealthy'],
    ['an absolute increase from zero', change({ increase: 2 }), 1.5, 0, 'healthy'],
    ['an increase of a negative value is an increase', change({ increase: '10%' }), -5, -10, 'unhealthy'],
    ['no change from zero is no change', change({ increase: '10%' }), 0, 0, 'healthy'],
    ['a change from zero has no percentage', change({ increase: '10%' }), 0.1, 0, 'inconclusive'],
    [
      'unless zeroBaseline calls it healthy',
      { ...change({ increase: '10%' }), zeroBaseline: 'healthy' },
      5,
      0,
      'healthy',
    ],
    ['or unhealthy', { ...change({ increase: '10%' }), zeroBaseline: 'unhealthy' }, 0.01, 0, 'unhealthy'],
    [
      'or wants the percentage of one',
      { ...change({ increase: '10%' }), zeroBaseline: 'absolute' },
      0.11,
      0,
      'unhealthy',
    ],
    ['which may be small enough', { ...change({ increase: '10%' }), zeroBaseline: 'absolute' }, 0.09, 0, 'healthy'],
    ['never passes what is not a number', {}, NaN, 0, 'inconclusive'],
    ['never passes an infinity', { threshold: { below: 5 } }, Infinity, 0, 'inconclusive'],
    ['nor one on the other side', change({ increase: '10%' }), 1, Infinity, 'inconclusive'],
  ])('%s', (_title, fields, observed, reference, verdict) => {
    expect(evaluate(fields, THREE(observed), THREE(reference)).verdict).toBe(verdict);
  });

  test('is shown in the unit of the metric, so that observed can be read against it', () => {
    const { observed, reference, threshold } = evaluate(change({ increase: '10%' }), THREE(40), THREE(30));
    expect({ observed, reference, threshold }).toEqual({ observed: 40, reference: 30, threshold: 33 });
  });
});

describe('transforms and reduce', () => {
  const observed = (fields: object, fresh: Side): number | null =>
    evaluate({ threshold: { above: 1e9 }, ...fields }, fresh).observed;
  test.each([
    ['no transform: the mean of the window', {}, side([[1, 2, 6]]), 3],
    ['average looks back from now', { transform: [{ average: 2 * MINUTE }] }, side([[100, 2, 6]]), 4],
    [
      'average of points that stopped a while ago is nothing',
      { transform: [{ average: MINUTE / 2 }] },
      side([[1, 2, 3]], 1, END - MINUTE),
      null,
    ],
    ['percentile within a task', { transform: [{ percentile: { q: 50, over: 3 * MINUTE } }] }, side([[1, 2, 9]]), 2],
    ['max of a smoothed series', { transform: [{ average: 2 * MINUTE }, 'max'] }, side([[4, 6, 0]]), 5],
    ['min, sum', { transform: ['min'] }, side([[4, 6, 5]]), 4],
    ['sum', { transform: ['sum'] }, side([[4, 6, 5]]), 15],
    ['rate is per second', { transform: ['rate'] }, side([[0, 60, 120]]), 1],
    ['rate takes a fall of the counter as a restart', { transform: ['rate', 'max'] }, side([[600, 0, 60]]), 1],
    ['fill drop leaves out what is not a number', { transform: [{ fill: 'drop' }] }, side([[4, NaN, 6]]), 5],
    ['fill zero', { transform: [{ fill: 'zero' }] }, side([[3, NaN, 6]]), 3],
    ['fill last', { transform: [{ fill: 'last' }] }, side([[3, NaN, 6]]), 4],
    ['fill zero counts a silent task as zero', { transform: [{ fill: 'zero' }] }, side([[6, 6, 6]], 2), 3],
    ['mean of tasks', {}, side([[1], [2], [9]]), 4],
    ['sum of tasks', { reduce: 'sum' }, side([[1], [2], [9]]), 12],
    ['max of tasks', { reduce: 'max' }, side([[1], [2], [9]]), 9],
    ['count of tasks', { reduce: 'count' }, side([[1], [2], [9]]), 3],
    ['a percentile of tasks lies between its neighbours (type 7)', { reduce: 'p75' }, side([[1], [2], [3], [4]]), 3.25],
    ['data from outside the window is not looked at', {}, side([[900, 900, 1, 1, 1]]), 1],
  ])('%s', (_title, fields, fresh, value) => {
    expect(observed(fields, fresh)).toBe(value);
  });

  // A value that is not a number is missing data, whatever is made of it.
  test.each([
    ['no transform', []],
    ['max', ['max']],
    ['min', ['min']],
    ['rate', ['rate']],
    ['percentile', [{ percentile: { q: 99, over: 3 * MINUTE } }]],
    ['average', [{ average: 3 * MINUTE }]],
  ])('%s: a value that is no number neither passes nor hides a bad one', (_title, transform) => {
    const fields = { transform, threshold: { above: 0.05 } };
    for (const nothing of [NaN, Infinity, -Infinity]) {
      expect(evaluate(fields, side([[nothing, nothing, nothing]])).verdict).toBe('inconclusive');
      const bad = [
        [nothing, 60, 600],
        [60, 600, nothing],
      ];
      for (const values of bad) expect(evaluate(fields, side([values])).verdict).toBe('unhealthy');
    }
  });

  test('an average over nothing, of a pipeline from before that was refused, comes to an end', () => {
    const old = { ...check({}), transform: [{ average: 0 }] };
    const fresh = side([[1, 2, 3]], 1, END - 1);
    expect(evaluateCheck({ check: old, fresh, control: none, before: none, window, baseline }).observed).toBe(2);
  });

  test('fill zero does not make health of a metric without reports', () => {
    expect(evaluate({ transform: [{ fill: 'zero' }] }, side([], 3)).verdict).toBe('inconclusive');
  });
});

describe('who has to report', () => {
  const silentOf = (tasks: number, silent: number, value: number, fields = {}) =>
    evaluate(
      fields,
      side(
        Array.from({ length: tasks - silent }, () => [value]),
        tasks,
      ),
    ).verdict;
  test.each([
    ['every task', {}, 3, 1, 'inconclusive'],
    ['also of a thousand', {}, 1000, 1, 'inconclusive'],
    ['a share of them, where the check says so', { reporting: '90%' }, 100, 10, 'healthy'],
    ['no less than that share', { reporting: '90%' }, 100, 11, 'inconclusive'],
    ['of few tasks rather more than less', { reporting: '90%' }, 9, 1, 'inconclusive'],
    ['so many of them', { reporting: 3 }, 100, 97, 'healthy'],
    ['all where there are no more', { reporting: 3 }, 2, 1, 'inconclusive'],
  ])('%s', (_title, fields, tasks, silent, verdict) => {
    expect(silentOf(tasks, silent, 0, fields)).toBe(verdict);
  });

  test('reporting tasks may be found unhealthy whichever tasks are silent', () => {
    expect(silentOf(100, 90, 1)).toBe('unhealthy');
  });

  test('a group without tasks has nothing to judge', () => {
    expect(evaluate({}, none)).toMatchObject({
      verdict: 'inconclusive',
      reason: 'errors has nothing to judge: there are no updated tasks',
    });
  });

  test('a control group that is silent is not replaced by the past', () => {
    const { verdict, reason } = evaluate(
      { compare: 'control', threshold: { increase: '10%' } },
      THREE(1),
      side([], 3),
      EARLIER(1),
    );
    expect({ verdict, reason }).toEqual({
      verdict: 'inconclusive',
      reason: 'errors has no data of the 3 tasks not yet updated (rpc.error_ratio, 3m)',
    });
  });

  test('a version without running tasks is nothing to compare with', () => {
    const fields = { compare: { version: 'kv:9' }, threshold: { increase: '10%' } };
    expect(evaluate(fields, THREE(1), none, EARLIER(1)).verdict).toBe('inconclusive');
    expect(evaluate(fields, THREE(1), THREE(1)).reason).toContain('of the 3 tasks on kv:9');
  });
});

test('an exception inside is errored, never healthy', () => {
  const broken = {
    tasks: 1,
    get series(): never {
      throw new Error('boom');
    },
  } as unknown as Side;
  expect(evaluate({}, broken)).toMatchObject({ verdict: 'errored', reason: 'errors could not be evaluated: boom' });
});

describe('for all data', () => {
  const values = fc.array(fc.array(fc.double({ min: 0, max: 100, noNaN: true }), { minLength: 1, maxLength: 3 }), {
    minLength: 1,
    maxLength: 6,
  });
  const reduces = fc.constantFrom('mean', 'max', 'min', 'sum', 'count', 'p50', 'p99');
  const comparing = (how: string) => ({
    compare: 'control',
    threshold: { increase: '10%' },
    reduce: how,
    minSamples: 1,
  });

  test('the order in which tasks report changes nothing', () => {
    fc.assert(
      fc.property(
        values.chain((rows) => fc.tuple(fc.constant(rows), fc.shuffledSubarray(rows, { minLength: rows.length }))),
        reduces,
        ([rows, shuffled], how) => {
          expect(evaluate(comparing(how), side(shuffled), side(rows))).toEqual(
            evaluate(comparing(how), side(rows), side(rows)),
          );
        },
      ),
    );
  });

  test('scaling both groups changes no relative verdict', () => {
    const scale = (rows: number[][], by: number) => side(rows.map((row) => row.map((value) => value * by)));
    fc.assert(
      // Powers of two keep every digit of a double, so that only the scale changes.
      fc.property(
        values,
        values,
        fc.integer({ min: -6, max: 6 }),
        fc.constantFrom('mean', 'max', 'min', 'sum'),
        (a, b, power, how) => {
          const normal = [a, b].map((rows) => rows.map((row) => row.map((value) => (value < 1e-3 ? 0 : value)))) as [
            number[][],
            number[][],
          ];
          const verdict = (by: number) => evaluate(comparing(how), scale(normal[0], by), scale(normal[1], by)).verdict;
          expect(verdict(2 ** power)).toBe(verdict(1));
        },
      ),
    );
  });

  test('one more healthy task never makes above with max unhealthy', () => {
    fc.assert(
      fc.property(values, fc.double({ min: 0, max: 50, noNaN: true }), (rows, fine) => {
        const judge = (all: number[][]) => evaluate({ threshold: { above: 50 }, reduce: 'max' }, side(all)).verdict;
        fc.pre(judge(rows) === 'healthy');
        expect(judge([...rows, [fine]])).toBe('healthy');
      }),
    );
  });

  test('missing data is never healthy, whatever the check', () => {
    const hole = fc.constantFrom<Partial<Evaluation>>(
      { fresh: side([], 3) },
      { fresh: side([[], []], 2) },
      { fresh: side([[NaN, NaN, NaN]]) },
      { fresh: none },
      { control: side([], 2), before: none },
      { control: side([[]], 1), before: none },
    );
    const threshold = fc.constantFrom({ increase: '10%' }, { decrease: 5 }, { increase: 0 });
    const transform = fc.constantFrom(
      [],
      ['max'],
      [{ average: MINUTE }],
      [{ fill: 'zero' }],
      ['rate', { fill: 'last' }],
    );
    const zeroBaseline = fc.constantFrom(undefined, 'healthy', 'unhealthy', 'absolute');
    fc.assert(
      fc.property(hole, threshold, transform, reduces, zeroBaseline, (missing, how, steps, across, zero) => {
        const fields = {
          compare: 'control',
          threshold: how,
          transform: steps,
          reduce: across,
          ...(zero && { zeroBaseline: zero }),
        };
        const full = { check: check(fields), fresh: THREE(1), control: THREE(1), before: none, window, baseline };
        expect(evaluateCheck({ ...full, ...missing }).verdict).not.toBe('healthy');
      }),
    );
  });
});

/** The transforms and `reduce` of docs/reference/health.md, written without regard to speed. */
describe('fast or slow, the numbers are the same to the last digit', () => {
  type Step = HealthCheck['transform'][number];
  const SPAN = { start: END - 10 * MINUTE, end: END };
  const inOrder = (values: readonly number[]): number[] => [...Float64Array.from(values).sort()];
  const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
  const average = (values: readonly number[]): number =>
    Math.min(Math.max(...values), Math.max(Math.min(...values), total(values) / values.length));
  const percentile = (values: readonly number[], q: number): number => {
    const rank = ((values.length - 1) * q) / 100;
    const [low = NaN, high = NaN] = [Math.floor(rank), Math.ceil(rank)].map((at) => inOrder(values)[at]);
    return low === high ? low : low + (high - low) * (rank % 1);
  };
  const valuesOf = (points: readonly Point[]): number[] => points.map(([, value]) => value);
  const between = (points: readonly Point[], start: number, end: number) =>
    points.filter(([at]) => at > start && at <= end);
  const lookingBack = (step: Step | undefined) => {
    if (typeof step !== 'object' || 'fill' in step) return undefined;
    return 'average' in step
      ? { over: step.average, of: average }
      : { over: step.percentile.over, of: (values: readonly number[]) => percentile(values, step.percentile.q) };
  };

  function transform(points: readonly Point[], step: Step, stepMs: number): Point[] {
    const [values, look] = [valuesOf(points), lookingBack(step)];
    const whole = (value: (...values: number[]) => number): Point[] =>
      points.length === 0 ? [] : [[SPAN.end, value(...values)]];
    if (look !== undefined)
      return points.map(([at], nth): Point => [
        at,
        look.of(valuesOf(between(points.slice(0, nth + 1), at - look.over, at))),
      ]);
    if (step === 'max') return whole(Math.max);
    if (step === 'min') return whole(Math.min);
    if (step === 'sum') return whole((...all) => total(all));
    if (step === 'rate')
      return points.flatMap(([at, value], nth): Point[] => {
        const [earlier, old] = points[nth - 1] ?? [at, value];
        return at === earlier ? [] : [[at, ((value < old ? value : value - old) * 1000) / (at - earlier)]];
      });
    const good = points.filter(([, value]) => Number.isFinite(value));
    return typeof step === 'object' && 'fill' in step && step.fill !== 'drop' ? onGrid(good, step.fill, stepMs) : good;
  }

  function onGrid(points: readonly Point[], how: 'zero' | 'last', stepMs: number): Point[] {
    const filled: Point[] = [];
    let at = SPAN.start;
    for (; at + stepMs <= SPAN.end; at += stepMs) {
      const inside = between(points, at, at + stepMs);
      const last = how === 'zero' ? 0 : filled.at(-1)?.[1];
      filled.push(...(inside.length > 0 || last === undefined ? inside : [[at + stepMs, last] as const]));
    }
    return [...filled, ...between(points, at, SPAN.end)];
  }

  function reduced(how: HealthCheck['reduce'], values: readonly number[]): number | undefined {
    const all = inOrder(values);
    if (all.length === 0) return undefined;
    if (!all.every(Number.isFinite)) return NaN;
    if (how === 'count') return all.length;
    const simple = { mean: average, sum: total, min: () => all[0], max: () => all.at(-1) };
    return how in simple ? simple[how as keyof typeof simple](all) : percentile(all, Number(how.slice(1)));
  }

  function plainly(
    { transform: steps, reduce, method }: HealthCheck,
    { series, tasks }: Side,
    stepMs: number,
  ): SideSummary {
    const through = (points: readonly Point[], some: readonly Step[]) =>
      some.reduce<readonly Point[]>((kept, step) => transform(kept, step, stepMs), points);
    const inside = series.map(({ points }) =>
      between(points, SPAN.start, SPAN.end)
        .filter(([, value]) => Number.isFinite(value))
        .sort(([one], [other]) => one - other),
    );
    const last = lookingBack(steps.at(-1));
    const values = inside.flatMap((points) => {
      const shaped = through(points, last === undefined ? steps : steps.slice(0, -1));
      const counted = valuesOf(last === undefined ? shaped : between(shaped, SPAN.end - last.over, SPAN.end));
      return counted.length === 0 ? [] : (last?.of ?? average)(counted);
    });
    if (steps.some((step) => typeof step === 'object' && 'fill' in step && step.fill === 'zero'))
      while (values.length < tasks) values.push(0);
    return {
      value: reduced(reduce, values),
      samples: inside.flat().length,
      reporting: values.length,
      tasks: Math.max(tasks, values.length),
      values:
        typeof method === 'object'
          ? inside.flatMap((points) => valuesOf(through(points, steps)).filter(Number.isFinite))
          : [],
    };
  }

  const step = fc.oneof(
    fc.constantFrom<Step>('rate', 'max', 'min', 'sum', { fill: 'zero' }, { fill: 'last' }, { fill: 'drop' }),
    fc.record({ average: fc.integer({ min: 1, max: 12 * MINUTE }) }),
    fc.record({
      percentile: fc.record({ q: fc.integer({ min: 1, max: 100 }), over: fc.integer({ min: 1, max: 12 * MINUTE }) }),
    }),
  );
  const value = fc.oneof(
    { weight: 8, arbitrary: fc.double({ min: 0, max: 1, noNaN: true }) },
    { weight: 4, arbitrary: fc.constantFrom(0, -0, 0.1, 0.7, 1e308, 5e-324) },
    { weight: 1, arbitrary: fc.constantFrom(NaN, Infinity, -Infinity) },
  );
  const time = (from: number, to: number) =>
    fc.integer({ min: from, max: to }).map((half) => END + (half * MINUTE) / 2);
  const regular = fc
    .array(value, { maxLength: 10 })
    .map((values) => values.map((each, nth): Point => [SPAN.start + (nth + 1) * MINUTE, each]));
  const anyhow = fc.array(fc.tuple(time(-24, 3), value), { maxLength: 20 });
  const sides = fc.array(fc.oneof(regular, anyhow), { maxLength: 6 }).chain((rows) =>
    fc.nat(2).map((silent): Side => ({
      tasks: rows.length + silent,
      series: rows.map((points) => ({ labels: {}, points })),
    })),
  );
  const reduces = fc.constantFrom<HealthCheck['reduce']>('mean', 'max', 'min', 'sum', 'count', 'p50', 'p99');

  test.each([
    ['without a transform', fc.constant<Step[]>([])],
    ['with one', fc.array(step, { minLength: 1, maxLength: 1 })],
    ['with several', fc.array(step, { minLength: 2, maxLength: 3 })],
  ])('%s', (_title, steps: fc.Arbitrary<Step[]>) => {
    const ranks = { threshold: { increase: '10%' }, compare: 'control', method: 'mann-whitney' };
    fc.assert(
      fc.property(
        steps,
        reduces,
        sides,
        fc.boolean(),
        fc.constantFrom(MINUTE, 40_000),
        (some, how, given, isRanked, ms) => {
          const asked: HealthCheck = { ...check(isRanked ? ranks : {}), transform: some, reduce: how };
          expect(summariseSide(asked, given, SPAN, ms)).toEqual(plainly(asked, given, ms));
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe('a threshold with limits on both sides', () => {
  const range = { threshold: { above: 0.9, below: 0.2 } };
  const change = { compare: 'control', threshold: { increase: '10%', decrease: '30%' } };
  test.each([
    ['above the upper limit', range, 0.95, 'unhealthy', 'is 0.95, above the limit of 0.9'],
    ['below the lower limit', range, 0.1, 'unhealthy', 'is 0.1, below the limit of 0.2'],
    ['between them', range, 0.5, 'healthy', 'is 0.5, within the limit of 0.9'],
    ['risen too far', change, 0.6, 'unhealthy', 'an increase of 10% is allowed'],
    ['fallen too far', change, 0.3, 'unhealthy', 'a decrease of 30% is allowed'],
    ['fallen as far as it may', change, 0.4, 'healthy', 'an increase of 10% is allowed'],
    ['fallen too far by ranks', { ...change, method: 'mann-whitney' }, 0.3, 'unhealthy', 'lower by 0.2'],
    ['risen too far by ranks', { ...change, method: 'mann-whitney' }, 0.6, 'unhealthy', 'higher by 0.1'],
  ])('%s', (_title, fields, value, verdict, words) => {
    const { reason, ...evidence } = evaluate(fields, THREE(value), THREE(0.5));
    expect(evidence.verdict).toBe(verdict);
    expect(reason).toContain(words);
  });

  test('that leave nothing between them are refused', () => {
    const { error } = healthCheckSchema.safeParse({ name: 'm', metric: 'm', threshold: { above: 1, below: 2 } });
    expect(error?.issues[0]?.message).toBe('every value is above the one limit or below the other');
  });
});
