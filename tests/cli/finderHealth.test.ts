import { finderNames, finderView, refusalsFor, type FinderFacts } from '../../domain/finder/health';
import { finderChecks } from '../../cli/doctor/finders';
import { finderTable } from '../../render/finders';
import { renderPipeline } from '../../render/pipeline';
import type { View } from '../../render/paint';
import type { FinderView } from '../../domain/views';
import { run } from '../builders/cliWorld';
import { NOW, pipeline } from '../builders/cliSamples';

const view: View = { width: 120, color: false, now: NOW, timeZone: 'UTC' };
const at = (secondsAgo: number): string => new Date(NOW - secondsAgo * 1000).toISOString();
const sweep = (secondsAgo: number, status: 'running' | 'completed' | 'failed' = 'completed') => ({
  atMs: NOW - secondsAgo * 1000,
  status,
});
const reported = (secondsAgo: number) => ({ beganMs: NOW - secondsAgo * 1000, calls: 1, said: [] as string[] });
const seen = (sweeps: readonly ReturnType<typeof sweep>[], over: Partial<FinderFacts> = {}): FinderView =>
  finderView(
    {
      ...{ finder: 'commits', underWay: null, last: null, failure: null },
      schedule: { pausedBecause: null, nextAtMs: NOW + 5_000, sweeps },
      ...over,
    },
    NOW,
  );

describe('a finder', () => {
  test('answers, and is asked again when its Schedule says', () => {
    expect(seen([sweep(12), sweep(2)], { last: reported(2) })).toEqual({
      ...{ id: 'commits', kind: 'finder', state: 'answers', answeredAt: at(2), since: null, reason: null },
      ...{ nextAt: at(-5), refused: [] },
    });
  });

  test('that is being asked is as it was', () => {
    const underWay = { dueMs: null, isTaken: true, failure: null, nextTryMs: null };
    expect(seen([sweep(12), sweep(2, 'running')], { underWay })).toMatchObject({
      state: 'answers',
      answeredAt: at(12),
    });
  });

  test('that is dead says since when, what it said, and when it is asked again', () => {
    const underWay = { dueMs: null, isTaken: true, failure: 'connect ECONNREFUSED', nextTryMs: NOW + 8_000 };
    expect(seen([sweep(700), sweep(690, 'running')], { underWay })).toMatchObject({
      ...{ state: 'failing', answeredAt: at(700), since: at(690), reason: 'connect ECONNREFUSED', nextAt: at(-8) },
    });
  });

  test('is failing since the first of the sweeps that failed in a row', () => {
    const sweeps = [sweep(40), sweep(30, 'failed'), sweep(20, 'failed'), sweep(10, 'failed')];
    expect(seen(sweeps, { failure: 'no' })).toMatchObject({
      state: 'failing',
      answeredAt: at(40),
      since: at(30),
      reason: 'no',
    });
    expect(seen(sweeps.slice(1), { failure: 'no' })).toMatchObject({ answeredAt: null, since: at(30) });
  });

  test('is not asked where no worker takes up its sweep, or has it in its configuration', () => {
    const underWay = { dueMs: null, isTaken: false, failure: null, nextTryMs: null };
    expect(seen([sweep(99), sweep(89, 'running')], { underWay })).toMatchObject({
      ...{ state: 'unasked', since: at(89), reason: 'no worker takes up its sweep' },
    });
    expect(seen([], { schedule: null })).toMatchObject({ state: 'unasked', nextAt: null });
  });

  test('a finder without subscriptions is idle, and one that a person paused is shown as paused', () => {
    expect(seen([sweep(2)], { last: { ...reported(2), calls: 0 } })).toMatchObject({ state: 'idle', answeredAt: null });
    const schedule = { pausedBecause: 'maintenance', nextAtMs: NOW + 5_000, sweeps: [sweep(2)] };
    expect(seen([], { schedule })).toMatchObject({ state: 'paused', reason: 'maintenance', nextAt: null });
  });

  describe('whose workflow sweeps for an hour', () => {
    const hour = [sweep(5_400), sweep(1_800, 'running')];
    const waiting = { dueMs: NOW + 8_000, isTaken: false, failure: null, nextTryMs: NOW + 8_000 };

    test('answers between two sweeps as after one: when it was asked last, what it said, and when it is asked next', () => {
      const last = { ...reported(2), said: ['web: known-bad'] };
      expect(seen(hour, { underWay: waiting, last })).toEqual({
        ...{ id: 'commits', kind: 'finder', state: 'answers', answeredAt: at(2), since: null, reason: null },
        ...{ nextAt: at(-8), refused: ['web: known-bad'] },
      });
      expect(seen(hour, { underWay: waiting, last: { ...last, calls: 0 } })).toMatchObject({ state: 'idle' });
    });

    test('while it is asked is as it was', () => {
      const underWay = { dueMs: NOW - 1_000, isTaken: true, failure: null, nextTryMs: null };
      expect(seen(hour, { underWay, last: reported(11) })).toMatchObject({
        ...{ state: 'answers', answeredAt: at(11), since: null, nextAt: null },
      });
    });

    test('is failing since the first of its sweeps that failed, not since the workflow began', () => {
      const underWay = { dueMs: NOW - 90_000, isTaken: true, failure: '503', nextTryMs: NOW + 3_000 };
      expect(seen(hour, { underWay, last: reported(100) })).toMatchObject({
        ...{ state: 'failing', answeredAt: at(100), since: at(90), reason: '503', nextAt: at(-3) },
      });
    });

    test('is not asked once a sweep that was due is taken up by no worker', () => {
      const due = (secondsAgo: number) => ({
        ...waiting,
        dueMs: NOW - secondsAgo * 1_000,
        nextTryMs: NOW - secondsAgo * 1_000,
      });
      expect(seen(hour, { underWay: due(29), last: reported(40) })).toMatchObject({ state: 'answers' });
      expect(seen(hour, { underWay: due(31), last: reported(40) })).toMatchObject({
        ...{ state: 'unasked', answeredAt: at(40), since: at(31), nextAt: null },
      });
    });

    test('is paused at once when a person pauses its Schedule', () => {
      const schedule = { pausedBecause: 'maintenance', nextAtMs: null, sweeps: hour };
      expect(seen(hour, { schedule, underWay: waiting, last: reported(2) })).toMatchObject({
        ...{ state: 'paused', answeredAt: at(2), nextAt: null, reason: 'maintenance' },
      });
    });
  });

  test('shows each pipeline what it refused of that one alone', () => {
    const said = ['web, source: no such branch', 'web: known-bad', 'webshop, source: no'];
    const found = seen([sweep(2)], { last: { ...reported(2), said } });
    expect(found.refused).toEqual(said);
    expect(refusalsFor('web', found).refused).toEqual(['source: no such branch', 'known-bad']);
  });

  test('named manual looks for nothing', () => {
    const artifacts = { a: { finder: 'manual' }, b: { finder: 'commits' }, c: { finder: 'commits' } };
    expect(finderNames({ artifacts } as never)).toEqual(['commits']);
  });
});

