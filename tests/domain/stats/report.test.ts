import { statsReport } from '../../../domain/stats/report';
import type { Tallies } from '../../../domain/stats/tallies';
import { DAY_MS } from '../../../domain/milliseconds';
import { NO_TALLIES } from '../../builders/statsTallies';
import { letPass, pastRelease, through } from '../../builders/historyRows';

const SPAN = { sinceMs: 0, untilMs: 10 * DAY_MS, readUntilMs: null };
const report = (tallies: Partial<Tallies>) => statsReport({ ...NO_TALLIES, ...tallies }, SPAN);
const regular = 'regular';

/** Deploys a day of ten that succeeded in ten days, of which the archive covers so much. */
const perDay = (firstMs: number | null, readUntilMs: number | null) =>
  statsReport(
    {
      ...NO_TALLIES,
      firstMs,
      deploys: [{ category: regular, state: 'succeeded', classification: 'success', count: 10 }],
    },
    { ...SPAN, readUntilMs },
  ).dora[0]?.deploysPerDay;

test.each([
  ['all of the time', -DAY_MS, 11 * DAY_MS, 1],
  ['the last two days', 8 * DAY_MS, 10 * DAY_MS, 5],
  ['the first two days, since it is behind', 0, 2 * DAY_MS, 5],
  ['an hour', 10 * DAY_MS - 3_600_000, 10 * DAY_MS, 10],
  ['nothing that it knows of', null, null, 1],
])('deploys a day are of the days that the archive covers: %s', (_, firstMs, readUntilMs, expected) => {
  expect(perDay(firstMs, readUntilMs)).toBe(expected);
});

describe('the report of statistics', () => {
  test('has no rows where nothing ended, and says until when it was read', () => {
    expect(report({})).toMatchObject({ schedules: [], dora: [], readUntil: null, until: '1970-01-11T00:00:00.000Z' });
  });

  test('counts end states by cause, each category apart', () => {
    const { endStates } = report({
      releases: [
        { category: regular, state: 'succeeded', cause: null, count: 3 },
        { category: regular, state: 'cancelled', cause: 'superseded', count: 5 },
        { category: 'ml', state: 'failed', cause: null, count: 2 },
      ],
    });
    expect(endStates).toEqual([
      { category: 'ml', whole: 2, counts: { 'cancelled (superseded)': 0, failed: 2, succeeded: 0 } },
      { category: regular, whole: 8, counts: { 'cancelled (superseded)': 5, failed: 0, succeeded: 3 } },
    ]);
  });

  test('always has the five classes of schedules and the tenths of progress', () => {
    const { schedules, progress } = report({
      cadences: [{ category: regular, cadence: 'daily', count: 4 }],
      progress: [{ category: regular, tenth: 9, count: 1 }],
    });
    expect(schedules[0]?.counts).toEqual({
      ...{ continuous: 0, daily: 4, weekly: 0 },
      ...{ 'biweekly/monthly': 0, 'manual-pick': 0 },
    });
    expect(Object.keys(progress[0]?.counts ?? {})).toHaveLength(10);
    expect(progress[0]?.counts['90-100%']).toBe(1);
  });

  test('takes types of actions as shares of the pipelines, and the mean number of actions', () => {
    const { actionTypes, pipelineSizes } = report({
      cadences: [{ category: regular, cadence: 'continuous', count: 4 }],
      actionTypes: [
        { category: regular, type: 'build', count: 4 },
        { category: regular, type: 'canary', count: 1 },
      ],
      sizes: [
        { category: regular, actions: 2, count: 3 },
        { category: regular, actions: 10, count: 1 },
      ],
    });
    expect(actionTypes).toEqual([{ category: regular, whole: 4, counts: { build: 4, canary: 1 } }]);
    expect(pipelineSizes[0]).toMatchObject({ whole: 4, mean: 4 });
  });

  test('holds failures against the service level, and cancelled deploys count for nothing', () => {
    const deploys = [
      { category: regular, state: 'succeeded', classification: 'success', count: 997 },
      { category: regular, state: 'reverted', classification: 'good-failure', count: 2 },
      { category: regular, state: 'failed', classification: 'bad-failure', count: 1 },
      { category: regular, state: 'cancelled', classification: 'good-failure', count: 500 },
    ];
    const { serviceLevel, dora } = report({
      deploys,
      leads: [{ category: regular, count: 997, p50Ms: 60_000 }],
    });
    expect(serviceLevel).toMatchObject([
      {
        deploys: 1000,
        worked: { share: 0.999 },
        goodFailures: { count: 2 },
        badFailures: { share: 0.001 },
        isMet: true,
      },
    ]);
    expect(dora).toMatchObject([
      { deploysPerDay: 99.7, leadMs: 60_000, changeFailures: { count: 3, of: 1000 }, restoreMs: null },
    ]);
  });

  test('counts a deploy that was cancelled because of a dependency against the service level, and names the dependency', () => {
    const { serviceLevel, badFailures } = report({
      deploys: [
        { category: regular, state: 'succeeded', classification: 'success', count: 999 },
        { category: regular, state: 'cancelled', classification: 'bad-failure', count: 5 },
      ],
      blames: [
        { category: regular, blame: 'push type twine', count: 3 },
        { category: regular, blame: null, count: 2 },
      ],
    });
    expect(serviceLevel).toMatchObject([{ deploys: 1004, badFailures: { count: 5 }, isMet: false }]);
    expect(badFailures).toEqual([{ category: regular, whole: 5, counts: { 'push type twine': 3, unknown: 2 } }]);
  });

  test('says how many releases each bug cancelled, and which share of all releases bugs did', () => {
    const { bugImpact } = report({
      releases: [
        { category: regular, state: 'succeeded', cause: null, count: 86 },
        { category: regular, state: 'cancelled', cause: 'bad-package', count: 14 },
      ],
      bugs: [
        { bug: 'bug/1', count: 12 },
        { bug: 'bug/2', count: 2 },
      ],
    });
    expect(bugImpact.bugs.map(({ bug }) => bug)).toEqual(['bug/2', 'bug/1']);
    expect(bugImpact.cancelled).toMatchObject({ count: 14, of: 100 });
  });

  test('always has the patterns of deploys', () => {
    const { deployPatterns } = report({ patterns: [{ category: regular, pattern: 'linear', count: 2 }] });
    expect(deployPatterns[0]?.counts).toEqual({
      ...{ 'single parallel': 0, single: 0, 'region-by-region': 0 },
      ...{ linear: 2, 'super-linear': 0, misc: 0 },
    });
  });

  test('finds errors of checks as health statistics does', () => {
    const rows = [
      pastRelease(1, [through('a', letPass('cpu'))]),
      pastRelease(2, [through('b')]),
      pastRelease(3, [through('a')], { kind: 'rollback', of: 2, actor: 'user:ana' }),
    ];
    expect(report({ histories: rows.map((row) => ({ category: regular, row })) }).checkErrors).toMatchObject([
      { category: regular, falsePositives: { count: 1, of: 2 }, falseNegatives: { count: 1, of: 2 } },
    ]);
  });
});
