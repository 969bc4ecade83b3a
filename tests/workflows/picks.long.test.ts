import { actionOf, deployAction, endsOf, flow, isAtPick, slowAction, untilAction, CALM, type Actions } from './flows';
import { executable, HOUR, MINUTE, VirtualWorld } from './world';

const DAY = 24 * HOUR;

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.ofKvstore();
});
afterEach(() => world.close());

const picked = (pick: object = {}, more: object = {}) =>
  flow({ approve: { type: 'manual-pick', with: pick }, deploy: deployAction('5m', { needs: ['approve'] }) }, more);
const atPick = (release: number) => untilAction(world, release, 'approve', isAtPick);
const approveOf = async (release: number) => actionOf(await world.releaseStatus('kvstore', release), 'approve');

test('a release waits for a person for days, at no cost, and continues when picked', async () => {
  await world.apply(picked(), CALM);
  await world.release('kvstore', 'kv:2');
  await atPick(1);
  await world.sleep(MINUTE);
  const history = () => world.client.workflow.getHandle('release/kvstore/1').fetchHistory();
  const before = (await history()).events?.length;
  await world.sleep(3 * DAY);
  expect((await history()).events?.length).toBe(before);
  expect(await approveOf(1)).toMatchObject({
    ...{ state: 'blocked', pickBy: ['user:alice'], blockedBy: 'waiting for a person to pick it' },
  });
  await world.pick('kvstore', 1, { reason: 'looks good' });
  await world.ended('kvstore', 1);
  expect(await endsOf(world, [1])).toEqual(['succeeded']);
  expect(await approveOf(1)).toMatchObject({
    message: expect.stringContaining('approved by user:alice'),
    pickBy: null,
  });
});

test('a rejection fails the release, and nothing is deployed', async () => {
  await world.apply(picked(), CALM);
  await world.release('kvstore', 'kv:2');
  await atPick(1);
  await world.pick('kvstore', 1, { approve: false, reason: 'not today' });
  await world.ended('kvstore', 1);
  expect(await endsOf(world, [1])).toEqual(['failed']);
  expect((await approveOf(1))?.message).toContain('rejected by user:alice: not today');
  for (const { versions } of await world.jobs()) expect(versions).toEqual({ 'kv:1': 6 });
});

test('a pick that is not made in time fails', async () => {
  await world.apply(picked({ timeout: '7d' }), CALM);
  await world.release('kvstore', 'kv:2');
  await atPick(1);
  await world.sleep(7 * DAY - HOUR);
  expect((await approveOf(1))?.state).toBe('blocked');
  await world.sleep(2 * HOUR);
  expect(await approveOf(1)).toMatchObject({ state: 'failed', message: 'no pick of kvstore/1/approve within 7d' });
  expect(await endsOf(world, [1])).toEqual(['failed']);
});

test('only the principals that the pick names may make it', async () => {
  await world.apply(picked({ principals: ['user:carol'] }), CALM);
  await world.release('kvstore', 'kv:2');
  await atPick(1);
  const refused = (actor: string) => world.pick('kvstore', 1, { actor }).catch((error: Error) => String(error.cause));
  expect(await refused('user:alice')).toContain('user:alice may not pick approve: user:carol may');
  expect(await refused('user:mallory')).toContain('may not pick');
  expect(await world.pick('kvstore', 1, { actor: 'user:carol' })).toMatchObject({ accepted: true });
  await world.ended('kvstore', 1);
  expect(await endsOf(world, [1])).toEqual(['succeeded']);
});

test('releases at a pick wait beside each other; approving one cancels the older ones', async () => {
  await world.apply(picked(), CALM);
  for (const n of [2, 3, 4]) await world.release('kvstore', `kv:${n}`);
  for (const n of [1, 2, 3]) await atPick(n);
  await world.sleep(DAY);
  expect(await endsOf(world, [1, 2, 3])).toEqual(['running', 'running', 'running']);
  await world.pick('kvstore', 2);
  await world.ended('kvstore', 2);
  expect(await endsOf(world, [1, 2, 3])).toEqual(['cancelled (superseded)', 'succeeded', 'running']);
  expect((await approveOf(1))?.message).toBe('release 2 was picked');
  await world.pick('kvstore', 3);
  await world.ended('kvstore', 3);
  expect(await endsOf(world, [3])).toEqual(['succeeded']);
});

