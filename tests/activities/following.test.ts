import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { lookAtUpdates, type Followed, type Proof } from '../../activities/following';
import type { Invoke, PushPorts } from '../../activities/pushCalls';
import { everyUnit } from '../../domain/deploy/snapshot';
import type { UnitProgress } from '../../domain/fleet/unit';

const CALL = {
  ...{ pushType: 'config', pipeline: 'feed', release: 1, deployId: 'deploy/feed/1/deploy/1', actor: 'user:alice' },
  config: {},
};
const UNITS = [{ id: 'eu', labels: {}, size: 4, version: 'kv:1', mixed: false, available: true }];
const DONE: UnitProgress = {
  ...{ id: 'eu', state: 'done', targeted: 4, updated: 4, live: 4, failed: 0, unreachable: 0, gone: 0 },
};
const PATIENCE_MS = 30_000;
const selection = everyUnit({ units: UNITS }, []);
const FORWARD: Proof['brings'] = { want: { version: 'kv:2', artifacts: [] } };
const BACK: Proof['brings'] = {
  back: {
    ...{
      updateId: 'd/revert/1',
      parts: [{ kind: 'completion' as const, scope: '*', amount: { all: true }, without: [] }],
      snapshot: { units: UNITS },
    },
    ...{ rules: { lastGood: null, deployed: 'kv:2' }, updatedBy: ['d/0/1'] },
  },
};

/** One look at 12:00 at an update that has come to `unit`, of which `needs` are what `needsPush` answers. */
async function lookOnce({
  unit = DONE,
  needs = async () => [{ id: 'eu', outdated: 0 }],
  before,
  brings = FORWARD,
}: {
  unit?: UnitProgress;
  needs?: () => Promise<object[]>;
  before?: Followed;
  brings?: Proof['brings'] | null;
} = {}) {
  const asked: unknown[] = [];
  const invoke = (async (_call: unknown, method: string, request: unknown) => {
    if (method === 'trackUpdates') return { units: [unit] };
    asked.push(request);
    return { units: await needs() };
  }) as unknown as Invoke;
  const ports = { snapshots: { read: async () => UNITS } } as unknown as PushPorts;
  const following = {
    ...{
      updateIds: ['d/1/1'],
      selection,
      success: { all: true } as const,
      intervalMs: 1_000,
      heartbeatTimeoutMs: 60_000,
    },
    ...(brings ? { proof: { brings, patienceMs: PATIENCE_MS } } : {}),
  };
  const environment = new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') });
  const looked = await environment.run(() => lookAtUpdates(ports, invoke, CALL, following, NOW, before));
  return { looked, asked };
}

const NOW = 1_000_000;
const doubtedFor = (ms: number) => ({ totals: TOTALS, units: [], doubtedMs: NOW - ms }) as unknown as Followed;
const TOTALS = { units: 1, targeted: 4, updated: 4, live: 4 };
const outdated = (count: number) => async () => [{ id: 'eu', outdated: count }];

test.each([
  ['a phase', FORWARD, { unit: 'eu', version: 'kv:2' }],
  ['a revert', BACK, { unit: 'eu', version: 'kv:1', updatedBy: ['d/0/1'] }],
])(
  'an update of %s that is over at the first look is done once nothing of it counts as outdated',
  async (_, brings, target) => {
    const { looked, asked } = await lookOnce({ brings });
    expect(looked).toMatchObject({ done: { progress: { kind: 'met' } } });
    expect(asked).toMatchObject([{ targets: [target] }]);
  },
);

test.each([FORWARD, BACK])('while some of it counts as outdated it is looked at again, for a while', async (brings) => {
  const first = await lookOnce({ needs: outdated(1), brings });
  expect(first.looked).toMatchObject({ seen: { doubtedMs: NOW, totals: TOTALS } });
  const later = await lookOnce({ needs: outdated(1), brings, before: doubtedFor(PATIENCE_MS - 1) });
  expect(later.looked).toMatchObject({ seen: { doubtedMs: NOW - PATIENCE_MS + 1 } });
  const agreed = await lookOnce({ brings, before: doubtedFor(PATIENCE_MS - 1) });
  expect(agreed.looked).toMatchObject({ done: { progress: { kind: 'met' } } });
});

