import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import fc from 'fast-check';
import { watchHealth, type HealthReport, type HealthSeen, type HealthWatch } from '../../activities/healthWatch';
import type { Clock } from '../../activities/clock';
import { deployDetails } from '../../domain/deploy/details';
import { MAX_FOLLOWED, MAX_RECENT, pastRows, withRecent } from '../../domain/health/recent';
import type { Verdict } from '../../domain/health/verdict';
import { STILL_WAITING } from '../../domain/looks';
import { sparkline } from '../../domain/sparkline';
import { healthCheckSchema } from '../../domain/spec/health';
import type { HealthRow } from '../../domain/views';
import { renderDeploy } from '../../render/deploy';
import { deploy, NOW } from '../builders/cliSamples';

const row = (unit: string, observed: number | null, verdict: Verdict = 'healthy'): HealthRow => ({
  ...{ unit, check: 'errors', verdict, observed, reference: null, threshold: 0.05, samples: 9, reason: 'fine' },
});

describe('a sparkline', () => {
  test.each<[string, number[], number | null, string]>([
    ['shows where values go', [1, 2, 3, 4, 5, 6, 7, 8], null, '▁▂▃▄▅▆▇█'],
    ['is calm far from the limit', [0.001, 0.002, 0.001], 0.05, '▁▁▁'],
    ['rises to the limit and beyond', [0.001, 0.05, 0.1], 0.05, '▁▄█'],
    ['falls from above a limit below', [100, 99, 80], 95, '██▁'],
    ['of what does not change is flat', [3, 3, 3], null, '▁▁▁'],
    ['of one value is nothing', [3], 0.05, ''],
    ['leaves out what is not a number', [NaN, 1, Infinity, 2], null, '▁█'],
  ])('%s', (_title, values, limit, expected) => {
    expect(sparkline(values, limit)).toBe(expected);
  });
});

describe('a row of health remembers', () => {
  test('the values of the last evaluations, oldest first', () => {
    const first = withRecent([row('x', 0.01)], []);
    const silent = withRecent([row('x', null, 'errored')], first);
    expect(withRecent([row('x', 0.123456)], silent)).toEqual([{ ...row('x', 0.123456), recent: [0.01, 0.1235] }]);
  });

  test('no more than the last of them', () => {
    let rows: readonly HealthRow[] = [];
    for (let n = 1; n <= 20; n += 1) rows = withRecent([row('x', n)], rows);
    expect(rows[0]?.recent).toEqual(Array.from({ length: MAX_RECENT }, (_, index) => 20 - MAX_RECENT + 1 + index));
  });

  test('among thousands of units only the worst, and among equals the ones that did so before', () => {
    const units = Array.from({ length: 5000 }, (_, index) => `u${index}`);
    const healthy = withRecent(
      units.map((unit) => row(unit, 1)),
      [],
    );
    const worse = withRecent(
      units.map((unit) => row(unit, 2, unit === 'u4000' ? 'unhealthy' : 'healthy')),
      healthy,
    );
    const followed = pastRows(worse).map(({ unit, recent }) => [unit, recent]);
    expect(followed).toHaveLength(MAX_FOLLOWED);
    expect(followed).toEqual([...units.slice(0, MAX_FOLLOWED - 1).map((unit) => [unit, [1, 2]]), ['u4000', [2]]]);
  });

  test('for all evaluations, little, and nothing that was not observed', () => {
    const verdicts = fc.constantFrom<Verdict>('healthy', 'inconclusive', 'errored', 'unhealthy');
    const evaluation = fc.uniqueArray(fc.tuple(fc.integer({ min: 0, max: 60 }), fc.integer(), verdicts), {
      selector: ([unit]) => unit,
      maxLength: 60,
    });
    fc.assert(
      fc.property(fc.array(evaluation, { maxLength: 20 }), (evaluations) => {
        let rows: readonly HealthRow[] = [];
        const observed = new Map<string, number[]>();
        for (const judged of evaluations) {
          const given = judged.map(([unit, value, verdict]) => row(`u${unit}`, (value % 1000) + 0, verdict));
          for (const { unit, observed: value } of given)
            observed.set(unit, [...(observed.get(unit) ?? []), value ?? 0]);
          rows = withRecent(given, rows);
          expect(rows.map(({ recent: _, ...rest }) => rest)).toEqual(given);
          for (const { unit, recent } of pastRows(rows))
            expect(recent).toEqual(observed.get(unit)?.slice(-(recent?.length ?? 0)));
          expect(pastRows(rows).length).toBeLessThanOrEqual(MAX_FOLLOWED);
          expect(Math.max(0, ...pastRows(rows).map(({ recent }) => recent?.length ?? 0))).toBeLessThanOrEqual(
            MAX_RECENT,
          );
        }
      }),
    );
  });
});

