import type { PipelineSource } from '../../domain/spec/pipeline';
import type { ReleaseStatus } from '../../domain/views';
import { actionOf, deployAction, endsOf, flow, isAtPick, slowAction, untilAction, type Actions } from './flows';
import { MINUTE, VirtualWorld } from './world';

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.ofKvstore();
});
afterEach(() => world.close());

const SOURCE = { artifacts: { source: { finder: 'manual' } } } satisfies Partial<PipelineSource>;
const BUILD: Actions = { build: slowAction(10, { inputs: ['source'], outputs: ['executable'] }) };
const TEST: Actions = { ...BUILD, test: slowAction(10, { inputs: ['executable'] }) };
const TESTED: Actions = { ...TEST, deploy: deployAction('10m', { needs: ['test'] }) };

const source = (version: string) => ({ name: 'source', kind: 'source', version, metadata: { branch: 'main' } });
const release = (version: string) => world.start('kvstore', { artifacts: [source(version)] });

/** Runs of the action service, as `2 test`. */
const runs = (): string[] => world.slow.runs.map(({ release: number, action }) => `${number} ${action}`);

/** `build carried from 1`, `test succeeded`, … */
const said = ({ actions }: ReleaseStatus): string[] =>
  actions.map(({ name, state, carriedFrom }) => `${name} ${carriedFrom ? `carried from ${carriedFrom}` : state}`);

/** A release whose tests failed, of a pipeline that builds, tests and deploys. */
async function failedTests(actions: Actions = TESTED, more: Partial<PipelineSource> = {}): Promise<void> {
  await world.apply(flow(actions, { ...SOURCE, ...more }));
  world.slow.broken.add('test');
  await release('kv:2');
  await world.ended('kvstore', 1);
  world.slow.broken.clear();
}

test('actions that failed run again in a new release, and those that succeeded are carried over with their outputs', async () => {
  await failedTests();
  expect(await world.rerun('kvstore', 1, { reason: 'the test bed was down' })).toMatchObject({ id: 'kvstore/2' });
  const again = await world.ended('kvstore', 2);
  expect(said(again)).toEqual(['build carried from 1', 'test succeeded', 'deploy succeeded']);
  expect(again).toMatchObject({ state: 'succeeded', rerunOf: 1, trigger: { reason: 'the test bed was down' } });
  expect(runs()).toEqual(['1 build', '1 test', '2 test']);
  for (const job of await world.jobs()) expect(job.versions).toEqual({ 'kv:2': 6 });
  const { releases } = await world.pipelineStatus('kvstore');
  expect(releases.map(({ number, rerunOf }) => [number, rerunOf])).toEqual([
    [1, undefined],
    [2, 1],
  ]);
});

test('a rerun that fails is run again, and carries what the first one had done', async () => {
  await failedTests();
  world.slow.broken.add('test');
  await world.rerun('kvstore', 1);
  await world.ended('kvstore', 2);
  world.slow.broken.clear();
  await world.rerun('kvstore', 2);
  expect(said(await world.ended('kvstore', 3))).toEqual(['build carried from 1', 'test succeeded', 'deploy succeeded']);
  await expect(world.rerun('kvstore', 1)).rejects.toThrow('release 3 ran it again and succeeded');
});

test('an action that is defined otherwise by now runs, and so does one that takes its output in another version', async () => {
  await failedTests();
  await world.apply(flow({ ...TESTED, build: slowAction(5, { inputs: ['source'], outputs: ['executable'] }) }, SOURCE));
  await world.rerun('kvstore', 1);
  expect(said(await world.ended('kvstore', 2))).toEqual(['build succeeded', 'test succeeded', 'deploy succeeded']);
  expect(runs()).toEqual(['1 build', '1 test', '2 build', '2 test']);
});

test('a deploy is always done again: it updates nothing where nothing is to do, and what comes after it is carried', async () => {
  const soak = slowAction(60, { needs: ['deploy'] });
  await failedTests({ ...BUILD, deploy: deployAction(), soak, test: slowAction(1, { needs: ['soak'] }) });
  await world.rerun('kvstore', 1);
  const again = await world.ended('kvstore', 2);
  expect(said(again)).toEqual(['build carried from 1', 'deploy succeeded', 'soak carried from 1', 'test succeeded']);
  expect((await world.deployStatus('kvstore', 2)).spans.bakeMs).toBe(0);
});

test('where the fleet runs something else by now the deploy brings the version back, and what comes after it runs', async () => {
  const soak = slowAction(60, { needs: ['deploy'] });
  await failedTests({ ...BUILD, deploy: deployAction(), soak, test: slowAction(1, { needs: ['soak'] }) });
  await world.apply({
    ...flow({ deploy: deployAction() }, { artifacts: { executable: { finder: 'manual' } } }),
    pipeline: 'other',
  });
  await world.release('other', 'kv:9');
  await world.ended('other', 1);
  await world.rerun('kvstore', 1);
  const again = await world.ended('kvstore', 2);
  expect(said(again)).toEqual(['build carried from 1', 'deploy succeeded', 'soak succeeded', 'test succeeded']);
  for (const job of await world.jobs()) expect(job.versions).toEqual({ 'kv:2': 6 });
});

