import { answering } from './answering';
import { CALM } from './flows';
import { kvstore } from './pipelines';
import { HOUR, MINUTE, VirtualWorld } from './world';

const DEPLOY = 'deploy/kvstore/1/deploy/1';

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.open();
  await world.job('kvstore-x', 'x', 6);
  await world.job('kvstore-slow', 'x', 40, {
    nSmall: 2,
    // The version cannot be prefetched.
    timings: { fetchMs: 0, stopMs: 1_000, startMs: 6 * MINUTE },
  });
});
afterEach(() => world.close());

type Deploy = Parameters<typeof kvstore>[0];

async function begin(deploy: Deploy = {}): Promise<void> {
  await world.apply(kvstore({ config: { jobs: ['kvstore-x'] }, healthInterval: '10m', ...deploy }), CALM);
  await world.release('kvstore', 'kv:2');
}

const slowly = (deploy: Deploy): Promise<void> => begin({ config: { jobs: ['kvstore-slow'] }, ...deploy });

const versions = async (job = 'kvstore-slow') => (await world.jobs()).find(({ name }) => name === job)?.versions;

/** No task is updated for hours, once those in flight have come up. */
async function expectStandstill(): Promise<void> {
  await world.sleep(20 * MINUTE);
  const before = await versions();
  expect(before?.['kv:1']).toBeGreaterThan(0);
  await world.sleep(5 * HOUR);
  expect(await versions()).toEqual(before);
}

async function fault(method: string, mode = 'error'): Promise<() => Promise<unknown>> {
  const { id } = await world.control<{ id: string }>('POST', '/control/faults', {
    kind: 'http',
    service: 'twine',
    method,
    mode,
  });
  return () => world.control('DELETE', `/control/faults/${id}`);
}

test('an update that could not be sent is not begun behind the back of a person who has paused', async () => {
  const fix = await fault('executeUpdates');
  await begin();
  await world.reaches('kvstore', 1, ({ paused }) => paused?.by === 'dependency');
  await world.command(DEPLOY, 'pause');
  await fix();
  await world.sleep(2 * HOUR);
  expect(await versions('kvstore-x')).toEqual({ 'kv:1': 6 });
  await world.command(DEPLOY, 'resume');
  await world.ended('kvstore', 1);
  expect(await world.deployStatus('kvstore', 1)).toMatchObject({ outcome: 'succeeded' });
});

test('a phase that is skipped while the push type is silent leaves no endless pause', async () => {
  const fix = await fault('needsPush');
  await begin({ phases: [1, 3].map((amount) => ({ scope: '*', amount, bake: '10m' })) });
  await world.reaches('kvstore', 1, ({ paused }) => paused?.by === 'dependency');
  await world.command(DEPLOY, 'skip-phase');
  await world.sleep(10 * MINUTE);
  await fix();
  await world.ended('kvstore', 1);
  expect(await world.deployStatus('kvstore', 1)).toMatchObject({ outcome: 'succeeded' });
});

test('nothing is updated while a deploy is paused because its update took too long', async () => {
  await slowly({ phases: [{ scope: '*', amount: '50%', bake: '10m', updateTimeout: '30m' }] });
  await world.reaches('kvstore', 1, ({ paused }) => paused?.by === 'timeout');
  await expectStandstill();
  await world.command(DEPLOY, 'cancel');
  await world.ended('kvstore', 1);
});

describe('once enough tasks of a phase are updated', () => {
  test('the next phase takes the rest, not this one while it bakes', async () => {
    await slowly({ phases: [{ scope: '*', amount: '100%', success: '10%', bake: '8h' }] });
    await world.reaches('kvstore', 1, ({ state }) => state === 'baking');
    await expectStandstill();
    await world.ended('kvstore', 1, { stepMs: 15 * MINUTE, withinMs: 48 * HOUR });
    expect(await versions()).toEqual({ 'kv:2': 40 });
  });

  test('the rest of the completion phase is updated while it bakes, and not while it is paused or cancelled', async () => {
    await slowly({
      phases: [{ scope: '*', amount: 2, bake: '10m' }],
      completion: { success: '10%', bake: '24h' },
    });
    await world.reaches('kvstore', 1, ({ state, phases }) => state === 'baking' && phases[1]?.state === 'running');
    const before = await versions();
    await world.sleep(30 * MINUTE);
    expect((await versions())?.['kv:2']).toBeGreaterThan(before?.['kv:2'] ?? 0);
    await world.command(DEPLOY, 'pause');
    await expectStandstill();
    await world.command(DEPLOY, 'cancel');
    await world.ended('kvstore', 1);
  });
});

describe('a check that a person skips while the deploy is paused', () => {
  test('does not revert it any more', async () => {
    await world.describeVersion('kv:2', { errorRatio: 0.2, afterMs: 30 * MINUTE });
    await begin();
    await world.reaches('kvstore', 1, ({ state }) => state === 'baking');
    await world.command(DEPLOY, 'pause');
    await world.sleep(15 * MINUTE);
    await world.command(DEPLOY, 'skip-health-check', { check: 'errors', for: 'deploy' });
    await world.sleep(3 * HOUR);
    expect(await world.deployStatus('kvstore', 1)).toMatchObject({ state: 'baking', paused: { by: 'operator' } });
    await world.command(DEPLOY, 'resume');
    await world.ended('kvstore', 1);
    expect(await world.deployStatus('kvstore', 1)).toMatchObject({ outcome: 'succeeded' });
  });

  test('need not be answered for to resume', async () => {
    await slowly({ phases: [{ scope: '*', amount: '50%', bake: '10m' }] });
    await world.reaches('kvstore', 1, ({ state }) => state === 'updating', { stepMs: 1_000 });
    await fault('runHealthChecks');
    await world.command(DEPLOY, 'pause');
    await world.sleep(10 * MINUTE);
    await world.command(DEPLOY, 'skip-health-check', { for: 'deploy' });
    await world.command(DEPLOY, 'resume');
    await world.sleep(MINUTE);
    expect((await world.deployStatus('kvstore', 1)).paused).toBeNull();
    await world.command(DEPLOY, 'cancel');
    await world.ended('kvstore', 1);
  });
});

describe('a push type that leaves units out of its answer', () => {
  test.each([
    ['executeUpdates', { accepted: [] }, 'twine did not take the update of kvstore-x'],
    ['trackUpdates', { units: [] }, 'twine does not report what deploy/kvstore/1/deploy/1/0/1 did to kvstore-x'],
  ])('to %s pauses the deploy, which never takes them for updated', async (method, answer, reason) => {
    answering(world, async (asked, real) => {
      if (asked.method !== method) return undefined;
      await real();
      return answer;
    });
    await begin();
    const { paused, phases } = await world.reaches('kvstore', 1, (status) => status.paused !== null);
    expect(paused).toMatchObject({ by: 'dependency', reason: expect.stringContaining(reason) });
    expect(phases[0]?.state).toBe('running');
    await world.command(DEPLOY, 'cancel');
    await world.ended('kvstore', 1);
  });
});
