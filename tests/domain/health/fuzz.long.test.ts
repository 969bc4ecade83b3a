import { evaluateCheck, type Evaluation } from '../../../domain/health/evaluate';
import { foldEvaluation, NO_HISTORY, type FoldInput, type HealthFold } from '../../../domain/health/fold';
import type { Point, Side } from '../../../domain/health/series';
import type { CheckEvidence, Verdict } from '../../../domain/health/verdict';
import { healthCheckSchema, type HealthCheck } from '../../../domain/spec/health';
import { noise } from '../../../simulator/kernel/random';

/**
 * A hundred thousand evaluations of random tasks, held against what must be so whatever the data. That this finds mistakes is shown
 * by making some.
 */
const EVALUATIONS = 100_000;
const MINUTE = 60_000;
const END = 100 * MINUTE;
const WINDOW = { start: END - 10 * MINUTE, end: END };
const LIMIT = 0.05;
const NOTHING: Side = { tasks: 0, series: [] };

type Evaluate = (evaluation: Evaluation) => CheckEvidence;
type Fold = typeof foldEvaluation;

/** One number after the other in [0, 1), the same of the same seed. */
function chances(seed: number) {
  let nth = 0;
  const next = (): number => noise(seed, (nth += 1), 0, 0);
  const of = <T>(choices: readonly T[]): T => choices[Math.floor(next() * choices.length)] as T;
  return { next, of };
}
type Chances = ReturnType<typeof chances>;

const TRANSFORMS: readonly HealthCheck['transform'][] = [
  [],
  ['max'],
  ['min'],
  [{ average: 3 * MINUTE }],
  [{ percentile: { q: 90, over: 10 * MINUTE } }],
  [{ average: 2 * MINUTE }, 'max'],
  [{ fill: 'drop' }],
  [{ fill: 'last' }],
];
const CHECKS = TRANSFORMS.flatMap((transform) =>
  (['mean', 'max', 'min', 'p50', 'p99'] as const).map((reduce) =>
    healthCheckSchema.parse({ name: 'errors', metric: 'm', threshold: { above: LIMIT }, transform, reduce }),
  ),
);
const RANKS = healthCheckSchema.parse({
  ...{ name: 'latency', metric: 'm', threshold: { increase: '10%' }, compare: 'control', method: 'mann-whitney' },
});

/** Ten minutes of one task: good or bad values, and some that are no numbers. */
function pointsOf({ next, of }: Chances, isBad: boolean, spoilt: number): Point[] {
  return Array.from({ length: 10 }, (_, nth): Point => {
    const value = isBad ? LIMIT + 0.001 + next() : LIMIT * next();
    return [WINDOW.start + (nth + 1) * MINUTE, next() < spoilt ? of([NaN, Infinity, -Infinity]) : value];
  });
}

const sideOf = (rows: readonly Point[][], silent = 0): Side => ({
  tasks: rows.length + silent,
  series: rows.map((points, nth) => ({ labels: { task: `t/${nth}` }, points })),
});

