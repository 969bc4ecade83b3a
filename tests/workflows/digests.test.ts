import type { Artifact } from '../../domain/artifact';
import type { PipelineSource } from '../../domain/spec/pipeline';
import { answering } from './answering';
import { kvstore } from './pipelines';
import { VirtualWorld } from './world';

/** The promises about digests: only the target of a deploy can compare bytes with one. */

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.ofKvstore();
});
afterEach(() => world.close());

const digest = (letter: string): string => `sha256:${letter.repeat(64)}`;
const kv = (version: string, letter: string): Artifact => ({
  ...{ name: 'executable', kind: 'executable', version, digest: digest(letter), metadata: {} },
});

interface Target {
  readonly version?: string;
  readonly artifacts?: readonly Artifact[];
}

/** A canary, then a deploy in two phases, then a child that deploys elsewhere. */
function sources(): PipelineSource[] {
  const parent = kvstore({}, { children: { pipelines: ['mirror'], artifacts: ['executable'] } });
  const { deploy } = parent.actions;
  const config = { jobs: ['kvstore-x'] };
  const canary = {
    type: 'canary',
    inputs: ['executable'],
    with: { pushType: 'twine', config, amount: 2, bake: '10m' },
  };
  const mirror = {
    ...deploy,
    with: { ...(deploy as { with: object }).with, config: { jobs: ['mirror'] }, phases: [] },
  };
  return [
    { ...parent, pipeline: 'mirror', children: undefined, actions: { deploy: mirror } },
    { ...parent, actions: { canary, deploy: { ...deploy, needs: ['canary'] } } },
  ] as PipelineSource[];
}

/** Each forward target sent to the push type from now on: the deploy, and the version with its digest. */
function watchTargets(): string[] {
  const seen = new Set<string>();
  const all: string[] = [];
  answering(world, (asked) => {
    const {
      method,
      urgency,
      updateId = '',
      common,
      targets = [],
    } = asked as typeof asked & {
      readonly common?: Target;
      readonly targets?: readonly Target[];
    };
    if (method !== 'executeUpdates' || urgency === 'revert') return undefined;
    for (const target of targets) {
      const { version = '', artifacts = [] } = { ...common, ...target };
      const line = `${updateId.split('/').slice(1, -1).join('/')} ${version} ${artifacts.map((one) => one.digest).join()}`;
      if (!seen.has(line)) all.push(line);
      seen.add(line);
    }
    return undefined;
  });
  return all;
}

test('a push type gets the digest of the release in a canary, in each phase, for a child, and in a later rollback', async () => {
  const sent = watchTargets();
  await world.job('mirror', 'x', 6, { service: 'mirror' });
  for (const source of sources()) await world.apply(source);
  for (const [release, artifact] of [kv('kv:2', 'a'), kv('kv:3', 'b')].entries()) {
    await world.start('kvstore', { artifacts: [artifact] });
    await world.ended('kvstore', release + 1);
    await world.until(
      'the child ended',
      async () => (await world.releaseStatus('mirror', release + 1)).endedAt !== null,
    );
  }
  await world.rollBack('kvstore', 2, { actor: 'user:alice', reason: 'wrong' });
  await world.ended('kvstore', 3);
  const forward = (release: number, what: string) =>
    ['kvstore/N/canary/1/0', 'kvstore/N/deploy/1/0', 'kvstore/N/deploy/1/1', 'mirror/N/deploy/1/0'].map(
      (update) => `${update.replace('N', String(release))} ${what}`,
    );
  expect(sent).toEqual([
    ...forward(1, `kv:2 ${digest('a')}`),
    ...forward(2, `kv:3 ${digest('b')}`),
    `kvstore/3/deploy/1/0 kv:2 ${digest('a')}`,
  ]);
});

test('a version that was reverted is deployed with no digest by a release that waited meanwhile', async () => {
  await world.describeVersion('kv:2', { errorRatio: 0.5 });
  await world.apply({ ...kvstore(), releases: { supersede: 'never' } });
  await world.command('pipeline/kvstore', 'hold');
  for (const letter of ['a', 'b']) await world.start('kvstore', { artifacts: [kv('kv:2', letter)] });
  await world.command('pipeline/kvstore', 'unhold');
  await world.ended('kvstore', 2);
  const [first, second] = await Promise.all([1, 2].map((number) => world.releaseStatus('kvstore', number)));
  expect(first).toMatchObject({ state: 'failed' });
  expect(second).toMatchObject({ state: 'cancelled', cause: 'bad-package' });
  expect(second?.actions[0]?.message).toContain('executable@kv:2');
});
