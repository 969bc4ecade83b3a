import type { PlatformFacts } from '../../domain/access/platform';
import type { Artifact } from '../../domain/artifact';
import { toPipelineDocument } from '../../domain/pipeline/document';
import type { PipelineState } from '../../domain/pipeline/state';
import type { ReleaseStatus } from '../../domain/views';
import { parseRegistry } from '../../settings/registry';
import { artifact, envelope, signed, signer, statement } from '../builders/signing';
import { CALM, flow } from './flows';
import { kvstore } from './pipelines';
import { VirtualWorld } from './world';

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.ofKvstore();
});
afterEach(() => world.close());

const [ci, other] = [signer(), signer('p256')];
const FACTS: PlatformFacts = parseRegistry(
  {
    platform: {
      admins: ['user:root'],
      keys: { ci: ci.pem },
      services: [{ pushType: 'twine', units: ['kvstore-*'], owners: ['user:alice'] }],
      protection: [{ pipelines: ['kvstore'], signed: { by: ['ci'] } }],
    },
  },
  {},
);

const versions = async () => (await world.jobs()).map((job) => job.versions);
const all = (version: string) => [{ [version]: 6 }, { [version]: 6 }];

const lines = async (number: number): Promise<string> =>
  (await world.deployStatus('kvstore', number)).timeline.map(({ text }) => text).join('\n');

/** Begins a release past every guard. */
const release = (one: Artifact) => world.start('kvstore', { artifacts: [one] });

