import { answering } from './answering';
import { deploying } from './deploys';
import { CALM } from './flows';
import { kvstore } from './pipelines';
import { HOUR, MINUTE, VirtualWorld } from './world';

const DEPLOY = 'deploy/kvstore/1/deploy/1';

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.ofKvstore();
});
afterEach(() => world.close());

const bakes = (release: number) => world.reaches('kvstore', release, ({ state }) => state === 'baking');

describe('a revert to a version that does not start any more', () => {
  beforeEach(async () => {
    await world.describeVersion('kv:2', { errorRatio: 0.2, afterMs: 20 * MINUTE });
    await world.apply(kvstore({ phases: [{ scope: 'region:x', amount: 3, bake: '2h' }] }));
    await world.release('kvstore', 'kv:2');
    await bakes(1);
    await world.describeVersion('kv:1', { crashOnStart: true });
    await world.reaches('kvstore', 1, ({ state, paused }) => state === 'reverting' && paused !== null);
  });

  test('stays open, says so, and goes through by itself once the version starts again', async () => {
    const { paused, summary } = await world.deployStatus('kvstore', 1);
    expect(paused).toMatchObject({ by: 'timeout' });
    expect(summary).toContain('the old version does not come up');
    await world.describeVersion('kv:1', {});
    await world.ended('kvstore', 1);
    expect(await world.deployStatus('kvstore', 1)).toMatchObject({ outcome: 'reverted' });
    for (const job of await world.jobs()) expect(job.versions).toEqual({ 'kv:1': 6 });
  });

  test('fails only when a person ends it', async () => {
    await world.sleep(6 * HOUR);
    expect(await world.deployStatus('kvstore', 1)).toMatchObject({ state: 'reverting', outcome: null });
    await world.reaches('kvstore', 1, ({ paused }) => paused !== null, { stepMs: 10_000 });
    await world.command(DEPLOY, 'cancel', { reason: 'we go forward' });
    await world.ended('kvstore', 1);
    expect(await world.deployStatus('kvstore', 1)).toMatchObject({
      outcome: 'revert-failed',
      classification: 'bad-failure',
    });
  });
});

test('a fleet that a cancelled deploy left mixed goes back to the last good version', async () => {
  await world.apply(kvstore());
  await world.release('kvstore', 'kv:2');
  await world.ended('kvstore', 1);
  await world.release('kvstore', 'kv:3');
  await bakes(2);
  await world.command('deploy/kvstore/2/deploy/1', 'cancel');
  await world.ended('kvstore', 2);
  await world.describeVersion('kv:4', { errorRatio: 0.2 });
  await world.release('kvstore', 'kv:4');
  await world.ended('kvstore', 3);
  expect(await world.deployStatus('kvstore', 3)).toMatchObject({ outcome: 'reverted' });
  const x = (await world.jobs()).find(({ name }) => name === 'kvstore-x');
  expect(x?.versions['kv:4']).toBeUndefined();
  expect(x?.versions['kv:2']).toBeGreaterThan(0);
});

test('a region that is down pauses the deploy before it begins, and a resume continues once it is back', async () => {
  const { id } = await world.control<{ id: string }>('POST', '/control/faults', { kind: 'region', id: 'y' });
  await world.apply(kvstore());
  await world.release('kvstore', 'kv:2');
  const { paused } = await world.reaches('kvstore', 1, (status) => status.paused !== null);
  expect(paused).toMatchObject({ by: 'unit', reason: 'kvstore-y is unavailable; resume when it is back' });
  await world.control('DELETE', `/control/faults/${id}`);
  await world.sleep(10 * MINUTE);
  await world.command(DEPLOY, 'resume');
  await world.ended('kvstore', 1);
  expect(await world.deployStatus('kvstore', 1)).toMatchObject({ outcome: 'succeeded' });
});

test('tasks that were not updated in time pause the deploy, which is not the fault of the change', async () => {
  await world.job('kvstore-slow', 'x', 40, {
    nSmall: 1,
    service: 'slow',
    timings: { fetchMs: 10 * MINUTE, stopMs: 1_000, startMs: MINUTE },
  });
  await world.apply(
    kvstore({
      config: { jobs: ['kvstore-slow'] },
      phases: [{ scope: '*', amount: '50%', bake: '10m', updateTimeout: '1h' }],
    }),
    CALM,
  );
  await world.release('kvstore', 'kv:2');
  const { paused } = await world.reaches('kvstore', 1, (status) => status.paused !== null);
  expect(paused?.by).toBe('timeout');
  expect(paused?.reason).toContain('not updated in time');
  await world.command(DEPLOY, 'cancel');
  await world.ended('kvstore', 1);
  expect(await world.deployStatus('kvstore', 1)).toMatchObject({ outcome: 'cancelled', classification: 'bad-failure' });
});

