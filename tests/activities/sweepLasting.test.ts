import {
  isWanted,
  nextDueMs,
  type SweepOrder,
  type SweepReport,
  type SweepSeen,
} from '../../domain/finder/sweepLifetime';
import { viaApp } from '../../sdk/client';
import { FinderWorld } from '../builders/finderWorld';
import { expectNoViolations, givenFleet, type TestFleet } from '../builders/simulatorFleet';

const MAIN = { repository: 'kvstore', branch: 'main' };
const MINUTE = 60_000;
const lasting = { intervalMs: MINUTE, lastingMs: 60 * MINUTE };
const order: SweepOrder = { finder: 'commits', heartbeatTimeoutMs: 10_000, lasting };

describe('a workflow that sweeps', () => {
  const schedule = { isPaused: false, taskQueue: 'conveyor', order, nextMs: [] };

  test.each([
    ['continues while its Schedule would start the same', schedule, true],
    ['ends when its Schedule is gone', null, false],
    ['ends when a person paused it', { ...schedule, isPaused: true }, false],
    ['ends when another task queue is served', { ...schedule, taskQueue: 'other' }, false],
    [
      'ends when the interval was changed',
      { ...schedule, order: { ...order, lasting: { ...lasting, intervalMs: 1 } } },
      false,
    ],
    ['ends when the heartbeats were changed', { ...schedule, order: { ...order, heartbeatTimeoutMs: 1 } }, false],
    [
      'ends when workers of before are back',
      { ...schedule, order: { finder: 'commits', heartbeatTimeoutMs: 10_000 } },
      false,
    ],
  ])('%s', (_, seen, goesOn) => {
    expect(isWanted(seen, order, 'conveyor')).toBe(goesOn);
  });
});

test.each([
  ['when the Schedule would begin the next', [1_000, 2_000], 900, 0, 1_000],
  ['at the one after, when a sweep took longer than to the next', [1_000, 2_000], 1_500, 500, 2_000],
  ['never twice for one time, though the clock of the worker is late', [1_000, 2_000], 990, 1_000, 2_000],
  ['after the interval, where the Schedule is not known', [], 900, 0, 1_000],
])('a sweep is due %s', (_, nextMs, nowMs, dueMs, expected) => {
  expect(nextDueMs({ nextMs }, nowMs, { dueMs, intervalMs: 100 })).toBe(expected);
});

describe('sweeps of one workflow', () => {
  let fleet: TestFleet;
  let world: FinderWorld;
  let seen: SweepSeen | undefined;
  let attempt: number;
  let startedMs: number;
  beforeEach(() => {
    fleet = givenFleet();
    world = new FinderWorld('commits', viaApp(fleet.app));
    world.schedule = { paused: false, taskQueue: 'conveyor', order, next: [] };
    world.subscribes('web', MAIN);
    world.now += MINUTE;
    [seen, attempt, startedMs] = [undefined, 0, world.now];
  });
  afterEach(expectNoViolations);

  const commit = (revision: string) => fleet.control('POST', '/commits', { ...MAIN, revision });
  const change = (more: object): void => {
    if (typeof world.schedule === 'object' && world.schedule) Object.assign(world.schedule, more);
  };
  /** The next attempt, a minute after the last. */
  async function sweeps(): Promise<unknown> {
    attempt += 1;
    const found = await world.attempt(lasting, { attempt, scheduledTimestampMs: startedMs, heartbeatDetails: seen });
    seen = found.seen;
    world.now += MINUTE;
    return found.end;
  }
  const reported = (report: Partial<SweepReport>) => ({ report: expect.objectContaining(report) as SweepReport });
  const AGAIN = { type: 'still-waiting', nextRetryDelay: MINUTE };

  test('follow each other until its time is up, each with what the one before left', async () => {
    await commit('a');
    expect(await sweeps()).toMatchObject(AGAIN);
    expect(seen).toMatchObject({ report: { found: 1, released: 1 }, dueMs: world.now });
    for (let nth = 2; nth < 60; nth += 1) {
      if (nth === 30) await commit('b');
      expect(await sweeps()).toMatchObject(AGAIN);
      expect(seen?.report).toMatchObject({ found: nth === 30 ? 1 : 0, beganMs: world.now - MINUTE });
    }
    const cursor = seen?.report.cursor ?? '';
    expect(await sweeps()).toEqual(reported({ cursor, beganMs: world.now - MINUTE, calls: 1 }));
    expect(world.releases.get('web')).toEqual(['input@a', 'input@b']);
  });

  test('begin when the Schedule says, with its jitter', async () => {
    change({ next: [world.now - 5, world.now + 7_000, world.now + 67_000] });
    expect(await sweeps()).toMatchObject({ type: 'still-waiting', nextRetryDelay: 7_000 });
    expect(seen?.dueMs).toBe(startedMs + 7_000);
  });

  test('continue while Temporal does not say how the Schedule stands', async () => {
    await sweeps();
    world.schedule = 'silent';
    await commit('a');
    expect(await sweeps()).toMatchObject(AGAIN);
    expect(world.releases.get('web')).toEqual(['input@a']);
  });

  test.each([
    ['paused', () => change({ paused: true })],
    ['changed', () => change({ order: { ...order, lasting: { ...lasting, intervalMs: 1 } } })],
    ['deleted', () => void (world.schedule = null)],
  ])('end without another look once the Schedule is %s, with what the last one reported', async (_, happens) => {
    await commit('a');
    await sweeps();
    const { report } = seen ?? {};
    happens();
    const { calls } = world;
    expect(await sweeps()).toEqual({ report });
    expect(world.calls).toBe(calls);
  });

  test('end without a report where none was answered', async () => {
    world.configured = [];
    expect(await sweeps()).toMatchObject({ type: 'unknown-extension', nonRetryable: false });
    world.schedule = null;
    expect(await sweeps()).toEqual({ report: null });
  });

  test('begin with one whatever the Schedule says, since a person may have triggered it', async () => {
    change({ paused: true });
    await commit('a');
    expect(await sweeps()).toMatchObject(AGAIN);
    expect(world.releases.get('web')).toEqual(['input@a']);
  });

  test('that fail are made again, later and later, and nothing that was seen is lost', async () => {
    await sweeps();
    const before = seen;
    await commit('a');
    await fleet.control('POST', '/faults', { kind: 'http', service: 'commits', mode: 'error', count: 2 });
    expect(await sweeps()).toMatchObject({ type: 'extension-unavailable', nextRetryDelay: 1_000 });
    expect(await sweeps()).toMatchObject({ type: 'extension-unavailable', nextRetryDelay: 2_000 });
    expect(seen).toEqual(before);
    expect(await sweeps()).toMatchObject(AGAIN);
    expect(world.releases.get('web')).toEqual(['input@a']);
  });
});
