import { deploying } from './deploys';
import { kvstore } from './pipelines';
import { VirtualWorld } from './world';

/** Whoever reaches Temporal can send any workflow any signal, from the Web UI or with its command line. */
let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.ofKvstore();
});
afterEach(() => world.close());

const PIPELINE = 'pipeline/kvstore';
const RELEASE = 'release/kvstore/1';
const DEPLOY = 'deploy/kvstore/1/deploy/1';
const COMMANDS = [
  { actor: 5 },
  { actor: ['user:alice'] },
  { actor: 'user:alice', permitted: 5 },
  { actor: 'user:alice', proof: null },
  { actor: 'user:alice', proof: { verb: 'hold' } },
  { actor: 'user:alice', reason: { text: 'no' } },
  { actor: 'user:alice', vouched: 5 },
  ['user:alice'],
  'now',
];
const ENDED = {
  ...{ action: 'deploy', artifacts: [] },
  result: { outcome: 'failed', version: '1', reason: '', reverted: null },
};
const SIGNALS: Readonly<Record<string, readonly (readonly [signal: string, inputs: readonly unknown[]])[]>> = {
  [PIPELINE]: [
    ['hold', COMMANDS],
    ['allow-artifact', [{ actor: 'user:alice', artifact: 5 }]],
    ['roll-back', [{}, { of: 'last', actor: 'user:alice' }, { of: 1, actor: 5 }]],
    ['deploy-over', [{ release: 1, action: 'deploy', settled: ENDED }]],
    ['deploy-ready', [{ release: 1, action: 'deploy', artifacts: [], opensAtMs: 'soon' }]],
  ],
  [RELEASE]: [
    ['cancel', COMMANDS],
    ['pick', [{ actor: 'user:alice', action: 5 }]],
    ['waiting', [{}, { action: 'deploy', why: 'so', untilMs: 'soon' }, { action: 'deploy', why: 'so', untilMs: 1e20 }]],
    ['policy', [{}, { owners: 'user:mallory', groups: {} }]],
    ['frozen', [{}, { by: {} }]],
    ['overtaken', [{}, { by: 'release 2', why: 'superseded' }]],
    ['admission', [{}, { action: 'deploy' }, { action: 'deploy', admission: null }]],
    ['deploy-paused', [{}, { action: 5, reason: null, phase: null }]],
    ['bug', [{}, 'bug/1']],
  ],
  [DEPLOY]: [
    ['revert', COMMANDS],
    ['skip-health-check', [{ actor: 'user:alice', check: 5, for: 'deploy' }]],
    ['policy', [{}, { owners: [5], groups: {} }]],
    ['frozen', [{}, { by: { actor: 5 } }]],
    ['overtaken', [{}, { by: null, why: 'preempted' }]],
    ['lock-granted', [{}, { lock: 'lock/twine/kvstore', fence: 'first' }]],
  ],
};

test('signals that say nothing sensible change nothing, and keep nobody from commanding', async () => {
  await world.apply(kvstore());
  await world.release('kvstore', 'kv:2');
  await world.reaches('kvstore', 1, ({ state }) => state === 'baking');
  for (const [id, signals] of Object.entries(SIGNALS))
    for (const [signal, inputs] of signals)
      for (const input of inputs) await world.client.workflow.getHandle(id).signal(signal, input);
  await world.settled();
  expect(await world.deployStatus('kvstore', 1)).toMatchObject({ state: 'baking', paused: null });
  expect(await world.releaseStatus('kvstore', 1)).toMatchObject({ state: 'running' });
  const { commands } = await world.pipelineStatus('kvstore');
  expect(commands).toContainEqual(
    expect.objectContaining({
      verb: 'hold',
      actor: 'user:unknown',
      accepted: false,
      rejection: 'its actor has the wrong type',
    }),
  );
  await world.command(PIPELINE, 'hold');
  await world.command(RELEASE, 'pause');
  await world.command(RELEASE, 'resume');
  await world.command(DEPLOY, 'revert');
  await world.ended('kvstore', 1);
  expect(await world.deployStatus('kvstore', 1)).toMatchObject({ outcome: 'reverted' });
});

test('a command that is not a command is refused with what is wrong with it', async () => {
  const deploy = await deploying(world);
  await deploy.reaches(({ state }) => state === 'baking');
  await expect(deploy.command('revert', { actor: 5 } as never)).rejects.toMatchObject({
    cause: { type: 'invalid-state', message: 'its actor has the wrong type' },
  });
  expect(await deploy.status()).toMatchObject({ state: 'baking' });
});
