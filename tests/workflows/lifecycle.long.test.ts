import { workflowIds } from '../../domain/ids';
import type { Mutex } from '../../domain/mutex';
import { toPipelineDocument } from '../../domain/pipeline/document';
import type { PipelineState } from '../../domain/pipeline/state';
import { deployAction, flow, slowAction, untilAction, CALM } from './flows';
import { kvstore } from './pipelines';
import { HOUR, MINUTE, VirtualWorld } from './world';

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.ofKvstore();
});
afterEach(() => world.close());

const LOCK = workflowIds.serviceLock('twine', 'kvstore');
const PATIENT = { phases: [], completion: { bake: '2h' }, healthInterval: '10m' };
const SOON = { ...CALM, reconcileIntervalMs: 10 * MINUTE };

const baking = (pipeline: string) => world.reaches(pipeline, 1, ({ state }) => state === 'baking');
const workflow = (id: string) => world.client.workflow.getHandle(id);
const heldBy = async (lock: string) => (await workflow(lock).query<Mutex>('mutex')).holder?.owner;

/** Two pipelines that deploy the same service: the first bakes for two hours, the second waits for its lock. */
async function oneBakesAndOneWaits(before: () => Promise<void> = () => Promise.resolve()): Promise<void> {
  await world.apply(kvstore(PATIENT), SOON);
  await world.apply({ ...kvstore(PATIENT), pipeline: 'hotfix' }, SOON);
  await world.release('kvstore', 'kv:2');
  await baking('kvstore');
  await before();
  await world.release('hotfix', 'kv:3');
  await world.reaches('hotfix', 1, ({ state }) => state === 'waiting-lock');
}

async function takeTurns(): Promise<void> {
  await world.sleep(30 * MINUTE);
  expect((await world.deployStatus('kvstore', 1)).state).toBe('baking');
  expect((await world.deployStatus('hotfix', 1)).state).toBe('waiting-lock');
  await world.ended('hotfix', 1, { stepMs: 10 * MINUTE });
  expect((await world.releaseStatus('kvstore', 1)).state).toBe('succeeded');
  expect((await world.releaseStatus('hotfix', 1)).state).toBe('succeeded');
  for (const { versions } of await world.jobs()) expect(versions).toEqual({ 'kv:3': 6 });
}

describe('a Temporal cancel request', () => {
  test('does not end a pipeline: it is on record, and commands still reach what runs', async () => {
    await world.apply(kvstore(PATIENT), SOON);
    await world.release('kvstore', 'kv:2');
    await baking('kvstore');
    await world.pipeline('kvstore').cancel();
    await world.until('it is on record', async () => (await world.pipelineStatus('kvstore')).commands.length > 0);
    expect((await world.pipelineStatus('kvstore')).commands).toMatchObject([
      { verb: 'cancel', actor: 'service:temporal', accepted: false },
    ]);
    await world.command('pipeline/kvstore', 'freeze');
    await world.reaches('kvstore', 1, ({ summary }) => summary.includes('frozen by user:alice'));
    await world.command('pipeline/kvstore', 'unfreeze');
    await world.ended('kvstore', 1, { stepMs: 10 * MINUTE });
    await world.release('kvstore', 'kv:3');
    expect((await world.ended('kvstore', 2, { stepMs: 10 * MINUTE })).state).toBe('succeeded');
  });

  test('does not end a lock: who holds it holds it, and who waits has their turn', async () => {
    await oneBakesAndOneWaits();
    await workflow(LOCK).cancel();
    await takeTurns();
  });
});

describe('baking releases cost only their looks, and ended ones delay no other', () => {
  test('while a deploy bakes for half a day its lock has no event, and its pipeline a look every hour', async () => {
    await world.apply(kvstore({ ...PATIENT, completion: { bake: '24h' } }), SOON);
    await world.release('kvstore', 'kv:2');
    await baking('kvstore');
    const lengths = () =>
      Promise.all([LOCK, 'pipeline/kvstore'].map(async (id) => (await workflow(id).describe()).historyLength));
    const before = await lengths();
    await world.sleep(12 * HOUR);
    const [lock = 0, pipeline = 0] = (await lengths()).map((length, index) => length - (before[index] ?? 0));
    expect(lock).toBe(0);
    // A timer, an activity and two tasks.
    expect(pipeline).toBeLessThanOrEqual(12 * 11);
  });

  test('a pipeline that was applied and never released has no marker in its history', async () => {
    await world.apply(kvstore(PATIENT), SOON);
    await world.settled();
    const { events } = await world.pipeline('kvstore').fetchHistory();
    expect(events?.length).toBeGreaterThan(3);
    expect(events?.filter(({ markerRecordedEventAttributes: marker }) => marker)).toEqual([]);
  });

  test('the next in line of a terminated holder has the service at once', async () => {
    const seldom = { ...CALM, reconcileIntervalMs: 10 * HOUR };
    await world.apply(kvstore(PATIENT), seldom);
    await world.apply({ ...kvstore(PATIENT), pipeline: 'hotfix' }, seldom);
    await world.release('kvstore', 'kv:2');
    await baking('kvstore');
    await workflow('deploy/kvstore/1/deploy/1').terminate('a test');
    await world.release('hotfix', 'kv:3');
    await world.reaches('hotfix', 1, ({ state }) => state === 'baking', { withinMs: HOUR });
  });
});

