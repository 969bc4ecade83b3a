import { computeJitter } from '../../domain/children/jitter';
import { workflowIds } from '../../domain/ids';
import type { PipelineSource } from '../../domain/spec/pipeline';
import type { ChildrenView, ReleaseStatus } from '../../domain/views';
import { HOUR, MINUTE, VirtualWorld } from './world';

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.open();
});
afterEach(() => world.close());

type Children = NonNullable<PipelineSource['children']>;

const BUILD: PipelineSource['actions'] = { build: { type: 'build', inputs: ['executable'], outputs: ['image'] } };

/** An inference executable (Conveyor §3.3): tested by its own pipeline, deployed by the pipelines of the models that it serves. */
const inference = (children: Partial<Children> = {}): PipelineSource => ({
  pipeline: 'inference',
  owners: ['user:alice'],
  artifacts: { executable: { finder: 'manual' } },
  actions: { test: { type: 'integr-test', inputs: ['executable'] } },
  children: { pipelines: { label: { parent: 'inference' } }, artifacts: ['executable'], ...children },
});

/** A build takes a few seconds, and fails for `model-1:2` if that version is set to fail. */
const model = (name: string, labels: Record<string, string> = {}): PipelineSource => ({
  pipeline: name,
  owners: ['user:alice'],
  labels: { parent: 'inference', ...labels },
  artifacts: { executable: { finder: 'manual' } },
  actions: BUILD,
});

const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `model-${index + 1}`);

async function given(children: Partial<Children>, models: readonly PipelineSource[]): Promise<void> {
  for (const source of models) await world.apply(source);
  await world.apply(inference(children), { reconcileIntervalMs: 10 * MINUTE });
}

const FAN_OUT = workflowIds.children('inference', 1);
const view = (): Promise<ChildrenView> => world.client.workflow.getHandle(FAN_OUT).query('status');

/** Lets time pass until the children of release 1 have ended. */
async function childrenEnded(): Promise<ChildrenView> {
  const isOver = async () => ['succeeded', 'failed', 'cancelled'].includes((await view()).state);
  await world.until('the children ended', isOver, { stepMs: 2_000 });
  return view();
}

/** The releases of a child's pipeline, with their states. */
const releasesOf = async (child: string): Promise<readonly { number: number; state: string }[]> =>
  (await world.pipelineStatus(child)).releases.map(({ number, state }) => ({ number, state }));

const children = (of: readonly string[]): Promise<ReleaseStatus[]> =>
  Promise.all(of.map((child) => world.releaseStatus(child, 1)));

/** The most releases that ran at the same time. */
function peakOf(releases: readonly ReleaseStatus[]): number {
  const at = (time: string) =>
    releases.filter(({ startedAt, endedAt }) => startedAt <= time && time < (endedAt ?? '9')).length;
  return Math.max(...releases.map(({ startedAt }) => at(startedAt)));
}

test('a release that succeeds gives what it made to each child once, so many at a time', async () => {
  await given(
    { maxConcurrent: 3 },
    names(9).map((name) => model(name)),
  );
  await world.release('inference', '2');
  expect(await childrenEnded()).toMatchObject({ state: 'succeeded', total: 9, succeeded: 9, failures: [] });
  expect(await world.ended('inference', 1)).toMatchObject({ state: 'succeeded' });
  const all = await children(names(9));
  for (const [index, { trigger, artifacts }] of all.entries()) {
    expect(trigger).toMatchObject({ kind: 'parent', parent: 'inference/1', actor: 'service:conveyor' });
    expect(artifacts[0]).toMatchObject({ name: 'executable', version: '2' });
    expect(await releasesOf(`model-${index + 1}`)).toEqual([{ number: 1, state: 'succeeded' }]);
  }
  expect(peakOf(all)).toBe(3);
});