test('a yes to one release is none to its rerun: a person is asked again', async () => {
  const approve = { type: 'manual-pick', needs: ['build'] } satisfies Actions[string];
  await world.apply(flow({ ...BUILD, approve, test: slowAction(1, { needs: ['approve'] }) }, SOURCE));
  world.slow.broken.add('test');
  await release('kv:2');
  await untilAction(world, 1, 'approve', isAtPick);
  await world.pick('kvstore', 1);
  await world.ended('kvstore', 1);
  await world.rerun('kvstore', 1);
  await untilAction(world, 2, 'approve', isAtPick);
  expect(actionOf(await world.releaseStatus('kvstore', 2), 'build')).toMatchObject({ carriedFrom: 1 });
  await world.sleep(10 * MINUTE);
  expect(runs()).toEqual(['1 build', '1 test']);
  await world.pick('kvstore', 2, { approve: false });
  await world.ended('kvstore', 2);
});

test('a release that was cancelled continues where it stood', async () => {
  await world.apply(flow(TESTED, SOURCE));
  await release('kv:2');
  await untilAction(world, 1, 'test', ({ state }) => state === 'running');
  await world.command('release/kvstore/1', 'cancel', { reason: 'lunch' });
  await world.ended('kvstore', 1);
  await world.rerun('kvstore', 1);
  expect(said(await world.ended('kvstore', 2))).toEqual(['build carried from 1', 'test succeeded', 'deploy succeeded']);
});

test('a version that is known to be bad is refused, until a person allows it', async () => {
  await world.describeVersion('kv:2', { errorRatio: 0.2 });
  await world.apply(flow(TESTED, SOURCE));
  await release('kv:2');
  await world.ended('kvstore', 1);
  await expect(world.rerun('kvstore', 1)).rejects.toMatchObject({
    code: 'known-bad',
    hint: 'if it is good after all: conveyor allow-artifact kvstore executable@kv:2 --reason "…"',
  });
  await world.describeVersion('kv:2', { errorRatio: 0 });
  await world.command('pipeline/kvstore', 'allow-artifact', { artifact: 'executable@kv:2' });
  await world.rerun('kvstore', 1);
  const again = await world.ended('kvstore', 2);
  expect(said(again)).toEqual(['build carried from 1', 'test carried from 1', 'deploy succeeded']);
});

describe('a newer release', () => {
  test('that is under way stays newer: once it is ready the rerun makes way, and nothing older comes after it', async () => {
    await failedTests();
    await release('kv:3');
    await world.rerun('kvstore', 1);
    await world.ended('kvstore', 3);
    await world.ended('kvstore', 2);
    expect(await endsOf(world, [1, 2, 3])).toEqual(['failed', 'succeeded', 'succeeded']);
    // The rerun had less to do, and deployed first.
    for (const job of await world.jobs()) expect(job.versions).toEqual({ 'kv:3': 6 });
  });

  test('supersedes a rerun that waits', async () => {
    await failedTests();
    await world.command('pipeline/kvstore', 'hold');
    await release('kv:3');
    await world.rerun('kvstore', 1);
    await world.ended('kvstore', 3);
    await world.command('pipeline/kvstore', 'unhold');
    await world.ended('kvstore', 2);
    expect(await endsOf(world, [2, 3])).toEqual(['succeeded', 'cancelled (superseded)']);
  });

  test('that has begun to deploy lets no older one run again', async () => {
    await failedTests();
    await release('kv:3');
    await world.ended('kvstore', 2);
    await expect(world.rerun('kvstore', 1)).rejects.toMatchObject({
      code: 'not-rerunnable',
      message: expect.stringContaining('release 2 is newer and has begun deploy') as string,
      hint: 'conveyor release kvstore --artifact source=kv:2 releases the same versions from the beginning',
    });
  });
});

test('asked for twice it is one release, by its key or as long as it runs', async () => {
  // The pick stops it, however much time passes meanwhile.
  await failedTests({ ...TEST, approve: { type: 'manual-pick', needs: ['test'] } });
  for (const key of [null, 'ci-1', 'ci-2'])
    expect(await world.rerun('kvstore', 1, { key })).toMatchObject({ number: 2 });
  await untilAction(world, 2, 'approve', isAtPick);
  await world.pick('kvstore', 2);
  await world.ended('kvstore', 2);
  for (const key of ['ci-1', 'ci-2'])
    expect(await world.rerun('kvstore', 1, { key })).toMatchObject({ number: 2, duplicate: true });
});

test('a release that runs, succeeded, or never started is not run again', async () => {
  await world.apply(flow(TESTED, SOURCE));
  await release('kv:2');
  await expect(world.rerun('kvstore', 1)).rejects.toThrow('it has not ended');
  await world.ended('kvstore', 1);
  await expect(world.rerun('kvstore', 1)).rejects.toThrow('it succeeded');
  await expect(world.rerun('kvstore', 7)).rejects.toMatchObject({ code: 'unknown-release' });
  await expect(world.rerun('kvstore', 1, { actor: 'user:mallory' })).rejects.toMatchObject({ code: 'not-permitted' });
});