test('a request for a lock without a name, sent by hand, delays no other', async () => {
  await oneBakesAndOneWaits(async () => {
    for (const nobody of [{}, { owner: 'hotfix/1' }, 'hotfix/1', ['hotfix/1']])
      for (const signal of ['request-lock', 'join-lock']) await workflow(LOCK).signal(signal, nobody);
  });
  await takeTurns();
});

describe('a lock that was terminated', () => {
  test('is asked again by waiting releases, and the new one does not give away a held lock', async () => {
    await oneBakesAndOneWaits();
    const { fence } = await workflow(LOCK).query<Mutex>('mutex');
    await workflow(LOCK).terminate('a test');
    await takeTurns();
    expect((await workflow(LOCK).query<Mutex>('mutex')).fence).toBeGreaterThan(fence);
  });

  test('is asked again for an exclusion group too', async () => {
    const using = (pipeline: string) => ({
      ...flow({ test: slowAction(60, { mutex: ['rig'] }) }, { mutex: { rig: { scope: 'global' } } }),
      pipeline,
    });
    for (const pipeline of ['search', 'ads']) await world.apply(using(pipeline), SOON);
    await world.release('search', 'kv:2');
    await world.until('search holds it', async () => (await heldBy('lock/rig')) === 'search/1');
    await world.release('ads', 'kv:2');
    const pipeline = 'ads';
    await untilAction(world, 1, 'test', ({ blockedBy }) => blockedBy !== null, { pipeline });
    await workflow('lock/rig').terminate('a test');
    await world.until('ads holds it', async () => (await heldBy('lock/rig')) === 'ads/1');
    expect((await world.releaseStatus('search', 1)).state).toBe('succeeded');
    expect((await world.ended('ads', 1)).state).toBe('succeeded');
  });
});

test('an import that is frozen freezes what runs in its pipeline, in the name of no person', async () => {
  await world.apply(kvstore(PATIENT), SOON);
  await world.release('kvstore', 'kv:2');
  await baking('kvstore');
  const state = await world.pipeline('kvstore').query<PipelineState>('pipeline');
  const frozen = { actor: 'user:alice', at: '2026-01-05T12:00:00.000Z', reason: 'audit' };
  const document = { ...toPipelineDocument(state, await world.now()), frozen };
  const { groups, settings } = state;
  await world
    .pipeline('kvstore')
    .executeUpdate('import', { args: [{ document, actor: 'user:alice', groups, settings }] });
  await world.reaches('kvstore', 1, ({ summary }) => summary.includes('frozen by service:import'));
  await world.command('pipeline/kvstore', 'unfreeze');
  await world.ended('kvstore', 1, { stepMs: 10 * MINUTE });
});

test('a deploy that lost its service to another without knowing updates nothing more', async () => {
  await world.apply(flow({ deploy: deployAction('30m', {}, '10m') }), SOON);
  await world.release('kvstore', 'kv:2');
  await world.until('it is granted', async () => (await heldBy(LOCK)) === 'kvstore/1', { stepMs: 1_000 });
  expect((await workflow(LOCK).query<Mutex>('mutex')).fence).toBeGreaterThan((await world.now()) - HOUR);
  await baking('kvstore');
  const context = { pipeline: 'ads', release: 1, deployId: 'deploy/ads/1/deploy/1', actor: 'user:bob', config: {} };
  const targets = [{ unit: 'kvstore-x', version: 'kv:9', artifacts: [], amount: { count: 1 } }];
  const updateId = 'deploy/ads/1/deploy/1/0/1';
  const response = await world.simulator.app.request('/push-types/twine/executeUpdates', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': updateId },
    body: JSON.stringify({
      ...{ context: { ...context, fence: 7 }, updateId, targets },
      ...{ wholeUnit: false, urgency: 'normal' },
    }),
  });
  expect(response.status).toBe(409);
  expect(await response.json()).toMatchObject({ error: { code: 'stale-fence' } });
});

