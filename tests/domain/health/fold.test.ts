import { foldEvaluation, NO_HISTORY, type FoldInput, type HealthFold } from '../../../domain/health/fold';
import { computeLookback, stepFor, withLookback } from '../../../domain/health/lookback';
import type { CheckEvidence, Verdict } from '../../../domain/health/verdict';
import { healthCheckSchema, type HealthCheck } from '../../../domain/spec/health';

const check = (name: string, fields: object = {}): HealthCheck =>
  healthCheckSchema.parse({ name, metric: name, threshold: { above: 1 }, ...fields });
const evidence = (name: string, verdict: Verdict, start = 500): CheckEvidence => ({
  name,
  verdict,
  observed: 2,
  reference: null,
  threshold: 1,
  samples: 3,
  tasks: 1,
  window: { start, end: 1000 },
  reason: `${name} is 2`,
});
const answer = (units: Record<string, CheckEvidence[]>, deploy: CheckEvidence[] = []): FoldInput['response'] => ({
  units: Object.entries(units).map(([id, checks]) => ({ id, checks })),
  deploy: { checks: deploy },
});
const fold = (input: Partial<FoldInput>, history: HealthFold = NO_HISTORY) =>
  foldEvaluation(history, {
    checks: [],
    skips: [],
    response: answer({}),
    now: 1000,
    lastUpdateAt: 400,
    onUnhealthy: 'revert',
    ...input,
  });

test.each(['healthy', 'unhealthy'] as const)(
  'a verdict without data passes nothing and reverts nothing: %s',
  (verdict) => {
    const guess = { ...evidence('errors', verdict), samples: 0, tasks: 0 };
    for (const response of [answer({ x: [guess] }), answer({}, [guess])]) {
      const input = { checks: [check('errors', response.units.length > 0 ? {} : { scope: 'deploy' })], response };
      const { verdict: whole, rows } = fold(input);
      const reason = `errors is 2; it was called ${verdict} without data, which counts as neither`;
      expect([whole, rows[0]]).toMatchObject(['inconclusive', { verdict: 'inconclusive', reason, samples: 0 }]);
    }
  },
);

describe('the verdict of a deploy', () => {
  const two = [check('errors'), check('cpu')];
  test.each<[string, Partial<FoldInput>, Verdict, string]>([
    ['without checks it is healthy', {}, 'healthy', 'none'],
    [
      'all healthy',
      { checks: two, response: answer({ x: [evidence('errors', 'healthy'), evidence('cpu', 'healthy')] }) },
      'healthy',
      'none',
    ],
    [
      'the worst check',
      { checks: two, response: answer({ x: [evidence('errors', 'healthy'), evidence('cpu', 'errored')] }) },
      'errored',
      'none',
    ],
    [
      'the worst unit',
      {
        checks: [check('cpu')],
        response: answer({ x: [evidence('cpu', 'healthy')], y: [evidence('cpu', 'unhealthy')] }),
      },
      'unhealthy',
      'revert',
    ],
    [
      'a check of the whole deploy',
      { checks: [check('cpu', { scope: 'deploy' })], response: answer({}, [evidence('cpu', 'unhealthy')]) },
      'unhealthy',
      'revert',
    ],
    [
      'a check that asks for pause',
      { checks: [check('cpu', { onUnhealthy: 'pause' })], response: answer({ x: [evidence('cpu', 'unhealthy')] }) },
      'unhealthy',
      'pause',
    ],
    [
      'revert goes before pause',
      {
        checks: [check('errors', { onUnhealthy: 'pause' }), check('cpu')],
        response: answer({ x: [evidence('errors', 'unhealthy'), evidence('cpu', 'unhealthy')] }),
      },
      'unhealthy',
      'revert',
    ],
    [
      'the deploy says what the check does not',
      { checks: [check('cpu')], onUnhealthy: 'pause', response: answer({ x: [evidence('cpu', 'unhealthy')] }) },
      'unhealthy',
      'pause',
    ],
    [
      'a check that is only reported never counts',
      { checks: [check('cpu', { onUnhealthy: 'ignore' })], response: answer({ x: [evidence('cpu', 'unhealthy')] }) },
      'healthy',
      'none',
    ],
    [
      'a skipped check does not count',
      {
        checks: two,
        skips: ['cpu'],
        response: answer({ x: [evidence('errors', 'healthy'), evidence('cpu', 'unhealthy')] }),
      },
      'healthy',
      'none',
    ],
    [
      'all skipped',
      {
        checks: two,
        skips: 'all',
        response: answer({ x: [evidence('errors', 'errored'), evidence('cpu', 'unhealthy')] }),
      },
      'healthy',
      'none',
    ],
    ['no evidence at all is not health', { checks: two }, 'inconclusive', 'none'],
    [
      'a check that a unit leaves out is not health',
      { checks: two, response: answer({ x: [evidence('errors', 'healthy')] }) },
      'inconclusive',
      'none',
    ],
    [
      'a unit without updated tasks says nothing',
      { checks: [check('cpu')], response: answer({ x: [evidence('cpu', 'healthy')], y: [] }) },
      'healthy',
      'none',
    ],
    [
      "a push type's own check counts",
      { response: answer({ x: [evidence('own', 'unhealthy')] }) },
      'unhealthy',
      'revert',
    ],
  ])('%s', (_title, input, verdict, action) => {
    expect(fold(input)).toMatchObject({ verdict, action });
  });

  test('a skipped check is still shown, and says so', () => {
    const { rows } = fold({
      checks: [check('cpu')],
      skips: 'all',
      response: answer({ x: [evidence('cpu', 'unhealthy')] }),
    });
    expect(rows).toEqual([
      {
        unit: 'x',
        check: 'cpu',
        verdict: 'unhealthy',
        observed: 2,
        reference: null,
        threshold: 1,
        samples: 3,
        reason: 'cpu is 2; skipped',
      },
    ]);
  });
});