test('children start spread over the jitter, each at its own moment', async () => {
  await given(
    { jitter: '30m' },
    names(8).map((name) => model(name)),
  );
  await world.release('inference', '2');
  const parent = await world.ended('inference', 1, { stepMs: 1_000 });
  const moment = (child: string): number => computeJitter('inference/1', child, 30 * MINUTE);
  await world.sleep(Math.max(...names(8).map(moment)));
  await childrenEnded();
  const began = Date.parse(parent.endedAt ?? '');
  for (const { pipeline, startedAt } of await children(names(8))) {
    const late = Date.parse(startedAt) - began - moment(pipeline);
    expect(late).toBeGreaterThanOrEqual(0);
    expect(late).toBeLessThan(2_000);
  }
});

test('a release that fails starts no child', async () => {
  await given({}, [model('model-1')]);
  await world.describeVersion('2', { failTests: true });
  await world.release('inference', '2');
  expect(await world.ended('inference', 1)).toMatchObject({ state: 'failed' });
  await world.sleep(HOUR);
  expect(await releasesOf('model-1')).toEqual([]);
  await expect(view()).rejects.toThrow(/not found/);
});

describe('with some that go first', () => {
  const models = names(6).map((name, index) => model(name, { importance: index < 2 ? 'low' : 'high' }));
  const first = { label: { importance: 'low' }, atLeast: 2 };

  test('the others start when all of those have succeeded', async () => {
    await given({ first }, models);
    await world.release('inference', '2');
    expect(await childrenEnded()).toMatchObject({ state: 'succeeded', succeeded: 6 });
    const all = await children(names(6));
    const passed = Math.max(...all.slice(0, 2).map(({ endedAt }) => Date.parse(endedAt ?? '')));
    for (const { startedAt } of all.slice(2)) expect(Date.parse(startedAt)).toBeGreaterThanOrEqual(passed);
  });

  test('the others never start when one of those fails', async () => {
    await given({ first }, models);
    await world.describeVersion('model-2:2', { failBuild: true });
    await world.release('inference', '2');
    expect(await childrenEnded()).toMatchObject({
      state: 'failed',
      succeeded: 1,
      failed: 1,
      notStarted: 4,
      failures: [{ id: 'model-2/1', state: 'failed' }],
      reason: '1 of the 2 that go first did not succeed, so the others were not started',
    });
    await world.sleep(HOUR);
    for (const child of names(6).slice(2)) expect(await releasesOf(child)).toEqual([]);
    expect(await world.ended('inference', 1)).toMatchObject({ state: 'succeeded' });
  });

  test('no child starts when there are fewer of them than wanted', async () => {
    await given({ first: { ...first, atLeast: 3 } }, models);
    await world.release('inference', '2');
    expect(await childrenEnded()).toMatchObject({ state: 'failed', notStarted: 6 });
    for (const child of names(6)) expect(await releasesOf(child)).toEqual([]);
  });
});

describe('cancelling stops those not yet started, and lets the others continue', () => {
  /** The builds run one after the other; each takes up to ten seconds. */
  const untilTwoBegan = async (): Promise<void> => {
    await given(
      { maxConcurrent: 1 },
      names(6).map((name) => model(name)),
    );
    await world.release('inference', '2');
    const began = async () => (await Promise.all(names(6).map(releasesOf))).filter(({ length }) => length > 0).length;
    await world.until('two have begun', async () => (await began()) === 2, { stepMs: 1_000 });
  };

  test('by command of an owner', async () => {
    await untilTwoBegan();
    const stranger = world.command(FAN_OUT, 'cancel', { actor: 'user:mallory' });
    await expect(stranger).rejects.toMatchObject({ cause: { type: 'not-permitted' } });
    await world.command(FAN_OUT, 'cancel', { reason: 'wrong executable' });
    expect(await childrenEnded()).toMatchObject({
      state: 'cancelled',
      succeeded: 2,
      notStarted: 4,
      reason: 'cancelled by user:alice: wrong executable',
      commands: [{ verb: 'cancel', actor: 'user:alice', accepted: true }],
    });
  });

  test("by Temporal's own cancel", async () => {
    await untilTwoBegan();
    await world.settled();
    await world.client.workflow.getHandle(FAN_OUT).cancel();
    expect(await childrenEnded()).toMatchObject({ state: 'cancelled', succeeded: 2, notStarted: 4 });
  });
});

