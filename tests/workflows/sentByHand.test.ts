import { deploying } from './deploys';
import { kvstore } from './pipelines';
import { VirtualWorld } from './world';

/** A process with access to Temporal can send any signal to any workflow, from the Web UI or with Temporal's command line. */
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

test('meaningless signals change nothing, and block no command', async () => {
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

test('a signal or a request that nests as deep as its size allows changes nothing, and leaves the pipeline able to answer', async () => {
  await world.apply(kvstore());
  await world.release('kvstore', 'kv:2');
  await world.reaches('kvstore', 1, ({ state }) => state === 'baking');
  const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
  const artifact = `{"name":"executable","kind":"executable","version":"kv:3","metadata":{"a":${deep}}}`;
  const ended = `{"action":"deploy","artifacts":[${artifact}],"result":{"outcome":"succeeded","version":"kv:3","reason":"","reverted":null,"spans":{}}}`;
  const more = `{"actor":"user:alice","reason":"because","more":${deep}}`;
  const LOCK = 'lock/twine/kvstore';
  const sent: readonly (readonly [id: string, signal: string, ...inputs: string[]])[] = [
    [PIPELINE, 'hold', more],
    [PIPELINE, 'roll-back', `{"of":1,"actor":"user:alice","reason":"because","settled":[${ended}]}`],
    [PIPELINE, 'deploy-ready', `{"release":1,"action":"deploy","artifacts":[${artifact}]}`],
    [PIPELINE, 'deploy-over', `{"release":1,"action":"deploy","settled":${ended}}`],
    [
      PIPELINE,
      'release-over',
      `{"number":1,"state":"failed","endedAt":"2026-01-05T12:00:00Z","artifacts":[${artifact}],"deploys":[]}`,
    ],
    [RELEASE, 'pause', more],
    [RELEASE, 'bug', deep],
    [DEPLOY, 'frozen', `{"by":${more}}`],
    [LOCK, 'request-lock', `{"requester":"x","more":${deep}}`],
    [LOCK, 'release-lock', '"deploy/kvstore/7/deploy/1"', deep],
  ];
  const payload = (text: string) => ({ metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from(text) });
  for (const [workflowId, signalName, ...inputs] of sent)
    await world.client.workflowService.signalWorkflowExecution({
      ...{ namespace: 'default', workflowExecution: { workflowId }, signalName },
      input: { payloads: inputs.map(payload) },
    });
  await world.settled();
  expect(await world.deployStatus('kvstore', 1)).toMatchObject({ state: 'baking', paused: null });
  expect(await world.pipelineStatus('kvstore')).toMatchObject({ frozen: null, held: null, active: [1] });
  await world.command(PIPELINE, 'hold');
  await world.command(DEPLOY, 'revert');
  await world.ended('kvstore', 1);
  expect(await world.deployStatus('kvstore', 1)).toMatchObject({ outcome: 'reverted' });
  expect((await world.client.workflow.getHandle(LOCK).describe()).status.name).toBe('COMPLETED');
});

test('a command that is not a command is refused with what is wrong with it', async () => {
  const deploy = await deploying(world);
  await deploy.reaches(({ state }) => state === 'baking');
  await expect(deploy.command('revert', { actor: 5 } as never)).rejects.toMatchObject({
    cause: { type: 'invalid-state', message: 'its actor has the wrong type' },
  });
  expect(await deploy.status()).toMatchObject({ state: 'baking' });
});
