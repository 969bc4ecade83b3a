import type { DeployStatus } from '../../domain/views';
import { given, type Given, SELDOM, type Service } from './service';
import { Stack } from './stack';
import { eventually } from './waiting';

let stack: Stack;
beforeAll(async () => {
  stack = await Stack.open();
});
afterAll(() => stack.close());

/** One task at a time, slow enough that a worker can be killed in the middle. */
const SLOW: Given = {
  restartMs: 400,
  nSmall: 1,
  deploy: { phases: [{ name: 'first', scope: 'region:x', amount: 3, bake: '2s' }], completion: { bake: '1s' } },
};

/** Everything that must not depend on crashes: its outcome, the versions in the fleet, and every effect, in order. */
async function storyOf(shop: Service): Promise<object> {
  const release = await shop.ended(1);
  const { outcome, classification, phases, commands, revert } = await shop.deploy(1);
  return {
    release: release.state,
    ...{ outcome, classification, commands },
    phases: phases.map(({ name, state, units }) => [name, state, units.map(({ targeted, live }) => [targeted, live])]),
    reverted: revert?.units.map(({ targeted, live }) => [targeted, live]) ?? null,
    runs: await shop.runs(),
    effects: await shop.effects(),
  };
}

async function onceWithout(crash: { bad: boolean }): Promise<object> {
  const shop = await given(stack, SLOW);
  if (crash.bad) await shop.behaves(2, { errorRatio: 0.5 });
  await shop.ships(2);
  return storyOf(shop);
}

const updated =
  (atLeast: number) =>
  async (shop: Service): Promise<void> => {
    await eventually(`${atLeast} tasks of ${shop.name} are updated`, async () => {
      return ((await shop.runs())[2] ?? 0) >= atLeast;
    });
    expect((await shop.runs())[1]).toBeGreaterThan(0);
  };
const is =
  (state: DeployStatus['state']) =>
  async (shop: Service): Promise<void> => {
    await shop.isIn(1, state);
  };

describe('a worker that is killed changes neither the end nor the effects', () => {
  let calm: object;
  let calmRevert: object;
  beforeAll(async () => {
    [calm, calmRevert] = await Promise.all([onceWithout({ bad: false }), onceWithout({ bad: true })]);
    expect(calm).toMatchObject({ outcome: 'succeeded', runs: { 2: 12 } });
    expect(calmRevert).toMatchObject({ outcome: 'reverted', runs: { 1: 12 } });
  });

  test.each([
    ['while the tasks of a phase restart', updated(1)],
    ['while a phase bakes', is('baking')],
    ['while the last phase restarts the rest', updated(5)],
  ])('%s', async (_, moment) => {
    const shop = await given(stack, SLOW);
    await shop.ships(2);
    await moment(shop);
    await stack.crashWorker();
    expect(await storyOf(shop)).toEqual(calm);
  });

  test('while a bad version is being reverted', async () => {
    const shop = await given(stack, SLOW);
    await shop.behaves(2, { errorRatio: 0.5 });
    await shop.ships(2);
    await shop.isIn(1, 'reverting');
    await eventually('some tasks are back', async () => ((await shop.runs())[2] ?? 0) < 3);
    await stack.crashWorker();
    expect(await storyOf(shop)).toEqual(calmRevert);
  });
});

test('a command that was acknowledged before the worker was killed is obeyed after it', async () => {
  // Longer than a command takes on a busy machine.
  const phases = [{ name: 'first', scope: 'region:x', amount: 3, bake: '8s' }];
  const shop = await given(stack, { ...SLOW, deploy: { ...SLOW.deploy, phases } });
  await shop.ships(2);
  await shop.isIn(1, 'baking');
  const pause = stack.conveyor(['pause', `${shop.name}/1`, '--reason', 'to look at it']);
  expect(await pause).toMatchObject({ code: 0 });
  await stack.crashWorker();
  expect(await shop.deploy(1)).toMatchObject({ paused: { by: 'operator', actor: 'user:alice' } });
  expect(await shop.runs()).toEqual({ 1: 9, 2: 3 });
  expect(await stack.conveyor(['resume', `${shop.name}/1`, '--reason', 'all is well'])).toMatchObject({ code: 0 });
  expect(await shop.ended(1)).toMatchObject({ state: 'succeeded' });
});

test('commands that are given while no worker runs are kept, and obeyed once one returns, each of them once', async () => {
  const [shop, other] = await Promise.all([given(stack, SLOWLY_BAKED), given(stack, SLOWLY_BAKED)]);
  for (const each of [shop, other]) {
    await each.ships(2);
    await each.isIn(1, 'baking');
  }
  await stack.killWorker();
  const unanswered = await Promise.all([
    stack.conveyor(['pause', `${shop.name}/1`, '--reason', 'to look at it']),
    stack.conveyor(['skip-bake', `${other.name}/1`, '--reason', 'it is urgent']),
    stack.conveyor(['hold', other.name, '--reason', 'the last for today']),
  ]);
  for (const { code, stderr } of unanswered)
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^error: no-worker: /)]);
  expect(unanswered.map(({ stderr }) => stderr.includes('the command is kept'))).toEqual([true, true, false]);
  await stack.startWorker();
  const { commands } = await shop.reaches(1, 'is paused', ({ paused }) => paused?.reason === 'to look at it');
  expect(commands).toMatchObject([{ verb: 'pause', actor: 'user:alice', accepted: true }]);
  const { phases } = await other.reaches(1, 'bakes its second phase', (it) => Boolean(it.phases[1]?.bakeUntil));
  expect(phases.map(({ skipped }) => skipped)).toEqual(['bake by user:alice: it is urgent', null, null]);
  await eventually('the pipeline is held', async () => {
    const status = await stack.client.status(other.name);
    return status.kind === 'pipeline' && status.held?.reason === 'the last for today';
  });
});

/** Nothing proceeds by itself. */
const SLOWLY_BAKED: Given = {
  deploy: {
    phases: [
      { name: 'first', scope: 'region:x', amount: 2, bake: '1h' },
      { name: 'half', scope: '*', amount: '50%', bake: '1h' },
    ],
    healthInterval: SELDOM,
  },
};