test('a child that refuses counts as failed with its reason, and the others continue', async () => {
  const other = { ...model('model-2'), artifacts: { weights: { finder: 'manual' } }, actions: {} };
  await given({ pipelines: ['model-1', 'model-2', 'model-9'] }, [model('model-1'), other]);
  await world.release('inference', '2');
  const { state, succeeded, failed, failures } = await childrenEnded();
  expect({ state, succeeded, failed }).toEqual({ state: 'failed', succeeded: 1, failed: 2 });
  expect(failures).toContainEqual({ id: 'model-9', state: 'refused', reason: 'there is no pipeline model-9' });
  expect(failures).toContainEqual({ id: 'model-2', state: 'refused', reason: 'model-2 takes no artifact executable' });
});

test('a child that dies without a word does not keep its place', async () => {
  const actions: PipelineSource['actions'] = {
    deploy: { type: 'deploy', inputs: ['executable'], with: { pushType: 'twine', config: { jobs: ['x'] } } },
  };
  await given(
    { maxConcurrent: 1 },
    names(2).map((name) => ({ ...model(name), actions })),
  );
  // A held deploy runs no activity that the virtual server could lose.
  for (const name of names(2)) await world.command(workflowIds.pipeline(name), 'hold');
  await world.release('inference', '2');
  for (const nth of [1, 2]) {
    await world.until(`child ${nth} runs`, async () => (await begun()).length === nth);
    for (const child of await begun())
      await world.client.workflow
        .getHandle(workflowIds.release(child, 1))
        .terminate('a test')
        .catch(() => undefined);
  }
  const { state, failures } = await childrenEnded();
  expect(state).toBe('failed');
  expect(failures.map(({ reason }) => reason)).toEqual(['its release was terminated', 'its release was terminated']);
});

async function begun(): Promise<string[]> {
  const releases = await Promise.all(names(2).map(releasesOf));
  return names(2).filter((_, index) => (releases[index] ?? []).length > 0);
}

describe('children that are due at the same moment', () => {
  const asks = async (): Promise<string[]> => {
    const { events } = await world.client.workflow
      .getHandle(workflowIds.childrenShard('inference', 1, 0))
      .fetchHistory();
    return (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: asked }) => asked?.activityType?.name ?? []);
  };

  test('are asked for by one activity', async () => {
    await given(
      {},
      names(9).map((name) => model(name)),
    );
    await world.release('inference', '2');
    expect(await childrenEnded()).toMatchObject({ state: 'succeeded', succeeded: 9 });
    expect(await asks()).toEqual(['startChildReleases']);
  });

  test('do not wait for one that cannot be asked now, which is asked until it can', async () => {
    await given(
      {},
      names(3).map((name) => model(name)),
    );
    const { workflow } = world.client;
    const handleOf = workflow.getHandle.bind(workflow);
    const outage = jest.spyOn(workflow, 'getHandle').mockImplementation((id, ...more) => {
      const handle = handleOf(id, ...more);
      if (id !== workflowIds.pipeline('model-3')) return handle;
      return { ...handle, executeUpdate: () => Promise.reject(new Error('unavailable')) };
    });
    await world.release('inference', '2');
    await world.until('the others have ended', async () => (await view()).succeeded === 2, { stepMs: 2_000 });
    expect(await view()).toMatchObject({ state: 'running', running: 1 });
    outage.mockRestore();
    expect(await childrenEnded()).toMatchObject({ state: 'succeeded', succeeded: 3 });
    expect(await asks()).toEqual(['startChildReleases', 'startChildRelease']);
    expect(await releasesOf('model-3')).toEqual([{ number: 1, state: 'succeeded' }]);
  });
});
