import { ConfigFleetWorld } from '../builders/configFleet';

/** The simulated distribution of configuration: who has what when, and whatever fails in between. */

let world: ConfigFleetWorld;
const made: ConfigFleetWorld[] = [];
beforeEach(() => {
  world = new ConfigFleetWorld();
  made.push(world);
});
afterEach(async () => {
  for (const one of made.splice(0)) expect(await one.violations()).toEqual([]);
});

const SECOND = 1_000;
const PATH = 'feed/limits';

async function given(hosts = 40): Promise<void> {
  await world.commit({ [PATH]: { soft: 10 } });
  await world.hosts('edge', 'eu', hosts);
}

/** How many have the newest commit at the end of each of so many half seconds. */
async function reached(halves: number): Promise<number[]> {
  const counts: number[] = [];
  for (let half = 0; half < halves; half += 1) {
    await world.pass(SECOND / 2);
    counts.push((await world.counts()).committed);
  }
  return counts;
}

describe('a commit', () => {
  test('reaches all hosts within 4.5 s of the tailer, which takes 5 s, and none before', async () => {
    await given();
    expect(await world.counts()).toEqual({ total: 40, committed: 40, overridden: 0, stale: 0 });
    await world.commit({ [PATH]: { soft: 20 } });
    await world.pass(5_000);
    expect(await world.counts()).toMatchObject({ committed: 0, stale: 40 });
    const counts = await reached(9);
    expect(counts.slice(0, 4)).toEqual([0, 0, 0, 0]);
    expect(counts.filter((count) => count > 0 && count < 40).length).toBeGreaterThan(0);
    expect(counts.at(-1)).toBe(40);
  });

  test('a change takes 14.5 s from the landing to the last host, in virtual seconds of any speed', async () => {
    world = new ConfigFleetWorld(1, 10);
    await given();
    const version = await world.propose({ [PATH]: { soft: 20 } });
    await world.push('fetchDeployUnits', {});
    const targets = [{ unit: 'flags/feed:eu', version, artifacts: [], amount: { all: true } }];
    await world.push('executeUpdates', {
      updateId: 'deploy/feed/1/deploy/1/9/1',
      wholeUnit: true,
      urgency: 'normal',
      targets,
    });
    await world.follow('deploy/feed/1/deploy/1/9/1', 1_000, 100);
    expect((await world.counts()).committed).toBe(0);
    await world.follow('deploy/feed/1/deploy/1/9/1', 500, 100);
    expect((await world.counts()).committed).toBe(40);
  });

  test('a path that no host has read yet is there for later subscribers, and a deleted path is gone', async () => {
    await given();
    await world.commit({ 'feed/words': ['a'] });
    await world.pass(20 * SECOND);
    await world.hosts('late', 'us', 5, ['feed/words']);
    expect(await world.counts('feed/words')).toEqual({ total: 5, committed: 5, overridden: 0, stale: 0 });
    await world.commit({ 'feed/words': null });
    await world.pass(20 * SECOND);
    expect(await world.counts('feed/words')).toEqual({ total: 5, committed: 5, overridden: 0, stale: 0 });
  });
});