const dead: FinderView = {
  ...{ id: 'commits', kind: 'finder', state: 'failing', answeredAt: at(700), since: at(690) },
  ...{
    reason: 'commits did not answer getArtifacts: connect ECONNREFUSED 127.0.0.1:4400',
    nextAt: at(-8),
    refused: [],
  },
};
const well: FinderView = {
  ...{ id: 'latest-build', kind: 'finder', state: 'answers', answeredAt: at(4), since: null, reason: null },
  ...{ nextAt: at(-6), refused: ['source: no such package'] },
};

test('a pipeline shows whether the finders of its inputs answer, and why nothing new comes', () => {
  expect(renderPipeline(pipeline({ finders: [dead, well] }), view)).toContain(
    [
      'Finders',
      '  commits       ✖ failing  answered 11m 40s ago; since 11m 30s ago: commits did not answer getArtifacts: connect',
    ].join('\n'),
  );
});

describe('list finders', () => {
  const client = {
    listFinders: () => Promise.resolve([dead, well]),
    spec: () => Promise.resolve({ artifacts: { source: { finder: 'latest-build' } } } as never),
  };

  test('says of each whether it answers, what it said and when it is asked next', () => {
    const [heading, first, second] = finderTable([dead, well], { ...view, width: 200 }).split('\n');
    expect(heading).toMatch(/^FINDER +STATE +ANSWERED +NEXT +SAID$/);
    expect(first).toMatch(
      /^commits +✖ failing +11m 40s ago +in 8s +since 11m 30s ago: .*ECONNREFUSED 127\.0\.0\.1:4400$/,
    );
    expect(second).toMatch(/^latest-build +✔ answers +4s ago +in 6s +source: no such package$/);
  });

  test('is JSON for programs, of one state or of one pipeline', async () => {
    expect(JSON.parse((await run(['list', 'finders', '-o', 'json'], { client })).out)).toEqual([dead, well]);
    expect((await run(['list', 'finders', '--state', 'failing', '-o', 'name'], { client })).out).toBe('commits\n');
    expect((await run(['list', 'finders', '-p', 'web', '-o', 'name'], { client })).out).toBe('latest-build\n');
    expect((await run(['list', 'finders', '--state', 'bogus'], { client })).code).not.toBe(0);
  });
});

test('conveyor doctor names the finders that fail, and says how to fix it', () => {
  expect(finderChecks([dead, well])).toEqual([
    {
      ...{ name: 'finder commits', state: 'missing' },
      found: `since ${at(690)}: commits did not answer getArtifacts: connect ECONNREFUSED 127.0.0.1:4400`,
      how: expect.stringContaining('start its service'),
    },
  ]);
  const unasked: FinderView = { ...dead, state: 'unasked', since: null, reason: 'no worker takes up its sweep' };
  expect(finderChecks([well, unasked])).toEqual([
    {
      ...{ name: 'finder commits', state: 'warning', found: 'no worker takes up its sweep' },
      how: expect.stringMatching(/^see the check of workers/),
    },
  ]);
  expect(finderChecks([well])).toEqual([{ name: 'finders', state: 'ok', found: '1, none failing', how: null }]);
});
