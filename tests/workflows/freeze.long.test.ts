import { actionOf, deployAction, endsOf, flow, slowAction, untilAction, CALM } from './flows';
import { kvstore } from './pipelines';
import { HOUR, MINUTE, VirtualWorld } from './world';

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.ofKvstore();
});
afterEach(() => world.close());

const freeze = () => world.command('pipeline/kvstore', 'freeze', { actor: 'user:alice', reason: 'holidays' });
const unfreeze = () => world.command('pipeline/kvstore', 'unfreeze');

test('while a pipeline is frozen nothing starts; unfrozen, everything continues', async () => {
  await world.apply(flow({ build: slowAction(5), deploy: deployAction('5m', { needs: ['build'] }) }), CALM);
  await freeze();
  await world.release('kvstore', 'kv:2');
  await world.sleep(24 * HOUR);
  expect(world.slow.runs).toEqual([]);
  expect((await world.pipelineStatus('kvstore')).waits).toEqual([
    { release: 1, action: null, why: 'the pipeline is frozen by user:alice: holidays', until: null },
  ]);
  await unfreeze();
  await world.ended('kvstore', 1);
  expect(await endsOf(world, [1])).toEqual(['succeeded']);
});

test('a release under way starts no further action while frozen', async () => {
  await world.apply(flow({ build: slowAction(60), test: slowAction(5, { needs: ['build'] }) }), CALM);
  await world.release('kvstore', 'kv:2');
  await untilAction(world, 1, 'build', ({ state }) => state === 'running');
  await freeze();
  await world.sleep(3 * HOUR);
  expect(world.slow.runs.map(({ action }) => action)).toEqual(['build']);
  expect(actionOf(await world.releaseStatus('kvstore', 1), 'build')?.state).toBe('succeeded');
  await unfreeze();
  await world.ended('kvstore', 1);
  expect(await endsOf(world, [1])).toEqual(['succeeded']);
});

test('a deploy under way pauses before its next phase, and continues when unfrozen', async () => {
  await world.apply(kvstore({ healthInterval: '10m' }), CALM);
  await world.release('kvstore', 'kv:2');
  await world.reaches('kvstore', 1, ({ state }) => state === 'baking');
  await freeze();
  await world.reaches('kvstore', 1, ({ paused }) => paused?.by === 'freeze');
  await world.sleep(24 * HOUR);
  const [x, y] = await world.jobs();
  expect([x?.versions, y?.versions]).toEqual([{ 'kv:1': 3, 'kv:2': 3 }, { 'kv:1': 6 }]);
  await unfreeze();
  await world.ended('kvstore', 1);
  expect(await endsOf(world, [1])).toEqual(['succeeded']);
});

test('a rollback goes through a frozen pipeline', async () => {
  await world.apply(flow({ deploy: deployAction('5m') }), CALM);
  for (const n of [2, 3]) {
    await world.release('kvstore', `kv:${n}`);
    await world.ended('kvstore', n - 1);
  }
  await freeze();
  await world.rollBack('kvstore', 2, { actor: 'user:alice', reason: 'slow' });
  await world.ended('kvstore', 3);
  expect(await endsOf(world, [3])).toEqual(['succeeded']);
  for (const { versions } of await world.jobs()) expect(versions).toEqual({ 'kv:2': 6 });
});

test('nothing begins after a freeze was acknowledged, however close it came to a release', async () => {
  const names = Array.from({ length: 6 }, (_, n) => `store-${n}`);
  for (const pipeline of names) await world.apply(flow({ build: slowAction(60) }, { pipeline }), CALM);
  await Promise.all(
    names.map(async (pipeline) => {
      await world.release(pipeline, 'kv:2');
      await world.command(`pipeline/${pipeline}`, 'freeze', { reason: 'holidays' });
    }),
  );
  await world.sleep(30 * MINUTE);
  const begun = new Set(world.slow.runs.map(({ pipeline }) => pipeline));
  for (const pipeline of names) {
    const { waits = [], active } = await world.pipelineStatus(pipeline);
    expect(active).toEqual([1]);
    if (begun.has(pipeline) || waits.length > 0) continue;
    expect(actionOf(await world.releaseStatus(pipeline, 1), 'build')?.state).not.toBe('running');
  }
  for (const pipeline of names) await world.command(`pipeline/${pipeline}`, 'unfreeze');
  for (const pipeline of names) await world.ended(pipeline, 1);
});

test('while held builds and tests continue, and deploys wait', async () => {
  await world.apply(flow({ build: slowAction(5), deploy: deployAction('5m', { needs: ['build'] }) }), CALM);
  await world.command('pipeline/kvstore', 'hold', { reason: 'conference' });
  for (const n of [2, 3]) await world.release('kvstore', `kv:${n}`);
  await untilAction(world, 2, 'deploy', ({ blockedBy }) => blockedBy?.startsWith('the pipeline is held') === true);
  await world.command('pipeline/kvstore', 'unhold');
  await world.ended('kvstore', 2);
  expect(await endsOf(world, [1, 2])).toEqual(['cancelled (superseded)', 'succeeded']);
  expect(world.slow.runs.map(({ release }) => release).sort()).toEqual([1, 2]);
});

test('a freeze with an end lifts itself then, for what is queued and for what runs', async () => {
  await world.apply(kvstore({ healthInterval: '10m' }), CALM);
  await world.release('kvstore', 'kv:2');
  await world.reaches('kvstore', 1, ({ state }) => state === 'baking');
  const until = new Date((await world.now()) + 6 * HOUR).toISOString();
  await world.command('pipeline/kvstore', 'freeze', { actor: 'user:alice', reason: 'holidays', until });
  await world.release('kvstore', 'kv:3');
  await world.reaches('kvstore', 1, ({ paused }) => paused?.by === 'freeze');
  const status = await world.pipelineStatus('kvstore');
  expect(status).toMatchObject({ state: 'frozen', frozenUntil: until, frozen: { until } });
  expect(status.waits).toEqual([
    { release: 2, action: null, why: 'the pipeline is frozen by user:alice: holidays', until },
  ]);
  await world.ended('kvstore', 1);
  const { commands, frozen } = await world.pipelineStatus('kvstore');
  expect(frozen).toBeNull();
  const last = commands.at(-1);
  expect([last?.verb, last?.actor, last?.at.slice(0, 16)]).toEqual([
    'unfreeze',
    'service:conveyor',
    until.slice(0, 16),
  ]);
  await world.ended('kvstore', 2);
  expect(await endsOf(world, [1, 2])).toEqual(['succeeded', 'succeeded']);
});

test('a release that waits for longer than it may is cancelled in the queue, and the newer one runs', async () => {
  const releases = { expireAfter: '2h' };
  await world.apply(flow({ build: slowAction(5) }, { releases }), CALM);
  await freeze();
  await world.release('kvstore', 'kv:2');
  await world.sleep(HOUR);
  await world.release('kvstore', 'kv:3');
  await world.sleep(HOUR + MINUTE);
  expect((await world.pipelineStatus('kvstore')).releases[0]).toMatchObject({ state: 'cancelled', cause: 'expired' });
  await unfreeze();
  await world.ended('kvstore', 2);
  expect(world.slow.runs.map(({ release }) => release)).toEqual([2]);
});
