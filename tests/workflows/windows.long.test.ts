import { Worker } from '@temporalio/worker';
import { windowAt, type Window } from '../../domain/calendar/window';
import type { DeployInput } from '../../domain/deploy/state';
import { createSinks } from '../../workers/sinks';
import { deploying, EACH_MINUTE, type LoneDeploy } from './deploys';
import { HOUR, MINUTE, VirtualWorld, type JobView } from './world';

const LA = 'America/Los_Angeles';
const OFFICE = { days: ['mon', 'tue', 'wed', 'thu'], from: '09:00', to: '18:00', timezone: LA } as const;
const window = (onClose: 'pause' | 'finish-phase' | 'finish' = 'pause'): Pick<DeployInput, 'window'> => ({
  window: { ...OFFICE, days: [...OFFICE.days], onClose },
});

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.ofKvstore();
});
afterEach(() => world.close());

const versions = async () => Object.fromEntries((await world.jobs()).map((job: JobView) => [job.name, job.versions]));

/** `Tue 09:00`, as clocks in Los Angeles show it. */
const wall = (at: string | number | null | undefined): string =>
  new Date(at ?? NaN)
    .toLocaleString('en-US', { timeZone: LA, weekday: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
    .replace(',', '');

/** Lets time pass until clocks in Los Angeles show this. */
async function untilWall(day: Window['days'][number], from: string): Promise<void> {
  const now = await world.now();
  const state = windowAt({ days: [day], from, to: from === '23:59' ? '24:00' : '23:59', timezone: LA }, now);
  const next = state.open ? windowAt({ days: [day], from, to: '23:59', timezone: LA }, state.closesAtMs) : state;
  if (!next.open) await world.sleep(next.opensAtMs - now);
}

/** Nights are long: health and progress are looked at only as often as these stories need. */
const begin = (input: Partial<DeployInput>, deploy: Parameters<typeof deploying>[2] = {}): Promise<LoneDeploy> =>
  deploying(world, { settings: EACH_MINUTE, ...input }, { healthInterval: '15m', ...deploy });

/** One task at a time, several minutes each. */
const SLOW = { nSmall: 1, timings: { fetchMs: 3 * MINUTE, stopMs: 1_000, startMs: MINUTE } };
async function slowly(tasks: number): Promise<{ config: { jobs: string[] } }> {
  await world.job('kvstore-slow', 'x', tasks, SLOW);
  return { config: { jobs: ['kvstore-slow'] } };
}
const live = async (deploy: LoneDeploy, phase = 0) => (await deploy.status()).phases[phase]?.units[0]?.live ?? 0;
const COARSE = { stepMs: 2 * HOUR, withinMs: 96 * HOUR };

test('no update starts before the window opens, to the minute, and every phase begins inside it', async () => {
  await untilWall('mon', '17:45');
  const deploy = await begin(window(), { phases: [{ scope: '*', amount: 3, bake: '1h' }] });
  await deploy.reaches(({ phases }) => Boolean(phases[0]?.bakeUntil));
  const { summary } = await deploy.reaches(({ state }) => state === 'waiting-window', { stepMs: 10 * MINUTE });
  expect(wall(summary.split(' at ')[1])).toBe('Tue 09:00');
  const result = await deploy.ended(COARSE);
  expect(result.outcome).toBe('succeeded');
  const { phases } = await deploy.status();
  expect(phases.map(({ startedAt }) => wall(startedAt))).toEqual(['Mon 17:45', 'Tue 09:00']);
  expect(wall(phases[0]?.bakedAt)).toMatch(/^Mon 18:4\d$/);
  expect(result.spans.windowWaitMs).toBeGreaterThan(14 * HOUR);
  expect(result.spans.pausedMs).toBe(0);
});

test('it continues in the first of several windows to open', async () => {
  await untilWall('mon', '17:45');
  const evening = { ...OFFICE, days: [...OFFICE.days], from: '20:00', to: '21:00', onClose: 'pause' as const };
  const deploy = await begin(
    { window: [window().window, evening].flat() as DeployInput['window'] },
    { phases: [{ scope: '*', amount: 3, bake: '1h' }] },
  );
  await deploy.ended(COARSE);
  const { phases } = await deploy.status();
  expect(phases.map(({ startedAt }) => wall(startedAt))).toEqual(['Mon 17:45', 'Mon 20:00']);
});

test('it opens at the same wall time after the clocks were put forward over the weekend', async () => {
  const zone = (at: number) => new Date(at).toLocaleString('en-US', { timeZone: LA, timeZoneName: 'short' }).slice(-3);
  await untilWall('sat', '12:00');
  for (
    let weeks = 0;
    !(zone(await world.now()) === 'PST' && zone((await world.now()) + 24 * HOUR) === 'PDT');
    weeks += 1
  ) {
    expect(weeks).toBeLessThan(60);
    await world.sleep(7 * 24 * HOUR);
  }
  const deploy = await begin(window(), { phases: [{ scope: '*', amount: 3, bake: '10m' }] });
  await deploy.reaches(({ state }) => state === 'waiting-window');
  await deploy.ended(COARSE);
  const [first] = (await deploy.status()).phases;
  expect(wall(first?.startedAt)).toBe('Mon 09:00');
  expect(first?.startedAt?.slice(11, 16)).toBe('16:00');
});

describe('a window that closes in the middle of updates', () => {
  test('pauses them in the fleet until it opens again, and the update timeout does not run', async () => {
    await untilWall('wed', '17:20');
    const deploy = await begin(window(), {
      ...(await slowly(20)),
      phases: [{ scope: '*', amount: '100%', bake: '10m', updateTimeout: '3h' }],
    });
    await deploy.reaches(({ state }) => state === 'waiting-window', { stepMs: 5 * MINUTE });
    expect(wall(await world.now())).toMatch(/^Wed 18:0\d$/);
    expect((await deploy.status()).paused).toBeNull();
    await world.sleep(10 * MINUTE);
    const then = await versions();
    expect(then['kvstore-slow']?.['kv:1']).toBeGreaterThan(0);
    expect(then['kvstore-slow']?.['kv:2']).toBeGreaterThan(0);
    await world.sleep(14 * HOUR);
    expect(await versions()).toEqual(then);
    const result = await deploy.ended(COARSE);
    expect(result).toMatchObject({ outcome: 'succeeded', spans: { pausedMs: 0 } });
    expect(Math.round(result.spans.windowWaitMs / MINUTE)).toBe(15 * 60);
    const { timeline } = await deploy.status();
    expect(timeline.find(({ kind }) => kind === 'window-closed')?.text).toContain(
      'no update starts until the window opens',
    );
  });

  test('lets the phase finish its updates with finish-phase, and the next one waits', async () => {
    await untilWall('wed', '17:20');
    const deploy = await begin(window('finish-phase'), {
      ...(await slowly(20)),
      phases: [{ scope: '*', amount: 15, bake: '10m' }],
    });
    await deploy.reaches(({ state }) => state === 'waiting-window', { stepMs: 10 * MINUTE });
    const [first] = (await deploy.status()).phases;
    expect(first).toMatchObject({ state: 'succeeded' });
    expect(wall(first?.updatedAt)).toMatch(/^Wed 18:[1-3]\d$/);
    await deploy.ended(COARSE);
    expect(wall((await deploy.status()).phases[1]?.startedAt)).toBe('Thu 09:00');
  });
});

test('with finish a deploy that has begun goes through all of its phases; one that has not waits', async () => {
  await untilWall('wed', '17:40');
  const deploy = await begin(window('finish'), { phases: [{ scope: '*', amount: 3, bake: '1h' }] });
  await deploy.ended(COARSE);
  const { phases } = await deploy.status();
  expect(wall(phases[0]?.startedAt)).toMatch(/^Wed 17:4\d$/);
  expect(wall(phases[1]?.startedAt)).toMatch(/^Wed 18:[45]\d$/);
  const late = await begin({ ...window('finish'), release: 3 }, { phases: [{ scope: '*', amount: 3, bake: '1h' }] });
  await late.ended(COARSE);
  expect((await late.status()).phases.map(({ startedAt }) => wall(startedAt)?.slice(0, 6))).toEqual([
    'Thu 09',
    'Thu 10',
  ]);
});

test('a bake continues at night, and reverts then', async () => {
  await world.describeVersion('kv:2', { errorRatio: 0.2, afterMs: 3 * HOUR });
  await untilWall('mon', '17:30');
  const deploy = await begin(window(), { phases: [{ scope: '*', amount: 3, bake: '1h' }] });
  expect(await deploy.ended({ stepMs: 15 * MINUTE })).toMatchObject({ outcome: 'reverted' });
  const { endedAt, state } = await deploy.status();
  expect(state).toBe('ended');
  expect(wall(endedAt)).toMatch(/^Mon 2\d:/);
  expect(await versions()).toEqual({ 'kvstore-x': { 'kv:1': 6 }, 'kvstore-y': { 'kv:1': 6 } });
});

describe('a command while it waits for its window', () => {
  const half = async () => {
    await untilWall('mon', '17:40');
    const deploy = await begin(window(), {
      ...(await slowly(20)),
      phases: [{ scope: '*', amount: '100%', bake: '10m' }],
    });
    await deploy.reaches(({ state }) => state === 'waiting-window', { stepMs: 5 * MINUTE });
    return deploy;
  };

  test('pause: it stays paused when the window opens, and continues when resumed', async () => {
    const deploy = await half();
    await deploy.command('pause');
    await world.sleep(16 * HOUR);
    const before = await live(deploy);
    expect(await deploy.status()).toMatchObject({ paused: { by: 'operator' } });
    await deploy.command('resume');
    await deploy.reaches(({ state, paused }) => state === 'updating' && paused === null);
    await deploy.reaches(({ phases }) => (phases[0]?.units[0]?.live ?? 0) > before);
    expect((await deploy.ended(COARSE)).outcome).toBe('succeeded');
  });

  test('cancel: it ends at once', async () => {
    const deploy = await half();
    await deploy.command('cancel');
    expect(await deploy.ended({ stepMs: 10_000 })).toMatchObject({ outcome: 'cancelled' });
    expect(wall((await deploy.status()).endedAt)).toMatch(/^Mon 18:/);
  });

  test('revert: it reverts at once, since a revert knows no window', async () => {
    const deploy = await half();
    await deploy.command('revert');
    expect(await deploy.ended()).toMatchObject({ outcome: 'reverted' });
    expect(wall((await deploy.status()).endedAt)).toMatch(/^Mon \d\d:/);
    expect(await versions()).toMatchObject({ 'kvstore-slow': { 'kv:1': 20 } });
  });

  test('skip-phase: the rest of the phase is dropped, and the next one begins when the window opens', async () => {
    const deploy = await half();
    await deploy.command('skip-phase');
    await deploy.reaches(({ phases, state }) => phases[0]?.state === 'skipped' && state === 'waiting-window');
    await deploy.ended(COARSE);
    expect(wall((await deploy.status()).phases[1]?.startedAt)).toBe('Tue 09:00');
  });
});

describe('skip-window', () => {
  test('continues at once and through every phase, bakes included, and is on record', async () => {
    await untilWall('mon', '18:30');
    const deploy = await begin(window(), { phases: [{ scope: '*', amount: 3, bake: '1h' }] });
    await deploy.reaches(({ state }) => state === 'waiting-window');
    await deploy.command('skip-window', { actor: 'user:alice', reason: 'it cannot wait' });
    await expect(deploy.command('skip-window')).rejects.toMatchObject({
      cause: { message: 'user:alice has already skipped its window' },
    });
    expect(await deploy.ended()).toMatchObject({ outcome: 'succeeded' });
    const { phases, endedAt, commands, timeline } = await deploy.status();
    expect(wall(phases[0]?.startedAt)).toMatch(/^Mon 18:3\d$/);
    expect(wall(phases[1]?.startedAt)).toMatch(/^Mon 19:\d\d$/);
    expect(wall(endedAt)).toMatch(/^Mon \d\d:/);
    expect(commands[0]).toMatchObject({ verb: 'skip-window', actor: 'user:alice', reason: 'it cannot wait' });
    expect(timeline.map(({ text }) => text)).toContain('skip-window by user:alice: it cannot wait');
  });

  test('lets updates continue that the closing has paused', async () => {
    await untilWall('wed', '17:20');
    const deploy = await begin(window(), {
      ...(await slowly(20)),
      phases: [{ scope: '*', amount: '100%', bake: '10m' }],
    });
    await deploy.reaches(({ state }) => state === 'waiting-window', { stepMs: 5 * MINUTE });
    await deploy.command('skip-window');
    await deploy.ended({ stepMs: 10 * MINUTE });
    expect(wall((await deploy.status()).endedAt)).toMatch(/^Wed \d\d:/);
  });

  test('is refused while nothing waits for a window', async () => {
    await untilWall('mon', '10:00');
    const deploy = await begin(window(), { phases: [{ scope: '*', amount: 3, bake: '1h' }] });
    await deploy.reaches(({ state }) => state === 'baking');
    await expect(deploy.command('skip-window')).rejects.toMatchObject({
      cause: { message: 'it is not waiting for a window' },
    });
    await deploy.command('cancel');
    await deploy.ended({ stepMs: 10_000 });
  });
});

test('a worker that takes over while it waits, or later, comes to the same steps', async () => {
  await untilWall('mon', '17:45');
  const deploy = await begin(window(), { phases: [{ scope: '*', amount: 3, bake: '1h' }] });
  await deploy.reaches(({ state }) => state === 'waiting-window', { stepMs: 10 * MINUTE });
  const takeOver = async () => {
    const workflowBundle = { codePath: process.env['CONVEYOR_TEST_BUNDLE'] ?? '' };
    await Worker.runReplayHistory(
      { workflowBundle, sinks: createSinks() },
      await deploy.handle.fetchHistory(),
      deploy.handle.workflowId,
    );
  };
  await expect(takeOver()).resolves.toBeUndefined();
  expect((await deploy.ended(COARSE)).outcome).toBe('succeeded');
  await expect(takeOver()).resolves.toBeUndefined();
});

describe('no window is waited for', () => {
  test('by a rollback', async () => {
    await untilWall('sat', '03:00');
    const deploy = await begin({ ...window(), rollback: true });
    expect(await deploy.ended()).toMatchObject({ outcome: 'succeeded', spans: { windowWaitMs: 0 } });
  });

  test('by an emergency, which counts nothing that was unhealthy before it, and need not bake', async () => {
    await world.describeVersion('kv:1', { errorRatio: 0.2 });
    await world.describeVersion('kv:2', { errorRatio: 0.2 });
    await untilWall('sat', '03:00');
    const before = await world.now();
    const deploy = await begin({ ...window(), emergency: { skipBake: true } });
    expect(await deploy.ended({ stepMs: MINUTE })).toMatchObject({
      outcome: 'succeeded',
      spans: { windowWaitMs: 0, bakeMs: 0, pausedMs: 0 },
    });
    expect((await world.now()) - before).toBeLessThan(15 * MINUTE);
    const { timeline } = await deploy.status();
    expect(timeline.map(({ text }) => text)).toContain('errors not counted: unhealthy before the emergency push');
  });

  test('but an emergency that makes it worse is reverted', async () => {
    await world.describeVersion('kv:2', { errorRatio: 0.2 });
    await untilWall('sat', '03:00');
    const deploy = await begin({ ...window(), emergency: { skipBake: false } });
    expect(await deploy.ended()).toMatchObject({ outcome: 'reverted' });
  });
});

test('a step before the updates waits for the window as they do, also when it is to run again', async () => {
  await untilWall('mon', '17:30');
  const step = { service: 'slow', with: { takesMs: 45 * MINUTE, fails: 1 } };
  const deploy = await begin(window(), { phases: [{ scope: '*', amount: 3, bake: '10m', pre: [step] }] });
  await deploy.reaches(({ paused }) => paused?.by === 'action');
  await deploy.command('resume');
  await deploy.reaches(({ state }) => state === 'preprocessing', { ...COARSE, stepMs: 15 * MINUTE });
  await deploy.reaches(({ state }) => state === 'baking', { ...COARSE, stepMs: 5 * MINUTE });
  expect(world.slow.runs.map(({ fromMs }) => wall(fromMs))).toEqual(['Mon 17:30', 'Tue 09:00']);
  await deploy.command('cancel');
  await deploy.ended(COARSE);
});
