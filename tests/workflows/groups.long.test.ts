import {
  actionOf,
  deployAction,
  deploySpan,
  endsOf,
  flow,
  isAtPick,
  overlaps,
  slowAction,
  untilAction,
  CALM,
  type Actions,
} from './flows';
import { HOUR, MINUTE, VirtualWorld } from './world';

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.ofKvstore();
});
afterEach(() => world.close());

const runsOf = (pipeline?: string) =>
  world.slow.runs
    .filter((run) => pipeline === undefined || run.pipeline === pipeline)
    .map((run) => ({ ...run, release: `${run.pipeline}/${run.release}` }));

test('two releases take turns at a group, and each may hold it with several of its actions', async () => {
  const mutex = ['prod'];
  const actions = {
    'load-test': slowAction(20, { mutex }),
    'soak-test': slowAction(30, { mutex }),
    deploy: deployAction('10m', { mutex }),
  };
  await world.apply(flow(actions, { mutex: { prod: {} }, releases: { supersede: 'never' } }), CALM);
  for (const n of [2, 3]) await world.release('kvstore', `kv:${n}`);
  await untilAction(world, 2, 'load-test', ({ blockedBy }) => blockedBy === 'release 1 holds prod');
  const { groups } = await world.pipelineStatus('kvstore');
  expect(groups).toContainEqual({ name: 'prod', scope: 'pipeline', holder: 1, waiting: [2] });
  await world.ended('kvstore', 2);
  expect(await endsOf(world, [1, 2])).toEqual(['succeeded', 'succeeded']);
  const spans = [...runsOf(), await deploySpan(world, 1), await deploySpan(world, 2)];
  expect(overlaps(spans)).toEqual([]);
  const [first, second] = runsOf().filter(({ release }) => release === 'kvstore/1');
  expect(Math.abs((first?.fromMs ?? 0) - (second?.fromMs ?? 0))).toBeLessThan(MINUTE);
});

test('actions with no group in common run side by side', async () => {
  const actions = { one: slowAction(30, { mutex: ['a'] }), two: slowAction(30, { mutex: ['b'] }) };
  await world.apply(flow(actions, { mutex: { a: {}, b: {} } }), CALM);
  await world.release('kvstore', 'kv:2');
  const { fromMs, toMs } = await world.ended('kvstore', 1).then(() => ({
    fromMs: Math.max(...runsOf().map((run) => run.fromMs)),
    toMs: Math.min(...runsOf().map((run) => run.toMs)),
  }));
  expect(fromMs).toBeLessThan(toMs);
});

const rig = { rig: { scope: 'global' } } as const;
const tester = (pipeline: string, action: ReturnType<typeof slowAction>) =>
  flow({ test: action }, { pipeline, mutex: rig });

test('two pipelines take turns at a group that is global, and again and again', async () => {
  const again = (pipeline: string) =>
    flow(
      {
        test: slowAction(20, { mutex: ['rig'] }),
        more: slowAction(20, { mutex: ['rig'], needs: ['test'] }),
        last: slowAction(20, { mutex: ['rig'], needs: ['more'] }),
      },
      { pipeline, mutex: rig },
    );
  for (const name of ['kvstore', 'search']) await world.apply(again(name), CALM);
  await world.release('kvstore', 'kv:2');
  await world.until('the first holds it', async () => runsOf('kvstore').length === 1, { withinMs: HOUR });
  await world.release('search', 'kv:2');
  await untilAction(world, 1, 'test', ({ blockedBy }) => blockedBy === 'waiting for rig, which others hold', {
    pipeline: 'search',
  });
  for (const name of ['kvstore', 'search']) await world.ended(name, 1);
  for (const name of ['kvstore', 'search']) expect(await endsOf(world, [1], name)).toEqual(['succeeded']);
  expect(runsOf()).toHaveLength(6);
  expect(overlaps(runsOf())).toEqual([]);
});

test('who waits for a group sees which release holds it and since when, until it has it', async () => {
  await world.apply(tester('kvstore', { type: 'manual-pick', mutex: ['rig'] }), CALM);
  await world.apply(tester('search', { type: 'manual-pick', mutex: ['rig'] }), CALM);
  const startedMs = await world.now();
  await world.release('kvstore', 'kv:2');
  await untilAction(world, 1, 'test', isAtPick);
  const heldMs = await world.now();
  await world.release('search', 'kv:2');
  await untilAction(world, 1, 'test', ({ lock }) => lock === 'lock/rig', { pipeline: 'search' });
  const seen = async () => (await world.workflows().releaseWithWaits('search', 1)).actions[0];
  const { heldBy } = (await seen()) ?? {};
  expect(heldBy?.id).toBe('kvstore/1');
  const sinceMs = Date.parse(heldBy?.since ?? '');
  expect([sinceMs >= startedMs, sinceMs <= heldMs]).toEqual([true, true]);
  await world.pick('kvstore', 1, { action: 'test' });
  await untilAction(world, 1, 'test', isAtPick, { pipeline: 'search' });
  expect(await seen()).not.toHaveProperty('heldBy');
  expect(await seen()).not.toHaveProperty('lock');
});

