import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { workflowIds } from '../../domain/ids';
import { Processes } from './process';
import { startTemporalWithShortHistories } from './server';
import { given, type Given, type Service } from './service';
import { OWNER, Stack } from './stack';
import { eventually } from './waiting';

const processes = new Processes();
const home = mkdtempSync(join(tmpdir(), 'conveyor-continue-'));
let stack: Stack;
beforeAll(async () => {
  stack = await Stack.open({ temporal: await startTemporalWithShortHistories(processes, home) });
});
afterAll(async () => {
  await stack.close();
  await processes.reap();
  rmSync(home, { recursive: true, force: true });
});

/** The number of histories that a workflow has had. */
const runsOf = async (workflowId: string): Promise<number> =>
  (await stack.temporal.workflow.count(`WorkflowId='${workflowId}'`)).count;

const TWO_PHASES: Given = {
  deploy: {
    phases: [
      { name: 'first', scope: 'region:x', amount: 2, bake: '1s' },
      { name: 'half', scope: '*', amount: '50%', bake: '1h' },
    ],
    completion: { bake: '1h' },
  },
};

/** A deploy that has left its first history behind and bakes half of its tasks. */
async function carriedOn(): Promise<Service> {
  const shop = await given(stack, TWO_PHASES);
  await shop.ships(2);
  await shop.reaches(1, 'bakes half of it', ({ phases }) => Boolean(phases[1]?.bakeUntil));
  await eventually('its history was continued as new', async () => (await runsOf(shop.deployWorkflow(1))) > 1);
  return shop;
}

describe('a deploy whose history grew long continues in a new one', () => {
  test('with its whole state, to the end', async () => {
    const shop = await carriedOn();
    const { phases, timeline, spans } = await shop.deploy(1);
    expect(phases[0]).toMatchObject({ name: 'first', state: 'succeeded', units: [{ targeted: 2, live: 2 }] });
    expect(timeline.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['planned', 'bake-passed']));
    expect(spans.bakeMs).toBeGreaterThanOrEqual(1_000);
    for (const phase of [1, 2]) {
      await shop.reaches(1, `bakes phase ${phase}`, (deploy) => Boolean(deploy.phases[phase]?.bakeUntil));
      const skip = ['skip-bake', `${shop.name}/1/deploy`, '--reason', 'continue'];
      expect(await stack.json(skip)).toMatchObject({ accepted: true });
    }
    expect(await shop.ended(1)).toMatchObject({ state: 'succeeded' });
    expect(await shop.runs()).toEqual({ 2: 12 });
  });

  test('and a revert still knows every task that it touched before', async () => {
    const shop = await carriedOn();
    expect(await shop.runs()).toEqual({ 1: 6, 2: 6 });
    expect(await stack.conveyor(['revert', `${shop.name}/1`, '--reason', 'no'])).toMatchObject({ code: 0 });
    expect(await shop.ended(1)).toMatchObject({ state: 'failed' });
    expect(await shop.runs()).toEqual({ 1: 12 });
  });

  test('and cancelling its release through Temporal still stops it', async () => {
    const shop = await carriedOn();
    await stack.temporalCli(['workflow', 'cancel', '--workflow-id', workflowIds.release(shop.name, 1)]);
    expect(await shop.ended(1)).toMatchObject({ state: 'cancelled', cause: 'operator' });
    expect(await shop.deploy(1)).toMatchObject({
      outcome: 'cancelled',
      commands: [{ verb: 'cancel', actor: 'service:temporal', accepted: true }],
    });
    expect(await shop.runs()).toEqual({ 1: 6, 2: 6 });
  });
});

test('a pipeline whose history grew long keeps numbering, knows what is good, and is found by its finders', async () => {
  const finder = { finder: 'tagged-executables', with: { package: 'nobody', tag: 'live' } };
  const shop = await given(stack, {
    deploy: { phases: [], completion: { bake: '0s' }, healthChecks: [] },
    pipeline: { artifacts: { executable: finder } },
  });
  const pipeline = workflowIds.pipeline(shop.name);
  const keyed = ['release', shop.name, '-a', `executable=${shop.version(2)}`, '--idempotency-key', 'first'];
  expect(await stack.json(keyed)).toMatchObject({ id: `${shop.name}/1`, duplicate: false });
  let last = 1;
  await eventually('its history was continued as new', async () => {
    expect(await shop.ended(last)).toMatchObject({ state: 'succeeded' });
    last += 1;
    expect(await shop.ships(last + 1)).toBe(`${shop.name}/${last}`);
    return (await runsOf(pipeline)) > 1;
  });
  await shop.ended(last);
  const status = await stack.client.status(shop.name);
  expect(status).toMatchObject({
    lastRelease: last,
    lastGood: { deploy: { release: last, version: shop.version(last + 1) } },
    owners: [OWNER],
  });
  expect((await stack.client.history(shop.name)).map(({ number }) => number)).toEqual(
    Array.from({ length: last }, (_, index) => last - index),
  );
  expect(await stack.json(keyed)).toMatchObject({ id: `${shop.name}/1`, duplicate: true });
  const { memo } = await stack.temporal.workflow.getHandle(pipeline).describe();
  expect(memo).toMatchObject({ subscriptions: { artifacts: { executable: { finder: 'tagged-executables' } } } });
});

test('no message to a pipeline is lost while it continues in a new history', async () => {
  const shop = await given(stack, TWO_PHASES);
  await shop.ships(2);
  await shop.reaches(1, 'bakes half of it', ({ phases }) => Boolean(phases[1]?.bakeUntil));
  const carried = await stack.temporal.workflow.getHandle(workflowIds.pipeline(shop.name)).query<object>('pipeline');
  expect(carried).toMatchObject({ active: [{ number: 1 }], history: [] });
  // The release reports its end with the first task of the new history.
  const over = { number: 1, state: 'succeeded', cause: null, artifacts: [], deploys: [], endedAt: ENDED };
  const next = await stack.temporal.workflow.signalWithStart('pipeline', {
    workflowId: workflowIds.pipeline(`${shop.name}-next`),
    taskQueue: stack.taskQueue,
    args: [carried],
    signal: 'release-over',
    signalArgs: [over],
  });
  expect(await next.query('pipeline')).toMatchObject({ active: [], history: [{ number: 1, endedAt: ENDED }] });
  await next.terminate('the test is over');
});

const ENDED = '2026-01-02T03:04:05.678Z';
