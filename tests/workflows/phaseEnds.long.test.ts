import type { DeployStatus } from '../../domain/views';
import { CALM } from './flows';
import { deploying, type LoneDeploy } from './deploys';
import { HOUR, MINUTE, VirtualWorld } from './world';
import { DEFAULT_SETTINGS } from '../../domain/settings';

/** A phase ends only when its criterion is met or a person ends it. */

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.open();
  await world.job('kvstore-x', 'x', 24);
});
afterEach(() => world.close());

/** Two of the tasks are unreachable, and are not moved. */
const loseTwo = () => world.control<{ id: string }>('POST', '/control/faults', { kind: 'msb', id: 'x-msb7' });
const restore = ({ id }: { id: string }) => world.control('DELETE', `/control/faults/${id}`);

const ALL = { name: 'all', scope: '*', amount: '100%', success: '95%', bake: '10m', updateTimeout: '30m' } as const;
/** 23 of its 24 tasks are needed. */
const push = (more: object = {}, settings: object = {}): Promise<LoneDeploy> =>
  deploying(
    world,
    { settings: { ...DEFAULT_SETTINGS, heartbeatTimeoutMs: HOUR, ...CALM, ...settings } },
    { config: { jobs: ['kvstore-x'] }, phases: [ALL], healthInterval: '5m', ...more },
  );
const isLate = ({ paused }: DeployStatus) => paused?.by === 'timeout';
const late = (deploy: LoneDeploy) => deploy.reaches(isLate, { stepMs: 5 * MINUTE });
const texts = ({ timeline }: DeployStatus) => timeline.map(({ text }) => text);
const tookMs = ({ paused, phases }: DeployStatus, index = 0) =>
  Date.parse(paused?.at ?? '') - Date.parse(phases[index]?.startedAt ?? '');

test('a phase that misses its criterion pauses when its time is up, not before, and a resume does not pass it', async () => {
  await loseTwo();
  const deploy = await push();
  const first = await late(deploy);
  expect(tookMs(first)).toBeGreaterThanOrEqual(30 * MINUTE);
  expect(first.paused?.reason).toBe('all: 2 tasks not updated in time; 2 tasks unreachable (30m)');
  expect(first.phases[0]?.units).toEqual([{ id: 'kvstore-x', targeted: 24, updated: 22, live: 22 }]);
  await deploy.command('resume');
  await world.sleep(20 * MINUTE);
  expect(await deploy.status()).toMatchObject({ state: 'updating', paused: null });
  const second = await late(deploy);
  expect(Date.parse(second.paused?.at ?? '') - Date.parse(first.paused?.at ?? '')).toBeGreaterThanOrEqual(30 * MINUTE);
  expect(second.phases.map(({ state }) => state)).toEqual(['running', 'waiting']);
  expect(second.phases[0]?.units).toEqual([{ id: 'kvstore-x', targeted: 24, updated: 22, live: 22 }]);
  await deploy.command('cancel');
  expect(await deploy.ended()).toMatchObject({ outcome: 'cancelled', classification: 'bad-failure' });
});

test('a pause by the update timeout ends by itself when the criterion is met', async () => {
  const fault = await loseTwo();
  const deploy = await push();
  await late(deploy);
  await restore(fault);
  expect(await deploy.ended()).toMatchObject({ outcome: 'succeeded' });
  expect(texts(await deploy.status())).toContain('all: its criterion is met after all');
});

test('that does not end the pause of a person who has paused it since', async () => {
  const fault = await loseTwo();
  const deploy = await push();
  await late(deploy);
  await deploy.command('pause');
  await restore(fault);
  await world.sleep(2 * HOUR);
  expect(await deploy.status()).toMatchObject({ state: 'updating', paused: { by: 'operator' } });
  await deploy.command('resume');
  expect(await deploy.ended()).toMatchObject({ outcome: 'succeeded' });
});

test('skip-phase continues without what is missing, with no resume besides', async () => {
  await loseTwo();
  const deploy = await push();
  await late(deploy);
  await deploy.command('skip-phase');
  expect(await deploy.ended()).toMatchObject({ outcome: 'succeeded' });
  expect((await deploy.status()).phases.map(({ state }) => state)).toEqual(['skipped', 'succeeded']);
});

test('in the completion phase a person may accept that tasks are missing, and it says so', async () => {
  const fault = await loseTwo();
  const deploy = await push({ phases: [], completion: { bake: '10m', success: '95%', updateTimeout: '30m' } });
  await late(deploy);
  await expect(deploy.command('skip-phase')).rejects.toThrow();
  await deploy.command('resume', { acceptMissing: true, reason: 'the rack is being scrapped' });
  expect(await deploy.ended()).toMatchObject({
    outcome: 'succeeded',
    reason: 'every unit runs kv:2 except for 2 tasks, accepted by user:alice: the rack is being scrapped',
  });
  expect((await deploy.status()).phases[0]).toMatchObject({ state: 'succeeded', units: [{ targeted: 24, live: 22 }] });
  await restore(fault);
  await world.sleep(10 * MINUTE);
  expect((await world.jobs())[0]).toMatchObject({ jobVersion: 'kv:2', versions: { 'kv:2': 24 } });
});

test('a second try counts with what the first one brought, so that a phase is neither passed nor held up by it', async () => {
  await world.job('kvstore-y', 'y', 24, { nSmall: 1 });
  await world.control('POST', '/control/faults', { kind: 'msb', id: 'y-msb7' });
  await world.describeVersion('kv:2', { crashOnStart: true });
  const deploy = await push({ config: { jobs: ['kvstore-y'] } }, { transientMs: 10 * MINUTE });
  await deploy.reaches((status) => texts(status).some((text) => text.includes('failed to start')));
  await world.describeVersion('kv:2', {});
  const status = await late(deploy);
  expect(status.phases[0]?.units).toEqual([{ id: 'kvstore-y', targeted: 24, updated: 22, live: 22 }]);
  await deploy.command('cancel');
  await deploy.ended();
});

test('a phase whose units are all lost on the way is skipped, and says why', async () => {
  await world.job('kvstore-y', 'y', 12, { timings: { fetchMs: MINUTE, stopMs: 1_000, startMs: MINUTE } });
  const deploy = await push({
    config: { jobs: ['kvstore-x', 'kvstore-y'] },
    onUnitUnavailable: 'skip',
    phases: [
      { ...ALL, name: 'x', scope: 'region:x' },
      { ...ALL, name: 'y', scope: 'region:y' },
    ],
  });
  await deploy.reaches((status) => status.phases[1]?.state === 'running');
  await world.control('POST', '/control/faults', { kind: 'region', id: 'y' });
  await deploy.ended();
  expect((await deploy.status()).phases).toMatchObject([
    { state: 'succeeded' },
    { state: 'skipped', skipped: 'its units are unavailable' },
    { state: 'succeeded' },
  ]);
});