describe('with a rule that wants signatures', () => {
  beforeEach(async () => {
    await world.apply(kvstore({}, { releases: { onRevert: 'continue' } }), CALM);
    world.rules.facts = FACTS;
  });

  test('a signed artifact is deployed, and its deploy shows with which key', async () => {
    await release(signed('kv:2', ci));
    expect(await world.ended('kvstore', 1)).toMatchObject({ state: 'succeeded' });
    expect(await versions()).toEqual(all('kv:2'));
    expect(await lines(1)).toContain('executable@kv:2 is signed with ci');
  });

  test.each<[string, Artifact, RegExp]>([
    ['is not signed', artifact('kv:2'), /its metadata has no attestation/],
    ['is signed with another key', signed('kv:2', other), /is by none of the platform's keys/],
    [
      'has the signature of another version',
      artifact('kv:2', envelope(statement('executable@kv:3'), [ci])),
      /it is about executable@kv:3, and not about executable@kv:2/,
    ],
  ])(
    'an artifact that %s touches nothing and takes no lock, and status shows the reason and the remedy',
    async (_how, one, words) => {
      await release(one);
      expect(await world.ended('kvstore', 1)).toMatchObject({ state: 'failed' });
      const { actions } = await world.releaseStatus('kvstore', 1);
      expect(actions).toMatchObject([{ state: 'failed', message: expect.stringMatching(words) }]);
      const { outcome, classification, summary } = await world.deployStatus('kvstore', 1);
      expect({ outcome, classification }).toEqual({ outcome: 'failed', classification: 'good-failure' });
      expect(summary).toMatch(
        /platform\.protection\.0 protects kvstore: executable@kv:2 is not signed.*release with --attestation executable=FILE/,
      );
      expect(await versions()).toEqual(all('kv:1'));
      await expect(world.client.workflow.getHandle('lock/twine/kvstore').describe()).rejects.toThrow(/not found/i);
      expect((await world.pipelineStatus('kvstore')).knownBad).toEqual([]);
    },
  );

  test.each(['deploy', 'canary'] as const)(
    'a %s of a pipeline of any name is held to it on units that a rule names',
    async (type) => {
      const services = [{ pushType: 'twine', units: ['kvstore-y'] }];
      const protection = FACTS.policy?.protection.map((rule) => ({ ...rule, pipelines: ['prod-*'], services })) ?? [];
      world.rules.facts = { ...FACTS, policy: FACTS.policy && { ...FACTS.policy, protection } };
      const canary = {
        pushType: 'twine',
        config: { jobs: ['kvstore-y'] },
        amount: 1,
        bake: '10m',
        healthChecks: [],
      } as const;
      if (type === 'canary')
        await world.apply(flow({ canary: { type, inputs: ['executable'], with: canary } as never }), CALM);
      await release(artifact('kv:2'));
      expect(await world.ended('kvstore', 1)).toMatchObject({ state: 'failed' });
      expect((await world.releaseStatus('kvstore', 1)).actions.map(({ message }) => message).join()).toMatch(
        /platform\.protection\.0 protects kvstore: executable@kv:2 is not signed/,
      );
      expect(await versions()).toEqual(all('kv:1'));
    },
  );

  test.each<[string, Artifact, string]>([
    ['nowhere where that is not signed', artifact('kv:9'), 'kv:1'],
    ['there where that is signed', signed('kv:9', ci), 'kv:9'],
  ])('a rollback to what an import alone calls good goes %s', async (_where, one, ends) => {
    const state = await world.pipeline('kvstore').query<PipelineState>('pipeline');
    const good = [one, artifact('kv:1')].map((each, at) => ({
      ...{ release: at + 1, version: each.version, artifacts: [each], held: { ids: ['kvstore-x', 'kvstore-y'] } },
    }));
    const document = { ...toPipelineDocument(state, await world.now()), nextNumber: 3, good: { deploy: good } };
    const { groups, settings } = state;
    const input = { document, actor: 'user:root', permitted: 'platform.admins', groups, settings };
    await world.pipeline('kvstore').executeUpdate('import', { args: [input] });
    await world.rollBack('kvstore', 2, { actor: 'user:alice', reason: 'as the file says' });
    const isSigned = ends === 'kv:9';
    expect(await world.ended('kvstore', 3)).toMatchObject({ state: isSigned ? 'succeeded' : 'failed' });
    expect(await lines(3)).toMatch(isSigned ? /executable@kv:9 is signed with ci/ : /executable@kv:9 is not signed/);
    expect(await versions()).toEqual(all(ends));
  });

  test('an artifact of a finder is held against it as one of a person is', async () => {
    await world.submit('kvstore', [artifact('kv:2')]);
    expect(await world.ended('kvstore', 1)).toMatchObject({ state: 'failed' });
    await world.submit('kvstore', [signed('kv:3', ci)]);
    expect(await world.ended('kvstore', 2)).toMatchObject({ state: 'succeeded' });
    expect(await versions()).toEqual(all('kv:3'));
  });

  test('a key that was taken away while a deploy waited for its lock counts no more', async () => {
    let asked = 0;
    const signers = () => ({ by: asked++ < 2 ? ['ci'] : [], not: [] });
    world.rules.facts = { ...FACTS, signers };
    await release(artifact('kv:2'));
    expect(await world.ended('kvstore', 1)).toMatchObject({ state: 'failed' });
    expect(await lines(1)).toMatch(/executable@kv:2 is not signed/);
    expect(await versions()).toEqual(all('kv:1'));
    expect(asked).toBeGreaterThan(2);
  });

  test('an emergency of an owner is held against it, one that its door let in as of an admin goes past, on record', async () => {
    const push = { action: 'deploy', skipBake: false };
    const trigger = { kind: 'emergency', actor: 'user:alice', key: null, reason: 'outage' } as const;
    await world.start('kvstore', { artifacts: [artifact('kv:2')], trigger, emergency: push });
    expect(await world.ended('kvstore', 1)).toMatchObject({ state: 'failed' });
    const byRoot = { ...trigger, actor: 'user:root', permitted: 'platform.admins' };
    await world.start('kvstore', { artifacts: [artifact('kv:2')], trigger: byRoot, emergency: push });
    expect(await world.ended('kvstore', 2)).toMatchObject({ state: 'succeeded' });
    expect(await versions()).toEqual(all('kv:2'));
    expect(await lines(2)).toMatch(/an emergency of an admin goes past .*executable@kv:2 is not signed/);
  });
});

test('a canary is held against it, too', async () => {
  const { actions, ...rest } = kvstore();
  const how = { pushType: 'twine', config: { jobs: ['kvstore-x'] }, amount: 1, bake: '10m' };
  const canary = { type: 'canary' as const, inputs: ['executable'], with: how };
  await world.apply({ ...rest, actions: { canary, ...actions } }, CALM);
  world.rules.facts = FACTS;
  await release(artifact('kv:2'));
  const status: ReleaseStatus = await world.ended('kvstore', 1).then(() => world.releaseStatus('kvstore', 1));
  expect(status.actions.map(({ state }) => state)).toEqual(['failed', 'failed']);
  expect(await versions()).toEqual(all('kv:1'));
});

test('nothing stops a revert: neither of a deploy under way, nor of one that has ended, to an unsigned artifact', async () => {
  await world.apply(kvstore({}, { releases: { onRevert: 'continue' } }), CALM);
  await world.release('kvstore', 'kv:2');
  await world.ended('kvstore', 1);
  world.rules.facts = FACTS;
  await release(signed('kv:3', ci));
  await world.reaches('kvstore', 2, ({ state }) => state === 'baking');
  // Not even the key with which it began.
  world.rules.facts = { ...FACTS, signers: () => ({ by: [], not: ['the key is gone'] }) };
  await world.command('deploy/kvstore/2/deploy/1', 'revert');
  await world.ended('kvstore', 2);
  expect(await versions()).toEqual(all('kv:2'));

  world.rules.facts = FACTS;
  await release(signed('kv:4', ci));
  expect(await world.ended('kvstore', 3)).toMatchObject({ state: 'succeeded' });
  await world.rollBack('kvstore', 3, { actor: 'user:alice', reason: 'too slow' });
  expect(await world.ended('kvstore', 4)).toMatchObject({ state: 'succeeded' });
  expect(await versions()).toEqual(all('kv:2'));

  // A manual release of it is not a rollback.
  await release(artifact('kv:2'));
  expect(await world.ended('kvstore', 5)).toMatchObject({ state: 'failed' });
});
