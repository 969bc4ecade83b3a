import { workflowIds } from '../../domain/ids';
import type { Verb } from '../../domain/verbs';
import type { PipelineStatus } from '../../domain/views';
import { given, type Given, SELDOM, type Service } from './service';
import { OWNER, Stack } from './stack';
import { eventually } from './waiting';

let stack: Stack;
beforeAll(async () => {
  stack = await Stack.open();
});
afterAll(() => stack.close());

/** Nothing proceeds by itself: a verb caused every event. */
const PATIENT: Given = {
  deploy: {
    phases: [
      { name: 'first', scope: 'region:x', amount: 2, bake: '1h' },
      { name: 'half', scope: '*', amount: '50%', bake: '1h' },
    ],
    completion: { bake: '1h' },
    healthInterval: SELDOM,
  },
};

interface Command {
  readonly shop: Service;
  /** The release of the deploy; a verb for the pipeline has none. */
  readonly release?: number;
  readonly verb: Verb;
  readonly reason: string;
  readonly more?: { readonly check?: string; readonly for?: string; readonly artifact?: string };
}

async function byCommandLine({ shop, release, verb, reason, more = {} }: Command): Promise<void> {
  const { artifact, ...flags } = more;
  const id = release === undefined ? shop.name : `${shop.name}/${release}/deploy`;
  const options = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]);
  const receipt = await stack.json([verb, id, ...(artifact ? [artifact] : []), ...options, '--reason', reason]);
  expect(receipt).toEqual({ accepted: true, effect: expect.any(String), id });
}

async function bySignal({ shop, release, verb, reason, more = {} }: Command): Promise<void> {
  const workflow = release === undefined ? workflowIds.pipeline(shop.name) : shop.deployWorkflow(release);
  await signal(workflow, verb, { actor: OWNER, reason, ...more });
}

const signal = (workflow: string, name: string, input?: object): Promise<string> =>
  stack.temporalCli([
    ...['workflow', 'signal', '--workflow-id', workflow, '--name', name],
    ...(input ? ['--input', JSON.stringify(input)] : []),
  ]);

const pipelineOf = async (shop: Service): Promise<PipelineStatus> =>
  (await stack.client.status(shop.name)) as PipelineStatus;

const untilPipeline = (shop: Service, what: string, holds: (status: PipelineStatus) => boolean) =>
  eventually(`pipeline ${shop.name} ${what}`, async () => {
    const status = await pipelineOf(shop);
    return holds(status) && status;
  });

describe.each([
  ['the command line', byCommandLine],
  ['temporal workflow signal', bySignal],
])('by %s an owner', (_, give) => {
  test('pauses, resumes, skips a check, a bake and a phase, and reverts; all of it is on record', async () => {
    const shop = await given(stack, PATIENT);
    const on = (verb: Verb, more?: Command['more']) =>
      give({ shop, release: 1, verb, reason: `try ${verb}`, ...(more ? { more } : {}) });
    await shop.ships(2);
    await shop.reaches(1, 'bakes its first phase', ({ state }) => state === 'baking');
    await on('pause');
    await shop.reaches(1, 'is paused', ({ paused }) => paused?.by === 'operator' && paused.actor === OWNER);
    await on('resume');
    await shop.reaches(1, 'continues', ({ paused }) => paused === null);
    await on('skip-health-check', { check: 'errors', for: 'phase' });
    await shop.reaches(1, 'shows the skip', ({ commands }) => commands.length === 3);
    expect(await shop.runs()).toEqual({ 1: 10, 2: 2 });
    await on('skip-bake');
    const second = await shop.reaches(1, 'bakes half of it', ({ phases }) => Boolean(phases[1]?.bakeUntil));
    expect(second.phases[0]).toMatchObject({ state: 'succeeded', skipped: `bake by ${OWNER}: try skip-bake` });
    expect(await shop.runs()).toEqual({ 1: 6, 2: 6 });
    await on('skip-phase');
    const last = await shop.reaches(1, 'bakes its last phase', ({ phases }) => Boolean(phases[2]?.bakeUntil));
    expect(last.phases[1]).toMatchObject({ state: 'skipped', skipped: `phase by ${OWNER}: try skip-phase` });
    await on('revert');
    expect(await shop.ended(1)).toMatchObject({ state: 'failed' });
    expect(await shop.runs()).toEqual({ 1: 12 });
    const { outcome, commands } = await shop.deploy(1);
    expect(outcome).toBe('reverted');
    expect(commands.map(({ verb, actor, reason, accepted }) => [verb, actor, reason, accepted])).toEqual(
      ['pause', 'resume', 'skip-health-check', 'skip-bake', 'skip-phase', 'revert'].map((verb) => [
        verb,
        OWNER,
        `try ${verb}`,
        true,
      ]),
    );
  });

  test('holds the pipeline, lets it go, allows a bad artifact again, and cancels', async () => {
    const shop = await given(stack, PATIENT);
    const on = (verb: Verb, more?: Command['more']) =>
      give({ shop, verb, reason: `try ${verb}`, ...(more ? { more } : {}) });
    await on('hold');
    await untilPipeline(shop, 'is held', ({ held }) => held?.actor === OWNER && held.reason === 'try hold');
    await shop.ships(2);
    await eventually('the deploy says that it is held', async () => {
      const [deploy] = (await shop.release(1)).actions;
      return deploy?.state === 'blocked' && deploy.blockedBy?.includes('try hold');
    });
    expect(await shop.effects()).toEqual([]);
    await on('unhold');
    await shop.isIn(1, 'baking');
    await give({ shop, release: 1, verb: 'revert', reason: 'not good' });
    await shop.ended(1);
    // A person's revert holds the pipeline and marks the artifact, until a person ends that.
    const after = await untilPipeline(shop, 'is held again', ({ held }) => held !== null);
    expect(after.knownBad.map(({ artifact }) => artifact)).toEqual([`executable@${shop.version(2)}`]);
    await on('allow-artifact', { artifact: `executable@${shop.version(2)}` });
    await untilPipeline(shop, 'knows nothing bad', ({ knownBad }) => knownBad.length === 0);
    await on('unhold');
    await untilPipeline(shop, 'is free', ({ held }) => held === null);
    await shop.ships(2);
    await shop.isIn(2, 'baking');
    await give({ shop, release: 2, verb: 'cancel', reason: 'enough' });
    expect(await shop.ended(2)).toMatchObject({ state: 'cancelled', cause: 'operator' });
    expect(await shop.deploy(2)).toMatchObject({ outcome: 'cancelled', classification: 'good-failure' });
    expect(await shop.runs()).toEqual({ 1: 10, 2: 2 });
    const given4 = (await pipelineOf(shop)).commands.map(({ verb, actor, accepted }) => [verb, actor, accepted]);
    expect(given4).toEqual(['hold', 'unhold', 'allow-artifact', 'unhold'].map((verb) => [verb, OWNER, true]));
  });
});