test.each([FORWARD, BACK])('after that it is not done, and says why', async (brings) => {
  const { looked } = await lookOnce({ needs: outdated(2), brings, before: doubtedFor(PATIENCE_MS) });
  expect(looked).toMatchObject({
    done: {
      progress: {
        kind: 'stuck',
        denied: true,
        reason:
          'd/1/1 counts as done, but 2 tasks of it as outdated: others have come, or the push type knows that id from a release that a restore has lost',
      },
    },
  });
});

test('tasks that its progress misses as well are no contradiction', async () => {
  const unit = { ...DONE, targeted: 6 };
  const { looked } = await lookOnce({ unit: { ...unit, gone: 2 }, needs: outdated(0) });
  expect(looked).toMatchObject({ done: { progress: { kind: 'met' } } });
});

test('tasks of a unit that is done which have not left their old version are none of this update', async () => {
  const overwritten = { ...DONE, updated: 1, live: 1 };
  const { looked, asked } = await lookOnce({ unit: overwritten, before: doubtedFor(PATIENCE_MS) });
  expect(looked).toMatchObject({ done: { progress: { kind: 'stuck', denied: true } } });
  expect(asked).toEqual([]);
});

test.each([
  ['have come up dead', { live: 0 }],
  ['cannot be reached', { updated: 3, live: 3, unreachable: 1 }],
])('tasks that %s are waited for as ever', async (_, counts) => {
  const { looked } = await lookOnce({ unit: { ...DONE, ...counts }, before: doubtedFor(PATIENCE_MS) });
  expect(looked).toMatchObject({ message: `${{ ...DONE, ...counts }.live} of 4 tasks live` });
});

test('an update that was seen under way is not doubted, nor one that is not over', async () => {
  const before = { totals: TOTALS, units: [], underWay: true } as unknown as Followed;
  expect(await lookOnce({ before, needs: outdated(3) })).toMatchObject({ looked: { done: {} }, asked: [] });
  const unit = { ...DONE, state: 'updating' as const, live: 1 };
  const { looked, asked } = await lookOnce({ unit });
  expect(looked).toMatchObject({ message: '1 of 4 tasks live', seen: { underWay: true } });
  expect(asked).toEqual([]);
  expect(await lookOnce({ brings: null })).toMatchObject({ looked: { done: {} }, asked: [] });
});

const silent = () => Promise.reject(ApplicationFailure.retryable('connection refused', 'unreachable'));
const refusing = () => Promise.reject(ApplicationFailure.nonRetryable('no job eu', 'unknown-unit'));

test.each([
  ['does not answer', silent],
  ['refuses to answer', refusing],
])('a phase whose push type %s has no proof, also after a while', async (_, needs) => {
  expect((await lookOnce({ needs })).looked).toMatchObject({ seen: { doubtedMs: NOW } });
  const { looked } = await lookOnce({ needs, before: doubtedFor(PATIENCE_MS) });
  expect(looked).toMatchObject({ done: { progress: { kind: 'met' }, unproven: true } });
});

test('a revert whose push type does not answer asks again for a while, and then ends', async () => {
  expect((await lookOnce({ needs: silent, brings: BACK })).looked).toMatchObject({ seen: { doubtedMs: NOW } });
  const { looked } = await lookOnce({ needs: silent, brings: BACK, before: doubtedFor(PATIENCE_MS) });
  expect(looked).toMatchObject({ done: { progress: { kind: 'met' } } });
  expect(looked).not.toMatchObject({ done: { unproven: true } });
});

test('a revert whose push type refuses the question ends at once, whatever else is broken', async () => {
  const { looked } = await lookOnce({ needs: refusing, brings: BACK });
  expect(looked).toMatchObject({ done: { progress: { kind: 'met' } } });
});
