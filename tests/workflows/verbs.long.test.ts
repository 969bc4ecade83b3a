import { deploying, type LoneDeploy } from './deploys';
import { HOUR, MINUTE, VirtualWorld, type JobView } from './world';

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.ofKvstore();
});
afterEach(() => world.close());

const versions = async () => (await world.jobs()).map(({ versions: counts }: JobView) => counts);
const BEFORE = [{ 'kv:1': 6 }, { 'kv:1': 6 }];
const AFTER = [{ 'kv:2': 6 }, { 'kv:2': 6 }];
const baking = (deploy: LoneDeploy) => deploy.reaches(({ state }) => state === 'baking');
const refusal = (message: string) => ({ cause: { message, type: 'invalid-state' } });

/** Nothing happens by itself for an hour. */
async function expectStill(): Promise<void> {
  const before = await versions();
  await world.sleep(HOUR);
  expect(await versions()).toEqual(before);
}

describe('while a deploy waits for the service that another one holds', () => {
  let first: LoneDeploy;
  let second: LoneDeploy;
  beforeEach(async () => {
    first = await deploying(world, { release: 2 }, { phases: [{ scope: '*', amount: 1, bake: '20m' }] });
    await baking(first);
    second = await deploying(world, { release: 3 });
    await second.reaches(({ state }) => state === 'waiting-lock');
    await expect(second.command('skip-phase')).rejects.toMatchObject(refusal('no phase is under way'));
    await expect(second.command('resume')).rejects.toMatchObject(refusal('it is not paused'));
  });

  test('pause lets it take its turn and begin nothing until it is resumed', async () => {
    await second.command('pause');
    expect(await first.ended()).toMatchObject({ outcome: 'succeeded' });
    await expectStill();
    expect(await second.status()).toMatchObject({ paused: { by: 'operator' }, phases: [{ state: 'waiting' }, {}] });
    await second.command('resume');
    expect(await second.ended()).toMatchObject({ outcome: 'succeeded' });
  });

  test.each([
    [
      'cancel',
      { outcome: 'cancelled', classification: 'good-failure', reason: 'cancelled by user:alice: a test says so' },
    ],
    ['revert', { outcome: 'reverted', classification: 'good-failure', reverted: { by: 'user:alice', bad: true } }],
  ] as const)('%s ends it at once, and it has touched nothing', async (verb, result) => {
    await second.command(verb);
    expect(await second.ended({ stepMs: 1_000, withinMs: MINUTE })).toMatchObject(result);
    expect(await first.ended()).toMatchObject({ outcome: 'succeeded' });
    expect(await versions()).toEqual(AFTER);
  });
});

test.each(['pause', 'cancel', 'revert'] as const)(
  'while it plans and the push type is silent, %s is taken',
  async (verb) => {
    const fault = { kind: 'http', service: 'twine', method: 'fetchDeployUnits', mode: 'error' };
    const { id } = await world.control<{ id: string }>('POST', '/control/faults', fault);
    const deploy = await deploying(world);
    await deploy.reaches(({ paused }) => paused?.by === 'dependency');
    await deploy.command(verb);
    if (verb !== 'pause') {
      const outcome = verb === 'cancel' ? 'cancelled' : 'reverted';
      expect(await deploy.ended({ stepMs: 1_000, withinMs: MINUTE })).toMatchObject({ outcome });
      return expect(await versions()).toEqual(BEFORE);
    }
    await world.control('DELETE', `/control/faults/${id}`);
    await expectStill();
    expect(await deploy.status()).toMatchObject({ paused: { by: 'operator' } });
    await deploy.command('resume');
    expect(await deploy.ended()).toMatchObject({ outcome: 'succeeded' });
  },
);

describe('between two phases', () => {
  const phases = [{ scope: 'region:x', amount: 2, bake: '2m' }];
  async function between(): Promise<LoneDeploy> {
    const deploy = await deploying(world, {}, { phases });
    await baking(deploy);
    await deploy.freeze();
    await deploy.reaches(({ paused }) => paused?.by === 'freeze');
    await expect(deploy.command('skip-phase')).rejects.toMatchObject(refusal('no phase is under way'));
    await expect(deploy.command('skip-bake')).rejects.toMatchObject(refusal('no phase is under way'));
    return deploy;
  }

  test('a check that is skipped is not counted in the next phase', async () => {
    const deploy = await between();
    await deploy.command('skip-health-check', { check: 'errors' });
    await world.describeVersion('kv:2', { errorRatio: 0.3 });
    await deploy.unfreeze();
    expect(await deploy.ended()).toMatchObject({ outcome: 'succeeded' });
  });

  test.each([
    ['cancel', 'cancelled', [{ 'kv:1': 4, 'kv:2': 2 }, { 'kv:1': 6 }]],
    ['revert', 'reverted', BEFORE],
  ] as const)('%s ends it', async (verb, outcome, left) => {
    const deploy = await between();
    await deploy.command(verb);
    expect(await deploy.ended()).toMatchObject({ outcome });
    expect(await versions()).toEqual(left);
  });
});

