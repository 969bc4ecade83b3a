import type { DeployInput } from '../../domain/deploy/state';
import type { DeployStatus } from '../../domain/views';
import { deploying, type LoneDeploy } from './deploys';
import { HOUR, MINUTE, VirtualWorld } from './world';

/** One task after the other, a minute and a half each: ten of them take a quarter of an hour. */
const SLOW = { nSmall: 1, timings: { fetchMs: MINUTE, stopMs: 1_000, startMs: 29_000 } };

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.open();
  for (const region of ['x', 'y', 'z']) await world.job(`kvstore-${region}`, region, 10, SLOW);
});
afterEach(() => world.close());

const bad = (onlyRegion?: string) =>
  world.describeVersion('kv:2', { errorRatio: 0.2, ...(onlyRegion && { onlyRegion }) });
const mended = () => world.describeVersion('kv:2', {});

const parallel = (more: object = {}, input: Partial<DeployInput> = {}) =>
  deploying(world, input, {
    config: { jobs: ['kvstore-x', 'kvstore-y', 'kvstore-z'] },
    mode: 'parallel',
    pauseBy: 'region',
    maxPaused: 1,
    phases: [{ name: 'all', scope: '*', amount: '100%', bake: '5m', updateTimeout: '1h' }],
    ...more,
  });

/** How many tasks of a region run the new version. */
async function updated(region: string): Promise<number> {
  const job = (await world.jobs()).find(({ name }) => name === `kvstore-${region}`);
  return job?.versions['kv:2'] ?? 0;
}

const groups = ({ pausedGroups = [] }: DeployStatus): string[] => pausedGroups.map(({ group }) => group);
const hasPaused = (status: DeployStatus): boolean => groups(status).length > 0;

const effects = async (method: string): Promise<number> => {
  const ledger = await world.control<{ method: string; effect: boolean }[]>('GET', '/control/ledger');
  return ledger.filter((entry) => entry.method === method && entry.effect).length;
};

/** A deploy that is bad in one region, which is paused. */
async function paused(more: object = {}, input: Partial<DeployInput> = {}): Promise<LoneDeploy> {
  await bad('y');
  const deploy = await parallel(more, input);
  await deploy.reaches(hasPaused);
  return deploy;
}

test('a region that is unhealthy is paused by itself, and goes on once it is healthy again', async () => {
  const deploy = await paused();
  const status = await deploy.status();
  expect(status).toMatchObject({ state: 'updating', paused: null });
  expect(status.pausedGroups).toMatchObject([{ group: 'region:y', units: ['kvstore-y'] }]);
  expect(status.pausedGroups?.[0]?.reason).toContain('errors');
  expect(status.summary).toContain('paused until healthy: region:y');
  await world.until('the others are updated', async () => (await updated('x')) === 10 && (await updated('z')) === 10);
  const before = await updated('y');
  expect(before).toBeGreaterThan(0);
  expect(before).toBeLessThan(10);
  // Longer than the update timeout, which does not run meanwhile.
  await world.sleep(3 * HOUR);
  expect(await updated('y')).toBe(before);
  expect(await deploy.status()).toMatchObject({ state: 'updating', paused: null, phases: [{ state: 'running' }, {}] });
  await mended();
  expect((await deploy.ended()).outcome).toBe('succeeded');
  expect([await updated('y'), await effects('pauseUpdates'), await effects('resumeUpdates')]).toEqual([10, 1, 1]);
  const kinds = (await deploy.status()).timeline.map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind.startsWith('group-'))).toEqual(['group-paused', 'group-resumed']);
  expect(kinds.indexOf('group-resumed')).toBeLessThan(kinds.indexOf('updates-done'));
});

describe('more groups than may be paused', () => {
  test('revert the deploy, and no task stays on the version', async () => {
    await bad();
    const deploy = await parallel();
    const result = await deploy.ended();
    expect(result).toMatchObject({ outcome: 'reverted', reverted: { by: 'health', bad: true } });
    expect(result.reason).toMatch(/[23] groups to pause \(region:x, region:y.*\), 1 may be: errors is 0\.2/);
    expect(await Promise.all(['x', 'y', 'z'].map(updated))).toEqual([0, 0, 0]);
    expect((await deploy.status()).pausedGroups).toEqual([]);
  });

  test('pause all of it where the owner wants that', async () => {
    await bad('y');
    const deploy = await parallel({ maxPaused: 0, onUnhealthy: 'pause' });
    const { paused: pause } = await deploy.reaches((status) => status.paused !== null);
    expect(pause).toMatchObject({ by: 'health' });
    await world.sleep(10 * MINUTE);
    const then = await updated('x');
    await world.sleep(HOUR);
    expect(await updated('x')).toBe(then);
    await mended();
    await world.sleep(10 * MINUTE);
    await deploy.command('resume');
    expect((await deploy.ended()).outcome).toBe('succeeded');
  });
});

test('where the owner does not say how many, half of the groups may be paused, and of one none', async () => {
  await bad('y');
  const deploy = await parallel({
    config: { jobs: ['kvstore-y'] },
    maxPaused: undefined,
  });
  expect(await deploy.ended()).toMatchObject({ outcome: 'reverted' });
});

test('a phase does not end while a group is paused whose tasks are all updated, and a check window passes after that', async () => {
  const deploy = await paused({ phases: [{ name: 'few', scope: '*', amount: 1, bake: '5m' }] });
  await world.sleep(HOUR);
  expect(await deploy.status()).toMatchObject({ state: 'baking', phases: [{ state: 'running', bakeUntil: null }, {}] });
  expect(await updated('x')).toBe(1);
  const at = await world.now();
  await mended();
  await deploy.ended();
  const { phases } = await deploy.status();
  expect(Date.parse(phases[0]?.bakedAt ?? '') - at).toBeGreaterThanOrEqual(3 * MINUTE);
});
