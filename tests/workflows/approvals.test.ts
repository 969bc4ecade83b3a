import { actionOf, endsOf, untilAction } from './flows';
import { kvstore } from './pipelines';
import { HOUR, MINUTE, VirtualWorld } from './world';

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.ofKvstore();
});
afterEach(() => world.close());

const OWNERS = ['user:alice', 'user:bob', 'user:carol'];
const apply = (approvals: number, owners = OWNERS) =>
  world.apply(kvstore({}, { owners, emergency: { approvals, timeout: '2h' } }));
const isWaiting = (release: number) =>
  untilAction(world, release, 'deploy', ({ pickBy }) => pickBy !== null, { stepMs: MINUTE });
const deployOf = async (release: number) => actionOf(await world.releaseStatus('kvstore', release), 'deploy');
const decide = (release: number, actor: string, approve = true, reason = 'seen it') =>
  world.pick('kvstore', release, { action: 'deploy', actor, approve, reason });
const why = (error: Error) => String((error as { cause?: Error }).cause?.message);
const versions = async () => (await world.jobs()).map((job) => job.versions);

test('an emergency stops nothing until another owner has approved it, then goes ahead', async () => {
  await apply(1);
  await world.release('kvstore', 'kv:2');
  await world.reaches('kvstore', 1, ({ state }) => state === 'baking');
  expect(await world.push('kvstore', 'kv:3', { skipBake: true })).toMatchObject({ number: 2, approvals: 1 });
  await isWaiting(2);
  await world.sleep(5 * MINUTE);
  expect((await world.deployStatus('kvstore', 1)).state).toBe('baking');
  expect(await deployOf(2)).toMatchObject({
    ...{ state: 'blocked', blockedBy: 'waiting for 1 approval by owners other than user:alice', pickBy: OWNERS },
    approval: { needed: 1, by: [], notBy: 'user:alice' },
  });
  expect(await decide(2, 'user:alice').catch(why)).toBe('user:alice pushed it: another owner has to approve');
  expect(await decide(2, 'user:eve').catch(why)).toBe('user:eve is not an owner of kvstore');
  await decide(2, 'user:bob');
  await world.ended('kvstore', 1, { stepMs: 10_000, withinMs: 5 * MINUTE });
  await world.ended('kvstore', 2);
  expect(await endsOf(world, [1, 2])).toEqual(['cancelled (preempted)', 'succeeded']);
  expect(await versions()).toEqual([{ 'kv:3': 6 }, { 'kv:3': 6 }]);
  const { commands, timeline } = await world.releaseStatus('kvstore', 2);
  expect(commands).toMatchObject([{ verb: 'pick', actor: 'user:bob', reason: 'seen it', accepted: true }]);
  expect(timeline.map(({ text }) => text)).toContain('approved by user:bob: seen it');
});

test('a person gives only one of two approvals', async () => {
  await apply(2);
  await world.push('kvstore', 'kv:2', { skipBake: true });
  await isWaiting(1);
  await decide(1, 'user:bob');
  expect(await decide(1, 'user:bob').catch(why)).toBe('user:bob has already approved it');
  await untilAction(world, 1, 'deploy', ({ approval }) => approval?.by.includes('user:bob') === true);
  expect((await deployOf(1))?.blockedBy).toBe('waiting for 1 approval by owners other than user:alice');
  await decide(1, 'user:carol');
  await world.ended('kvstore', 1);
  expect(await endsOf(world, [1])).toEqual(['succeeded']);
});

test('a rejection ends it at once, too few approvals in time end it then, and nothing was touched', async () => {
  await apply(2);
  await world.push('kvstore', 'kv:2');
  await isWaiting(1);
  await decide(1, 'user:bob');
  await decide(1, 'user:carol', false, 'too risky');
  await world.ended('kvstore', 1, { withinMs: HOUR });
  expect(await deployOf(1)).toMatchObject({ state: 'failed', message: 'rejected by user:carol: too risky' });
  await world.push('kvstore', 'kv:3');
  await isWaiting(2);
  await decide(2, 'user:bob');
  await world.ended('kvstore', 2, { stepMs: 10 * MINUTE });
  expect(await deployOf(2)).toMatchObject({ state: 'failed', message: '1 of 2 approvals within 2h' });
  expect(await versions()).toEqual([{ 'kv:1': 6 }, { 'kv:1': 6 }]);
});

test('it is cancelled like any release, and refused if no other person could approve', async () => {
  await apply(1);
  await world.push('kvstore', 'kv:2');
  await isWaiting(1);
  await world.command('release/kvstore/1', 'cancel');
  await world.ended('kvstore', 1);
  expect(await endsOf(world, [1])).toEqual(['cancelled (operator)']);
  await apply(1, ['user:alice']);
  expect(await world.push('kvstore', 'kv:2').catch(why)).toBe(
    'it needs 1 approval by owners other than user:alice, and there are 0 of them',
  );
});

test('once approved it goes ahead also of a newer release that has begun meanwhile', async () => {
  await apply(1);
  await world.push('kvstore', 'kv:9', { skipBake: true });
  await isWaiting(1);
  await world.release('kvstore', 'kv:2');
  await world.reaches('kvstore', 2, ({ state }) => state === 'baking');
  await decide(1, 'user:bob');
  await world.ended('kvstore', 1);
  await world.ended('kvstore', 2);
  expect(await endsOf(world, [1, 2])).toEqual(['succeeded', 'cancelled (preempted)']);
  expect(await versions()).toEqual([{ 'kv:9': 6 }, { 'kv:9': 6 }]);
});
