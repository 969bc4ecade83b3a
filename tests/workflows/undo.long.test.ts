import { deploying } from './deploys';
import { kvstore } from './pipelines';
import { HOUR, MINUTE, VirtualWorld } from './world';

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.ofKvstore();
});
afterEach(() => world.close());

const slow = (minutes: number, more: object = {}) => ({
  service: 'slow',
  with: { takesMs: minutes * MINUTE, ...more },
});
const step = (minutes: number, undo: object = {}) => ({ ...slow(minutes), undo: slow(1, undo) });

const push = (steps: object) =>
  deploying(
    world,
    {},
    {
      phases: [{ name: 'first', scope: 'region:x', amount: 3, bake: '10m', ...steps }],
      completion: { pre: [], post: [] },
    },
  );

const runs = () => world.slow.runs.map(({ runId }) => runId.split('/').slice(-4).join('/'));
const undos = () => runs().filter((run) => run.includes('undo'));

test('a deploy that succeeds undoes nothing', async () => {
  const deploy = await push({ pre: [step(1)], post: [slow(1)] });
  expect(await deploy.ended()).toMatchObject({ outcome: 'succeeded' });
  expect(undos()).toEqual([]);
});

test('cancelled while a step runs, the step is stopped, and undone once', async () => {
  const deploy = await push({ pre: [step(60), step(60)] });
  await deploy.reaches(({ state }) => state === 'preprocessing');
  await deploy.command('cancel');
  expect(await deploy.ended()).toMatchObject({ outcome: 'cancelled', classification: 'good-failure' });
  expect(runs()).toEqual(['0/pre/0/1', '0/undo/0/1']);
  const [stopped, undo] = world.slow.runs;
  expect(stopped).toMatchObject({ cancelled: true });
  expect(stopped!.toMs).toBeLessThanOrEqual(undo!.fromMs);
});

test('a phase that is skipped is undone before the next begins, and not again when the deploy is reverted', async () => {
  const deploy = await push({ pre: [step(1)], bake: '2h' });
  await deploy.reaches(({ state }) => state === 'baking');
  await deploy.command('skip-phase');
  const { phases } = await deploy.reaches((status) => status.phases[1]?.state === 'running');
  expect(undos()).toEqual(['0/undo/0/1']);
  expect(world.slow.runs[1]!.toMs).toBeLessThanOrEqual(Date.parse(phases[1]?.startedAt ?? ''));
  await deploy.command('revert');
  expect(await deploy.ended()).toMatchObject({ outcome: 'reverted' });
  expect(undos()).toEqual(['0/undo/0/1']);
});

test('a revert undoes once every task is back, the last step first, also of phases that went well', async () => {
  const deploy = await push({ pre: [step(1), step(2)], post: [] });
  await deploy.reaches(({ phases, state }) => phases[1]?.state === 'running' && state === 'baking');
  await deploy.command('revert');
  await deploy.ended();
  expect(undos()).toEqual(['0/undo/1/1', '0/undo/0/1']);
  const { revert, spans } = await deploy.status();
  const undone = world.slow.runs.filter(({ runId }) => runId.includes('undo'));
  expect(Date.parse(revert?.endedAt ?? '')).toBeLessThanOrEqual(undone[0]!.fromMs);
  expect(undone[0]!.toMs).toBeLessThanOrEqual(undone[1]!.fromMs);
  expect(spans.revertMs).toBeGreaterThanOrEqual(2 * MINUTE);
});

test('reverted by a person after the bake, the step that runs is stopped', async () => {
  const deploy = await push({ pre: [step(1)], post: [slow(120)] });
  await deploy.reaches(({ state }) => state === 'postprocessing');
  await deploy.command('revert');
  expect(await deploy.ended()).toMatchObject({ outcome: 'reverted' });
  expect(runs()).toEqual(['0/pre/0/1', '0/post/0/1', '0/undo/0/1']);
  expect(world.slow.runs[1]).toMatchObject({ cancelled: true });
  expect((await world.jobs()).map(({ versions }) => versions)).toEqual([{ 'kv:1': 6 }, { 'kv:1': 6 }]);
});

test('an undo that fails is tried again', async () => {
  const deploy = await push({ pre: [step(60, { fails: 2 })] });
  await deploy.reaches(({ state }) => state === 'preprocessing');
  await deploy.command('cancel');
  const { reason } = await deploy.ended();
  expect(undos()).toEqual([1, 2, 3].map((nth) => `0/undo/0/${nth}`));
  expect(reason).not.toContain('not undone');
});

test('an undo whose service loses its answers is asked for again, and done once', async () => {
  const deploy = await push({ pre: [step(1)], bake: '2h' });
  await deploy.reaches(({ state }) => state === 'baking');
  const fault = { kind: 'http', service: 'slow', method: 'startRun', mode: 'lose-reply', rate: 1 };
  const { id } = await world.control<{ id: string }>('POST', '/control/faults', fault);
  await deploy.command('cancel');
  await deploy.reaches(({ timeline }) => timeline.some(({ kind }) => kind === 'undo-failed'));
  await world.control('DELETE', `/control/faults/${id}`);
  expect(await deploy.ended()).toMatchObject({ outcome: 'cancelled' });
  expect(undos()).toEqual(['0/undo/0/1']);
  expect((await deploy.status()).timeline.map(({ kind }) => kind)).toContain('step-undone');
});