describe('a window that is not filled', () => {
  test('does not pass: the data must be from after the last update', () => {
    const result = fold({
      checks: [check('cpu')],
      lastUpdateAt: 600,
      response: answer({ x: [evidence('cpu', 'healthy', 500)] }),
    });
    expect(result).toMatchObject({ verdict: 'inconclusive', young: true, action: 'none' });
    expect(result.reason).toBe('cpu is 2; not counted yet: its window begins 100ms before the last update was done');
  });

  test('passes when it begins with the last update', () => {
    const result = fold({
      checks: [check('cpu')],
      lastUpdateAt: 500,
      response: answer({ x: [evidence('cpu', 'healthy', 500)] }),
    });
    expect(result).toMatchObject({ verdict: 'healthy', young: false });
  });

  test('does not revert either: tasks that were being updated shift their load to the others', () => {
    const result = fold({
      checks: [check('cpu')],
      lastUpdateAt: 600,
      response: answer({ x: [evidence('cpu', 'unhealthy', 500)] }),
    });
    expect(result).toMatchObject({ verdict: 'inconclusive', young: true, action: 'none' });
  });
});

type Hold = NonNullable<HealthCheck['for']>;

describe('passes: healthy has to come so often in a row, wherever it is looked at', () => {
  const run = (evaluations: readonly (readonly [Verdict, Verdict])[]): string[] => {
    let history = NO_HISTORY;
    return evaluations.map(([x, y], index) => {
      const response = answer({ x: [evidence('cpu', x)], y: [evidence('cpu', y)] });
      const result = fold({ checks: [check('cpu', { passes: 3 })], now: index * 1000, response }, history);
      history = JSON.parse(JSON.stringify(result.fold)) as HealthFold;
      return result.young ? `${result.verdict} young` : result.verdict;
    });
  };
  const [good, bad, dark] = ['healthy', 'unhealthy', 'inconclusive'] as const;
  const wait = 'inconclusive young';

  test.each([
    [
      'three times',
      [
        [good, good],
        [good, good],
        [good, good],
        [good, good],
      ],
      [wait, wait, good, good],
    ],
    [
      'one unit of two is not everywhere',
      [
        [good, good],
        [good, dark],
        [good, good],
      ],
      [wait, dark, wait],
    ],
    [
      'an unhealthy verdict counts at once',
      [
        [good, good],
        [good, bad],
        [good, good],
      ],
      [wait, bad, wait],
    ],
  ] as const)('%s', (_title, evaluations, expected) => expect(run(evaluations)).toEqual(expected));

  test('says how often it was', () => {
    const { reason } = fold({
      checks: [check('cpu', { passes: 3 })],
      response: answer({ x: [evidence('cpu', good)] }),
    });
    expect(reason).toBe('cpu is 2; passes after 3 healthy evaluations in a row, this is number 1');
  });
});

