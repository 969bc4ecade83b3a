import { DEFAULT_FRESHNESS } from '../../../../features/freshness/domain/policy';
import { freshnessReport } from '../../../../features/freshness/domain/report';
import { DAY_MS } from '../../../../domain/milliseconds';
import type { PipelineSummary } from '../../../../domain/views';

const NOW = Date.parse('2026-11-24T09:00:00.000Z');
const before = (days: number): string => new Date(NOW - days * DAY_MS).toISOString();

const pipeline = (id: string, days: number | null, more: Partial<PipelineSummary> = {}): PipelineSummary => ({
  ...{ id, kind: 'pipeline', description: '', owners: ['group:storage'], labels: {}, state: 'active' },
  ...{ active: [], lastRelease: 1, ...(days === null ? {} : { deployedAt: before(days) }) },
  ...more,
});

const report = (...pipelines: PipelineSummary[]) => freshnessReport(pipelines, DEFAULT_FRESHNESS, NOW);
const one = (...args: Parameters<typeof pipeline>) => report(pipeline(...args)).pipelines[0];

const HIGH = { labels: { traffic: 'high' } };

test.each([
  [41.99, {}, 'fresh'],
  [42, {}, 'stale'],
  [62.99, {}, 'stale'],
  [63, {}, 'overdue'],
  [29.99, HIGH, 'fresh'],
  [30, HIGH, 'stale'],
  [63, HIGH, 'overdue'],
  [30, { labels: { traffic: 'low' } }, 'fresh'],
  [null, {}, 'never'],
])('%s days after its last deploy a pipeline with %j is %s', (days, more, state) => {
  expect(one('kv', days, more)?.state).toBe(state);
});

test('it says when a pipeline becomes stale, then overdue, and counts whole days', () => {
  expect(one('kv', 40.5)).toMatchObject({ days: 40, dueAt: before(-1.5) });
  expect(one('kv', 42.5)).toMatchObject({ days: 42, dueAt: before(-20.5) });
  expect(one('kv', 70)).toMatchObject({ days: 70, dueAt: null });
});

test('a hold or a freeze stops no clock, and is named', () => {
  expect(one('kv', 43, { state: 'held' })).toMatchObject({ state: 'stale', because: 'held' });
  expect(one('kv', 43, { state: 'frozen' })).toMatchObject({ state: 'stale', because: 'frozen' });
});

test('the worst comes first, by how far it is over its own time; pipelines without any deploy come last, and ended ones not at all', () => {
  const { pipelines } = report(
    pipeline('new', null),
    pipeline('weekly', 3),
    pipeline('late', 44),
    pipeline('busy', 35, HIGH),
    pipeline('gone', 100, { ended: true }),
  );
  expect(pipelines.map(({ id }) => id)).toEqual(['busy', 'late', 'weekly', 'new']);
});

test('pipelines that are equally late, and those without any deploy, come by name', () => {
  const { pipelines } = report(
    ...[pipeline('e', null), pipeline('b', 44), pipeline('d', null), pipeline('c', 44), pipeline('a', 44)],
  );
  expect(pipelines.map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd', 'e']);
});

test('the share of a week counts what was ever deployed', () => {
  expect(report(pipeline('a', 7), pipeline('b', 7.01), pipeline('c', 1), pipeline('d', null)).weekly).toBeCloseTo(
    2 / 3,
  );
  expect(report(pipeline('d', null)).weekly).toBeNull();
});

test('a clock that is behind makes no pipeline stale, and nothing is overdue before it is stale', () => {
  expect(one('kv', -1)).toMatchObject({ state: 'fresh', days: 0 });
  const hasty = { ...DEFAULT_FRESHNESS, escalateAfterMs: 10 * DAY_MS };
  expect(freshnessReport([pipeline('kv', 11)], hasty, NOW).pipelines[0]?.state).toBe('overdue');
});
