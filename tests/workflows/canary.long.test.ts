import { isDeepStrictEqual } from 'node:util';
import type { DeployInput } from '../../domain/deploy/state';
import { answering, away, refusal } from './answering';
import { deploying, type LoneDeploy } from './deploys';
import { HOUR, MINUTE, VirtualWorld, type JobView } from './world';

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.ofKvstore();
});
afterEach(() => world.close());

const versions = async () => Object.fromEntries((await world.jobs()).map((job: JobView) => [job.name, job.versions]));
const everywhere = (of: Record<string, number>) => ({ 'kvstore-x': of, 'kvstore-y': of });

type CanaryOf = NonNullable<DeployInput['canary']>;

/** A canary of `kv:<release>` on tasks of each unit. */
const canary = (release = 2, more: Partial<CanaryOf> = {}, deploy = {}): Promise<LoneDeploy> => {
  const asked = { amount: { count: 2 }, bakeMs: 30 * MINUTE, keepUntil: false, ...more };
  return deploying(world, { release, action: 'canary', canary: asked }, { healthInterval: '5m', ...deploy });
};
const isBaking = (deploy: LoneDeploy) => deploy.reaches(({ phases }) => Boolean(phases[0]?.bakeUntil));
const isKept = (deploy: LoneDeploy) =>
  deploy.reaches(({ summary }) => summary.startsWith('keeping'), { stepMs: 5 * MINUTE });

/** The calls to the push type from now on, with the updates that each must leave alone. */
function listening() {
  const asked: { method: string; by: string; exclude: string[] }[] = [];
  const { app } = world.simulator;
  const real = app.fetch.bind(app);
  app.fetch = async (request, ...rest) => {
    const { targets, common, context } = (await request
      .clone()
      .json()
      .catch(() => ({}))) as Partial<Asked>;
    const [first] = [targets].flat();
    if (context && first)
      asked.push({
        method: request.url.split('/').at(-1) ?? '',
        by: context.deployId,
        exclude: first.exclude ?? common?.exclude ?? [],
      });
    return real(request, ...rest);
  };
  return asked;
}

interface Asked {
  readonly targets: { readonly exclude?: string[] } | readonly { readonly exclude?: string[] }[];
  readonly common?: { readonly exclude?: string[] };
  readonly context: { readonly deployId: string };
}

/** No update of a deploy is accepted until the returned function is called. */
const holding = (deployId: string): (() => void) =>
  answering(world, ({ method, context }) =>
    method === 'executeUpdates' && context?.deployId === deployId ? away() : undefined,
  );

/** A workflow that receives the messages of a kept canary to its release. */
const givenRelease = (number: number) =>
  world.client.workflow.start('pipeline', {
    workflowId: `release/kvstore/${number}`,
    taskQueue: world.taskQueue,
    args: [null],
  });

