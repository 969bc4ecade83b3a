import type { temporal } from '@temporalio/proto';
import type { Client } from '@temporalio/client';
import { ALL_VERBS } from '../../domain/verbs';
import type * as workflows from '../../workflows';
import { runningSources } from '../setup/sources';
import { CALM } from './flows';
import { kvstore } from './pipelines';
import { SEAL, VirtualWorld } from './world';

/** A process that reaches Temporal without a key starts workflows of every type, under the ids of real ones that have ended. */
let world: VirtualWorld;
let stranger: Client;
beforeEach(async () => {
  world = await VirtualWorld.ofKvstore(SEAL);
  stranger = world.stranger();
});
afterEach(() => world.close());

const DEPLOY = 'deploy/kvstore/1/deploy/1';
/** Each workflow type of the workers, with the id of one that Conveyor starts itself; a new type does not compile until it is listed here. */
const IDS: Readonly<Record<keyof typeof workflows, string>> = {
  artifactSweep: 'sweep/commits-2026-01-05T12:00:00Z',
  bugs: 'bugs',
  deploy: DEPLOY,
  examination: 'examination/0b1c3f0e-2f5d-4a57-9d43-3b1c6a0d9e11',
  fanOut: 'release/kvstore/1/children',
  fanOutShard: 'release/kvstore/1/children/0',
  freshness: 'freshness',
  landing: 'landing/flags',
  lock: 'lock/twine/kvstore',
  offers: 'offers/kvstore',
  pipeline: 'pipeline/retired',
  release: 'release/kvstore/1',
  signOut: 'sign-out/everywhere/user:alice',
  snapshot: `snapshot/${DEPLOY}/0123456789abcdef/0`,
};
type Input = temporal.api.common.v1.IPayloads;

const QUICK = { phases: [], healthChecks: [], completion: { bake: '0s' } };
/** Messages that would deploy the next version everywhere, command, report, or land, if they were trusted. */
const FORGED = {
  ...{ actor: 'user:alice', reason: 'because', release: 1, number: 1, of: 1, action: 'deploy', pipeline: 'kvstore' },
  ...{
    state: 'succeeded',
    change: 1,
    id: 'bug/1',
    owner: 'kvstore/9',
    requester: DEPLOY,
    target: '//lib:rpc',
    from: '1',
  },
};

/** The names of all signals and updates, from the code. */
const MESSAGES = (() => {
  const code = runningSources()
    .filter(({ name }) => /^(features\/\w+\/)?workflows\//.test(name))
    .map(({ text }) => text)
    .join('\n');
  const named = (kind: string) =>
    [...code.matchAll(new RegExp(`define${kind}<[\\s\\S]*?>\\(\\s*'([\\w-]+)'`, 'g'))].flatMap(
      ([, name]) => name ?? [],
    );
  return {
    signals: [...new Set([...named('Signal'), ...ALL_VERBS])],
    updates: [...new Set([...named('Update'), ...ALL_VERBS])],
  };
})();

const start = (type: string, workflowId: string, input: Input) =>
  stranger.workflowService.startWorkflowExecution({
    ...{ namespace: 'default', workflowId, workflowType: { name: type }, taskQueue: { name: world.taskQueue } },
    ...{ input, requestId: `${type} ${Math.random()}`, identity: 'mallory' },
  });

async function inputOf(workflowId: string): Promise<Input> {
  const { events } = await stranger.workflow.getHandle(workflowId).fetchHistory();
  return events?.[0]?.workflowExecutionStartedEventAttributes?.input ?? {};
}

/** The outcome of the newest run of an id, and its reason. */
async function endOf(workflowId: string): Promise<string> {
  const handle = stranger.workflow.getHandle(workflowId);
  const nameNow = async () => (await handle.describe()).status.name;
  await world
    .until(`${workflowId} has ended`, async () => (await nameNow()) !== 'RUNNING', { stepMs: 1_000, withinMs: 10_000 })
    .catch(() => undefined);
  const { events } = await handle.fetchHistory();
  const why = events?.at(-1)?.workflowExecutionFailedEventAttributes?.failure?.message;
  return [await nameNow(), ...(why ? [why] : [])].join(': ');
}

const ships = async (version: string) => world.ended('kvstore', (await world.release('kvstore', version)).number);
const versions = async () => (await world.jobs()).map((job) => Object.keys(job.versions).join());

async function given(): Promise<void> {
  await world.apply(kvstore(QUICK), CALM);
  expect(await ships('kv:2')).toMatchObject({ state: 'succeeded' });
}

test('a workflow of any type that a stranger starts ends at once, takes no messages, and blocks no other', async () => {
  expect(MESSAGES.signals).toEqual(expect.arrayContaining(['request-lock', 'admission', 'cancel']));
  expect(MESSAGES.updates).toEqual(expect.arrayContaining(['land', 'report-bug', 'cancel-queued', 'revert']));
  await given();
  await world.apply({ ...kvstore(QUICK), pipeline: 'retired' }, CALM);
  await world.command('pipeline/retired', 'retire');
  const before = await world.pipelineStatus('kvstore');
  const ends: Record<string, string> = {};
  for (const [type, workflowId] of Object.entries(IDS)) {
    const handle = stranger.workflow.getHandle(workflowId);
    const options = { workflowId, taskQueue: world.taskQueue, args: [FORGED, FORGED] };
    await stranger.workflow.start(type, options);
    const signalled = MESSAGES.signals.map((signal) => handle.signal(signal, FORGED));
    await Promise.allSettled(signalled);
    const updated = () => MESSAGES.updates.map((update) => handle.executeUpdate(update, { args: [FORGED] }));
    // The virtual server does not answer an update of a workflow that has ended.
    const answers = await stranger.withDeadline(Date.now() + 1_000, () => Promise.allSettled(updated()));
    expect(answers.filter(({ status }) => status === 'fulfilled')).toEqual([]);
    ends[type] = await endOf(workflowId);
  }
  const ended = 'FAILED: Conveyor did not start this workflow: its input is missing, or not sealed for its id';
  expect(ends).toEqual(Object.fromEntries(Object.keys(IDS).map((type) => [type, ended])));
  expect(await world.pipelineStatus('kvstore')).toEqual(before);
  expect(await versions()).toEqual(['kv:2', 'kv:2']);
  expect(await ships('kv:3')).toMatchObject({ state: 'succeeded' });
  expect(await versions()).toEqual(['kv:3', 'kv:3']);
});

test('a release or a deploy whose sealed input a stranger copies brings nothing back', async () => {
  await given();
  const copies = await Promise.all([IDS.release, IDS.deploy].map(async (id) => [id, await inputOf(id)] as const));
  expect(await ships('kv:3')).toMatchObject({ state: 'succeeded' });
  for (const [id, input] of copies) {
    await start(id.split('/')[0] ?? '', id, input);
    expect(await endOf(id)).toBe(
      'FAILED: Conveyor did not start this workflow: its input is a copy of one that belongs to another run',
    );
  }
  expect(await versions()).toEqual(['kv:3', 'kv:3']);
  expect(await world.pipelineStatus('kvstore')).toMatchObject({ lastRelease: 2, active: [] });
});
