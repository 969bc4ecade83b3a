import { workflowIds } from '../../domain/ids';
import type { DeployStatus } from '../../domain/views';
import { released } from './released';
import { HOUR, MINUTE, VirtualWorld } from './world';

/** examples/health deployed with good and with bad versions: the verdicts are those that the paper and the Push article describe. */

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.open();
});
afterEach(() => world.close());

/** Updates are looked at as often as health, which these stories test. */
const SELDOM = { trackIntervalMs: MINUTE, progressIntervalMs: MINUTE };

const verdictsOf = ({ health }: DeployStatus): Record<string, string> =>
  Object.fromEntries(health.map(({ check, verdict }) => [check, verdict]));

describe('examples/health/thresholds.yaml', () => {
  const FILE = 'health/thresholds.yaml';
  const isBaking = ({ state }: DeployStatus): boolean => state === 'baking';
  /** A datacentre fails in which no task was updated: the other tasks take over its load, updated ones and all others. */
  const spike = () => world.control<{ id: string }>('POST', '/control/faults', { kind: 'datacentre', id: 'x-dc2' });

  const versions = async () => (await world.jobs()).find(({ name }) => name === 'ranking')?.versions;

  async function deployed(behaviour: object): Promise<string> {
    await world.describeVersion('ranking:12', behaviour);
    return released(world, FILE, 'executable', 'ranking:12', SELDOM);
  }

  test.each([
    ['of a tenth more is caught by both comparisons', { cpuFactor: 1.2 }, ['healthy', 'unhealthy', 'unhealthy']],
    ['beyond all limits is caught by all three', { cpuFactor: 4 }, ['unhealthy', 'unhealthy', 'unhealthy']],
  ])('a bug that needs CPU %s, and reverted', async (_title, behaviour, [busy, others, before]) => {
    const pipeline = await deployed(behaviour);
    await world.ended(pipeline, 1, { stepMs: 5 * MINUTE });
    const deploy = await world.deployStatus(pipeline, 1);
    expect(deploy).toMatchObject({ outcome: 'reverted', revert: { by: 'health' } });
    expect(verdictsOf(deploy)).toEqual({
      busy,
      'busier-than-others': others,
      'busier-than-before': before,
    });
  });

  test('a load spike is not a bug: it pauses a good version where it is compared with before, and a person lets it continue', async () => {
    const pipeline = await deployed({});
    await world.reaches(pipeline, 1, isBaking);
    const { id } = await spike();
    const deploy = await world.reaches(pipeline, 1, ({ paused }) => paused !== null);
    expect(deploy.paused).toMatchObject({ by: 'health', reason: expect.stringContaining('busier-than-before is') });
    expect(verdictsOf(deploy)).toEqual({
      busy: 'healthy',
      'busier-than-others': 'healthy',
      'busier-than-before': 'unhealthy',
    });
    const workflowId = workflowIds.deploy(pipeline, 1, 'deploy', 1);
    await world.command(workflowId, 'skip-health-check', { check: 'busier-than-before', for: 'phase' });
    await world.command(workflowId, 'resume');
    await world.reaches(pipeline, 1, ({ phases }) => phases[0]?.state === 'succeeded');
    await world.control('DELETE', `/control/faults/${id}`);
    expect(await world.ended(pipeline, 1, { stepMs: 5 * MINUTE })).toMatchObject({ state: 'succeeded' });
  });

  test('a bug under a load spike is a bug: the new version needs more than the others do at that time', async () => {
    const pipeline = await deployed({ cpuFactor: 1.2 });
    await world.reaches(pipeline, 1, isBaking, { stepMs: MINUTE / 4 });
    const { id } = await spike();
    const { health } = await world.reaches(pipeline, 1, ({ state }) => state === 'reverting');
    const others = health.find(({ check }) => check === 'busier-than-others');
    expect(others).toMatchObject({ verdict: 'unhealthy', reason: expect.stringContaining('tasks not yet updated') });
    // As many tasks are down as the budget allows, so the revert waits for them.
    await world.control('DELETE', `/control/faults/${id}`);
    await world.ended(pipeline, 1, { stepMs: 5 * MINUTE });
    expect(await world.deployStatus(pipeline, 1)).toMatchObject({ outcome: 'reverted', revert: { by: 'health' } });
  });

  test('a bug that shows while a person still looks at a load spike is reverted', async () => {
    const pipeline = await deployed({});
    await world.reaches(pipeline, 1, isBaking);
    const { id } = await spike();
    await world.reaches(pipeline, 1, ({ paused }) => paused !== null);
    await world.sleep(5 * MINUTE);
    await world.describeVersion('ranking:12', { cpuFactor: 1.3 });
    const { summary } = await world.reaches(pipeline, 1, ({ state }) => state === 'reverting', { withinMs: HOUR });
    expect(summary).toContain('busier-than-others is');
    await world.control('DELETE', `/control/faults/${id}`);
    await world.ended(pipeline, 1, { stepMs: 5 * MINUTE });
    expect(await versions()).toEqual({ 'ranking:11': 24 });
  });
});

