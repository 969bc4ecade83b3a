import { actionOf, deployAction, endsOf, flow, slowAction, untilAction, CALM } from './flows';
import { deploying, EACH_MINUTE } from './deploys';
import { HOUR, MINUTE, VirtualWorld } from './world';

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.ofKvstore();
});
afterEach(() => world.close());

const at = (ms: number) => new Date(ms).toISOString();
/** Whole minutes, as people write them. */
const inMinutes = async (minutes: number) => Math.ceil((await world.now()) / MINUTE) * MINUTE + minutes * MINUTE;
const written = (fromMs: number, toMs: number) => {
  const [from, to] = [fromMs, toMs].map((ms) => at(ms).replace('.000', ''));
  return { from: from!, to: to!, reason: 'holidays' };
};

test('a deploy begins no phase in a blackout, says until when and why, and continues by itself', async () => {
  const [fromMs, toMs] = [await inMinutes(30), await inMinutes(30 + 48 * 60)];
  const deploy = await deploying(
    world,
    { settings: EACH_MINUTE, blackouts: [written(fromMs, toMs)] },
    { healthInterval: '15m', phases: [{ scope: '*', amount: 3, bake: '1h' }] },
  );
  const { summary } = await deploy.reaches(({ state }) => state === 'waiting-window', { stepMs: 10 * MINUTE });
  expect(summary).toBe(`waiting for its window to open at ${at(toMs)} (blackout: holidays)`);
  const result = await deploy.ended({ stepMs: 2 * HOUR, withinMs: 96 * HOUR });
  expect(result.outcome).toBe('succeeded');
  const { phases, timeline } = await deploy.status();
  expect(phases[1]?.startedAt?.slice(0, 16)).toBe(at(toMs).slice(0, 16));
  expect(timeline.find(({ kind }) => kind === 'window-closed')?.text).toContain('(blackout: holidays)');
});

test('a blackout of the pipeline is for deploys and what has a window; builds and tests continue', async () => {
  const [fromMs, toMs] = [await inMinutes(-30), await inMinutes(6 * 60)];
  const everyDay = {
    days: [
      'mon' as const,
      'tue' as const,
      'wed' as const,
      'thu' as const,
      'fri' as const,
      'sat' as const,
      'sun' as const,
    ],
    ...{ from: '00:00', to: '24:00', timezone: 'UTC' },
  };
  const actions = {
    build: slowAction(5),
    test: slowAction(5, { needs: ['build'], window: everyDay }),
    deploy: deployAction('5m', { needs: ['build'] }),
  };
  await world.apply(flow(actions, { blackouts: [written(fromMs, toMs)] }), CALM);
  await world.release('kvstore', 'kv:2');
  await untilAction(world, 1, 'test', ({ state }) => state === 'blocked');
  expect(actionOf(await world.releaseStatus('kvstore', 1), 'test')).toMatchObject({
    blockedBy: 'its window is closed (blackout: holidays)',
    until: at(toMs),
  });
  await world.reaches('kvstore', 1, ({ state }) => state === 'waiting-window');
  await world.ended('kvstore', 1);
  expect(await endsOf(world, [1])).toEqual(['succeeded']);
  const begun = Object.fromEntries(world.slow.runs.map(({ action, fromMs: began }) => [action, began]));
  expect(begun['build']).toBeLessThan(toMs);
  expect(begun['test']).toBeGreaterThanOrEqual(toMs);
});

test('skip-window lets all that waits for the end of a blackout continue at once, or the action that is named', async () => {
  const blackouts = [written(await inMinutes(-30), await inMinutes(6 * 60))];
  const actions = {
    build: slowAction(5),
    test: slowAction(5, { needs: ['build'], blackouts }),
    pack: slowAction(5, { needs: ['test'], blackouts }),
    deploy: deployAction('5m', { needs: ['pack'] }),
  };
  await world.apply(flow(actions, { blackouts }), CALM);
  await world.release('kvstore', 'kv:2');
  const skip = (input: object) => world.command('release/kvstore/1', 'skip-window', { reason: 'now', ...input });
  await untilAction(world, 1, 'test', ({ state }) => state === 'blocked');
  await skip({ action: 'test' });
  await untilAction(world, 1, 'pack', ({ state }) => state === 'blocked');
  await skip({});
  await world.reaches('kvstore', 1, ({ state }) => state === 'waiting-window');
  await skip({});
  await world.ended('kvstore', 1, { withinMs: 2 * HOUR });
  expect(await endsOf(world, [1])).toEqual(['succeeded']);
  const { commands } = await world.releaseStatus('kvstore', 1);
  expect(commands.map(({ verb, accepted }) => [verb, accepted])).toEqual(Array(3).fill(['skip-window', true]));
});

test('no blackout stops a rollback', async () => {
  await world.apply(flow({ deploy: deployAction('5m') }), CALM);
  for (const n of [2, 3]) {
    await world.release('kvstore', `kv:${n}`);
    await world.ended('kvstore', n - 1);
  }
  const [fromMs, toMs] = [await inMinutes(-30), await inMinutes(30 * 24 * 60)];
  await world.apply(flow({ deploy: deployAction('5m') }, { blackouts: [written(fromMs, toMs)] }), CALM);
  await world.rollBack('kvstore', 2, { actor: 'user:alice', reason: 'slow' });
  await world.ended('kvstore', 3);
  expect(await endsOf(world, [3])).toEqual(['succeeded']);
});
