import { Dice } from '../chaos/dice';
import { ConfigFleetWorld } from '../builders/configFleet';

/** The checkers of configuration: they find what is planted, and nothing where only faults are. */

const SECOND = 1_000;

async function given(): Promise<ConfigFleetWorld> {
  const world = new ConfigFleetWorld();
  await world.commit({ 'feed/a': 1, 'feed/b': 1 });
  await world.hosts('edge', 'eu', 10, ['feed/a', 'feed/b']);
  return world;
}

const pathsOf = (world: ConfigFleetWorld) => world.simulation.state.configerator.paths;

describe('a defect of the tree is found', () => {
  const found = async (world: ConfigFleetWorld) => [
    ...new Set((await world.violations()).map(({ invariant }) => invariant)),
  ];

  test('16: two commits that arrive in another order', async () => {
    const world = await given();
    await world.commit({ 'feed/a': 2 });
    await world.commit({ 'feed/b': 3 });
    await world.pass(5_100);
    const [a, b] = pathsOf(world).map(({ values }) => values.at(-1)!) as { at: number }[];
    [a!.at, b!.at] = [b!.at, a!.at];
    await world.pass(10 * SECOND);
    expect(await found(world)).toEqual([16]);
    expect((await world.violations())[0]!.text).toMatch(/^edge-\d got feed\/a of commit 2 after it had seen commit 3$/);
  });

  test('17: a value that was exposed to others', async () => {
    const world = await given();
    const aim = { id: 'd/1/1', path: 'feed/a', value: '9', version: 'nine', revision: '1@c' };
    const { state, leader } = world.simulation.configerator;
    state.log.push({ kind: 'put', repository: 'flags', overrides: [{ ...aim, hosts: ['edge-1'] }] });
    state.paths[0]!.overrides.push({ at: state.log.length, overrides: [{ ...aim, hosts: ['edge-1', 'edge-2'] }] });
    await leader.putOverrides('flags', []);
    await world.commit({ 'feed/b': 2 });
    await world.pass(20 * SECOND);
    expect(await found(world)).toEqual([17]);
    expect((await world.violations()).map(({ text }) => text).sort()).toEqual([
      'edge-1 got feed/a of 1@c, which nobody exposed to it',
      'edge-2 got feed/a of 1@c, which nobody exposed to it',
    ]);
  });

  test('17: a committed value that no commit has', async () => {
    const world = await given();
    await world.commit({ 'feed/a': 2 });
    await world.pass(5_100);
    Object.assign(pathsOf(world)[0]!.values.at(-1)!.committed, { version: 'other' });
    await world.pass(10 * SECOND);
    expect(await found(world)).toEqual([17]);
  });

  test('18: an override that hosts keep after its end, and a commit that does not reach them, once all is calm', async () => {
    const world = await given();
    const version = await world.propose({ 'feed/a': 2 });
    await world.push('fetchDeployUnits', {});
    await world.expose('deploy/feed/1/deploy/1/0/1', version, { count: 3 });
    await world.follow('deploy/feed/1/deploy/1/0/1', 20 * SECOND);
    const { units } = await world.push<{ units: { version: string }[] }>('fetchDeployUnits', {});
    const back = {
      unit: 'flags/feed:eu',
      version: units[0]?.version,
      artifacts: [],
      updatedBy: ['deploy/feed/1/deploy/1/0/1'],
    };
    const revert = 'deploy/feed/1/deploy/1/revert/1';
    await world.push('executeUpdates', { updateId: revert, wholeUnit: false, urgency: 'revert', targets: [back] });
    await world.push('trackUpdates', { updateId: revert });
    expect(pathsOf(world)[0]!.overrides.at(-1)?.overrides).toEqual([]);
    pathsOf(world)[0]!.overrides.pop();
    await world.pass(25 * SECOND);
    expect(await world.violations()).toEqual([]);
    await world.pass(20 * SECOND);
    expect(await world.violations()).toMatchObject([
      { invariant: 18, text: expect.stringMatching(/^edge-\d still has/) },
    ]);
  });

  test('18: a host that a commit never reaches', async () => {
    const world = await given();
    await world.commit({ 'feed/a': 2 });
    await world.pass(5_100);
    world.simulation.state.configerator.hosts.epoch[3]! += 1;
    await world.pass(8 * SECOND);
    world.simulation.state.configerator.observers.forEach(({ members }) => {
      if (members.includes(3)) members.splice(members.indexOf(3), 1);
    });
    await world.commit({ 'feed/a': 3 });
    await world.pass(60 * SECOND);
    expect(await world.violations()).toMatchObject([
      { invariant: 18, text: expect.stringContaining('though 3 has reached all') },
    ]);
  });

  test('19: a proxy that goes back', async () => {
    const world = await given();
    await world.commit({ 'feed/a': 2 });
    await world.pass(20 * SECOND);
    const { hosts, observers } = world.simulation.state.configerator;
    hosts.at[3] = 0;
    observers.forEach((observer) => (observer.at = 1));
    await world.commit({ 'feed/b': 2 });
    const [, second] = pathsOf(world)[0]!.values;
    pathsOf(world)[0]!.values.splice(1, 1, { ...second!, at: 99 });
    await world.pass(20 * SECOND);
    expect(await found(world)).toContain(19);
  });
});