test('with supersede: with `never` approving one cancels no other, and they deploy in order', async () => {
  await world.apply(picked({}, { releases: { supersede: 'never' } }), CALM);
  for (const n of [2, 3]) await world.release('kvstore', `kv:${n}`);
  for (const n of [1, 2]) await atPick(n);
  await world.pick('kvstore', 2);
  await world.sleep(HOUR);
  expect(actionOf(await world.releaseStatus('kvstore', 2), 'deploy')?.blockedBy).toBe('release 1 comes first');
  await world.pick('kvstore', 1);
  await world.ended('kvstore', 2);
  expect(await endsOf(world, [1, 2])).toEqual(['succeeded', 'succeeded']);
  for (const { versions } of await world.jobs()) expect(versions).toEqual({ 'kv:3': 6 });
});

test('with schedule: manual a person starts each deploy, in order under supersede: never', async () => {
  const more = { schedule: { mode: 'manual' }, releases: { supersede: 'never' } } as const;
  await world.apply(flow({ deploy: deployAction('5m') }, more), CALM);
  for (const n of [2, 3]) await world.release('kvstore', `kv:${n}`);
  for (const n of [1, 2]) await untilAction(world, n, 'deploy', isAtPick);
  await world.pick('kvstore', 2, { action: 'deploy' });
  await world.sleep(HOUR);
  expect(actionOf(await world.releaseStatus('kvstore', 2), 'deploy')?.blockedBy).toBe('release 1 comes first');
  await world.pick('kvstore', 1, { action: 'deploy' });
  await world.ended('kvstore', 2);
  expect(await endsOf(world, [1, 2])).toEqual(['succeeded', 'succeeded']);
});

test('an action that failed is tried again when a person asks for it, and the actions that it held up continue', async () => {
  await world.describeVersion('kv:2', { failTests: true });
  const actions: Actions = {
    test: { type: 'integr-test', inputs: ['executable'] },
    aside: slowAction(60),
    deploy: deployAction('5m', { needs: ['test'] }),
  };
  await world.apply(flow(actions), CALM);
  await world.start('kvstore', { artifacts: [executable('kv:2')] });
  await untilAction(world, 1, 'deploy', ({ state }) => state === 'skipped');
  const retry = () => world.command('release/kvstore/1', 'retry', { action: 'test' });
  await retry();
  await untilAction(world, 1, 'test', ({ state, attempt }) => state === 'failed' && attempt === 2);
  await world.describeVersion('kv:2', {});
  await retry();
  await untilAction(world, 1, 'deploy', ({ state }) => state === 'succeeded');
  await expect(retry()).rejects.toMatchObject({ cause: { message: 'test has not failed (it is succeeded)' } });
  await world.ended('kvstore', 1);
  expect(await endsOf(world, [1])).toEqual(['succeeded']);
  expect(actionOf(await world.releaseStatus('kvstore', 1), 'test')?.attempt).toBe(3);
});

test('a pick that was rejected is asked again after a retry', async () => {
  const actions: Actions = {
    approve: { type: 'manual-pick' },
    aside: slowAction(60),
    deploy: deployAction('5m', { needs: ['approve'] }),
  };
  await world.apply(flow(actions), CALM);
  await world.release('kvstore', 'kv:2');
  await atPick(1);
  await world.pick('kvstore', 1, { approve: false });
  await untilAction(world, 1, 'deploy', ({ state }) => state === 'skipped', { stepMs: 1_000 });
  await world.command('release/kvstore/1', 'retry', { action: 'approve' });
  await atPick(1);
  await world.pick('kvstore', 1);
  await world.ended('kvstore', 1);
  expect(await endsOf(world, [1])).toEqual(['succeeded']);
});