test('an unhealthy version with nothing known to go back to pauses the deploy, and a person may still continue', async () => {
  // Another pipeline leaves the jobs mixed, and this one does not know their earlier versions.
  await world.apply(kvstore({}, { pipeline: 'other' }));
  await world.release('other', 'kv:2');
  await world.reaches('other', 1, (status) => status.state === 'baking');
  await world.command('deploy/other/1/deploy/1', 'cancel');
  await world.ended('other', 1);
  await world.apply(kvstore());
  await world.describeVersion('kv:3', { errorRatio: 0.2 });
  await world.release('kvstore', 'kv:3');
  const { paused, state } = await world.reaches('kvstore', 1, (status) => status.paused !== null);
  expect(state).toBe('baking');
  expect(paused).toMatchObject({
    by: 'health',
    reason: expect.stringContaining('the earlier version of kvstore-x is unknown'),
  });
  await world.command(DEPLOY, 'skip-health-check', { for: 'deploy' });
  await world.command(DEPLOY, 'resume');
  await world.ended('kvstore', 1);
  expect(await world.deployStatus('kvstore', 1)).toMatchObject({ outcome: 'succeeded' });
});

test('so it does where the updated units are the last of many with nothing known to go back to', async () => {
  const jobs = Array.from({ length: 56 }, (_, nth) => `shard-${nth + 1}`);
  for (const [nth, name] of jobs.entries()) await world.job(name, nth === 55 ? 'y' : 'x', 1);
  // The answer does not say which version any of them runs.
  answering(world, async ({ method }, real) => {
    if (method !== 'fetchDeployUnits') return undefined;
    const answer = await real();
    return { ...answer, units: answer.units.map((unit) => ({ ...unit, version: null })) };
  });
  await world.describeVersion('kv:2', { errorRatio: 0.2 });
  const phases = [{ name: 'first', scope: 'region:y', amount: '100%', bake: '10m' }];
  const deploy = await deploying(world, {}, { config: { jobs }, phases });
  const { paused, outcome } = await deploy.reaches((status) => status.paused !== null || status.outcome !== null);
  expect([outcome, paused?.by]).toEqual([null, 'health']);
  expect(paused?.reason).toContain('the earlier version of shard-56 is unknown');
});

test.each([
  ['in a phase', [{ name: 'all', scope: '*', amount: '100%', bake: '4h' }]],
  ['in the completion', []],
])('a person who reverts %s takes back each unit whose past is known, and learns which are left', async (_, phases) => {
  answering(world, async ({ method }, real) => {
    if (method !== 'fetchDeployUnits') return undefined;
    const answer = await real();
    return {
      ...answer,
      units: answer.units.map((unit) => (unit.id === 'kvstore-x' ? { ...unit, version: null } : unit)),
    };
  });
  const deploy = await deploying(world, {}, { phases, completion: { bake: '4h' }, healthChecks: [] });
  await deploy.reaches(({ state }) => state === 'baking');
  await deploy.command('revert', { reason: 'it smells' });
  const { paused, revert } = await deploy.reaches((status) => status.paused !== null);
  expect(paused?.by).toBe('unit');
  expect(paused?.reason).toContain('the earlier version of kvstore-x is unknown');
  expect(revert?.units).toMatchObject([{ id: 'kvstore-y', toVersion: 'kv:1' }]);
  expect((await world.jobs()).map(({ versions }) => versions)).toEqual([{ 'kv:2': 6 }, { 'kv:1': 6 }]);
  await expect(deploy.command('resume')).rejects.toMatchObject({
    cause: { message: 'no earlier version is known; cancel it, then deploy a good version' },
  });
  await deploy.command('cancel', { reason: 'kvstore-x is new' });
  expect(await deploy.ended()).toMatchObject({ outcome: 'revert-failed' });
});

test('where the earlier version of all units is unknown, it says so, touches none, and stays open until a person ends it', async () => {
  answering(world, async ({ method }, real) => {
    if (method !== 'fetchDeployUnits') return undefined;
    const answer = await real();
    return { ...answer, units: answer.units.map((unit) => ({ ...unit, version: null })) };
  });
  const deploy = await deploying(world, {}, { phases: [], completion: { bake: '4h' }, healthChecks: [] });
  await deploy.reaches(({ state }) => state === 'baking');
  await deploy.command('revert', { reason: 'it smells' });
  const { paused } = await deploy.reaches((status) => status.paused !== null);
  expect(paused).toMatchObject({ by: 'unit', reason: expect.stringMatching(/^cannot revert: the earlier version/) });
  expect((await world.jobs()).map(({ versions }) => versions)).toEqual([{ 'kv:2': 6 }, { 'kv:2': 6 }]);
  await deploy.command('cancel', { reason: 'we deploy another' });
  expect(await deploy.ended()).toMatchObject({ outcome: 'revert-failed' });
});

test('after a deploy that a person cancelled, a bad version goes back to what ran before both', async () => {
  await world.apply(kvstore());
  await world.release('kvstore', 'kv:2');
  await bakes(1);
  await world.command(DEPLOY, 'cancel');
  await world.ended('kvstore', 1);
  await world.describeVersion('kv:3', { errorRatio: 0.2 });
  await world.release('kvstore', 'kv:3');
  await world.ended('kvstore', 2);
  expect(await world.deployStatus('kvstore', 2)).toMatchObject({ outcome: 'reverted' });
  expect((await world.jobs()).map(({ versions }) => versions['kv:3'] ?? 0)).toEqual([0, 0]);
});
