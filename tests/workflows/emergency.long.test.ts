import { actionOf, deployAction, endsOf, flow, untilAction } from './flows';
import { kvstore } from './pipelines';
import { HOUR, MINUTE, VirtualWorld } from './world';

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.ofKvstore();
});
afterEach(() => world.close());

const versions = async () => (await world.jobs()).map((job) => job.versions);
const baking = (release: number) => world.reaches('kvstore', release, ({ state }) => state === 'baking');
const why = (error: Error) => String((error as { cause?: Error }).cause?.message);

test('an emergency goes ahead of a deploy in mid-phase, which ends preempted', async () => {
  await world.apply(kvstore());
  await world.release('kvstore', 'kv:2');
  await baking(1);
  await world.push('kvstore', 'kv:3', { skipBake: true });
  await world.ended('kvstore', 1, { stepMs: 10_000, withinMs: 5 * MINUTE });
  await world.ended('kvstore', 2);
  expect(await endsOf(world, [1, 2])).toEqual(['cancelled (preempted)', 'succeeded']);
  expect((await world.deployStatus('kvstore', 1)).summary).toContain('preempted by release 2');
  expect(await versions()).toEqual([{ 'kv:3': 6 }, { 'kv:3': 6 }]);
  expect((await world.pipelineStatus('kvstore')).knownBad).toEqual([]);
});

test('an emergency that is unhealthy goes back to what ran before the deploy that it preempted', async () => {
  await world.describeVersion('kv:3', { errorRatio: 0.2 });
  await world.apply(kvstore());
  await world.release('kvstore', 'kv:2');
  await baking(1);
  await world.push('kvstore', 'kv:3');
  await world.ended('kvstore', 2);
  const { outcome, revert } = await world.deployStatus('kvstore', 2);
  expect(outcome).toBe('reverted');
  expect(new Set(revert?.units.map(({ toVersion }) => toVersion))).toEqual(new Set(['kv:1']));
  // It touches no unit of the preempted deploy unless it updates that unit itself.
  const [x, y] = await versions();
  expect([Object.keys(x ?? {}), y]).toEqual([expect.not.arrayContaining(['kv:3']), { 'kv:1': 6 }]);
  expect((await world.pipelineStatus('kvstore')).knownBad).toMatchObject([{ artifact: 'executable@kv:3' }]);
});

test('units that an emergency inherited are not handed on once it has come through', async () => {
  await world.describeVersion('kv:4', { errorRatio: 0.2 });
  await world.apply(kvstore());
  await world.release('kvstore', 'kv:2');
  await baking(1);
  await world.push('kvstore', 'kv:3', { skipBake: true });
  await world.ended('kvstore', 2);
  await world.release('kvstore', 'kv:4');
  await world.ended('kvstore', 3);
  expect((await world.deployStatus('kvstore', 3)).outcome).toBe('reverted');
  expect(await versions()).toEqual([{ 'kv:3': 6 }, { 'kv:3': 6 }]);
});