describe('a watch of health', () => {
  const check = healthCheckSchema.parse({ name: 'errors', metric: 'm', lookback: 1, threshold: { above: 0.5 } });
  const watch: HealthWatch = {
    targets: { selection: { snapshot: { units: [] }, parts: [] }, updatedBy: ['u'] },
    checks: [check],
    skips: [],
    onUnhealthy: 'revert',
    baseline: { start: 0, end: 1 },
    lastUpdateAt: 0,
    until: 1030,
    stopAt: ['unhealthy'],
    intervalMs: 10,
    heartbeatTimeoutMs: 60_000,
    fold: null,
  };

  /** Looks until there is an answer, evaluating 0.1, 0.2, … on a clock that moves only from one look to the next. */
  async function watched(input: HealthWatch, heartbeatDetails?: Partial<HealthSeen>) {
    let now = 1000;
    const clock: Clock = {
      now: () => Promise.resolve(now),
      sleep: () => Promise.reject(new Error('a look never sleeps')),
    };
    const beats: (Partial<HealthSeen> | undefined)[] = [heartbeatDetails];
    for (let attempt = 1; ; attempt += 1) {
      const environment = new MockActivityEnvironment({ attempt, heartbeatDetails: beats.at(-1) });
      environment.on('heartbeat', (seen: HealthSeen) => beats.push(seen));
      const sources = {
        evaluate: () => Promise.resolve(evaluated(attempt / 10, now)),
        unitsIn: () => Promise.resolve([]),
      };
      try {
        const report = (await environment.run(() => watchHealth(clock, sources, input))) as HealthReport;
        return { report, beats };
      } catch (error) {
        if (!(error instanceof ApplicationFailure) || error.type !== STILL_WAITING) throw error;
        now += Number(error.nextRetryDelay);
      }
    }
  }

  function evaluated(observed: number, now: number) {
    const numbers = { observed, reference: null, threshold: 0.5, samples: 3, tasks: 1 };
    const evidence = { name: 'errors', verdict: 'healthy' as const, ...numbers, reason: 'fine' };
    return {
      units: [{ id: 'x', checks: [{ ...evidence, window: { start: now - 1, end: now } }] }],
      deploy: { checks: [] },
    };
  }

  test('says in its heartbeats and in its end what it observed from one evaluation to the next', async () => {
    const { report, beats } = await watched(watch);
    expect(report.rows[0]?.recent).toEqual([0.1, 0.2, 0.3, 0.4]);
    expect(beats.at(-1)?.rows?.[0]?.recent).toEqual([0.1, 0.2, 0.3]);
  });

  test('continues from what earlier watches and workers observed', async () => {
    const recent = [{ unit: 'x', check: 'errors', recent: [7] }];
    expect((await watched({ ...watch, until: 1000, recent })).report.rows[0]?.recent).toEqual([7, 0.1]);
    const dead = { rows: [{ ...row('x', 8), recent: [7, 8] }] };
    expect((await watched({ ...watch, until: 1000, recent }, dead)).report.rows[0]?.recent).toEqual([7, 8, 0.1]);
  });
});

test('status and the Web UI draw it, where there is something to draw', () => {
  const health = [{ ...row('x', 0.1, 'unhealthy'), recent: [0.001, 0.05, 0.1] }, row('y', 0)];
  const shown = deploy({ health });
  expect(renderDeploy(shown, { width: 110, color: false, now: NOW }).split('\n')).toEqual(
    expect.arrayContaining([
      '  ✖ unhealthy  x  errors  0.1, limit 0.05 (9 samples)  ▁▄█',
      '  ✔ healthy    y  errors  0, limit 0.05 (9 samples)',
    ]),
  );
  const details = deployDetails(shown);
  expect(details).toContain('✖ **x errors** ▁▄█ unhealthy: fine');
  expect(details).toContain('✔ **y errors** healthy: fine');
});