describe('in the completion phase', () => {
  const completing = async (bake: string): Promise<LoneDeploy> => {
    const deploy = await deploying(world, {}, { phases: [], completion: { bake } });
    await baking(deploy);
    return deploy;
  };

  test('skip-bake ends the deploy, whatever time is left', async () => {
    const deploy = await completing('20h');
    await deploy.command('skip-bake');
    expect(await deploy.ended({ withinMs: HOUR })).toMatchObject({ outcome: 'succeeded' });
  });

  test('revert brings every task back, and new ones start on what ran before', async () => {
    const deploy = await completing('1h');
    await deploy.command('revert');
    expect(await deploy.ended()).toMatchObject({ outcome: 'reverted' });
    expect((await world.jobs()).map(({ jobVersion }) => jobVersion)).toEqual(['kv:1', 'kv:1']);
    expect(await versions()).toEqual(BEFORE);
  });

  test('pause keeps it open after its bake, and resume ends it', async () => {
    const deploy = await completing('10m');
    await deploy.command('pause');
    await world.sleep(HOUR);
    expect(await deploy.status()).toMatchObject({ state: 'baking', outcome: null });
    await deploy.command('resume');
    expect(await deploy.ended()).toMatchObject({ outcome: 'succeeded' });
  });
});

test('a person who reverts what already reverts by itself changes nothing, least of all a pause', async () => {
  await world.job('kvstore-slow', 'x', 20, { nSmall: 2, timings: { fetchMs: MINUTE, stopMs: 1_000, startMs: MINUTE } });
  await world.describeVersion('kv:2', { errorRatio: 0.3, afterMs: 30 * MINUTE });
  const deploy = await deploying(
    world,
    {},
    { config: { jobs: ['kvstore-slow'] }, phases: [{ scope: '*', amount: '60%', bake: '2h' }] },
  );
  await deploy.reaches(({ state }) => state === 'reverting');
  await deploy.command('pause');
  await expect(deploy.command('revert')).resolves.toMatchObject({ effect: 'it is already reverting; nothing changes' });
  await world.sleep(5 * MINUTE);
  await expectStill();
  expect(await deploy.status()).toMatchObject({
    state: 'reverting',
    paused: { by: 'operator' },
    revert: { by: 'health' },
  });
  await deploy.command('resume');
  expect(await deploy.ended()).toMatchObject({ outcome: 'reverted', reverted: { by: 'health', bad: true } });
});

describe('when two people press at the same moment', () => {
  const answers = async (deploy: LoneDeploy, verbs: readonly ('pause' | 'resume' | 'cancel' | 'revert')[]) =>
    (await Promise.allSettled(verbs.map((verb, nth) => deploy.command(verb, { reason: `press ${nth}` })))).map(
      ({ status }) => status === 'fulfilled',
    );
  const taken = (all: readonly boolean[]) => all.filter((one) => one).length;

  test('cancel and revert: it reverts, unless the cancel ended it before the revert was read, which is refused then', async () => {
    const deploy = await deploying(world);
    await baking(deploy);
    const [cancel, revert] = await answers(deploy, ['cancel', 'revert']);
    expect(cancel || revert).toBe(true);
    expect(await deploy.ended()).toMatchObject(
      revert ? { outcome: 'reverted', reverted: { by: 'user:alice' } } : { outcome: 'cancelled' },
    );
    if (revert) expect(await versions()).toEqual(BEFORE);
  });

  test('two skips of a phase that they name skip one', async () => {
    const phases = [2, 4].map((amount) => ({ name: `phase ${amount / 2}`, scope: '*', amount, bake: '20m' }));
    const deploy = await deploying(world, {}, { phases });
    await baking(deploy);
    const input = { phase: 'phase 1' };
    const pressed = await Promise.allSettled([1, 2].map(() => deploy.command('skip-phase', input)));
    expect(pressed.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const { phases: views } = await deploy.reaches(({ phases: [, second] }) => second?.state === 'running');
    expect(views.map(({ state }) => state)).toEqual(['skipped', 'running', 'waiting']);
    expect(await deploy.ended()).toMatchObject({ outcome: 'succeeded' });
  });

  test('two resumes of a pause: one is taken, and of pause and resume both or one', async () => {
    const deploy = await deploying(world);
    await baking(deploy);
    await deploy.command('pause');
    expect(taken(await answers(deploy, ['resume', 'resume']))).toBe(1);
    await deploy.reaches(({ paused }) => paused === null);
    expect(taken(await answers(deploy, ['pause', 'resume']))).toBeGreaterThanOrEqual(1);
    if ((await deploy.status()).paused !== null) await deploy.command('resume').catch(() => undefined);
    expect(await deploy.ended()).toMatchObject({ outcome: 'succeeded' });
  });
});

test('the same update id twice has one effect and the same answer, also much later', async () => {
  const deploy = await deploying(world);
  await baking(deploy);
  const press = (verb: string) =>
    deploy.handle.executeUpdate(verb, { updateId: 'press-1', args: [{ actor: 'user:alice', reason: 'looking' }] });
  const [first, second] = [await press('pause'), await press('pause')];
  expect(second).toEqual(first);
  await deploy.command('resume');
  await deploy.reaches(({ paused }) => paused === null);
  // A pause that is sent again does not pause a deploy that was resumed meanwhile.
  expect(await press('pause')).toEqual(first);
  const { paused, commands } = await deploy.status();
  expect(paused).toBeNull();
  expect(commands.map(({ verb }) => verb)).toEqual(['pause', 'resume']);
  expect(await deploy.ended()).toMatchObject({ outcome: 'succeeded' });
});