test('a lock that is gone does not hide its queue', async () => {
  await world.apply(tester('kvstore', { type: 'manual-pick', mutex: ['rig'] }), CALM);
  await world.apply(tester('search', slowAction(5, { mutex: ['rig'] })), CALM);
  await world.release('kvstore', 'kv:2');
  await untilAction(world, 1, 'test', isAtPick);
  await world.release('search', 'kv:2');
  await untilAction(world, 1, 'test', ({ lock }) => lock === 'lock/rig', { pipeline: 'search' });
  await world.client.workflow.getHandle('lock/rig').terminate('a test');
  expect((await world.workflows().releaseWithWaits('search', 1)).actions[0]).toMatchObject({
    state: 'blocked',
    blockedBy: 'waiting for rig, which others hold',
  });
});

test('a terminated holder blocks no release', async () => {
  await world.apply(tester('kvstore', { type: 'manual-pick', mutex: ['rig'] }), {
    ...CALM,
    reconcileIntervalMs: 10 * MINUTE,
  });
  await world.apply(tester('search', slowAction(5, { mutex: ['rig'] })), { ...CALM, reconcileIntervalMs: 10 * MINUTE });
  await world.release('kvstore', 'kv:2');
  await untilAction(world, 1, 'test', isAtPick);
  await world.release('search', 'kv:2');
  await untilAction(world, 1, 'test', ({ blockedBy }) => blockedBy?.includes('rig') === true, { pipeline: 'search' });
  await world.client.workflow.getHandle('release/kvstore/1').terminate('a test');
  await world.ended('search', 1, { withinMs: HOUR });
  expect(await endsOf(world, [1], 'search')).toEqual(['succeeded']);
  await world.until('the records are closed', async () => (await world.pipelineStatus('kvstore')).active.length === 0);
});

test('a release of one pipeline that holds its group and is terminated blocks none of the next', async () => {
  const actions: Actions = { approve: { type: 'manual-pick', mutex: ['prod'] } };
  await world.apply(flow(actions, { mutex: { prod: {} } }), { ...CALM, reconcileIntervalMs: 10 * MINUTE });
  await world.release('kvstore', 'kv:2');
  await untilAction(world, 1, 'approve', isAtPick);
  await world.release('kvstore', 'kv:3');
  await untilAction(world, 2, 'approve', ({ blockedBy }) => blockedBy === 'release 1 holds prod');
  await world.client.workflow.getHandle('release/kvstore/1').terminate('a test');
  await untilAction(world, 2, 'approve', isAtPick, { withinMs: HOUR });
  await world.pick('kvstore', 2);
  await world.ended('kvstore', 2);
  expect(await endsOf(world, [2])).toEqual(['succeeded']);
});

test('a release that is cancelled while it waits for a group leaves it to others', async () => {
  await world.apply(flow({ test: slowAction(60, { mutex: ['prod'] }) }, { mutex: { prod: {} } }), CALM);
  for (const n of [2, 3, 4]) await world.release('kvstore', `kv:${n}`);
  await untilAction(world, 3, 'test', ({ blockedBy }) => blockedBy !== null);
  await world.command('release/kvstore/2', 'cancel');
  await world.ended('kvstore', 3);
  expect(await endsOf(world, [1, 2, 3])).toEqual(['succeeded', 'cancelled (operator)', 'succeeded']);
  expect(overlaps(runsOf())).toEqual([]);
  expect(actionOf(await world.releaseStatus('kvstore', 2), 'test')?.message).toBe('cancelled by user:alice');
});

test('a rollback does not wait for a test that holds a group', async () => {
  const mutex = ['prod'];
  const actions = { test: slowAction(120, { mutex }), deploy: deployAction('5m', { needs: ['test'], mutex }) };
  await world.apply(flow(actions, { mutex: { prod: {} } }), CALM);
  for (const n of [2, 3]) {
    await world.release('kvstore', `kv:${n}`);
    await world.ended('kvstore', n - 1);
  }
  await world.release('kvstore', 'kv:4');
  await world.until('it is tested', () => Promise.resolve(runsOf().length === 3));
  await world.rollBack('kvstore', 2, { actor: 'user:alice', reason: 'slow' });
  await world.ended('kvstore', 4, { withinMs: 30 * MINUTE });
  expect(await endsOf(world, [3, 4])).toEqual(['running', 'succeeded']);
  for (const { versions } of await world.jobs()) expect(versions).toEqual({ 'kv:2': 6 });
});

test('an emergency is next at the lock of its service, ahead of all that wait', async () => {
  const deploy = { deploy: deployAction('30m') };
  for (const pipeline of ['kvstore', 'search', 'hotfix']) await world.apply(flow(deploy, { pipeline }), CALM);
  await world.release('kvstore', 'kv:2');
  await world.reaches('kvstore', 1, ({ state }) => state === 'baking');
  await world.release('search', 'kv:3');
  await world.reaches('search', 1, ({ state }) => state === 'waiting-lock');
  await world.push('hotfix', 'kv:4', { skipBake: true });
  await world.reaches('hotfix', 1, ({ state }) => state === 'waiting-lock');
  await world.ended('search', 1);
  const [first, second] = [await deploySpan(world, 1, 'kvstore'), await deploySpan(world, 1, 'hotfix')];
  expect(second.toMs).toBeLessThan((await deploySpan(world, 1, 'search')).toMs - 25 * MINUTE);
  expect(second.toMs).toBeGreaterThan(first.toMs);
});
