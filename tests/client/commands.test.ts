import { QueryNotRegisteredError, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { sendCommand } from '../../client/commands';
import type { Temporal } from '../../client/connection';
import { rerunRelease } from '../../client/releases';
import { Workflows } from '../../client/workflows';
import { conveyorError } from '../../domain/errors';
import { NOT_BOOKED } from '../../domain/pipeline/rollback';
import type { ReleaseStatus } from '../../domain/views';
import { action, release } from '../builders/cliSamples';
import { artifact, pipelineOf, running, specOf } from '../builders/pipelineWorld';

const deploying = (name: string) =>
  action({ name, type: 'deploy', state: 'running', endedAt: null, deploy: `kvstore/13/${name}` });
const script = action({ name: 'script', type: 'script', state: 'running', endedAt: null });

/** The workflow that a verb for the release goes to. */
async function targetOf(verb: 'resume' | 'revert', status: Partial<ReleaseStatus>): Promise<string> {
  let target = '';
  const workflows = {
    release: () => Promise.resolve(release(status)),
    update: (workflowId: string) => {
      target = workflowId;
      return Promise.resolve({ accepted: true, effect: 'it continues' });
    },
  } as unknown as Workflows;
  await sendCommand(workflows, 'kvstore/13', verb, {});
  return target;
}

const resumed = (status: Partial<ReleaseStatus>) => targetOf('resume', status);

describe('resuming the release continues all that one command paused:', () => {
  test('the release, when it is paused itself, also while a single deploy of it runs', async () => {
    expect(await resumed({ state: 'paused', actions: [deploying('deploy')] })).toBe('release/kvstore/13');
    expect(await resumed({ state: 'paused', actions: [script] })).toBe('release/kvstore/13');
  });

  test('its only deploy, when that alone is paused, also while something else runs', async () => {
    const actions = [deploying('deploy'), script];
    expect(await resumed({ state: 'running', actions })).toBe('deploy/kvstore/13/deploy/1');
  });

  test('and of several deploys it asks which', async () => {
    const actions = [deploying('east'), deploying('west')];
    await expect(resumed({ state: 'running', actions })).rejects.toThrow('kvstore/13/east');
  });
});

test('reverting a release means its only deploy, or all of it once another deploy has succeeded', async () => {
  const east = action({ name: 'east', type: 'deploy', state: 'succeeded', deploy: 'kvstore/13/east' });
  expect(await targetOf('revert', { actions: [deploying('west')] })).toBe('deploy/kvstore/13/west/1');
  expect(await targetOf('revert', { actions: [east, deploying('west')] })).toBe('release/kvstore/13');
  expect(await targetOf('revert', { actions: [east, script] })).toBe('release/kvstore/13');
});

const HELD = ', and the pipeline is held; conveyor unhold kvstore --reason "…" lets deploys start again';
test.each([
  [{ isHeld: true, brings: ['kv:1'] }, `brings back kv:1 from before kvstore/13${HELD}`],
  [{ isHeld: false, brings: ['kv:1', 'cfg:7'] }, 'brings back kv:1 and cfg:7 from before kvstore/13'],
  [{ isHeld: false }, 'brings back what ran before kvstore/13'],
])(
  'reverting a release that has ended says what comes back, and whether the pipeline is held (%j)',
  async (more, back) => {
    const effect = `release kvstore/14 ${back}`;
    const workflows = {
      release: () => Promise.resolve(release({ state: 'succeeded', endedAt: '2026-11-23T20:00:00.000Z' })),
      update: () => Promise.resolve({ number: 14, duplicate: false, ...more }),
    } as unknown as Workflows;
    expect(await sendCommand(workflows, 'kvstore/13', 'revert', {})).toMatchObject({ effect, id: 'kvstore/14' });
  },
);

test.each([
  ['until-newer', 'it goes back; the pipeline is held from then on, until conveyor unhold kvstore --reason "…"'],
  ['continue', 'it goes back'],
])('the receipt of a revert under way names the hold, and the command that ends it (%s)', async (onRevert, effect) => {
  const workflows = {
    release: () => Promise.resolve(release({ state: 'running', actions: [deploying('deploy')] })),
    update: () => Promise.resolve({ accepted: true, effect: 'it goes back' }),
    pipelineState: () => Promise.resolve({ spec: { actions: { deploy: { type: 'deploy' } }, releases: { onRevert } } }),
  } as unknown as Workflows;
  const sent = await sendCommand(workflows, 'kvstore/13', 'revert', { notBad: true });
  expect(sent.effect).toBe(effect);
});

describe('a revert that comes as something ends', () => {
  const ENDED = conveyorError('invalid-state', { verb: 'revert', id: 'kvstore/13', why: 'it has ended' });
  const UNKNOWN = conveyorError('invalid-state', { verb: 'revert', id: 'kvstore/13', why: NOT_BOOKED });
  /** The targets that it reached, if each answers so, one after the other. */
  const reached = async (
    answers: readonly (Error | object)[],
    of: Parameters<typeof release>[0],
    id = 'kvstore/13',
  ) => {
    const asked: string[] = [];
    const workflows = {
      release: () => Promise.resolve(release(of)),
      update: (workflowId: string) => {
        const answer = answers[asked.push(workflowId) - 1];
        return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
      },
    } as unknown as Workflows;
    await sendCommand(workflows, id, 'revert', {});
    return asked;
  };
  const TAKEN = { accepted: true, effect: '', number: 14 };
  const runs = { state: 'running', actions: [deploying('deploy')] } as const;
  const over = { state: 'succeeded', endedAt: '2026-11-23T20:00:00.000Z' } as const;
  const [deploy, whole, pipeline] = ['deploy/kvstore/13/deploy/1', 'release/kvstore/13', 'pipeline/kvstore'];

  test.each<[string, readonly (Error | object)[], Parameters<typeof release>[0], readonly string[]]>([
    ['a deploy that has just ended', [ENDED, UNKNOWN, TAKEN], runs, [deploy, pipeline, whole]],
    ['a release that its pipeline takes for running', [UNKNOWN, TAKEN], over, [pipeline, whole]],
    ['a release that is gone by then', [UNKNOWN, ENDED, TAKEN], over, [pipeline, whole, pipeline]],
    ['a release that ended long ago', [TAKEN], over, [pipeline]],
  ])('finds a target that can do it: %s', async (_, answers, of, asked) =>
    expect(await reached(answers, of)).toEqual(asked),
  );

  test('for a deploy that has succeeded means its release, which ends', async () => {
    const succeeded = action({ name: 'deploy', type: 'deploy', state: 'succeeded', deploy: 'kvstore/13/deploy' });
    expect(await reached([TAKEN], { actions: [succeeded, script] }, 'kvstore/13/deploy')).toEqual([whole]);
  });

  test('is refused with the last reason if no target takes it', () =>
    expect(reached([UNKNOWN, ENDED, ENDED], over)).rejects.toThrow(
      'its pipeline has ended: conveyor apply brings it back',
    ));
});

/** A Temporal server that has the answers of some workflows, and none of others. */
function serverWith(answers: Readonly<Record<string, object | Error>>): {
  readonly workflows: Workflows;
  asked: string[];
} {
  const asked: string[] = [];
  const answerOf = (workflowId: string): Promise<object> => {
    asked.push(workflowId);
    const answer = answers[workflowId] ?? new Error('silent');
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  };
  const getHandle = (workflowId: string) => ({
    query: () => answerOf(workflowId),
    executeUpdate: () => answerOf(workflowId),
    describe: () => Promise.resolve({ raw: {}, status: { name: 'RUNNING' }, closeTime: undefined, runId: '' }),
  });
  const through = (_: unknown, call: () => unknown) => call();
  const client = { withDeadline: through, withAbortSignal: through, workflow: { getHandle } };
  const temporal = { client, address: 'localhost:7233', namespace: 'default' } as unknown as Temporal;
  return { workflows: new Workflows(temporal, ''), asked };
}

/** As the SDK refuses a query, and Temporal hands it on. */
const noQuery = (name: string, known: string): Error =>
  new QueryNotRegisteredError(`Workflow did not register a handler for ${name}. Registered queries: [${known}]`, 3);

test.each([
  [
    'never ran, as that of a stranger, is not there',
    noQuery('pipeline', '__stack_trace __enhanced_stack_trace'),
    'unknown-pipeline',
  ],
  ['is of another version is there all the same', noQuery('pipeline', 'status __stack_trace'), 'internal'],
  [
    'cannot be replayed by the worker that was asked is there all the same',
    new QueryNotRegisteredError('[TMPRL1100] Nondeterminism error: no command for the event', 3),
    'internal',
  ],
])('a pipeline whose workflow %s', async (_, refusal, code) => {
  const { workflows } = serverWith({ 'pipeline/kvstore': refusal });
  await expect(workflows.pipelineState('kvstore')).rejects.toMatchObject({ code });
});

test('a rerun that a worker of an older version is asked for says why not, and what to do instead', async () => {
  const unknown = noQuery('recollection', 'status __stack_trace');
  const { workflows } = serverWith({ 'release/kvstore/13': unknown });
  const hint = expect.stringContaining('conveyor release kvstore --artifact NAME=VERSION') as string;
  await expect(rerunRelease(workflows, 'kvstore', 13, { actor: 'user:alice' })).rejects.toMatchObject({
    ...{ code: 'not-rerunnable', message: expect.stringContaining('older version') as string, hint },
  });
});

describe('the status of a release whose deploy runs', () => {
  const running = release({ actions: [deploying('deploy'), script] });
  const wait = { blockedBy: 'waiting for its window to open at 18:00', until: '2026-11-20T18:00:00.000Z' };

  test('says of it what it waits for and until when, which its deploy knows', async () => {
    const { workflows } = serverWith({ 'release/kvstore/13': running, 'deploy/kvstore/13/deploy/1': wait });
    const { actions } = await workflows.releaseWithWaits('kvstore', 13);
    expect(actions).toMatchObject([
      { name: 'deploy', state: 'running', ...wait },
      { blockedBy: null, until: null },
    ]);
  });

  test('says that it is paused, since when and why, as where its push type is gone', async () => {
    const reason = 'twine did not answer runHealthChecks: connect ECONNREFUSED 127.0.0.1:4400';
    const paused = { by: 'dependency', actor: null, at: '2026-11-20T14:02:00.000Z', reason };
    const deploy = { blockedBy: null, until: null, paused };
    const { workflows } = serverWith({ 'release/kvstore/13': running, 'deploy/kvstore/13/deploy/1': deploy });
    const { actions } = await workflows.releaseWithWaits('kvstore', 13);
    expect(actions[0]).toMatchObject({ name: 'deploy', state: 'running', blockedBy: null, paused });
    expect(actions[1]).not.toHaveProperty('paused');
  });

  test('is there all the same where its deploy is silent', async () => {
    const { workflows, asked } = serverWith({ 'release/kvstore/13': running });
    const { actions } = await workflows.releaseWithWaits('kvstore', 13);
    expect(actions).toMatchObject([{ name: 'deploy', state: 'running', blockedBy: null }, {}]);
    expect(asked).toEqual(['release/kvstore/13', 'deploy/kvstore/13/deploy/1']);
  });
});

describe('the status of a pipeline', () => {
  const wait = { blockedBy: 'soaking: staging runs executable@kv:2 since …, of 1d', until: '2026-11-24T17:00:00.000Z' };
  const soaking = action({ name: 'deploy', type: 'deploy', state: 'blocked', endedAt: null, ...wait });
  const picked = action({ name: 'approve', state: 'blocked', endedAt: null, blockedBy: 'user:alice may pick' });
  const soak = { pipeline: 'staging', artifact: 'executable', for: 24 * 3_600_000 };
  const waitsOf = async (spec: object, answers: object): Promise<object> => {
    const state = running(running(pipelineOf(), artifact('kv:1')), artifact('kv:2'));
    const { workflows, asked } = serverWith({ 'pipeline/kvstore': { ...state, spec }, ...answers });
    const { waits } = await workflows.pipeline('kvstore');
    return { waits, releases: asked.filter((id) => id.startsWith('release/')) };
  };

  test('says what soaks in its releases, and since when and until when, and stays where one of them is silent', async () => {
    const spec = { ...specOf(), actions: { deploy: { ...specOf().actions['deploy'], soak } } };
    const answer = { 'release/kvstore/2': release({ actions: [soaking, picked] }) };
    expect(await waitsOf(spec, answer)).toMatchObject({
      waits: [{ release: 2, action: 'deploy', why: wait.blockedBy, until: wait.until }],
      releases: ['release/kvstore/1', 'release/kvstore/2'],
    });
  });

  test('asks no release where nothing soaks', async () => {
    expect(await waitsOf(specOf(), {})).toEqual({ waits: [], releases: [] });
  });
});

test('who may not pick learns who may, not that they own nothing', async () => {
  const why = 'user:bob may not pick approve: user:alice may';
  const refused = new WorkflowUpdateFailedError('refused', ApplicationFailure.nonRetryable(why, 'not-permitted'));
  const { workflows } = serverWith({ 'release/kvstore/13': refused });
  const pick = () => workflows.update('release/kvstore/13', 'kvstore/13/approve', 'pick', { actor: 'user:bob' });
  await expect(pick()).rejects.toMatchObject({ code: 'not-permitted', message: why, hint: 'ask one of them to do it' });
});

test.each<[state: ReleaseStatus['state'], instead: string]>([
  ['failed', 'run it again with conveyor rerun kvstore/13, or start a new one with conveyor release kvstore'],
  ['succeeded', 'start a new one with conveyor release kvstore'],
])('a retry after the end is refused with what to type instead: %s', async (state, instead) => {
  const ended = release({ state, endedAt: '2026-11-20T14:02:00.000Z' });
  const { workflows } = serverWith({ 'release/kvstore/13': ended });
  await expect(sendCommand(workflows, 'kvstore/13/tests', 'retry', {})).rejects.toThrow(
    `it has ended (${state}); ${instead}`,
  );
});