test('an emergency goes past a hold, a pick, a closed window and a calendar', async () => {
  const today = new Date(await world.now()).getUTCDay();
  const day = (['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const)[(today + 3) % 7]!;
  const window = { days: [day], from: '10:00', to: '10:30', timezone: 'UTC' };
  const actions = {
    approve: { type: 'manual-pick' },
    deploy: deployAction('10m', { needs: ['approve'], window }),
  } as const;
  const schedule = { mode: 'calendar', calendar: '0 0 1 1 *', timezone: 'UTC' } as const;
  await world.apply(flow(actions, { schedule }));
  await world.command('pipeline/kvstore', 'hold', { reason: 'conference' });
  await world.push('kvstore', 'kv:2');
  await world.ended('kvstore', 1, { withinMs: HOUR });
  expect(await endsOf(world, [1])).toEqual(['succeeded']);
  const { actions: done } = await world.releaseStatus('kvstore', 1);
  expect(done.map(({ name }) => name)).toEqual(['deploy']);
});

test('an emergency is refused while the pipeline is frozen, and for a version that is known to be bad', async () => {
  await world.describeVersion('kv:2', { errorRatio: 0.2 });
  await world.apply(kvstore());
  await world.release('kvstore', 'kv:2');
  await world.ended('kvstore', 1);
  expect(await world.push('kvstore', 'kv:2').catch(why)).toContain('reverted');
  expect(await world.push('kvstore', 'kv:3', { action: 'build' }).catch(why)).toBe('it has no action build');
  await world.command('pipeline/kvstore', 'freeze', { reason: 'holidays' });
  expect(await world.push('kvstore', 'kv:3').catch(why)).toBe('user:alice has frozen it: holidays. Unfreeze it first');
  expect((await world.pipelineStatus('kvstore')).lastRelease).toBe(1);
});

test('a second emergency waits for the first', async () => {
  await world.apply(kvstore());
  await world.push('kvstore', 'kv:2');
  await baking(1);
  await world.push('kvstore', 'kv:3');
  await untilAction(world, 2, 'deploy', ({ blockedBy }) => blockedBy === 'release 1 deploys');
  await world.ended('kvstore', 2);
  expect(await endsOf(world, [1, 2])).toEqual(['succeeded', 'succeeded']);
  expect(await versions()).toEqual([{ 'kv:3': 6 }, { 'kv:3': 6 }]);
});

test('an emergency preempts also a deploy that was asked to stop after its phase', async () => {
  const phases = [{ name: 'first', scope: 'region:x', amount: 3, bake: '8h' }];
  await world.apply(kvstore({ phases }, { releases: { supersede: 'running' } }));
  await world.release('kvstore', 'kv:2');
  await baking(1);
  await world.release('kvstore', 'kv:3');
  await untilAction(world, 2, 'deploy', ({ blockedBy }) => blockedBy?.includes('was asked to make way') === true);
  await world.push('kvstore', 'kv:4', { skipBake: true });
  await world.ended('kvstore', 1, { stepMs: 10_000, withinMs: 5 * MINUTE });
  await world.ended('kvstore', 3, { withinMs: HOUR });
  await world.ended('kvstore', 2);
  expect(await endsOf(world, [1, 2, 3])).toEqual(['cancelled (preempted)', 'cancelled (superseded)', 'succeeded']);
});

test('an emergency preempts also a release that has its turn but is paused', async () => {
  await world.apply(kvstore({}, { releases: { supersede: 'never' } }));
  for (const n of [2, 3]) await world.release('kvstore', `kv:${n}`);
  await baking(1);
  await untilAction(world, 2, 'deploy', ({ blockedBy }) => blockedBy === 'release 1 deploys');
  await world.command('release/kvstore/2', 'pause');
  await world.ended('kvstore', 1);
  await untilAction(world, 2, 'deploy', ({ blockedBy }) => blockedBy === 'the release is paused');
  await world.push('kvstore', 'kv:4', { skipBake: true });
  await world.ended('kvstore', 3, { withinMs: HOUR });
  await world.ended('kvstore', 2);
  expect(await endsOf(world, [1, 2, 3])).toEqual(['succeeded', 'cancelled (preempted)', 'succeeded']);
});

test('releases that are older than an emergency never deploy after it, newer ones do', async () => {
  await world.apply(kvstore());
  await world.release('kvstore', 'kv:2');
  await baking(1);
  await world.release('kvstore', 'kv:3');
  await untilAction(world, 2, 'deploy', ({ state }) => state === 'blocked');
  await world.push('kvstore', 'kv:4', { skipBake: true });
  await world.release('kvstore', 'kv:5');
  await world.ended('kvstore', 4);
  expect(await endsOf(world, [1, 2, 3, 4])).toEqual([
    ...['cancelled (preempted)', 'cancelled (superseded)', 'succeeded', 'succeeded'],
  ]);
  expect(actionOf(await world.releaseStatus('kvstore', 4), 'deploy')?.state).toBe('succeeded');
  expect(await versions()).toEqual([{ 'kv:5': 6 }, { 'kv:5': 6 }]);
});
