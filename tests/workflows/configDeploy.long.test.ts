import { workflowIds } from '../../domain/ids';
import type { DeployStatus } from '../../domain/views';
import { ConfigStory, feed } from './configWorld';
import { HOUR, MINUTE, VirtualWorld } from './world';

/** A change of configuration is deployed like an executable: to a few hosts, baked, judged on exactly those, then committed for all. */

let world: VirtualWorld;
let story: ConfigStory;
beforeEach(async () => {
  world = await VirtualWorld.open();
  story = new ConfigStory(world);
  await story.begins();
  await world.apply(feed());
});
afterEach(() => world.close());

const SELDOM = { stepMs: MINUTE, withinMs: 4 * HOUR };
const isBaking = ({ state }: DeployStatus): boolean => state === 'baking';

test('a good value reaches a fifth of one region, then lands, and the commit reaches all', async () => {
  await story.ships({ soft: 20 });
  await world.reaches('feed', 1, isBaking, SELDOM);
  expect(await story.counts()).toEqual({ total: 60, committed: 52, overridden: 8, stale: 0 });
  expect(story.committed()).toEqual({ commits: 1, value: { soft: 10 } });
  expect(await world.ended('feed', 1, SELDOM)).toMatchObject({ state: 'succeeded' });
  expect(story.committed()).toEqual({ commits: 2, value: { soft: 20 } });
  await world.sleep(MINUTE);
  expect(await story.counts()).toEqual({ total: 60, committed: 60, overridden: 0, stale: 0 });
  expect(story.overrides()).toBe(0);
  const { phases } = await world.deployStatus('feed', 1);
  expect(phases.at(-1)?.units.map(({ id, live }) => [id, live])).toEqual([
    ['flags/feed:eu', 32],
    ['flags/feed:us', 20],
  ]);
});

test('a bad one is found on the eight that have it, and is gone from them before anything was committed', async () => {
  await story.behaves({ field: 'soft', above: 500 }, { errorRatio: 0.3 });
  await story.ships({ soft: 900 });
  expect(await world.ended('feed', 1, SELDOM)).toMatchObject({ state: 'failed' });
  const deploy = await world.deployStatus('feed', 1);
  expect(deploy).toMatchObject({ outcome: 'reverted', revert: { by: 'health' } });
  expect(deploy.summary).toContain('rpc-errors');
  expect(deploy.revert?.units.map(({ id, live }) => [id, live])).toEqual([['flags/feed:eu', 8]]);
  expect(story.committed()).toEqual({ commits: 1, value: { soft: 10 } });
  await world.sleep(MINUTE);
  expect(await story.counts()).toEqual({ total: 60, committed: 60, overridden: 0, stale: 0 });
  expect(story.overrides()).toBe(0);
});

test('a value that turns bad only once every host has it is taken back after its landing, by a commit that brings back the old value', async () => {
  await story.behaves({ field: 'soft', above: 500 }, { errorRatio: 0.3, atShare: 0.9 });
  await story.ships({ soft: 900 });
  await world.reaches(
    'feed',
    1,
    ({ state, phases }) => state === 'baking' && phases.at(-1)?.state === 'running',
    SELDOM,
  );
  expect(story.committed()).toEqual({ commits: 2, value: { soft: 900 } });
  expect(await world.ended('feed', 1, SELDOM)).toMatchObject({ state: 'failed' });
  expect(await world.deployStatus('feed', 1)).toMatchObject({ outcome: 'reverted', revert: { by: 'health' } });
  expect(story.committed()).toEqual({ commits: 3, value: { soft: 10 } });
  await world.sleep(MINUTE);
  expect(await story.counts()).toEqual({ total: 60, committed: 60, overridden: 0, stale: 0 });
  expect(story.overrides()).toBe(0);
});

test('hosts that join during the first phase get the committed value, and land with the others', async () => {
  await story.ships({ soft: 20 });
  await world.reaches('feed', 1, isBaking, SELDOM);
  await story.subscribes({ name: 'late', region: 'eu', hosts: 10 });
  await world.sleep(MINUTE);
  expect(await story.counts()).toEqual({ total: 70, committed: 62, overridden: 8, stale: 0 });
  expect(await world.ended('feed', 1, SELDOM)).toMatchObject({ state: 'succeeded' });
  await world.sleep(MINUTE);
  expect((await story.counts()).committed).toBe(70);
});

test('while a leader is elected and an observer is lost the deploy continues when they are there again', async () => {
  await story.breaks({ kind: 'leader', downMs: 5 * MINUTE });
  await story.breaks({ kind: 'observer', id: 'eu-o0', downMs: 20 * MINUTE });
  await story.ships({ soft: 20 });
  await world.sleep(3 * MINUTE);
  expect(await story.counts()).toMatchObject({ overridden: 0 });
  expect(await world.ended('feed', 1, SELDOM)).toMatchObject({ state: 'succeeded' });
  expect((await story.counts()).committed).toBe(60);
});

test('a foreign commit to the path meanwhile stops the deploy, and stays', async () => {
  await story.ships({ soft: 20 });
  await world.reaches('feed', 1, isBaking, SELDOM);
  await story.commits({ 'feed/limits': { soft: 11 } });
  const { paused } = await world.reaches('feed', 1, (deploy) => deploy.paused !== null, SELDOM);
  expect(paused?.reason).toContain('another author has committed to the paths of flags/feed during this deploy');
  await world.command(workflowIds.deploy('feed', 1, 'deploy', 1), 'revert');
  await world.ended('feed', 1, SELDOM);
  expect(await world.deployStatus('feed', 1)).toMatchObject({ outcome: 'reverted' });
  expect(story.committed()).toEqual({ commits: 2, value: { soft: 11 } });
  await world.sleep(MINUTE);
  expect(await story.counts()).toEqual({ total: 60, committed: 60, overridden: 0, stale: 0 });
});
