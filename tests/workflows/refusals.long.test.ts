import { kvstore } from './pipelines';
import { HOUR, MINUTE, VirtualWorld } from './world';

const DEPLOY = 'deploy/kvstore/1/deploy/1';

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.open();
  await world.job('kvstore-slow', 'x', 40, {
    nSmall: 2,
    timings: { fetchMs: MINUTE, stopMs: 1_000, startMs: MINUTE },
  });
});
afterEach(() => world.close());

/** A deploy of a job whose update takes about forty minutes, in the middle of that update. */
async function updating(): Promise<void> {
  const phases = [{ scope: '*', amount: '50%', bake: '1h' }];
  await world.apply(kvstore({ config: { jobs: ['kvstore-slow'] }, phases }), { revertRetryMs: 10 * MINUTE });
  await world.release('kvstore', 'kv:2');
  await world.reaches('kvstore', 1, ({ state }) => state === 'updating', { stepMs: 1_000 });
  await world.sleep(5 * MINUTE);
}

/** Makes a method return garbage; the returned function fixes it. */
async function garbage(method: string): Promise<() => Promise<unknown>> {
  const fault = { kind: 'http', service: 'twine', method, mode: 'garbage' };
  const { id } = await world.control<{ id: string }>('POST', '/control/faults', fault);
  return () => world.control('DELETE', `/control/faults/${id}`);
}

const slow = async () => (await world.jobs()).find(({ name }) => name === 'kvstore-slow');

test.each(['cancel', 'revert'] as const)(
  '%s is obeyed also where the push type refuses to pause its updates',
  async (verb) => {
    await updating();
    await garbage('pauseUpdates');
    await world.command(DEPLOY, 'pause');
    await world.sleep(10 * MINUTE);
    await world.command(DEPLOY, verb);
    await world.ended('kvstore', 1);
    expect(await world.deployStatus('kvstore', 1)).toMatchObject({
      outcome: verb === 'cancel' ? 'cancelled' : 'reverted',
    });
  },
);

describe('a push type that has forgotten the update', () => {
  const forget = () => {
    const { fleet } = world.simulator.simulation;
    for (const job of fleet.jobs.values()) job.active = [];
    fleet.updates.clear();
  };

  test('pauses the deploy, and gets the update again once a person resumes', async () => {
    await updating();
    forget();
    const { paused } = await world.reaches('kvstore', 1, (status) => status.paused !== null);
    expect(paused?.reason).toContain('no update deploy/kvstore/1/deploy/1/0/1');
    await world.command(DEPLOY, 'resume');
    await world.ended('kvstore', 1);
    expect(await world.deployStatus('kvstore', 1)).toMatchObject({ outcome: 'succeeded' });
    expect(await slow()).toMatchObject({ versions: { 'kv:2': 40 }, jobVersion: 'kv:2' });
  });

  test('gets it again also where it has updated no task yet, so that there is no verdict', async () => {
    await world.apply(kvstore({ config: { jobs: ['kvstore-slow'] }, phases: [{ scope: '*', amount: 2, bake: '1h' }] }));
    await world.release('kvstore', 'kv:2');
    await world.reaches('kvstore', 1, ({ state }) => state === 'updating', { stepMs: 1_000 });
    forget();
    for (const { tasks } of world.simulator.simulation.fleet.jobs.values()) tasks.update.fill(0);
    await world.reaches('kvstore', 1, ({ paused }) => paused?.until === 'resumed');
    await world.command(DEPLOY, 'resume');
    const { timeline } = await world.reaches('kvstore', 1, ({ paused }) => paused === null, { withinMs: HOUR });
    expect(timeline.map(({ text }) => text)).toContainEqual(expect.stringContaining('another try sends it'));
    await world.reaches('kvstore', 1, ({ state }) => state === 'baking', { withinMs: HOUR });
  });
});

test('health checks that are refused once are made again while paused, and still revert', async () => {
  const phases = [{ scope: '*', amount: 2, bake: '1h' }];
  await world.describeVersion('kv:2', { errorRatio: 0.2, afterMs: 2 * HOUR });
  await world.apply(kvstore({ config: { jobs: ['kvstore-slow'] }, phases }));
  await world.release('kvstore', 'kv:2');
  await world.reaches('kvstore', 1, ({ state }) => state === 'baking');
  const fix = await garbage('runHealthChecks');
  await world.command(DEPLOY, 'pause');
  await world.sleep(HOUR);
  await fix();
  await world.ended('kvstore', 1);
  expect(await world.deployStatus('kvstore', 1)).toMatchObject({ outcome: 'reverted', revert: { by: 'health' } });
});

describe('a revert that the push type refuses', () => {
  test('is tried again by itself until it is taken', async () => {
    await updating();
    const fix = await garbage('executeUpdates');
    await world.command(DEPLOY, 'revert');
    await world.reaches('kvstore', 1, ({ state, paused }) => state === 'reverting' && paused !== null);
    await fix();
    await world.ended('kvstore', 1, { withinMs: 3 * HOUR });
    expect(await world.deployStatus('kvstore', 1)).toMatchObject({ outcome: 'reverted' });
    expect((await slow())?.versions).toEqual({ 'kv:1': 40 });
  });

  test('is tried for days without filling its history', async () => {
    await updating();
    await garbage('executeUpdates');
    await world.command(DEPLOY, 'revert');
    await world.sleep(48 * HOUR);
    const { historyLength } = await world.client.workflow.getHandle(DEPLOY).describe();
    expect(historyLength).toBeLessThan(1_000);
    await world.reaches('kvstore', 1, ({ state, paused }) => state === 'reverting' && paused !== null);
    await world.command(DEPLOY, 'cancel');
    await world.ended('kvstore', 1);
  });

  test('can be ended by a person', async () => {
    await updating();
    await garbage('executeUpdates');
    await world.command(DEPLOY, 'revert');
    await world.reaches('kvstore', 1, ({ state, paused }) => state === 'reverting' && paused !== null);
    await world.command(DEPLOY, 'cancel', { reason: 'by hand, then' });
    await world.ended('kvstore', 1);
    expect(await world.deployStatus('kvstore', 1)).toMatchObject({ outcome: 'revert-failed' });
  });
});
