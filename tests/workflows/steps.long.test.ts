import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DeployStatus } from '../../domain/views';
import { deploying } from './deploys';
import { HOUR, MINUTE, VirtualWorld } from './world';

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.open();
});
afterEach(() => world.close());

async function jobs(version = 'kv:1'): Promise<void> {
  await world.job('kvstore-x', 'x', 6, { version });
  await world.job('kvstore-y', 'y', 6, { version });
}

const slow = (minutes: number, more: object = {}) => ({
  service: 'slow',
  with: { takesMs: minutes * MINUTE, ...more },
});

/** A deploy whose first phase and completion have these steps. */
const push = (steps: object, more: object = {}) =>
  deploying(world, {}, { phases: [{ name: 'first', scope: 'region:x', amount: 3, bake: '10m', ...steps }], ...more });

/** `0/pre/0/1`: phase, time, index and attempt of each run. */
const runs = () => world.slow.runs.map(({ runId }) => runId.split('/').slice(-4).join('/'));
const kinds = ({ timeline }: DeployStatus) => timeline.map(({ kind }) => kind);
const ms = (at: string | null | undefined) => Date.parse(at ?? '');

test('steps run before the updates and after the bake of their phase, and before and after the completion', async () => {
  await jobs();
  const deploy = await push({ pre: [slow(5), slow(1)], post: [slow(7)] });
  expect(await deploy.ended()).toMatchObject({ outcome: 'succeeded' });
  const order = ['pre/0/1', 'pre/1/1', 'post/0/1'];
  expect(runs()).toEqual([...order.map((run) => `0/${run}`), ...order.map((run) => `1/${run}`)]);
  const [first, second, post] = world.slow.runs;
  const { phases, spans, startedAt, endedAt } = await deploy.status();
  expect(first!.toMs).toBeLessThanOrEqual(second!.fromMs);
  expect(second!.toMs).toBeLessThanOrEqual(ms(phases[0]?.updatedAt));
  expect(ms(phases[0]?.bakedAt)).toBeLessThanOrEqual(post!.fromMs);
  expect(post!.toMs).toBeLessThanOrEqual(ms(phases[1]?.startedAt));
  expect(spans.preMs).toBeGreaterThanOrEqual(12 * MINUTE);
  expect(spans.postMs).toBeGreaterThanOrEqual(14 * MINUTE);
  const total = Object.values(spans).reduce((sum, span) => sum + span, 0);
  expect(total).toBe(ms(endedAt) - ms(startedAt));
});

test('a service gets the phase and its units, beside what is written', async () => {
  await jobs();
  const deploy = await push({ pre: [slow(0, { away: true })] });
  await deploy.ended();
  expect(world.slow.runs.map((run) => run.with)).toEqual([
    { takesMs: 0, away: true, phase: 'first', units: ['kvstore-x'] },
    { takesMs: 0, away: true, phase: 'completion', units: ['kvstore-x', 'kvstore-y'] },
  ]);
});

test('no step, and no undo of one, names a unit that was left out', async () => {
  await jobs();
  const { id } = await world.control<{ id: string }>('POST', '/control/faults', { kind: 'region', id: 'y' });
  const pre = [{ ...slow(0, { away: true }), undo: slow(0, { away: false }) }];
  const deploy = await push({ scope: '*', bake: '1h', pre }, { onUnitUnavailable: 'skip' });
  await deploy.reaches(({ state }) => state === 'baking');
  await world.control('DELETE', `/control/faults/${id}`);
  await deploy.command('cancel');
  await deploy.ended();
  expect(world.slow.runs.map((run) => run.with)).toEqual(
    [true, false].map((away) => ({ takesMs: 0, away, phase: 'first', units: ['kvstore-x'] })),
  );
});

test('where nothing has to be updated no step runs, neither before a phase nor at the completion', async () => {
  await jobs('kv:2');
  const deploy = await push({ pre: [slow(5)], post: [slow(5)] });
  expect(await deploy.ended()).toMatchObject({ outcome: 'succeeded' });
  expect(runs()).toEqual([]);
});