test('a deploy that was terminated has the runs of its steps stopped before the next one has the service', async () => {
  const step = { service: 'slow', with: { takesMs: 10 * HOUR }, onFailure: 'revert' } as const;
  const pre = [{ name: 'first', scope: '*', amount: 1, pre: [step] }];
  await world.apply(kvstore({ ...PATIENT, phases: pre }), SOON);
  await world.apply({ ...kvstore(PATIENT), pipeline: 'hotfix' }, SOON);
  await world.release('kvstore', 'kv:2');
  const ofStep = () => world.slow.runs.find(({ runId }) => runId.includes('/pre/'));
  await world.until('the step runs', () => Promise.resolve(ofStep() !== undefined));
  await world.release('hotfix', 'kv:3');
  await world.reaches('hotfix', 1, ({ state }) => state === 'waiting-lock');
  await workflow('deploy/kvstore/1/deploy/1').terminate('a test');
  await baking('hotfix');
  expect(ofStep()).toMatchObject({ cancelled: true });
});

describe('a release that was terminated', () => {
  const testing = (group: 'pipeline' | 'global', pipeline = 'kvstore') => ({
    ...flow(
      { test: slowAction(600, { mutex: ['rig'] }) },
      { mutex: { rig: { scope: group } }, releases: { supersede: 'never' } },
    ),
    pipeline,
  });
  const underWay = (runId: string) =>
    world.until(`${runId} is under way`, async () => world.slow.runs.some((run) => run.runId === runId));
  const terminate = (id: string) => workflow(workflowIds.release('kvstore', Number(id))).terminate('a test');
  const runOf = (id: string) => world.slow.runs.find(({ runId }) => runId === id);

  test.each([
    ['pipeline', 'kvstore', 2],
    ['global', 'ads', 1],
  ] as const)('has its runs stopped before the next holder of its %s group begins', async (scope, next, number) => {
    for (const name of new Set(['kvstore', next])) await world.apply(testing(scope, name), SOON);
    await world.release('kvstore', 'kv:2');
    await underWay('kvstore/1/test/1');
    await world.release(next, 'kv:3');
    world.slow.down = true;
    await terminate('1');
    await world.sleep(HOUR);
    expect(runOf(`${next}/${number}/test/1`)).toBeUndefined();
    world.slow.down = false;
    await underWay(`${next}/${number}/test/1`);
    expect(runOf('kvstore/1/test/1')).toMatchObject({ cancelled: true });
    expect(runOf('kvstore/1/test/1')?.toMs).toBeLessThanOrEqual(runOf(`${next}/${number}/test/1`)?.fromMs ?? 0);
    const ended = (await world.pipelineStatus('kvstore')).releases.find((release) => release.number === 1);
    expect(ended).toMatchObject({ state: 'failed', endedAt: expect.any(String) });
  });

  test('still marks its artifact known-bad when its deploy reverts after it', async () => {
    const timings = { fetchMs: 1_000, stopMs: 1_000, startMs: 20 * MINUTE };
    await world.job('slow-x', 'x', 6, { service: 'slow', timings });
    await world.describeVersion('kv:2', { errorRatio: 0.2 });
    await world.apply(kvstore({ config: { jobs: ['slow-x'] } }), { ...CALM, reconcileIntervalMs: 2 * MINUTE });
    await world.release('kvstore', 'kv:2');
    await world.reaches('kvstore', 1, ({ state }) => state === 'reverting');
    await terminate('1');
    await world.release('kvstore', 'kv:3');
    await world.until('its end is seen', async () => {
      const seen = (await world.pipelineStatus('kvstore')).releases.find(({ number }) => number === 1);
      return seen?.state === 'failed';
    });
    const { waits } = await world.pipelineStatus('kvstore');
    expect(waits).toContainEqual(
      expect.objectContaining({
        release: 1,
        why: 'it was ended through Temporal; deploy/kvstore/1/deploy/1 has not ended',
      }),
    );
    await world.ended('kvstore', 2);
    expect((await world.pipelineStatus('kvstore')).knownBad).toMatchObject([{ artifact: 'executable@kv:2' }]);
    expect((await world.releaseStatus('kvstore', 2)).state).toBe('succeeded');
  });
});