describe('exposed values', () => {
  const ID = 'deploy/feed/1/deploy/1/0/1';

  test('reaches the hosts of the phase and no other, and is gone from them after a revert', async () => {
    await given();
    const version = await world.propose({ [PATH]: { soft: 20 } });
    await world.push('fetchDeployUnits', {});
    await world.expose(ID, version, { count: 8 });
    expect(await world.follow(ID, 30 * SECOND)).toMatchObject([{ state: 'done', targeted: 8, live: 8 }]);
    expect(await world.counts()).toEqual({ total: 40, committed: 32, overridden: 8, stale: 0 });
    const { units } = await world.push<{ units: { version: string }[] }>('fetchDeployUnits', {});
    const back = { unit: 'flags/feed:eu', version: units[0]?.version, artifacts: [], updatedBy: [ID] };
    const revert = 'deploy/feed/1/deploy/1/revert/1';
    await world.push('executeUpdates', { updateId: revert, wholeUnit: false, urgency: 'revert', targets: [back] });
    expect(await world.follow(revert, 20 * SECOND)).toMatchObject([{ state: 'done', live: 8 }]);
    expect(await world.counts()).toEqual({ total: 40, committed: 40, overridden: 0, stale: 0 });
  });

  test('changes the metrics of exactly the hosts that have it, by host and revision', async () => {
    await given();
    const version = await world.propose({ [PATH]: { soft: 900 } });
    const when = { field: 'soft', above: 500 };
    await world.control('POST', '/config/behaviours', {
      path: PATH,
      when,
      behaviour: { errorRatio: 0.4, latencyFactor: 3 },
    });
    await world.push('fetchDeployUnits', {});
    await world.expose(ID, version, { count: 8 });
    await world.follow(ID, 30 * SECOND);
    await world.pass(6 * 60 * SECOND);
    const names = Array.from({ length: 40 }, (_, n) => `edge-${n}@${version}`);
    const errors = await world.metric('rpc.error_ratio', names);
    expect(Object.keys(errors)).toHaveLength(8);
    expect(Math.min(...Object.values(errors))).toBeGreaterThan(0.35);
    const { commit } = world.simulation.state.configerator.branches.get('flags')!.commits[0]!;
    const others = await world.metric(
      'rpc.error_ratio',
      Array.from({ length: 40 }, (_, n) => `edge-${n}@${commit}`),
    );
    expect(Object.keys(others)).toHaveLength(32);
    expect(Math.max(...Object.values(others))).toBeLessThan(0.01);
    expect(Object.keys(errors).some((name) => `${name.split('@')[0]}@${commit}` in others)).toBe(false);
  });

  test('is refused by applications that a behaviour has refuse it, and the update stops', async () => {
    await given();
    const behaviour = { refuses: 'soft is not a number' };
    await world.control('POST', '/config/behaviours', {
      path: PATH,
      when: { field: 'soft', equals: 'many' },
      behaviour,
    });
    const version = await world.propose({ [PATH]: { soft: 'many' } });
    await world.push('fetchDeployUnits', {});
    await world.expose(ID, version, { count: 8 });
    const [unit] = await world.follow(ID, 30 * SECOND);
    expect(unit).toMatchObject({
      state: 'failed',
      reason: expect.stringMatching(/edge-\d+ refuses .*: soft is not a number/),
    });
  });
});