test('a command sees its phase in its environment', async () => {
  await jobs();
  const folder = mkdtempSync(join(tmpdir(), 'conveyor-steps-'));
  const script = `
    const facts = Object.entries(process.env).filter(([name]) => name.startsWith('CONVEYOR_'));
    const seen = { ...Object.fromEntries(facts), CONVEYOR_UNITS: fs.readFileSync(process.env.CONVEYOR_UNITS, 'utf8') };
    fs.writeFileSync(process.argv[1] + '/' + process.env.CONVEYOR_PHASE, JSON.stringify(seen));`;
  try {
    const deploy = await push({ pre: [{ command: [process.execPath, '-e', script, folder] }] });
    expect(await deploy.ended()).toMatchObject({ outcome: 'succeeded' });
    const seen = (phase: string) => JSON.parse(readFileSync(join(folder, phase), 'utf8')) as object;
    expect(seen('first')).toEqual({
      CONVEYOR_DEPLOY: 'kvstore/2/deploy',
      CONVEYOR_PHASE: 'first',
      CONVEYOR_PIPELINE: 'kvstore',
      CONVEYOR_PREVIOUS_VERSION: 'kv:1',
      CONVEYOR_RELEASE: 'kvstore/2',
      CONVEYOR_RUN: 'deploy/kvstore/2/deploy/1/0/pre/0/1',
      CONVEYOR_UNITS: 'kvstore-x\n',
      CONVEYOR_VERSION: 'kv:2',
    });
    expect(seen('completion')).toMatchObject({ CONVEYOR_UNITS: 'kvstore-x\nkvstore-y\n' });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('while paused a step that runs continues, and the next does not start', async () => {
  await jobs();
  const deploy = await push({ pre: [slow(10), slow(10)] });
  await deploy.reaches(({ state }) => state === 'preprocessing');
  await deploy.command('pause');
  await world.sleep(2 * HOUR);
  expect(await deploy.status()).toMatchObject({ state: 'preprocessing', paused: { by: 'operator' } });
  expect(world.slow.runs).toMatchObject([{ fails: false }]);
  expect(world.slow.runs[0]).not.toHaveProperty('cancelled');
  await deploy.command('resume');
  expect(await deploy.ended()).toMatchObject({ outcome: 'succeeded' });
  expect(runs().slice(0, 2)).toEqual(['0/pre/0/1', '0/pre/1/1']);
});

test('a step that fails pauses the deploy, and runs again under another id once a person resumes', async () => {
  await jobs();
  const deploy = await push({ pre: [slow(1, { fails: 1 })] });
  const paused = await deploy.reaches((status) => status.paused !== null);
  expect(paused).toMatchObject({ state: 'preprocessing', paused: { by: 'action' }, phases: [{ units: [] }, {}] });
  expect(paused.paused?.reason).toBe('first: before the updates: slow failed: it does not work');
  await deploy.command('resume');
  await deploy.reaches(({ state }) => state === 'baking');
  expect(runs()).toEqual(['0/pre/0/1', '0/pre/0/2']);
  await deploy.command('cancel');
  await deploy.ended();
});

test('with onFailure: revert a step that fails after the bake reverts, and condemns the version', async () => {
  await jobs();
  const deploy = await push({ post: [{ ...slow(1, { fails: 1 }), onFailure: 'revert' }] });
  expect(await deploy.ended()).toMatchObject({
    outcome: 'reverted',
    classification: 'good-failure',
    reverted: { by: 'health', bad: true },
    reason: 'reverted automatically: first: after the bake: slow failed: it does not work',
  });
  expect((await world.jobs()).map(({ versions }) => versions)).toEqual([{ 'kv:1': 6 }, { 'kv:1': 6 }]);
});

test('a step that takes longer than its timeout is stopped, and counts as failed', async () => {
  await jobs();
  const deploy = await push({ pre: [{ ...slow(300), timeout: '10m' }] });
  const { paused } = await deploy.reaches((status) => status.paused !== null);
  expect(paused).toMatchObject({ by: 'action', reason: expect.stringContaining('it took longer than 10m') });
  expect(world.slow.runs).toMatchObject([{ cancelled: true }]);
  await deploy.command('cancel');
  await deploy.ended();
});

test('a service that is silent shows as a pause until it answers, and the step runs once', async () => {
  await jobs();
  const deploy = await push({ pre: [slow(20)] });
  await deploy.reaches(({ state }) => state === 'preprocessing');
  world.slow.down = true;
  const { paused } = await deploy.reaches((status) => status.paused !== null);
  expect(paused).toMatchObject({ by: 'dependency', reason: expect.stringContaining('slow does not answer') });
  await world.sleep(HOUR);
  world.slow.down = false;
  const { spans } = await deploy.reaches(({ state }) => state === 'baking');
  expect(runs()).toEqual(['0/pre/0/1']);
  expect(spans.dependencyWaitMs).toBeGreaterThan(HOUR);
  await deploy.command('cancel');
  await deploy.ended();
});

test('a step that is refused never reverts: it waits for a person', async () => {
  await jobs();
  const deploy = await push({ pre: [{ service: 'nobody', onFailure: 'revert' }] });
  const { paused } = await deploy.reaches((status) => status.paused !== null);
  expect(paused).toMatchObject({
    by: 'dependency',
    reason: expect.stringContaining('no action-service called nobody'),
  });
  await deploy.command('skip-phase');
  const status = await deploy.reaches(({ phases }) => phases[1]?.state === 'running');
  expect(status.phases[0]).toMatchObject({ state: 'skipped', units: [] });
  await deploy.command('cancel');
  await deploy.ended();
});

test.each([
  ['continues is not done twice', 'error', ['0/pre/0/1']],
  [
    'has stopped all the same runs again, and that it was stopped reverts nothing',
    'garbage',
    ['0/pre/0/1', '0/pre/0/2'],
  ],
] as const)('a step with an unknown outcome that %s', async (_, mode, expected) => {
  await jobs();
  const deploy = await push({ pre: [{ ...slow(20), onFailure: 'revert' }] });
  await deploy.reaches(({ state }) => state === 'preprocessing');
  const fault = async (method: string, how: string) => {
    const wanted = { kind: 'http', service: 'slow', method, mode: how };
    return (await world.control<{ id: string }>('POST', '/control/faults', wanted)).id;
  };
  const faults = [await fault('getRunProgress', 'garbage'), await fault('cancelRun', mode)];
  const { paused } = await deploy.reaches((status) => status.paused !== null);
  expect(paused).toMatchObject({ by: 'dependency', reason: expect.stringContaining('slow cannot be run') });
  await world.sleep(HOUR);
  for (const id of faults) await world.control('DELETE', `/control/faults/${id}`);
  await deploy.command('resume');
  await deploy.reaches(({ state }) => state === 'baking');
  expect(runs()).toEqual(expected);
  await deploy.command('cancel');
  await deploy.ended();
});

test('a step that was stopped since its service answered nonsense runs again under another id', async () => {
  await jobs();
  const deploy = await push({ pre: [slow(20)] });
  await deploy.reaches(({ state }) => state === 'preprocessing');
  const fault = { kind: 'http', service: 'slow', method: 'getRunProgress', mode: 'garbage' };
  const { id } = await world.control<{ id: string }>('POST', '/control/faults', fault);
  await deploy.reaches((status) => status.paused !== null);
  await world.control('DELETE', `/control/faults/${id}`);
  await deploy.command('resume');
  await deploy.reaches(({ state }) => state === 'baking');
  expect(runs()).toEqual(['0/pre/0/1', '0/pre/0/2']);
  await deploy.command('cancel');
  await deploy.ended();
});

test('a step that had succeeded before its service answered nonsense is not done twice', async () => {
  await jobs();
  const fault = { kind: 'http', service: 'slow', method: 'getRunProgress', mode: 'garbage' };
  const { id } = await world.control<{ id: string }>('POST', '/control/faults', fault);
  const deploy = await push({ pre: [slow(0)] });
  await deploy.reaches((status) => status.paused !== null);
  await world.control('DELETE', `/control/faults/${id}`);
  await deploy.command('resume');
  await deploy.reaches(({ state }) => state === 'baking');
  expect(runs()).toEqual(['0/pre/0/1']);
  await deploy.command('cancel');
  await deploy.ended();
});

test('a step that had failed before its service answered nonsense has failed', async () => {
  await jobs();
  world.slow.broken.add('deploy');
  const fault = { kind: 'http', service: 'slow', method: 'getRunProgress', mode: 'garbage' };
  const { id } = await world.control<{ id: string }>('POST', '/control/faults', fault);
  const deploy = await push({ pre: [{ ...slow(0), onFailure: 'revert' }] });
  await deploy.reaches((status) => status.paused !== null);
  await world.control('DELETE', `/control/faults/${id}`);
  await deploy.command('resume');
  expect(await deploy.ended()).toMatchObject({ outcome: 'reverted' });
  expect(kinds(await deploy.status())).toContain('step-failed');
  expect(runs()).toEqual(['0/pre/0/1']);
});

test('health is still checked while steps run, and may revert the deploy', async () => {
  await jobs();
  await world.describeVersion('kv:2', { errorRatio: 0.2, afterMs: 30 * MINUTE });
  const deploy = await push({ post: [slow(600)] });
  expect(await deploy.ended({ withinMs: 3 * HOUR })).toMatchObject({ outcome: 'reverted', reverted: { by: 'health' } });
  expect(world.slow.runs).toMatchObject([{ cancelled: true }]);
  expect(kinds(await deploy.status())).toContain('bake-passed');
});
