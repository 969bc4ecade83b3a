import { answering } from './answering';
import { actionOf, endsOf, untilAction } from './flows';
import { kvstore } from './pipelines';
import { HOUR, MINUTE, VirtualWorld, type JobView } from './world';

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.ofKvstore();
});
afterEach(() => world.close());

const versions = async () => Object.fromEntries((await world.jobs()).map((job: JobView) => [job.name, job.versions]));
const lose = (region: string) =>
  world.control<{ id: string }>('POST', '/control/faults', { kind: 'region', id: region });
const restore = ({ id }: { id: string }) => world.control('DELETE', `/control/faults/${id}`);
const apply = (deploy: Parameters<typeof kvstore>[0] = {}) =>
  world.apply(kvstore({ onUnitUnavailable: 'skip', ...deploy }), { waitIntervalMs: 10 * MINUTE });
const waitsForReturn = (release: number) =>
  untilAction(world, release, 'deploy', ({ blockedBy }) => blockedBy === 'waiting until kvstore-y is available again');
const baking = (release: number) => world.reaches('kvstore', release, ({ state }) => state === 'baking');

/** A deploy of kv:2 that continued without region y, whose follow-on waits. */
async function leftOut() {
  const fault = await lose('y');
  await apply();
  await world.release('kvstore', 'kv:2');
  await world.ended('kvstore', 1);
  await waitsForReturn(2);
  return fault;
}

test('a region that is down is left out and listed, and a follow-on with bake and checks brings it to the version when it returns', async () => {
  const fault = await leftOut();
  const text = 'without kvstore-y, unavailable; a follow-on release updates it on return';
  expect(await world.deployStatus('kvstore', 1)).toMatchObject({
    ...{ outcome: 'succeeded', skipped: ['kvstore-y'], summary: `every available unit runs kv:2, ${text}` },
    phases: [{ name: 'first' }, { name: 'completion', units: [{ id: 'kvstore-x' }] }],
  });
  expect(await versions()).toEqual({ 'kvstore-x': { 'kv:2': 6 }, 'kvstore-y': { 'kv:1': 6 } });
  const { trigger } = await world.releaseStatus('kvstore', 2);
  expect(trigger).toMatchObject({ kind: 'follow-on', of: 1, actor: 'service:conveyor' });
  await world.sleep(3 * HOUR);
  await restore(fault);
  const before = await world.now();
  await world.ended('kvstore', 2);
  expect(await versions()).toEqual({ 'kvstore-x': { 'kv:2': 6 }, 'kvstore-y': { 'kv:2': 6 } });
  const { outcome, phases, health, spans } = await world.deployStatus('kvstore', 2);
  expect(outcome).toBe('succeeded');
  expect(phases).toMatchObject([{ name: 'completion', units: [{ id: 'kvstore-y', live: 6 }] }]);
  expect(health).toMatchObject([{ unit: 'kvstore-y', check: 'errors', verdict: 'healthy' }]);
  expect(spans.bakeMs).toBeGreaterThanOrEqual(10 * MINUTE);
  expect((await world.now()) - before).toBeLessThan(HOUR);
  // It completes release 1, which a revert still undoes.
  expect((await world.pipelineStatus('kvstore')).lastGood).toMatchObject({ deploy: { release: 1, version: 'kv:2' } });
});

test('a follow-on still waits after a look at which no unit was listed', async () => {
  const fault = await leftOut();
  const listsAll = answering(world, ({ method }) =>
    method === 'fetchDeployUnits' ? { units: [], service: 'kvstore' } : undefined,
  );
  await world.sleep(HOUR);
  expect((await world.releaseStatus('kvstore', 2)).state).toBe('running');
  listsAll();
  await restore(fault);
  await world.ended('kvstore', 2);
  expect(await versions()).toEqual({ 'kvstore-x': { 'kv:2': 6 }, 'kvstore-y': { 'kv:2': 6 } });
});

test('a follow-on that is unhealthy reverts its own units only', async () => {
  const fault = await leftOut();
  await world.describeVersion('kv:2', { errorRatio: 0.2 });
  await restore(fault);
  await world.ended('kvstore', 2);
  const { outcome, revert } = await world.deployStatus('kvstore', 2);
  expect(outcome).toBe('reverted');
  expect(revert?.units).toMatchObject([{ id: 'kvstore-y', toVersion: 'kv:1' }]);
  expect(await versions()).toEqual({ 'kvstore-x': { 'kv:2': 6 }, 'kvstore-y': { 'kv:1': 6 } });
  const { knownBad, active } = await world.pipelineStatus('kvstore');
  expect(knownBad).toMatchObject([{ artifact: 'executable@kv:2' }]);
  expect(active).toEqual([]);
});