describe('a canary', () => {
  test('updates its tasks and no more, and is undone after its bake when they are healthy', async () => {
    const deploy = await canary();
    await isBaking(deploy);
    expect(await versions()).toEqual(everywhere({ 'kv:1': 4, 'kv:2': 2 }));
    expect(await deploy.ended()).toMatchObject({
      outcome: 'succeeded',
      classification: 'success',
      reason: 'kv:2 was healthy, and is undone',
    });
    const { phases, revert } = await deploy.status();
    expect(phases.map(({ name }) => name)).toEqual(['canary']);
    expect(revert).toMatchObject({ by: 'canary' });
    expect(await versions()).toEqual(everywhere({ 'kv:1': 6 }));
  });

  test('that is unhealthy is undone at once, and condemns nothing', async () => {
    await world.describeVersion('kv:2', { errorRatio: 0.2 });
    const deploy = await canary();
    expect(await deploy.ended()).toMatchObject({ outcome: 'reverted', reverted: { by: 'health', bad: false } });
    expect(await versions()).toEqual(everywhere({ 'kv:1': 6 }));
  });

  test.each([
    ['all run its version already', 1, 'no task was left for the canary: all of kvstore-x, kvstore-y already run kv:1'],
    [
      'all are taken by other canaries',
      3,
      'no task was left for the canary: those of kvstore-x, kvstore-y already run kv:3 or belong to other canaries',
    ],
  ])('that finds no task of its own, since %s, fails and says why', async (_, release, reason) => {
    const other = release === 3 ? await canary(2, { amount: { all: true }, bakeMs: 2 * HOUR }) : undefined;
    if (other) await isBaking(other);
    const deploy = await canary(release);
    expect(await deploy.ended()).toMatchObject({ outcome: 'failed', classification: 'good-failure', reason });
    await other?.command('cancel');
    await other?.ended();
    expect(await versions()).toEqual(everywhere({ 'kv:1': 6 }));
  });

  test.each([
    ['cancel', 'cancelled'],
    ['revert', 'reverted'],
  ] as const)('that a person ends with %s is undone too', async (verb, outcome) => {
    const deploy = await canary();
    await isBaking(deploy);
    await deploy.command(verb);
    expect(await deploy.ended()).toMatchObject({ outcome });
    expect(await versions()).toEqual(everywhere({ 'kv:1': 6 }));
  });

  test('that a person reverts while it goes back as at its end has not succeeded', async () => {
    const deploy = await canary();
    await isBaking(deploy);
    const answers = answering(world, ({ method }) => (method === 'executeUpdates' ? away() : undefined));
    await deploy.reaches(({ state }) => state === 'reverting');
    expect(await deploy.command('revert')).toMatchObject({
      effect: 'its tasks are already going back; it ends as reverted',
    });
    expect(await deploy.command('revert')).toMatchObject({ effect: 'it is already reverting; nothing changes' });
    answers();
    expect(await deploy.ended()).toMatchObject({ outcome: 'reverted', reverted: { bad: false } });
    expect(await versions()).toEqual(everywhere({ 'kv:1': 6 }));
  });

  test('is kept after its bake until its release lets it go', async () => {
    await givenRelease(2);
    const deploy = await canary(2, { keepUntil: true });
    await isKept(deploy);
    await world.sleep(3 * HOUR);
    expect(await versions()).toEqual(everywhere({ 'kv:1': 4, 'kv:2': 2 }));
    await deploy.handle.signal('canary-keep-over', 'profile');
    expect(await deploy.ended()).toMatchObject({ outcome: 'succeeded' });
    expect(await versions()).toEqual(everywhere({ 'kv:1': 6 }));
  });

  test('that turns bad while it is kept is undone', async () => {
    await givenRelease(2);
    await world.describeVersion('kv:2', { errorRatio: 0.2, afterMs: 2 * HOUR });
    const deploy = await canary(2, { keepUntil: true });
    await isKept(deploy);
    expect(await deploy.ended()).toMatchObject({ outcome: 'reverted', reverted: { bad: false } });
    expect(await versions()).toEqual(everywhere({ 'kv:1': 6 }));
  });
});

test('several canaries run at the same time, each on tasks of its own', async () => {
  const [second, third] = [await canary(2), await canary(3)];
  await isBaking(second);
  await isBaking(third);
  expect(await versions()).toEqual(everywhere({ 'kv:1': 2, 'kv:2': 2, 'kv:3': 2 }));
  expect(await second.ended()).toMatchObject({ outcome: 'succeeded' });
  expect(await third.ended()).toMatchObject({ outcome: 'succeeded' });
  expect(await versions()).toEqual(everywhere({ 'kv:1': 6 }));
});