describe('examples/health/regions.yaml', () => {
  const REGIONS = ['a', 'b', 'c', 'd'];
  const start = () => released(world, 'health/regions.yaml', 'executable', 'functions:12', SELDOM);
  const bad = (behaviour: object) => world.describeVersion('functions:12', behaviour);
  const hasPaused = ({ pausedGroups = [] }: DeployStatus): boolean => pausedGroups.length > 0;

  /** How many tasks of each region run the new version. */
  async function updated(): Promise<number[]> {
    const jobs = await world.jobs();
    return REGIONS.map(
      (region) => jobs.find(({ name }) => name === `functions-${region}`)?.versions['functions:12'] ?? 0,
    );
  }

  test('a region with more errors is paused, the others continue, and it follows once it is healthy', async () => {
    await bad({ errorRatio: 0.2, onlyRegion: 'b' });
    const pipeline = await start();
    const { pausedGroups } = await world.reaches(pipeline, 1, hasPaused);
    expect(pausedGroups).toMatchObject([{ group: 'region:b', reason: expect.stringMatching(/^error(s|-logs) is /) }]);
    await world.sleep(15 * MINUTE);
    const [a, b, c, d] = await updated();
    expect([a, b! < 6, c, d]).toEqual([6, true, 6, 6]);
    await bad({});
    expect(await world.ended(pipeline, 1, { stepMs: 5 * MINUTE })).toMatchObject({ state: 'succeeded' });
    expect(await updated()).toEqual([12, 12, 12, 12]);
  });

  test('so is one whose tasks go away', async () => {
    const pipeline = await start();
    const isLast = ({ phases, state }: DeployStatus) => phases[1]?.state === 'running' && state === 'baking';
    await world.reaches(pipeline, 1, isLast);
    await bad({ crashOnStart: true, onlyRegion: 'c' });
    await world.control('POST', '/control/jobs/functions-c/restart', { slots: [0, 1, 2] });
    const { pausedGroups } = await world.reaches(pipeline, 1, hasPaused);
    expect(pausedGroups).toMatchObject([
      { group: 'region:c', reason: expect.stringMatching(/^crashes is \d+, \d+ above 0 /) },
    ]);
    await bad({});
    expect(await world.ended(pipeline, 1, { stepMs: 5 * MINUTE })).toMatchObject({ state: 'succeeded' });
  });

  test('more regions than one, and all of them go back', async () => {
    await bad({ errorRatio: 0.2 });
    const pipeline = await start();
    await world.ended(pipeline, 1, { stepMs: 5 * MINUTE });
    const { outcome, summary } = await world.deployStatus(pipeline, 1);
    expect(outcome).toBe('reverted');
    expect(summary).toMatch(/[2-4] groups to pause \(region:.*\), 1 may be: error(s|-logs) is /);
    expect(await updated()).toEqual([0, 0, 0, 0]);
  });
});