describe('despite any losses, commits come in order, each, and the hosts continue', () => {
  const toSettle = 40 * SECOND;

  test('without a leader all reads work and all writes fail; who is elected has all that was committed', async () => {
    await given();
    await world.commit({ [PATH]: { soft: 20 } });
    await world.pass(5_600);
    await world.breaks({ kind: 'leader', downMs: 10_000 });
    await world.commit({ [PATH]: { soft: 30 } });
    await world.pass(9_000);
    expect((await world.counts()).committed).toBe(0);
    await world.pass(toSettle);
    expect((await world.counts()).committed).toBe(40);
  });

  test('the hosts of a lost observer find another one, and it asks for what it missed when it is back', async () => {
    await given();
    const fault = await world.breaks({ kind: 'observer', id: 'eu-o0' });
    await world.commit({ [PATH]: { soft: 20 } });
    await world.pass(15_000);
    expect((await world.counts()).committed).toBe(40);
    expect(world.simulation.state.configerator.observers[0]?.at).toBe(1);
    await world.mends(fault);
    await world.pass(toSettle);
    expect(world.simulation.state.configerator.observers[0]?.at).toBe(2);
  });

  test('with all observers of a region gone its hosts keep what they have, and get the rest when one returns', async () => {
    await given();
    const faults = [
      await world.breaks({ kind: 'observer', id: 'eu-o0' }),
      await world.breaks({ kind: 'observer', id: 'eu-o1' }),
    ];
    await world.commit({ [PATH]: { soft: 20 } });
    await world.pass(toSettle);
    expect(await world.counts()).toMatchObject({ total: 40, stale: 40 });
    await world.mends(faults[1]!);
    await world.pass(toSettle);
    expect((await world.counts()).committed).toBe(40);
    await world.mends(faults[0]!);
  });

  test('a region that is cut off vanishes as subscribers after a minute, and is back with the newest commit', async () => {
    await given();
    await world.hosts('shore', 'us', 10);
    const units = async () => {
      const { units: all } = await world.push<{ units: { id: string; size: number }[] }>('fetchDeployUnits', {});
      return Object.fromEntries(all.map(({ id, size }) => [id, size]));
    };
    expect(await units()).toEqual({ 'flags/feed:eu': 40, 'flags/feed:us': 10 });
    const fault = await world.breaks({ kind: 'partition', id: 'us' });
    await world.commit({ [PATH]: { soft: 20 } });
    await world.pass(50 * SECOND);
    expect(await units()).toEqual({ 'flags/feed:eu': 40, 'flags/feed:us': 10 });
    expect(await world.counts()).toEqual({ total: 50, committed: 40, overridden: 0, stale: 10 });
    await world.pass(15 * SECOND);
    expect(await units()).toEqual({ 'flags/feed:eu': 40, 'flags/feed:us': 0 });
    await world.mends(fault);
    await world.pass(toSettle);
    expect(await units()).toEqual({ 'flags/feed:eu': 40, 'flags/feed:us': 10 });
    expect((await world.counts()).committed).toBe(50);
  });

  test('slow proxies get it later by as much as the fault says, and the others do not wait', async () => {
    await given();
    await world.breaks({ kind: 'proxy-slow', hosts: ['edge-3', 'edge-4'], delayMs: 30_000, downMs: 60_000 });
    await world.commit({ [PATH]: { soft: 20 } });
    await world.pass(10_000);
    expect(await world.counts()).toMatchObject({ committed: 38, stale: 2 });
    await world.pass(30_000);
    expect((await world.counts()).committed).toBe(40);
    await world.pass(toSettle);
  });

  test('a proxy catches up within 2.5 s of the end of the last fault that slows it', async () => {
    await given();
    const hosts = ['edge-3', 'edge-4', 'edge-5'];
    const first = await world.breaks({ kind: 'proxy-slow', hosts, delayMs: 250_000 });
    const second = await world.breaks({ kind: 'proxy-slow', hosts: ['edge-4'], delayMs: 200_000 });
    await world.commit({ [PATH]: { soft: 20 } });
    await world.breaks({ kind: 'proxy-restart', hosts: ['edge-5'], downMs: 1_000 });
    await world.pass(20 * SECOND);
    expect(await world.counts()).toMatchObject({ committed: 37, stale: 3 });
    await world.mends(first);
    await world.pass(2_500);
    expect(await world.counts()).toMatchObject({ committed: 39, stale: 1 });
    await world.mends(second);
    await world.pass(2_500);
    expect((await world.counts()).committed).toBe(40);
    await world.pass(toSettle);
  });

  test('a proxy that restarts serves its cache meanwhile, and then catches up', async () => {
    await given();
    await world.breaks({ kind: 'proxy-restart', share: 0.5, downMs: 30_000 });
    await world.commit({ [PATH]: { soft: 20 } });
    await world.pass(20 * SECOND);
    const { total, committed, stale } = await world.counts();
    expect([total, committed + stale]).toEqual([40, 40]);
    expect(stale).toBeGreaterThan(5);
    await world.pass(toSettle);
    expect((await world.counts()).committed).toBe(40);
  });

  test('a proxy whose disk took nothing restarts with what its cache had, which is no going back of the others', async () => {
    await given();
    const disk = await world.breaks({ kind: 'proxy-disk', hosts: ['edge-3'] });
    await world.commit({ [PATH]: { soft: 20 } });
    await world.pass(20 * SECOND);
    expect((await world.counts()).committed).toBe(40);
    await world.breaks({ kind: 'proxy-restart', hosts: ['edge-3'], downMs: 1_000 });
    await world.pass(1_100);
    expect(await world.counts()).toMatchObject({ committed: 39, stale: 1 });
    await world.pass(toSettle);
    expect((await world.counts()).committed).toBe(40);
    await world.mends(disk);
  });
});