test('a newer version that comes through takes the place of a follow-on, and is followed on itself', async () => {
  const fault = await leftOut();
  await world.release('kvstore', 'kv:3');
  await world.ended('kvstore', 3);
  await world.ended('kvstore', 2);
  expect(await endsOf(world, [2, 3])).toEqual(['cancelled (superseded)', 'succeeded']);
  await waitsForReturn(4);
  await restore(fault);
  await world.ended('kvstore', 4);
  expect(await endsOf(world, [3, 4])).toEqual(['succeeded', 'succeeded']);
  expect(await versions()).toEqual({ 'kvstore-x': { 'kv:3': 6 }, 'kvstore-y': { 'kv:3': 6 } });
});

test('a follow-on waits while the pipeline is held', async () => {
  const fault = await leftOut();
  await world.command('pipeline/kvstore', 'hold', { reason: 'conference' });
  await restore(fault);
  await untilAction(world, 2, 'deploy', ({ blockedBy }) => blockedBy?.includes('is held by user:alice') === true);
  expect(await versions()).toMatchObject({ 'kvstore-y': { 'kv:1': 6 } });
  await world.command('pipeline/kvstore', 'unhold');
  await world.ended('kvstore', 2);
  expect(await versions()).toMatchObject({ 'kvstore-y': { 'kv:2': 6 } });
});

test('a follow-on is dropped when what it follows is reverted, whose rollback leaves the region to one of its own', async () => {
  await apply();
  await world.release('kvstore', 'kv:2');
  await world.ended('kvstore', 1);
  const fault = await lose('y');
  await world.release('kvstore', 'kv:3');
  await world.ended('kvstore', 2);
  await waitsForReturn(3);
  await world.rollBack('kvstore', 2, { actor: 'user:alice', reason: 'slow' });
  await world.ended('kvstore', 3);
  expect(await endsOf(world, [3])).toEqual(['cancelled (bad-package)']);
  await world.ended('kvstore', 4);
  expect(await versions()).toEqual({ 'kvstore-x': { 'kv:2': 6 }, 'kvstore-y': { 'kv:2': 6 } });
  await restore(fault);
  await world.command('pipeline/kvstore', 'unhold');
  await world.ended('kvstore', 5);
  expect(await endsOf(world, [4, 5])).toEqual(['succeeded', 'succeeded']);
});

test('a region that is lost in mid-deploy is left out of what follows', async () => {
  await apply();
  await world.release('kvstore', 'kv:2');
  await baking(1);
  const fault = await lose('y');
  await world.ended('kvstore', 1);
  expect(await world.deployStatus('kvstore', 1)).toMatchObject({ outcome: 'succeeded', skipped: ['kvstore-y'] });
  await restore(fault);
  await world.ended('kvstore', 2);
  expect(await versions()).toEqual({ 'kvstore-x': { 'kv:2': 6 }, 'kvstore-y': { 'kv:2': 6 } });
});

test('a region that is lost in the middle of a phase holds it up for its update timeout, then it continues without', async () => {
  await apply({
    phases: [
      { name: 'first', scope: 'region:x', amount: 3, bake: '10m' },
      { name: 'half', scope: '*', amount: '50%', bake: '10m', updateTimeout: '30m' },
    ],
  });
  await world.release('kvstore', 'kv:2');
  await baking(1);
  const fault = await lose('y');
  await world.ended('kvstore', 1);
  const { outcome, skipped, spans, timeline } = await world.deployStatus('kvstore', 1);
  expect({ outcome, skipped }).toEqual({ outcome: 'succeeded', skipped: ['kvstore-y'] });
  expect(spans.updateMs).toBeGreaterThanOrEqual(30 * MINUTE);
  expect(spans.pausedMs).toBe(0);
  expect(timeline.map(({ text }) => text)).toContain('continues without kvstore-y, unavailable');
  await restore(fault);
  await world.ended('kvstore', 2);
  expect(await versions()).toEqual({ 'kvstore-x': { 'kv:2': 6 }, 'kvstore-y': { 'kv:2': 6 } });
});

test('where nothing is available a deploy waits for a person, as with pause', async () => {
  const faults = [await lose('x'), await lose('y')];
  await apply();
  await world.release('kvstore', 'kv:2');
  const { paused } = await world.reaches('kvstore', 1, (status) => status.paused !== null);
  expect(paused?.reason).toBe('kvstore-x, kvstore-y are unavailable; resume when they are back');
  await restore(faults[0]!);
  await world.command('deploy/kvstore/1/deploy/1', 'resume');
  await world.ended('kvstore', 1);
  expect(await world.deployStatus('kvstore', 1)).toMatchObject({ outcome: 'succeeded', skipped: ['kvstore-y'] });
  const { state } = actionOf(await world.releaseStatus('kvstore', 2), 'deploy') ?? {};
  expect(state).toBe('blocked');
  await world.command('release/kvstore/2', 'cancel');
  await world.ended('kvstore', 2);
  expect(await versions()).toEqual({ 'kvstore-x': { 'kv:2': 6 }, 'kvstore-y': { 'kv:1': 6 } });
});