describe('a deploy while a canary runs', () => {
  test('leaves its tasks alone, completes when it is gone, and nothing of it stays', async () => {
    await givenRelease(2);
    const first = await canary(2, { keepUntil: true });
    await isKept(first);
    const asked = listening();
    const deploy = await deploying(world, { release: 3 }, { phases: [{ scope: '*', amount: '100%', bake: '10m' }] });
    const { summary } = await deploy.reaches(({ state }) => state === 'waiting-lock', { stepMs: 5 * MINUTE });
    expect(summary).toBe('waiting for the canaries on its units to end: kvstore/2/canary/1');
    await world.sleep(2 * HOUR);
    expect(await versions()).toEqual(everywhere({ 'kv:3': 4, 'kv:2': 2 }));
    const theirs = asked.filter(({ by }) => by === 'deploy/kvstore/3/deploy/1');
    for (const method of ['needsPush', 'executeUpdates', 'runHealthChecks'])
      expect(theirs.filter((call) => call.method === method).map(({ exclude }) => exclude)).toContainEqual([
        'deploy/kvstore/2/canary/1/0/1',
      ]);
    await first.handle.signal('canary-keep-over', 'profile');
    expect(await first.ended()).toMatchObject({ outcome: 'succeeded' });
    const result = await deploy.ended();
    expect(result.outcome).toBe('succeeded');
    expect(result.spans.lockWaitMs).toBeGreaterThanOrEqual(2 * HOUR);
    expect(await versions()).toEqual(everywhere({ 'kv:3': 6 }));
  });

  test('waits before its completion also for one that begins while the push type takes no update of it', async () => {
    const letIn = holding('deploy/kvstore/3/deploy/1');
    const deploy = await deploying(world, { release: 3 }, { phases: [] });
    await deploy.reaches(({ state }) => state === 'updating');
    const first = await canary(2);
    await isBaking(first);
    letIn();
    const { summary } = await deploy.reaches(({ state }) => state === 'waiting-lock');
    expect(summary).toBe('waiting for the canaries on its units to end: kvstore/2/canary/1');
    expect(await versions()).toEqual(everywhere({ 'kv:1': 4, 'kv:2': 2 }));
    expect(await first.ended()).toMatchObject({ outcome: 'succeeded' });
    expect(await deploy.ended()).toMatchObject({ outcome: 'succeeded' });
    // A wait does not count as a try, so none is missing if tasks fail to start.
    expect((await deploy.status()).updates).toEqual(['deploy/kvstore/3/deploy/1/0/1']);
    expect(await versions()).toEqual(everywhere({ 'kv:3': 6 }));
  });

  test('stands still with each pause, also with the second one of an update that a canary kept from beginning', async () => {
    const timings = { fetchMs: MINUTE, stopMs: 1_000, startMs: 1_000 };
    await world.job('kvstore-slow', 'x', 20, { nSmall: 1, timings });
    const slow = { config: { jobs: ['kvstore-slow'] }, healthChecks: [] };
    const letIn = holding('deploy/kvstore/3/deploy/1');
    const deploy = await deploying(world, { release: 3 }, { ...slow, phases: [] });
    await deploy.reaches(({ state }) => state === 'updating');
    for (const verb of ['pause', 'resume'] as const) {
      await deploy.command(verb);
      await world.sleep(MINUTE);
    }
    const first = await canary(2, {}, slow);
    await isBaking(first);
    letIn();
    await deploy.reaches(({ state }) => state === 'waiting-lock');
    await first.ended();
    const updated = async () => (await versions())['kvstore-slow']?.['kv:3'] ?? 0;
    await world.until('some tasks are updated', async () => (await updated()) > 2);
    await deploy.command('pause');
    await world.sleep(5 * MINUTE);
    const paused = await updated();
    await world.sleep(10 * MINUTE);
    expect(await updated()).toBe(paused);
    await deploy.command('resume');
    expect((await deploy.ended()).outcome).toBe('succeeded');
  });

  test('is not in the way of one, which tries again when the unit is busy', async () => {
    await world.job('kvstore-slow', 'x', 20, {
      nSmall: 1,
      timings: { fetchMs: MINUTE, stopMs: 1_000, startMs: 1_000 },
    });
    const slow = { config: { jobs: ['kvstore-slow'] } };
    const deploy = await deploying(world, { release: 3 }, { ...slow, phases: [{ scope: '*', amount: 8, bake: '2h' }] });
    await world.until('a task is updated', async () => Boolean((await versions())['kvstore-slow']?.['kv:3']));
    const second = await canary(2, {}, slow);
    const { timeline } = await second.reaches(({ state }) => state === 'baking', { stepMs: 5 * MINUTE });
    expect(timeline.map(({ text }) => text).join()).toContain('unit-busy');
    expect((await versions())['kvstore-slow']).toEqual({ 'kv:1': 10, 'kv:2': 2, 'kv:3': 8 });
    expect(await second.ended()).toMatchObject({ outcome: 'succeeded' });
    expect((await versions())['kvstore-slow']).toEqual({ 'kv:1': 12, 'kv:3': 8 });
    await deploy.command('skip-bake');
    expect((await deploy.ended()).outcome).toBe('succeeded');
  });

  test.each([
    ['a person pauses it', (one: LoneDeploy) => one.command('pause'), (one: LoneDeploy) => one.command('resume')],
    ['its pipeline is frozen', (one: LoneDeploy) => one.freeze(), (one: LoneDeploy) => one.unfreeze()],
  ])('that was in its way lets it try again, but not while %s', async (_, stop, goOn) => {
    await world.job('kvstore-slow', 'x', 20, {
      nSmall: 1,
      timings: { fetchMs: MINUTE, stopMs: 1_000, startMs: 1_000 },
    });
    const slow = { config: { jobs: ['kvstore-slow'] } };
    const phases = [{ scope: '*', amount: 8, bake: '5h' }];
    const deploy = await deploying(world, { release: 3 }, { ...slow, phases, healthInterval: '30m' });
    await world.until('a task is updated', async () => Boolean((await versions())['kvstore-slow']?.['kv:3']));
    const second = await canary(2, {}, slow);
    await second.reaches(({ paused }) => paused?.by === 'dependency');
    await stop(second);
    await world.sleep(3 * HOUR);
    expect((await versions())['kvstore-slow']).toEqual({ 'kv:1': 12, 'kv:3': 8 });
    expect((await second.status()).paused).not.toBeNull();
    await goOn(second);
    expect(await second.ended()).toMatchObject({ outcome: 'succeeded' });
    await deploy.command('skip-bake');
    expect((await deploy.ended()).outcome).toBe('succeeded');
  });

  test.each([
    ['died', false],
    ['died after the lock had been terminated', true],
  ])('does not wait for ever for one that %s', async (_, isWithoutLock) => {
    await givenRelease(2);
    const first = await canary(2, { keepUntil: true }, { healthChecks: [] });
    await isKept(first);
    const deploy = await deploying(world, { release: 3 }, { phases: [] });
    await deploy.reaches(({ state }) => state === 'waiting-lock');
    if (isWithoutLock) await world.client.workflow.getHandle('lock/twine/kvstore').terminate('stuck');
    await first.handle.terminate('killed');
    expect((await deploy.ended({ stepMs: HOUR, withinMs: 60 * HOUR })).outcome).toBe('succeeded');
    expect(await versions()).toEqual(everywhere({ 'kv:3': 6 }));
  });
});