test('an undo that fails for ever keeps no deploy from ending, which says so', async () => {
  const deploy = await push({ pre: [step(60, { fails: 99 })] });
  await deploy.reaches(({ state }) => state === 'preprocessing');
  await deploy.command('cancel');
  expect(await deploy.ended({ withinMs: 2 * HOUR })).toMatchObject({
    outcome: 'cancelled',
    reason: 'cancelled by user:alice: a test says so; not undone: slow of first',
  });
  expect(undos()).toHaveLength(3);
  expect((await deploy.status()).timeline).toContainEqual(expect.objectContaining({ kind: 'not-undone' }));
});

test('a revert that a person asks for while a cancelled deploy undoes is done, and the rest is undone after it', async () => {
  const deploy = await push({ pre: [step(1, { takesMs: 4 * MINUTE })], post: [slow(600)] });
  await deploy.reaches(({ state }) => state === 'postprocessing');
  await deploy.command('cancel');
  await world.sleep(2 * MINUTE);
  expect(undos()).toEqual(['0/undo/0/1']);
  await deploy.command('revert');
  expect(await deploy.ended()).toMatchObject({ outcome: 'reverted' });
  expect(undos()).toEqual(['0/undo/0/1', '0/undo/0/2']);
  expect((await world.jobs()).map(({ versions }) => versions)).toEqual([{ 'kv:1': 6 }, { 'kv:1': 6 }]);
});

test('an emergency that preempts waits for one short try to undo', async () => {
  const deploy = await push({ pre: [step(60, { takesMs: 10 * HOUR })] });
  await deploy.reaches(({ state }) => state === 'preprocessing');
  await deploy.overtake('preempted');
  expect(await deploy.ended({ stepMs: MINUTE, withinMs: 10 * MINUTE })).toMatchObject({
    outcome: 'cancelled',
    cause: 'preempted',
    reason: 'preempted by release 9; not undone: slow of first',
  });
  expect(undos()).toEqual(['0/undo/0/1']);
});

test('a revert before anything was updated undoes what was done for it', async () => {
  const deploy = await push({ pre: [step(60)] });
  await deploy.reaches(({ state }) => state === 'preprocessing');
  await deploy.command('revert');
  expect(await deploy.ended()).toMatchObject({ outcome: 'reverted' });
  expect(runs()).toEqual(['0/pre/0/1', '0/undo/0/1']);
});

describe('an emergency that comes while a deploy that is over undoes its steps', () => {
  test('waits for the rest of one short try, however the deploy ends', async () => {
    const deploy = await push({ pre: [step(1, { takesMs: 10 * HOUR })], bake: '2h' });
    await deploy.reaches(({ state }) => state === 'baking');
    await deploy.command('revert');
    await world.until('it undoes', async () => undos().length === 1);
    await deploy.overtake('preempted');
    expect(await deploy.ended({ stepMs: 10_000, withinMs: 2 * MINUTE })).toMatchObject({
      outcome: 'reverted',
      reason: 'reverted by user:alice: a test says so; not undone: slow of first',
    });
    expect(undos()).toEqual(['0/undo/0/1']);
    expect(world.slow.runs.at(-1)).toMatchObject({ cancelled: true });
  });

  test('deploys within minutes, in a pipeline', async () => {
    const phases = [
      { name: 'first', scope: 'region:x', amount: 3, bake: '2h', pre: [step(1, { takesMs: 10 * HOUR })] },
    ];
    await world.apply(kvstore({ phases, completion: { pre: [] } }));
    await world.release('kvstore', 'kv:2');
    await world.reaches('kvstore', 1, ({ state }) => state === 'baking');
    await world.command('deploy/kvstore/1/deploy/1', 'cancel');
    await world.until('it undoes', async () => undos().length === 1);
    const pushedAt = await world.now();
    await world.push('kvstore', 'kv:3', { skipBake: true });
    await world.ended('kvstore', 1, { stepMs: 10_000, withinMs: HOUR });
    expect((await world.now()) - pushedAt).toBeLessThan(2 * MINUTE);
    expect((await world.releaseStatus('kvstore', 1)).cause).toBe('operator');
    expect((await world.deployStatus('kvstore', 1)).summary).toContain('not undone: slow of first');
    expect((await world.ended('kvstore', 2)).state).toBe('succeeded');
  });

  test('waits for no further try', async () => {
    const deploy = await push({ pre: [step(60, { fails: 99 })] });
    await deploy.reaches(({ state }) => state === 'preprocessing');
    await deploy.command('cancel');
    await world.until('it has failed twice', async () => undos().length === 2);
    await world.sleep(20_000);
    await deploy.overtake('preempted');
    const { outcome, cause, reason } = await deploy.ended({ stepMs: 10_000, withinMs: MINUTE });
    expect({ outcome, cause, reason }).toEqual({
      outcome: 'cancelled',
      cause: undefined,
      reason: 'cancelled by user:alice: a test says so; not undone: slow of first',
    });
    expect(undos()).toHaveLength(2);
  });
});