test('signals to a release reach its deploy', async () => {
  const shop = await given(stack, PATIENT);
  await shop.ships(2);
  await shop.isIn(1, 'baking');
  const release = workflowIds.release(shop.name, 1);
  await signal(release, 'pause', { actor: OWNER, reason: 'wait' });
  await shop.reaches(1, 'is paused', ({ paused }) => paused?.reason === 'wait');
  expect(await shop.release(1)).toMatchObject({ state: 'paused' });
  await signal(release, 'resume', { actor: OWNER, reason: 'continue' });
  await shop.reaches(1, 'continues', ({ paused }) => paused === null);
  await signal(release, 'revert', { actor: OWNER, reason: 'no' });
  expect(await shop.ended(1)).toMatchObject({ state: 'failed' });
  expect(await shop.runs()).toEqual({ 1: 12 });
});

test.each([
  ['release', (shop: Service) => workflowIds.release(shop.name, 1)],
  ['deploy', (shop: Service) => shop.deployWorkflow(1)],
])("Temporal's own cancel of a %s means the verb", async (_, victim) => {
  const shop = await given(stack, PATIENT);
  await shop.ships(2);
  await shop.isIn(1, 'baking');
  await stack.temporalCli(['workflow', 'cancel', '--workflow-id', victim(shop)]);
  expect(await shop.ended(1)).toMatchObject({ state: 'cancelled', cause: 'operator' });
  const { outcome, commands } = await shop.deploy(1);
  expect({ outcome, commands }).toMatchObject({
    outcome: 'cancelled',
    commands: [{ verb: 'cancel', actor: 'service:temporal', accepted: true }],
  });
  expect(await shop.runs()).toEqual({ 1: 10, 2: 2 });
});

test('a release that ended is rolled back by a new one, whose id revert answers', async () => {
  const shop = await given(stack, { deploy: { phases: [], completion: { bake: '0s' } } });
  for (const n of [2, 3]) {
    await shop.ships(n);
    expect(await shop.ended(n - 1)).toMatchObject({ state: 'succeeded' });
  }
  const revert = ['revert', `${shop.name}/2`, '--reason', 'customers complain'];
  expect(await stack.json(revert)).toMatchObject({ accepted: true, id: `${shop.name}/3` });
  expect(await shop.ended(3)).toMatchObject({ state: 'succeeded', trigger: { kind: 'rollback', of: 2, actor: OWNER } });
  expect(await shop.runs()).toEqual({ 2: 12 });
});

test('who is not an owner changes nothing, however they ask, and it is on record', async () => {
  const shop = await given(stack, PATIENT);
  await shop.ships(2);
  await shop.isIn(1, 'baking');
  const mallory = { actor: 'user:mallory', reason: 'because I can' };
  const refused = await stack.conveyor(['revert', `${shop.name}/1`, '--reason', mallory.reason], {
    CONVEYOR_ACTOR: mallory.actor,
  });
  expect(refused).toMatchObject({
    code: 4,
    stderr: expect.stringMatching(/^error: not-permitted: user:mallory is not/),
  });
  await signal(shop.deployWorkflow(1), 'revert', mallory);
  await signal(shop.deployWorkflow(1), 'pause');
  await signal(workflowIds.pipeline(shop.name), 'hold', mallory);
  const { commands, state, paused } = await shop.reaches(1, 'has both on record', (it) => it.commands.length === 2);
  expect(commands).toEqual([
    expect.objectContaining({ verb: 'revert', ...mallory, accepted: false, rejection: expect.stringMatching(/owner/) }),
    expect.objectContaining({ verb: 'pause', actor: 'user:unknown', accepted: false }),
  ]);
  expect({ state, paused }).toEqual({ state: 'baking', paused: null });
  const pipeline = await untilPipeline(shop, 'has it on record', (it) => it.commands.length === 1);
  expect(pipeline).toMatchObject({ held: null, commands: [{ verb: 'hold', actor: 'user:mallory', accepted: false }] });
  expect(await shop.runs()).toEqual({ 1: 10, 2: 2 });
});