describe('a canary that goes back', () => {
  test.each<[string, string, (one: LoneDeploy) => Promise<unknown>]>([
    ['succeeded', 'has baked', () => world.sleep(30 * MINUTE)],
    ['cancelled', 'is cancelled', (one) => one.command('cancel')],
  ])(
    'asks no person although the push type refuses to say what its units run: %s, as it %s',
    async (outcome, _, ends) => {
      const one = await canary();
      await isBaking(one);
      const answers = answering(world, ({ method }) => (method === 'fetchDeployUnits' ? refusal() : undefined));
      await ends(one);
      const isBack = async () => isDeepStrictEqual(await versions(), everywhere({ 'kv:1': 6 }));
      await world.until('its tasks are back', isBack, { withinMs: HOUR });
      expect((await one.status()).timeline.map(({ text }) => text).join()).toContain(
        'goes back to the versions before',
      );
      answers();
      // Whether a deploy beside it has moved the units meanwhile is unknown, and a person decides when to ask again.
      expect(await one.reaches(({ paused }) => paused !== null)).toMatchObject({ state: 'reverting' });
      await one.command('resume');
      expect(await one.ended()).toMatchObject({ outcome });
    },
  );
});

describe('a deploy that goes back after a canary took tasks of its completion', () => {
  const completed = async (): Promise<LoneDeploy> => {
    const deploy = await deploying(world, { release: 3 }, { phases: [], completion: { bake: '6h' } });
    await deploy.reaches(({ phases }) => Boolean(phases[0]?.bakeUntil));
    return deploy;
  };

  test('takes those back as well that the canary has left to it', async () => {
    const deploy = await completed();
    expect(await (await canary(2)).ended()).toMatchObject({ outcome: 'succeeded' });
    expect(await versions()).toEqual(everywhere({ 'kv:3': 6 }));
    await deploy.command('revert', { reason: 'too slow' });
    expect((await deploy.ended()).outcome).toBe('reverted');
    expect(await versions()).toEqual(everywhere({ 'kv:1': 6 }));
  });

  test('is followed by a canary that had begun to go back to the new version', async () => {
    const deploy = await completed();
    const guest = await canary(2);
    await isBaking(guest);
    const answers = answering(world, ({ urgency, updateId }) =>
      urgency === 'revert' && updateId?.includes('/canary/') ? away() : undefined,
    );
    await guest.reaches(({ state }) => state === 'reverting', { stepMs: 5 * MINUTE });
    await deploy.command('revert', { reason: 'too slow' });
    expect((await deploy.ended()).outcome).toBe('reverted');
    answers();
    expect(await guest.ended()).toMatchObject({ outcome: 'succeeded' });
    expect(await versions()).toEqual(everywhere({ 'kv:1': 6 }));
  });
});
