import type { DeployInput } from '../../domain/deploy/state';
import type { DeployStatus } from '../../domain/views';
import { deploying, EACH_MINUTE, type LoneDeploy } from './deploys';
import { HOUR, MINUTE, VirtualWorld } from './world';

const DAY = 24 * HOUR;

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
const fixed = () => world.describeVersion('kv:2', {});

const parallel = (more: object = {}, input: Partial<DeployInput> = {}) =>
  deploying(
    world,
    // Updates are looked at as often as health, which these stories test.
    { settings: EACH_MINUTE, ...input },
    {
      config: { jobs: ['kvstore-x', 'kvstore-y', 'kvstore-z'] },
      mode: 'parallel',
      pauseBy: 'region',
      maxPaused: 1,
      phases: [{ name: 'all', scope: '*', amount: '100%', bake: '5m', updateTimeout: '1h' }],
      ...more,
    },
  );

/** The number of tasks of a region on the new version. */
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

/** A paused deploy that is bad in one region. */
async function paused(more: object = {}, input: Partial<DeployInput> = {}): Promise<LoneDeploy> {
  await bad('y');
  const deploy = await parallel(more, input);
  await deploy.reaches(hasPaused);
  return deploy;
}

test('a region that is unhealthy is paused by itself, and continues once it is healthy again', async () => {
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
  await world.sleep(90 * MINUTE);
  expect(await updated('y')).toBe(before);
  expect(await deploy.status()).toMatchObject({ state: 'updating', paused: null, phases: [{ state: 'running' }, {}] });
  await fixed();
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
    expect(result.reason).toMatch(/[23] groups to pause \(region:.*\), 1 may be: errors is 0\./);
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
    await fixed();
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
  await fixed();
  await deploy.ended();
  const { phases } = await deploy.status();
  expect(Date.parse(phases[0]?.bakedAt ?? '') - at).toBeGreaterThanOrEqual(3 * MINUTE);
});

test('its release gets a paused group, once, for its notifications', async () => {
  const deploy = await paused({}, { tellsPauses: true });
  await world.sleep(10 * MINUTE);
  const { events } = await deploy.handle.fetchHistory();
  const told = (events ?? []).flatMap(({ signalExternalWorkflowExecutionInitiatedEventAttributes: signal }) =>
    signal?.signalName === 'deploy-paused' ? [JSON.parse(String(signal.input?.payloads?.[0]?.data)) as unknown] : [],
  );
  expect(told).toMatchObject([{ action: 'deploy', phase: 'all (region:y)', actor: null }]);
  await deploy.command('cancel');
  await deploy.ended();
});

describe('a command while a group is paused', () => {
  const moving = async (deploy: LoneDeploy) => ({ deploy, y: await updated('y'), x: await updated('x') });

  test('pause and resume: the others stop and continue, the group does not', async () => {
    const { deploy, y } = await moving(await paused());
    await deploy.command('pause');
    await world.sleep(5 * MINUTE);
    const x = await updated('x');
    expect(x).toBeLessThan(10);
    await world.sleep(HOUR);
    expect([await updated('x'), await updated('y')]).toEqual([x, y]);
    expect(await deploy.status()).toMatchObject({ paused: { by: 'operator' }, pausedGroups: [{ group: 'region:y' }] });
    await deploy.command('resume');
    await world.until('the others continue', async () => (await updated('x')) === 10 && (await updated('z')) === 10);
    expect(await deploy.status()).toMatchObject({ paused: null, pausedGroups: [{ group: 'region:y' }] });
    expect(await updated('y')).toBe(y);
    await fixed();
    expect((await deploy.ended()).outcome).toBe('succeeded');
  });

  test('skip-health-check: the group continues', async () => {
    const deploy = await paused();
    await deploy.command('skip-health-check', { check: 'errors', for: 'deploy' });
    await deploy.reaches((status) => !hasPaused(status));
    expect((await deploy.ended()).outcome).toBe('succeeded');
    expect(await updated('y')).toBe(10);
  });

  test('skip-phase: the next phase begins once the group is healthy again', async () => {
    const { deploy, y } = await moving(await paused());
    await deploy.command('skip-phase');
    await deploy.reaches(({ phases }) => phases[1]?.state === 'running');
    await world.sleep(5 * MINUTE);
    const x = await updated('x');
    await world.sleep(HOUR);
    expect([await updated('x'), await updated('y')]).toEqual([x, y]);
    await fixed();
    expect((await deploy.ended()).outcome).toBe('succeeded');
    expect(await updated('x')).toBe(10);
  });

  test('skip-bake: a group that is paused is not skipped', async () => {
    const deploy = await paused({ phases: [{ name: 'few', scope: '*', amount: 1, bake: '5m' }] });
    await deploy.reaches(({ state }) => state === 'baking');
    await deploy.command('skip-bake');
    await world.sleep(HOUR);
    expect(await deploy.status()).toMatchObject({ phases: [{ state: 'running' }, {}] });
    await fixed();
    expect((await deploy.ended()).outcome).toBe('succeeded');
  });

  test('cancel: nothing continues', async () => {
    const deploy = await paused();
    await deploy.command('cancel');
    expect(await deploy.ended()).toMatchObject({ outcome: 'cancelled' });
    const then = await updated('x');
    await world.sleep(HOUR);
    expect(await updated('x')).toBe(then);
    expect(then).toBeLessThan(10);
  });

  test('revert: the group as well', async () => {
    const deploy = await paused();
    await deploy.command('revert');
    expect(await deploy.ended()).toMatchObject({ outcome: 'reverted' });
    expect(await Promise.all(['x', 'y', 'z'].map(updated))).toEqual([0, 0, 0]);
  });
});

test('a group that is paused when the window closes is paused when it opens again', async () => {
  await world.sleep(DAY - (((await world.now()) - 12 * HOUR) % DAY));
  const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
  const window = { days: [...days], from: '11:00', to: '12:09', timezone: 'UTC', onClose: 'pause' as const };
  const deploy = await paused({ healthInterval: '3m' }, { window });
  const y = await updated('y');
  await deploy.reaches(({ state }) => state === 'waiting-window');
  await world.sleep(10 * MINUTE);
  expect(await updated('x')).toBeLessThan(10);
  await world.sleep(23 * HOUR);
  await world.until('the others are updated', async () => (await updated('x')) === 10);
  expect(await updated('y')).toBe(y);
  expect(groups(await deploy.status())).toEqual(['region:y']);
  await fixed();
  expect((await deploy.ended()).outcome).toBe('succeeded');
});

test('while checks cannot be made no group continues, and all do once they can', async () => {
  const deploy = await parallel();
  await world.until('it updates', async () => (await updated('x')) > 1);
  const fault = { kind: 'http', service: 'twine', method: 'runHealthChecks', mode: 'error' };
  const { id } = await world.control<{ id: string }>('POST', '/control/faults', fault);
  const { paused: pause } = await deploy.reaches((status) => status.paused !== null);
  expect(pause).toMatchObject({ by: 'dependency' });
  await world.sleep(15 * MINUTE);
  const then = await updated('x');
  await world.sleep(HOUR);
  expect(await updated('x')).toBe(then);
  expect(then).toBeLessThan(10);
  await world.control('DELETE', `/control/faults/${id}`);
  expect(await deploy.ended()).toMatchObject({ outcome: 'succeeded' });
  const { historyLength } = await deploy.handle.describe();
  expect(historyLength).toBeLessThan(300);
});