describe('for: unhealthy has to last before it counts', () => {
  /** Feeds verdicts a second apart, and gives what the deploy made of each. */
  const run = (hold: Hold, verdicts: Verdict[]): string[] => {
    let history = NO_HISTORY;
    return verdicts.map((verdict, index) => {
      const result = fold(
        {
          checks: [check('cpu', { for: hold })],
          now: index * 1000,
          response: answer({ x: [evidence('cpu', verdict)] }),
        },
        history,
      );
      history = JSON.parse(JSON.stringify(result.fold)) as HealthFold;
      return result.young ? `${result.verdict} young` : result.verdict;
    });
  };
  const good = 'healthy';
  const bad = 'unhealthy';
  const dark = 'errored';
  test.each<[string, Hold, Verdict[], string[]]>([
    ['so long', 2000, [bad, bad, bad], ['inconclusive young', 'inconclusive young', 'unhealthy']],
    ['so often', { evaluations: 2 }, [bad, bad], ['inconclusive young', 'unhealthy']],
    [
      'health begins anew',
      1000,
      [bad, good, bad, bad],
      ['inconclusive young', 'healthy', 'inconclusive young', 'unhealthy'],
    ],
    [
      'an error is between: what comes after it begins anew',
      { evaluations: 2 },
      [bad, dark, bad, bad],
      ['inconclusive young', 'errored', 'inconclusive young', 'unhealthy'],
    ],
    [
      'hours of nothing are not so long',
      2000,
      [bad, 'inconclusive', 'inconclusive', bad],
      ['inconclusive young', 'inconclusive', 'inconclusive', 'inconclusive young'],
    ],
    [
      'so many of the last ones, whatever is between',
      { failures: 3, within: 4 },
      [bad, good, bad, dark, bad, bad],
      ['inconclusive young', 'healthy', 'inconclusive young', 'errored', 'inconclusive young', 'unhealthy'],
    ],
  ])('%s', (_title, hold, verdicts, expected) => {
    expect(run(hold, verdicts)).toEqual(expected);
  });

  test('says how long it has been and how long it takes', () => {
    const result = fold({
      checks: [check('cpu', { for: '5m' })],
      response: answer({ x: [evidence('cpu', 'unhealthy')] }),
    });
    expect(result.reason).toBe('cpu is 2; counts after 5m, unhealthy for 0ms so far');
  });

  test('each unit has a clock of its own', () => {
    const checks = [check('cpu', { for: 1000 })];
    const first = fold({
      checks,
      now: 0,
      response: answer({ x: [evidence('cpu', 'unhealthy')], y: [evidence('cpu', 'healthy')] }),
    });
    const second = fold(
      { checks, now: 1000, response: answer({ x: [evidence('cpu', 'healthy')], y: [evidence('cpu', 'unhealthy')] }) },
      first.fold,
    );
    expect(second).toMatchObject({ verdict: 'inconclusive', action: 'none' });
    expect(Object.keys(second.fold)).toEqual(['y|cpu']);
  });
});

describe('lookback', () => {
  test.each([
    ['what the check says', { lookback: '10m', transform: [{ average: '3m' }] }, 600_000],
    ['the longest transform', { transform: [{ average: '3m' }, { percentile: { q: 99, over: '5m' } }] }, 300_000],
    ['at least the interval', { transform: [{ average: '10s' }] }, 60_000],
    ['the interval when there is no transform', {}, 60_000],
  ])('is %s', (_title, fields, expected) => {
    expect(computeLookback(check('cpu', fields), 60_000)).toBe(expected);
    expect(withLookback([check('cpu', fields)], 60_000)[0]?.lookback).toBe(expected);
  });

  test('holds at least three points', () => {
    expect([3000, 180_000, 3_600_000].map(stepFor)).toEqual([1000, 60_000, 60_000]);
  });
});
