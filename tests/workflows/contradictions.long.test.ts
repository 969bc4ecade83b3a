import { answering } from './answering';
import { deploying } from './deploys';
import { MINUTE, VirtualWorld } from './world';

/** Answers of a push type that cannot be true: they pass nothing and revert nothing, and do not keep a revert from its effect. */

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.ofKvstore();
});
afterEach(() => world.close());

const versions = async () => Object.fromEntries((await world.jobs()).map((job) => [job.name, job.versions]));
const everywhere = (version: string) => ({ 'kvstore-x': { [version]: 6 }, 'kvstore-y': { [version]: 6 } });

/** Every row says that all its tasks are live, and none was updated. */
const lyingOfProgress = () =>
  answering(world, async ({ method }, real) => {
    if (method !== 'trackUpdates') return undefined;
    const { units } = await real();
    return { units: units.map((unit) => ({ ...unit, targeted: 3, updated: 0, live: 3 })) };
  });

const PHASE = { scope: 'region:x', amount: 3, bake: '10m' };

test('a phase does not pass by counts that contradict each other, and continues once they are true', async () => {
  const ends = lyingOfProgress();
  const deploy = await deploying(world, {}, { phases: [PHASE] });
  const { paused } = await deploy.reaches((status) => status.paused !== null);
  expect(paused?.reason).toContain('trackUpdates');
  expect(paused?.reason).toContain('units.0.live: 3 is more than updated, 0');
  ends();
  await deploy.command('resume');
  expect(await deploy.ended()).toMatchObject({ outcome: 'succeeded' });
  expect(await versions()).toEqual(everywhere('kv:2'));
});

test.each<[string, (now: number) => object]>([
  ['a unit that is no target', (now) => ({ id: 'stranger', window: { start: now - MINUTE, end: now } })],
  ['the future', (now) => ({ id: 'kvstore-x', window: { start: now, end: now + 60 * MINUTE } })],
])('evidence of %s reverts nothing and condemns nothing, and no bake passes by it', async (_, lie) => {
  const ends = answering(world, async ({ method, now = 0 }) => {
    if (method !== 'runHealthChecks') return undefined;
    const { id, window } = lie(now) as { id: string; window: object };
    const evidence = { name: 'errors', verdict: 'unhealthy', observed: 1, reference: null, threshold: 0.05, window };
    const checks = [{ ...evidence, samples: 9, tasks: 3, reason: 'a test says so' }];
    return { units: [{ id, checks }], deploy: { checks: [] } };
  });
  const deploy = await deploying(world, {}, { phases: [PHASE] });
  const { paused } = await deploy.reaches((status) => status.paused !== null);
  expect(paused?.reason).toContain('answered runHealthChecks in violation of its protocol');
  await world.sleep(60 * MINUTE);
  expect(await deploy.status()).toMatchObject({ state: expect.not.stringContaining('revert') as string, revert: null });
  ends();
  await deploy.command('resume');
  expect(await deploy.ended()).toMatchObject({ outcome: 'succeeded' });
});

test('a revert has its effect though every answer about it contradicts itself, and ends once they are true', async () => {
  const deploy = await deploying(world, {}, { phases: [{ ...PHASE, bake: '8h' }] });
  await deploy.reaches(({ state }) => state === 'baking');
  const ends = lyingOfProgress();
  await deploy.command('revert');
  await world.sleep(5 * MINUTE);
  expect(await versions()).toEqual(everywhere('kv:1'));
  expect(await deploy.status()).toMatchObject({ state: 'reverting', outcome: null });
  ends();
  expect(await deploy.ended()).toMatchObject({ outcome: 'reverted' });
});

test('a push type that names another service than before is not believed about its units', async () => {
  const deploy = await deploying(world, {}, { phases: [PHASE] });
  await deploy.reaches(({ state }) => state === 'baking');
  const ends = answering(world, async ({ method }, real) =>
    method === 'fetchDeployUnits' ? { ...(await real()), service: 'other' } : undefined,
  );
  const { paused } = await deploy.reaches((status) => status.paused !== null);
  expect(paused?.reason).toContain('service: other, and before it was kvstore');
  ends();
  await deploy.command('resume');
  expect(await deploy.ended()).toMatchObject({ outcome: 'succeeded' });
});

/** The push type accepts no update, and reports each as running. */
const takingNone = (counts: object) =>
  answering(world, async ({ method, units: asked = ['kvstore-x', 'kvstore-y'] }) => {
    if (method === 'executeUpdates') return { accepted: ['kvstore-x', 'kvstore-y'] };
    if (method !== 'trackUpdates') return undefined;
    const none = { state: 'updating', targeted: 6, updated: 0, live: 0, failed: 0, unreachable: 0, gone: 0 };
    return { units: asked.map((id) => ({ id, ...none, ...counts })) };
  });

test.each([
  ['that it has no task to update', { targeted: 0 }, 'but 12 tasks of it as outdated'],
  ['that all its tasks are gone', { gone: 6 }, 'but 12 tasks of it as outdated'],
  ['that all its tasks live', { updated: 6, live: 6 }, 'but 12 tasks of it as outdated'],
  [
    'more tasks than there are',
    { targeted: 9e15, updated: 9e15, live: 9e15 },
    'units.0.targeted: 9000000000000000, of which 0 are gone, is more than the 6 that kvstore-x has',
  ],
])('no deploy succeeds by an update under way of which the push type says %s', async (_, counts, reason) => {
  const ends = takingNone(counts);
  const deploy = await deploying(world, {}, { phases: [], healthChecks: [] });
  const { paused } = await deploy.reaches((status) => status.paused !== null || status.state === 'ended');
  expect(paused?.reason).toContain(reason);
  expect(await versions()).toEqual(everywhere('kv:1'));
  ends();
  await deploy.command('resume');
  expect(await deploy.ended()).toMatchObject({ outcome: 'succeeded', reason: 'every unit runs kv:2' });
  expect(await versions()).toEqual(everywhere('kv:2'));
});
