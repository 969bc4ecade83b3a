import type { PipelineSource } from '../../domain/spec/pipeline';
import type { ReleaseStatus } from '../../domain/views';
import { kvstore } from './pipelines';
import { HOUR, MINUTE, VirtualWorld, type JobView } from './world';

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.ofKvstore();
});
afterEach(() => world.close());

const versions = async () => Object.fromEntries((await world.jobs()).map((job: JobView) => [job.name, job.versions]));
const state = (release: ReleaseStatus, action: string) => release.actions.find(({ name }) => name === action)?.state;

const taken = ({ actions }: ReleaseStatus) => actions.find(({ name }) => name === 'profile');

type Canary = Extract<PipelineSource['actions'][string], { type: 'canary' }>;
const CHECKS = [
  { name: 'errors', metric: 'rpc.error_ratio', transform: [{ average: '3m' }], threshold: { above: 0.05 } },
] as const;

/** A canary, an integration test next to or after it, and a deploy that needs both. */
function pipelineWith(
  canary: Partial<Canary['with']> = {},
  test: { needs?: string[] } = {},
  retry: Canary['retry'] = { attempts: 1 },
): PipelineSource {
  const pipeline = kvstore();
  return {
    ...pipeline,
    actions: {
      canary: {
        type: 'canary',
        retry,
        inputs: ['executable'],
        with: {
          pushType: 'twine',
          config: { jobs: ['kvstore-x'] },
          amount: 2,
          bake: '10m',
          healthChecks: CHECKS.map((check) => ({ ...check, transform: [...check.transform] })),
          ...canary,
        },
      },
      profile: { type: 'integr-test', inputs: ['executable'], ...test },
      deploy: { ...pipeline.actions['deploy']!, needs: ['canary', 'profile'] },
    },
  } as PipelineSource;
}

test('a canary runs at once, and the deploy that needs it after it is undone', async () => {
  await world.apply(pipelineWith());
  await world.release('kvstore', 'kv:2');
  await world.until('it bakes', async () => (await world.deployStatus('kvstore', 1, 'canary')).state === 'baking');
  expect(await versions()).toEqual({ 'kvstore-x': { 'kv:1': 4, 'kv:2': 2 }, 'kvstore-y': { 'kv:1': 6 } });
  const release = await world.ended('kvstore', 1);
  expect(release.state).toBe('succeeded');
  const undone = Date.parse((await world.deployStatus('kvstore', 1, 'canary')).endedAt ?? '');
  expect(Date.parse((await world.deployStatus('kvstore', 1)).startedAt)).toBeGreaterThanOrEqual(undone);
  expect(await versions()).toEqual({ 'kvstore-x': { 'kv:2': 6 }, 'kvstore-y': { 'kv:2': 6 } });
});

test('an unhealthy canary fails its release, whose artifact may be released again', async () => {
  await world.describeVersion('kv:2', { errorRatio: 0.2 });
  await world.apply(pipelineWith());
  await world.release('kvstore', 'kv:2');
  const release = await world.ended('kvstore', 1);
  expect(release.state).toBe('failed');
  expect([state(release, 'canary'), state(release, 'deploy')]).toEqual(['failed', 'skipped']);
  expect((await world.pipelineStatus('kvstore')).knownBad).toEqual([]);
  expect(await versions()).toMatchObject({ 'kvstore-x': { 'kv:1': 6 } });
});

test('a canary that is kept until an action after it has ended lets that action begin, and is undone when it is over', async () => {
  await world.apply(pipelineWith({ keepUntil: 'profile' }, { needs: ['canary'] }));
  await world.release('kvstore', 'kv:2');
  const release = await world.ended('kvstore', 1);
  expect(release.state).toBe('succeeded');
  const canary = await world.deployStatus('kvstore', 1, 'canary');
  expect(canary).toMatchObject({ state: 'ended', outcome: 'succeeded' });
  const times = [canary.phases[0]?.bakedAt, taken(release)?.startedAt, taken(release)?.endedAt, canary.endedAt];
  expect([...times].sort()).toEqual(times);
  expect(await versions()).toEqual({ 'kvstore-x': { 'kv:2': 6 }, 'kvstore-y': { 'kv:2': 6 } });
});

test('a canary that is kept for an action beside it is undone when both are over', async () => {
  await world.apply(pipelineWith({ keepUntil: 'profile' }));
  await world.release('kvstore', 'kv:2');
  expect((await world.ended('kvstore', 1)).state).toBe('succeeded');
  expect(await world.deployStatus('kvstore', 1, 'canary')).toMatchObject({ outcome: 'succeeded' });
});

test('cancelling a release undoes its canary', async () => {
  await world.apply(pipelineWith());
  await world.release('kvstore', 'kv:2');
  await world.until('it bakes', async () => (await world.deployStatus('kvstore', 1, 'canary')).state === 'baking');
  await world.command('release/kvstore/1', 'cancel');
  expect((await world.ended('kvstore', 1)).state).toBe('cancelled');
  expect(await versions()).toEqual({ 'kvstore-x': { 'kv:1': 6 }, 'kvstore-y': { 'kv:1': 6 } });
});

test.each([
  ['its release is paused', 'pause', 'resume', 'release/kvstore/1', 'the release is paused'],
  ['the pipeline is frozen', 'freeze', 'unfreeze', 'pipeline/kvstore', 'the pipeline is frozen by user:alice'],
] as const)('no attempt of a canary begins while %s', async (_, stop, goOn, workflowId, why) => {
  await world.describeVersion('kv:2', { errorRatio: 0.2 });
  await world.apply(pipelineWith({}, {}, { attempts: 2, backoff: '30m' }));
  await world.release('kvstore', 'kv:2');
  const canary = async () => (await world.releaseStatus('kvstore', 1)).actions.find(({ name }) => name === 'canary');
  await world.until('it failed', async () => (await canary())?.blockedBy?.startsWith('retry: ') ?? false);
  await world.command(workflowId, stop);
  await world.sleep(2 * HOUR);
  expect(await canary()).toMatchObject({ attempt: 1, state: 'blocked', blockedBy: expect.stringContaining(why) });
  await world.command(workflowId, goOn);
  await world.sleep(MINUTE);
  expect(await canary()).toMatchObject({ attempt: 2, state: 'running' });
  await world.ended('kvstore', 1);
});