describe('the tasks of a job subscribe', () => {
  beforeEach(async () => {
    await world.commit({ [PATH]: { soft: 10 } });
    const job = {
      name: 'feed-eu',
      service: 'feed',
      region: 'eu',
      tasks: 6,
      version: 'feed:1',
      labels: { tier: 'small' },
    };
    await world.control('POST', '/jobs', job);
    await world.control('POST', '/config/subscribers', { job: 'feed-eu', paths: [PATH] });
  });

  test('as hosts of their own, with the region and the labels of the job, also those that come later', async () => {
    expect((await world.counts()).total).toBe(6);
    await world.control('PATCH', '/jobs/feed-eu', { tasks: 8 });
    await world.pass(60 * SECOND);
    expect(await world.counts()).toMatchObject({ total: 8, committed: 8 });
    const { units } = await world.push<{ units: object[] }>('fetchDeployUnits', {});
    expect(units).toMatchObject([{ id: 'flags/feed:eu', size: 8, labels: { region: 'eu' } }]);
    await world.control('DELETE', '/jobs/feed-eu');
    expect(await world.counts()).toMatchObject({ total: 0 });
  });

  test('one that restarts has what its proxy has; one that moves has nothing until the next proxy has fetched it', async () => {
    await world.control('POST', '/jobs/feed-eu/restart', { slots: [0] });
    await world.pass(30 * SECOND);
    expect(await world.counts()).toMatchObject({ total: 6, committed: 6 });
    const { id } = await world.control<{ id: string }>('POST', '/faults', { kind: 'machine', id: 'eu-m2' });
    await world.pass(SECOND);
    expect((await world.counts()).total).toBe(5);
    await world.pass(90 * SECOND);
    expect(await world.counts()).toMatchObject({ total: 6, committed: 6 });
    await world.control('DELETE', `/faults/${id}`);
  });

  test('a valid value that exposes a bug of the code hurts the tasks of that version alone', async () => {
    const behaviour = { crashesPerMinute: 2, errorRatio: 0.3 };
    const when = { field: 'soft', equals: 10 };
    await world.control('POST', '/config/behaviours', { path: PATH, when, version: 'feed:2', behaviour });
    await world.pass(10 * 60 * SECOND);
    const errors = async (): Promise<number> => {
      const { series } = await world.control<{ series: { points: [number, number][] }[] }>(
        ...(['GET', '/metrics?job=feed-eu&metric=rpc.error_ratio'] as const),
      );
      return series.at(-1)!.points.at(-1)![1];
    };
    expect(await errors()).toBeLessThan(0.01);
    await world.control('POST', '/jobs', { name: 'feed-us', region: 'us', tasks: 2, version: 'feed:2' });
    await world.control('POST', '/config/subscribers', { job: 'feed-us', paths: [PATH] });
    await world.pass(10 * 60 * SECOND);
    expect(await errors()).toBeLessThan(0.01);
    const { commit } = world.simulation.state.configerator.branches.get('flags')!.commits[0]!;
    const crashes = await world.metric('system.crashes', [`feed-eu/0@${commit}`, `feed-us/0@${commit}`]);
    expect(crashes).toEqual({ [`feed-eu/0@${commit}`]: 0, [`feed-us/0@${commit}`]: 2 });
  });
});

test('a world that was written out and read again continues where it was, what is on its way included', async () => {
  await given();
  await world.breaks({ kind: 'leader', downMs: 8_000 });
  await world.commit({ [PATH]: { soft: 20 } });
  await world.pass(3 * SECOND);
  const { snapshot } = await world.control<{ snapshot: string }>('GET', '/snapshot');
  await world.control('POST', '/reset', { seed: 2 });
  await expect(world.counts()).resolves.toMatchObject({ total: 0 });
  await world.control('POST', '/snapshot', { snapshot });
  await world.pass(45 * SECOND);
  expect(await world.counts()).toEqual({ total: 40, committed: 40, overridden: 0, stale: 0 });
});