const SEEDS = Array.from({ length: 25 }, (_, index) => index + 1);

test.each(SEEDS)(
  'for failures at any level, no checker objects, and all have the newest commit: seed %d',
  async (seed) => {
    const world = new ConfigFleetWorld(seed);
    const dice = Dice.stream(seed, 'config-checkers');
    await world.commit({ 'feed/a': 0, 'feed/b': 0 });
    await world.control('POST', '/jobs', {
      name: 'feed-eu',
      region: 'eu',
      tasks: 20,
      version: 'feed:1',
      budget: '50%',
    });
    await world.control('POST', '/config/subscribers', { job: 'feed-eu', paths: ['feed/a', 'feed/b'] });
    await world.hosts('edge', 'us', 30, ['feed/b']);
    const faults: string[] = [];
    for (let step = 0; step < 60; step += 1) {
      await happens(world, dice, step, faults);
      await world.pass(dice.int(100, 20_000));
    }
    for (const id of faults) await world.answer('DELETE', `/config/faults/${id}`);
    await world.pass(400 * SECOND);
    expect(await world.violations()).toEqual([]);
    for (const path of ['feed/a', 'feed/b']) {
      const { total, committed, overridden } = await world.counts(path);
      expect([path, committed + overridden]).toEqual([path, total]);
    }
  },
);

/** One thing more, of all that can. */
async function happens(world: ConfigFleetWorld, dice: Dice, step: number, faults: string[]): Promise<void> {
  const downMs = dice.int(500, 90_000);
  const share = dice.of(0.1, 0.5, 1);
  const fault = dice.of<object>(
    { kind: 'leader', downMs },
    { kind: 'observer', id: dice.of('eu-o0', 'eu-o1', 'us-o0', 'us-o1'), ...dice.of({}, { downMs }) },
    { kind: 'partition', id: dice.of('eu', 'us'), downMs },
    { kind: 'proxy-slow', share, delayMs: dice.int(100, 60_000), downMs },
    { kind: 'proxy-restart', share, downMs },
    { kind: 'proxy-disk', region: 'us', share, downMs },
  );
  const what = dice.int(0, 5);
  if (what <= 1) {
    // A share that covers no host breaks nothing.
    const { body } = await world.answer('POST', '/config/faults', fault);
    if ('id' in body) faults.push(String(body.id));
  } else if (what <= 3) await world.commit({ [dice.of('feed/a', 'feed/b')]: step });
  else if (what === 4)
    await world.control('POST', '/faults', { kind: 'machine', id: `eu-m${dice.int(0, 19)}`, downMs });
  else await overridden(world, dice, step);
}

async function overridden(world: ConfigFleetWorld, dice: Dice, step: number): Promise<void> {
  const { SimulatedStore } = await import('../../simulator/configerator/store');
  const store = new SimulatedStore(() => world.simulation.configerator);
  const id = `deploy/feed/${dice.int(1, 3)}/deploy/1/0/1`;
  const override = {
    id,
    path: dice.of('feed/a', 'feed/b'),
    value: `${step}`,
    version: `v${step}`,
    revision: `${step}@c`,
  };
  const below = dice.of(0.2, 0.6, 1);
  // Without a leader no process can.
  const unless = (error: unknown): void => expect(error).toMatchObject({ code: 'store-unavailable' });
  if (dice.chance(0.5)) await store.removeOverrides('flags', id).catch(unless);
  else await store.putOverrides('flags', [{ ...override, below }]).catch(unless);
}