/** The objections to one evaluation; undefined when nothing does. */
function judged(evaluate: Evaluate, seed: number): string | undefined {
  const random = chances(seed);
  const { next, of } = random;
  const check = of(CHECKS);
  const kind = of(['good', 'bad', 'mixed'] as const);
  const spoilt = of([0, 0, 0.1, 0.5, 1]);
  const rows = Array.from({ length: 1 + Math.floor(next() * 5) }, () =>
    pointsOf(random, kind === 'bad' || (kind === 'mixed' && next() < 0.5), spoilt),
  );
  const silent = next() < 0.2 ? 1 : 0;
  const ask = (fresh: Side): CheckEvidence =>
    evaluate({ check, fresh, control: NOTHING, before: NOTHING, window: WINDOW, baseline: WINDOW });
  const evidence = ask(sideOf(rows, silent));
  const numbers = rows.map((points) => points.map(([, value]) => value).filter(Number.isFinite));
  const all = numbers.flat();
  const known = numbers.filter(({ length }) => length > 0).length;
  const { verdict, observed } = evidence;
  if (all.length === 0) return verdict === 'inconclusive' ? undefined : `${verdict} without a single number`;
  if ((silent > 0 || known < rows.length) && verdict === 'healthy') return 'healthy though one is silent';
  if (evidence.samples !== all.length) return `${evidence.samples} samples of ${all.length}`;
  if (observed !== null && !(observed >= Math.min(...all) && observed <= Math.max(...all)))
    return `observed ${observed}, which nobody is between`;
  if (kind === 'bad' && observed !== null && verdict !== 'unhealthy') return `${verdict} though all are bad`;
  if (kind === 'good' && verdict === 'unhealthy') return 'unhealthy though all are good';
  const without = rows.map((points) => points.filter(([, value]) => Number.isFinite(value)));
  const again = ask(sideOf([...without].reverse(), silent));
  if (again.verdict !== verdict || again.observed !== observed)
    return 'what is not a number, or the order, made a difference';
  return undefined;
}

/** As `judged`, of ranks: no single value decides between tasks of the same kind, however far away it is. */
function compared(evaluate: Evaluate, seed: number): string | undefined {
  const random = chances(seed);
  const { next, of } = random;
  const alike = (): Point[][] =>
    Array.from({ length: 4 }, () => pointsOf(random, false, 0).map(([at]) => [at, 1 + 0.02 * next()]));
  const [fresh, control] = [alike(), alike()];
  const outlier = of([2 ** 31, -(2 ** 31), 1e308, -1e308]);
  const spoilt = of([fresh, control]);
  const [first = []] = spoilt;
  first[0] = [first[0]?.[0] ?? 0, outlier];
  const { verdict } = evaluate({
    ...{
      check: RANKS,
      fresh: sideOf(fresh),
      control: sideOf(control),
      before: NOTHING,
      window: WINDOW,
      baseline: WINDOW,
    },
  });
  return verdict === 'healthy' ? undefined : `${verdict} by one value`;
}

const HELD = ([undefined, { evaluations: 3 }, 2 * MINUTE, { failures: 3, within: 5 }] as const).map((hold) =>
  healthCheckSchema.parse({ name: 'errors', metric: 'm', threshold: { above: LIMIT }, for: hold }),
);

/** Twelve evaluations in a row, held against what `for` says in so many words. */
function held(fold: Fold, seed: number): string | undefined {
  const { of } = chances(seed);
  const check = of(HELD);
  const told: Verdict[] = [];
  let memory: HealthFold = NO_HISTORY;
  for (let nth = 0; nth < 12; nth += 1) {
    told.push(of(['unhealthy', 'unhealthy', 'unhealthy', 'healthy', 'inconclusive', 'errored']));
    const result = fold(memory, inputOf(check, told.at(-1) ?? 'healthy', nth * MINUTE));
    memory = result.fold;
    if ((result.verdict === 'unhealthy') !== counts(check.for, told))
      return `${result.verdict} after ${told.join(' ')}`;
    if (told.at(-1) !== 'healthy' && result.verdict === 'healthy') return 'healthy though it is not';
  }
  return undefined;
}

function inputOf(check: HealthCheck, verdict: Verdict, now: number): FoldInput {
  const numbers = { observed: 1, reference: null, threshold: LIMIT, samples: 1, tasks: 1 };
  const evidence = { name: check.name, verdict, ...numbers, window: { start: now - MINUTE, end: now }, reason: '' };
  const response = { units: [{ id: 'x', checks: [evidence] }], deploy: { checks: [] } };
  return { checks: [check], skips: [], response, now, lastUpdateAt: -10 * MINUTE, onUnhealthy: 'revert' };
}

