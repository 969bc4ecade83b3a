import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { lookAtUpdates, type FollowHeartbeat, type Proof } from '../../activities/updateLooks';
import type { Invoke, PushPorts } from '../../activities/pushCalls';
import { everyUnit } from '../../domain/deploy/snapshot';
import type { Amount } from '../../domain/fleet/amount';
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
  success = { all: true },
}: {
  unit?: UnitProgress;
  needs?: () => Promise<object[]>;
  before?: FollowHeartbeat;
  brings?: Proof['brings'] | null;
  success?: Amount;
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
      success,
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
const doubtedFor = (ms: number) => ({ totals: TOTALS, units: [], doubtedMs: NOW - ms }) as unknown as FollowHeartbeat;
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

const underWay = (ms?: number) =>
  ({ totals: TOTALS, units: [], underWay: true, ...(ms === undefined ? {} : { doubtedMs: NOW - ms }) }) as unknown as FollowHeartbeat; // prettier-ignore

test('an update that is not over is not doubted before its criterion is met', async () => {
  const unit = { ...DONE, state: 'updating' as const, live: 1 };
  const { looked, asked } = await lookOnce({ unit });
  expect(looked).toMatchObject({ message: '1 of 4 tasks live', seen: { underWay: true } });
  expect(asked).toEqual([]);
  expect(await lookOnce({ brings: null })).toMatchObject({ looked: { done: {} }, asked: [] });
});

test.each<[string, Partial<UnitProgress>]>([
  ['it takes no task', { targeted: 0, updated: 0, live: 0 }],
  ['all that it took are gone', { updated: 0, live: 0, gone: 4 }],
  ['all that it took live', {}],
  ['it is done, where some of its units were never begun', { state: 'done', targeted: 1, updated: 1, live: 1 }],
])(
  'an update under way of which the push type says that %s is not believed where tasks are outdated',
  async (_, counts) => {
    const unit = { ...DONE, state: 'updating' as const, ...counts };
    expect((await lookOnce({ unit, needs: outdated(4), before: underWay() })).looked).toMatchObject({ seen: { doubtedMs: NOW } }); // prettier-ignore
    const { looked } = await lookOnce({ unit, needs: outdated(4), before: underWay(PATIENCE_MS) });
    const reason = 'd/1/1 counts as done, but 4 tasks of it as outdated: others have come, or the push type has not done what it says'; // prettier-ignore
    expect(looked).toMatchObject({ done: { progress: { kind: 'stuck', denied: true, reason } } });
    expect((await lookOnce({ unit, before: underWay() })).looked).toMatchObject({
      done: { progress: { kind: 'met' } },
    });
  },
);

test('an update that was seen under way is not denied by tasks that went down since, nor by fewer than its criterion lets be missing', async () => {
  const needs = async () => [{ id: 'eu', outdated: 3, down: 3 }];
  expect(await lookOnce({ before: underWay(), needs })).toMatchObject({ looked: { done: { progress: { kind: 'met' } } } }); // prettier-ignore
  const few = { before: underWay(), needs: outdated(1), success: { percent: 75 } };
  expect(await lookOnce(few)).toMatchObject({ looked: { done: { progress: { kind: 'met' } } } });
  expect(await lookOnce({ ...few, needs: outdated(2) })).toMatchObject({ looked: { seen: { doubtedMs: NOW } } });
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
