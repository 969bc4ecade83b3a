import { answering } from './answering';
import { deploying } from './deploys';
import { kvstore } from './pipelines';
import { pushingBeside } from './pushingBeside';
import { MINUTE, VirtualWorld } from './world';

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.ofKvstore();
});
afterEach(() => world.close());

const versions = async () => Object.fromEntries((await world.jobs()).map((job) => [job.name, job.versions]));
const everywhere = (version: string) => ({ 'kvstore-x': { [version]: 6 }, 'kvstore-y': { [version]: 6 } });

/** Work of another deploy that continues in a unit, as its push type sees it. */
const pushing = (method: string, deploy: string, request: object) => pushingBeside(world, method, deploy, request);

test('a fleet that was left mixed and that another pipeline deployed to since goes back to what that brought', async () => {
  const first = await deploying(world, {}, { phases: [{ scope: '*', amount: 3, bake: '30m' }] });
  await first.reaches(({ state }) => state === 'baking');
  await first.command('cancel');
  const { leaves } = await first.ended();
  const hotfix = await deploying(world, { pipeline: 'hotfix', release: 3 });
  expect(await hotfix.ended()).toMatchObject({ outcome: 'succeeded' });
  await world.describeVersion('kv:4', { errorRatio: 0.2 });
  const next = await deploying(world, { release: 4, ...(leaves && { inherited: leaves }) });
  expect(await next.ended()).toMatchObject({ outcome: 'reverted' });
  expect(await versions()).toEqual(everywhere('kv:3'));
});

test("a revert's target is read while the lock is held, also when another deploy came and went before that", async () => {
  await world.describeVersion('kv:4', { errorRatio: 0.2 });
  // First: a lock whose holder cannot be signalled is free.
  await world.apply(kvstore());
  const lock = 'lock/twine/kvstore';
  await world.client.workflow.signalWithStart('lock', {
    workflowId: lock,
    taskQueue: world.taskQueue,
    args: [{ reconcileIntervalMs: 60 * MINUTE }],
    signal: 'request-lock',
    signalArgs: [{ owner: 'nobody/1', requester: 'pipeline/kvstore' }],
  });
  const waiting = await deploying(world, { release: 4 });
  await waiting.reaches(({ state }) => state === 'waiting-lock');
  const targets = ['kvstore-x', 'kvstore-y'].map((unit) => ({ unit, version: 'kv:3', artifacts: [] }));
  const request = { updateId: 'deploy/other/1/deploy/1/0/1', targets, wholeUnit: true, urgency: 'normal' };
  await pushing('executeUpdates', 'deploy/other/1/deploy/1', request);
  await world.sleep(10 * MINUTE);
  expect(await versions()).toEqual(everywhere('kv:3'));
  await world.client.workflow.getHandle(lock).signal('release-lock', 'pipeline/kvstore');
  expect(await waiting.ended()).toMatchObject({ outcome: 'reverted' });
  expect(await versions()).toEqual(everywhere('kv:3'));
});

test('a unit whose push type refuses to take it back keeps the others from nothing, and goes back once it is taken', async () => {
  const deploy = await deploying(world, {}, { phases: [{ scope: '*', amount: 3, bake: '30m' }] });
  await deploy.reaches(({ state }) => state === 'baking');
  const other = 'deploy/other/1/deploy/1';
  const update = `${other}/0/1`;
  const targets = [{ unit: 'kvstore-y', version: 'kv:9', artifacts: [], amount: { count: 1 } }];
  await pushing('executeUpdates', other, { updateId: update, targets, wholeUnit: false, urgency: 'normal' });
  await pushing('pauseUpdates', other, { updateId: update });
  await deploy.command('revert');
  await deploy.reaches(({ paused }) => paused !== null, { stepMs: 10_000 });
  expect((await versions())['kvstore-x']).toEqual({ 'kv:1': 6 });
  const { revert, paused } = await deploy.status();
  expect(revert?.leftOut).toEqual([{ id: 'kvstore-y', reason: expect.stringContaining('unit-busy') as string }]);
  expect(paused?.reason).toContain('kvstore-y');
  await pushing('cancelUpdates', other, { updateId: update });
  expect(await deploy.ended()).toMatchObject({ outcome: 'reverted' });
  expect((await deploy.status()).revert?.leftOut).toBeUndefined();
  expect((await versions())['kvstore-y']?.['kv:2']).toBeUndefined();
});

describe('a push type that knows no pages', () => {
  /** As older services answer. */
  const withoutPages = (): void => {
    answering(world, async ({ method, common }, real) => {
      expect(common).toBeUndefined();
      if (method !== 'fetchDeployUnits') return undefined;
      const { next: _next, ...answer } = await real();
      return answer;
    });
  };

  test('is asked as before, forward and back, and its units that are gone are left out', async () => {
    withoutPages();
    const deploy = await deploying(world, {}, { phases: [{ scope: '*', amount: 3, bake: '30m' }] });
    await deploy.reaches(({ state }) => state === 'baking');
    await world.control('DELETE', '/control/jobs/kvstore-y');
    await deploy.command('revert');
    expect(await deploy.ended()).toMatchObject({ outcome: 'reverted' });
    expect(await versions()).toEqual({ 'kvstore-x': { 'kv:1': 6 } });
  });

  test('may have five hundred units, and of more the deploy says so', async () => {
    withoutPages();
    answering(world, async ({ method }, real) => {
      if (method !== 'fetchDeployUnits') return undefined;
      const { units, ...answer } = await real();
      return { ...answer, units: Array.from({ length: 501 }, (_, nth) => ({ ...units[0], id: `unit-${nth}` })) };
    });
    const deploy = await deploying(world);
    const { outcome, reason } = await deploy.ended();
    expect(outcome).toBe('failed');
    expect(reason).toBe('twine has 501 units and does not page them; without paging a deploy has at most 500');
  });
});
