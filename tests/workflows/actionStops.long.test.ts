import type { Settings } from '../../domain/settings';
import { deploying } from './deploys';
import { actionOf, CALM, flow, overlaps, slowAction, untilAction } from './flows';
import { HOUR, MINUTE, VirtualWorld } from './world';

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.open();
});
afterEach(async () => {
  world.slow.down = world.slow.refuses = false;
  await world.close();
});

type More = Parameters<typeof slowAction>[1];

/** A release of that pipeline, whose only action runs for ten hours. */
async function testing(pipeline: string, more: More = {}, settings: Partial<Settings> = {}): Promise<void> {
  await world.apply(flow({ test: slowAction(600, more) }, { pipeline }), { ...CALM, ...settings });
  await world.release(pipeline, 'kv:2');
  await untilAction(world, 1, 'test', () => runs(pipeline).length === 1, { pipeline });
}

const runs = (pipeline: string) => world.slow.runs.filter((run) => run.pipeline === pipeline);
const cancel = (pipeline: string) => world.command(`release/${pipeline}/1`, 'cancel');
const tested = async (pipeline: string) => actionOf(await world.releaseStatus(pipeline, 1), 'test');

test('a service that is silent for an hour is asked until it has stopped the unwanted run', async () => {
  await testing('left');
  await testing('late', { timeout: '10m', retry: { attempts: 2, backoff: '1s' } });
  world.slow.down = true;
  await cancel('left');
  await world.sleep(HOUR);
  expect(await tested('left')).toMatchObject({
    state: 'blocked',
    blockedBy: 'slow has not said that it stopped attempt 1; it is asked until it does',
  });
  expect(await tested('late')).toMatchObject({ state: 'blocked', attempt: 1 });
  world.slow.down = false;
  expect(await world.ended('left', 1)).toMatchObject({ state: 'cancelled' });
  expect(await tested('left')).toMatchObject({ state: 'cancelled', blockedBy: null });
  expect(runs('left')).toMatchObject([{ cancelled: true }]);

  await untilAction(world, 1, 'test', () => runs('late').length === 2, { pipeline: 'late' });
  const spans = runs('late').map((run) => ({ ...run, release: run.runId }));
  expect(overlaps(spans)).toEqual([]);
  await world.ended('late', 1);
  expect(runs('late')).toMatchObject([{ cancelled: true }, { cancelled: true }]);
});

test('a service that never answers keeps a release from ending for as long as the platform says, and that is on record', async () => {
  await testing('forgotten', {}, { cancelGraceMs: 10 * MINUTE });
  world.slow.down = true;
  await cancel('forgotten');
  const { state, timeline } = await world.ended('forgotten', 1, { withinMs: 30 * MINUTE });
  expect(state).toBe('cancelled');
  const text = expect.stringMatching(/^slow did not stop attempt 1 of test, which may still run: .*it is down/);
  expect(timeline).toContainEqual(expect.objectContaining({ kind: 'not-stopped', text }));
});

test('a service that refuses even to stop a run delays nothing, and people see it', async () => {
  await testing('refused');
  world.slow.refuses = true;
  const { state, timeline } = await world.ended('refused', 1, { withinMs: 30 * MINUTE });
  expect(state).toBe('failed');
  const text = expect.stringMatching(/^slow did not stop attempt 1 of test, which may still run: .*nobody knows it/);
  expect(timeline).toContainEqual(expect.objectContaining({ kind: 'not-stopped', text }));
});

test('an action that had succeeded before its service answered nonsense is not done twice', async () => {
  const fault = { kind: 'http', service: 'slow', method: 'getRunProgress', mode: 'garbage' };
  const { id } = await world.control<{ id: string }>('POST', '/control/faults', fault);
  const retry = { attempts: 2, backoff: '1s' } as const;
  await world.apply(flow({ test: slowAction(0, { retry }) }, { pipeline: 'garbled' }), CALM);
  await world.release('garbled', 'kv:2');
  await untilAction(world, 1, 'test', () => runs('garbled').length === 1, { pipeline: 'garbled', stepMs: 1_000 });
  await world.sleep(10_000);
  await world.control('DELETE', `/control/faults/${id}`);
  expect((await world.ended('garbled', 1)).state).toBe('succeeded');
  expect(runs('garbled')).toHaveLength(1);
});

test('a step of a deploy that is given up while its service is silent is stopped once it answers', async () => {
  await world.job('kvstore-x', 'x', 3);
  const pre = [{ service: 'slow', with: { takesMs: 10 * HOUR } }];
  const phases = [{ scope: '*', amount: 1, bake: '10m', pre }];
  const deploy = await deploying(world, {}, { config: { jobs: ['kvstore-x'] }, phases });
  await world.until('the step runs', () => Promise.resolve(runs('kvstore').length === 1));
  world.slow.down = true;
  await deploy.command('cancel');
  await world.sleep(20_000);
  world.slow.down = false;
  expect(await deploy.ended()).toMatchObject({ outcome: 'cancelled' });
  expect(runs('kvstore')).toMatchObject([{ cancelled: true }]);
});