function counts(hold: HealthCheck['for'], told: readonly Verdict[]): boolean {
  if (told.at(-1) !== 'unhealthy') return false;
  const inARow = told.length - 1 - told.findLastIndex((verdict) => verdict !== 'unhealthy');
  if (hold === undefined) return true;
  if (typeof hold === 'number') return (inARow - 1) * MINUTE >= hold;
  if ('evaluations' in hold) return inARow >= hold.evaluations;
  return told.slice(-hold.within).filter((verdict) => verdict === 'unhealthy').length >= hold.failures;
}

/** The first thing that is wrong in so many evaluations. */
function fuzz(evaluate: Evaluate, fold: Fold, evaluations = EVALUATIONS): string | undefined {
  let made = 0;
  const counted: Evaluate = (evaluation) => ((made += 1), evaluate(evaluation));
  const folded: Fold = (before, input) => ((made += 1), fold(before, input));
  for (let seed = 1; made < evaluations; seed += 1) {
    const wrong = judged(counted, seed) ?? compared(counted, seed) ?? held(folded, seed);
    if (wrong !== undefined) return `${seed}: ${wrong}`;
  }
  return undefined;
}

test('100,000 evaluations of whatever tasks report hold what is promised', () => {
  expect(fuzz(evaluateCheck, foldEvaluation)).toBeUndefined();
});

const over =
  (change: (side: Side) => Side): Evaluate =>
  (evaluation) =>
    evaluateCheck({ ...evaluation, fresh: change(evaluation.fresh) });
const points = (change: (points: readonly Point[]) => readonly Point[]) =>
  over((side) => ({ ...side, series: side.series.map((series) => ({ ...series, points: change(series.points) })) }));

describe('a mistake is found', () => {
  test.each<[string, Evaluate]>([
    [
      'what is not a number counts as zero',
      points((all) => all.map(([at, value]) => [at, Number.isFinite(value) ? value : 0])),
    ],
    [
      'what is not a number counts as very large',
      points((all) => all.map(([at, value]) => [at, Number.isFinite(value) ? value : 1e9])),
    ],
    ['a silent task is left out', over((side) => ({ ...side, tasks: side.series.length }))],
    ['the first task is left out', over((side) => ({ ...side, series: side.series.slice(1) }))],
    ['the newest point is left out', points((all) => all.slice(0, -1))],
    [
      'an unhealthy verdict is taken for a healthy one',
      (evaluation) => {
        const evidence = evaluateCheck(evaluation);
        return evidence.verdict === 'unhealthy' ? { ...evidence, verdict: 'healthy' } : evidence;
      },
    ],
    [
      'ranks are not used',
      (evaluation) => evaluateCheck({ ...evaluation, check: { ...evaluation.check, method: 'threshold' } }),
    ],
  ])('%s', (_title, evaluate) => {
    expect(fuzz(evaluate, foldEvaluation, 4_000)).toBeDefined();
  });

  const beside =
    (change: (input: FoldInput, before: HealthFold) => HealthFold | undefined): Fold =>
    (before, input) =>
      foldEvaluation(change(input, before) ?? before, input);
  const verdictIn = ({ response }: FoldInput): Verdict | undefined => response.units[0]?.checks[0]?.verdict;
  test.each<[string, Fold]>([
    [
      'what is between does not end a run',
      (before, input) => {
        const result = foldEvaluation(before, input);
        return ['inconclusive', 'errored'].includes(verdictIn(input) ?? '') ? { ...result, fold: before } : result;
      },
    ],
    ['nothing is remembered', beside(() => NO_HISTORY)],
    [
      'one evaluation too few',
      beside((_input, before) => {
        const known = before['x|errors'];
        return known?.evaluations === undefined
          ? undefined
          : { 'x|errors': { ...known, evaluations: known.evaluations + 1 } };
      }),
    ],
    [
      'all counts at once',
      (before, input) =>
        foldEvaluation(before, { ...input, checks: input.checks.map(({ for: _hold, ...check }) => check) }),
    ],
  ])('%s', (_title, fold) => {
    expect(fuzz(evaluateCheck, fold, 4_000)).toBeDefined();
  });
});
