import type { PipelineState } from '../../domain/pipeline/state';
import { CALM, slowAction } from './flows';
import { kvstore } from './pipelines';
import { HOUR, MINUTE, VirtualWorld } from './world';

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.ofKvstore();
});
afterEach(() => world.close());

const states = async (numbers: number[]) =>
  Promise.all(
    numbers.map(async (number) =>
      world.releaseStatus('kvstore', number).then(({ state, cause }) => (cause ? `${state} (${cause})` : state)),
    ),
  );

test('when two releases are ready one deploys at a time, and a third supersedes the one that waits', async () => {
  await world.apply(kvstore());
  await world.release('kvstore', 'kv:2');
  await world.reaches('kvstore', 1, ({ state }) => state === 'baking');
  await world.release('kvstore', 'kv:3');
  await world.until(
    'the second waits',
    async () => (await world.releaseStatus('kvstore', 2)).actions[0]?.blockedBy === 'release 1 deploys',
  );
  await world.release('kvstore', 'kv:4');
  await world.ended('kvstore', 3);
  expect(await states([1, 2, 3])).toEqual(['succeeded', 'cancelled (superseded)', 'succeeded']);
  for (const job of await world.jobs()) expect(job.versions).toEqual({ 'kv:4': 6 });
});

test('with supersede: never every release deploys, in order', async () => {
  await world.apply(kvstore({}, { releases: { supersede: 'never' } }));
  for (const version of ['kv:2', 'kv:3', 'kv:4']) await world.release('kvstore', version);
  await world.ended('kvstore', 3);
  expect(await states([1, 2, 3])).toEqual(['succeeded', 'succeeded', 'succeeded']);
});

test('a release that is cancelled while it is being started either never starts, or the command is refused', async () => {
  await world.apply(kvstore());
  await world.command('pipeline/kvstore', 'hold', { reason: 'nothing is to deploy' });
  for (let number = 1; number <= 30; number += 1) {
    await world.release('kvstore', `kv:${number + 1}`);
    await new Promise((resolve) => setTimeout(resolve, number / 5));
    const command = { number, actor: 'user:alice', reason: 'too early' };
    const isTaken = await world
      .pipeline('kvstore')
      .executeUpdate('cancel-queued', { args: [command] })
      .then(
        () => true,
        () => false,
      );
    const { active } = await world.pipeline('kvstore').query<PipelineState>('pipeline');
    expect({ number, isKnown: active.some((release) => release.number === number) }).toEqual({
      number,
      isKnown: !isTaken,
    });
    const started = await world.client.workflow
      .getHandle(`release/kvstore/${number}`)
      .describe()
      .then(
        () => true,
        () => false,
      );
    if (isTaken) expect({ number, started }).toEqual({ number, started: false });
  }
});

test('two pipelines that deploy the same service take turns', async () => {
  const other = { ...kvstore(), pipeline: 'kvstore-hotfix' };
  await world.apply(kvstore());
  await world.apply(other);
  await world.release('kvstore', 'kv:2');
  await world.reaches('kvstore', 1, ({ state }) => state === 'baking');
  await world.release('kvstore-hotfix', 'kv:3');
  const waiting = await world.reaches('kvstore-hotfix', 1, ({ state }) => state === 'waiting-lock');
  expect(waiting.summary).toBe('waiting for its turn to deploy kvstore');
  const seen = await world.workflows().deploy('kvstore-hotfix', 1, 'deploy');
  expect(seen).toMatchObject({ lock: 'lock/twine/kvstore', heldBy: { id: 'kvstore/1' } });
  expect(seen.next[0]).toBe('conveyor status kvstore/1');
  await world.ended('kvstore-hotfix', 1);
  const [first, second] = [await world.deployStatus('kvstore', 1), await world.deployStatus('kvstore-hotfix', 1)];
  expect([first.outcome, second.outcome]).toEqual(['succeeded', 'succeeded']);
  expect(second.spans.lockWaitMs).toBeGreaterThan(10 * MINUTE);
  expect(Date.parse(second.phases[0]?.startedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(first.endedAt ?? ''));
});

test('a held pipeline starts no deploy until it is let go', async () => {
  await world.apply(kvstore());
  await world.command('pipeline/kvstore', 'hold', { reason: 'conference' });
  await world.release('kvstore', 'kv:2');
  await world.sleep(24 * HOUR);
  const [deploy] = (await world.releaseStatus('kvstore', 1)).actions;
  expect(deploy).toMatchObject({ state: 'blocked', blockedBy: 'the pipeline is held by user:alice: conference' });
  await world.command('pipeline/kvstore', 'unhold');
  await world.ended('kvstore', 1);
  expect(await states([1])).toEqual(['succeeded']);
});

test('a known-bad version that is built again is never deployed again until a person says so', async () => {
  await world.describeVersion('kv:2', { errorRatio: 0.2 });
  const source = {
    build: { type: 'build', inputs: ['source'], outputs: ['executable'], with: { target: '//kv:server' } },
    deploy: kvstore().actions.deploy,
  };
  await world.apply({ ...kvstore(), artifacts: { source: { finder: 'manual' } }, actions: source as never });
  const submit = () =>
    world.pipeline('kvstore').executeUpdate('start-release', {
      args: [
        {
          artifacts: [{ name: 'source', kind: 'source', version: '2', metadata: {} }],
          trigger: { kind: 'manual', actor: 'user:alice', key: null },
        },
      ],
    });
  await submit();
  await world.ended('kvstore', 1);
  await submit();
  await world.ended('kvstore', 2);
  expect(await states([1, 2])).toEqual(['failed', 'cancelled (bad-package)']);
  await world.describeVersion('kv:2', {});
  await world.command('pipeline/kvstore', 'allow-artifact', { artifact: 'executable@kv:2' });
  await submit();
  await world.ended('kvstore', 3);
  expect(await states([3])).toEqual(['succeeded']);
});

test('two reverts in a row hold the pipeline', async () => {
  for (const version of ['kv:2', 'kv:3']) await world.describeVersion(version, { errorRatio: 0.2 });
  await world.apply(kvstore());
  await world.release('kvstore', 'kv:2');
  await world.ended('kvstore', 1);
  expect((await world.pipelineStatus('kvstore')).state).toBe('active');
  await world.release('kvstore', 'kv:3');
  await world.ended('kvstore', 2);
  expect((await world.pipelineStatus('kvstore')).held).toMatchObject({
    actor: 'service:conveyor',
    reason: '2 reverts in a row',
  });
});

test('a deploy that cannot be planned ends, says why and touches nothing', async () => {
  await world.apply(kvstore({ phases: [{ scope: 'region:mars', amount: 3 }] }));
  await world.release('kvstore', 'kv:2');
  await world.ended('kvstore', 1);
  const deploy = await world.deployStatus('kvstore', 1);
  expect(deploy).toMatchObject({ outcome: 'failed', classification: 'good-failure' });
  expect(deploy.summary).toBe(
    'the scope region:mars of phase phase-1 matches none of the units (kvstore-x, kvstore-y)',
  );
  await world.apply(kvstore({ config: { jobs: ['kvstore-x', 'kvstore-q'] } }));
  await world.release('kvstore', 'kv:2');
  await world.ended('kvstore', 2);
  expect((await world.deployStatus('kvstore', 2)).summary).toContain('kvstore-q');
});

test('a fleet that is unhealthy already pauses the deploy before it touches anything', async () => {
  await world.describeVersion('kv:1', { errorRatio: 0.2 });
  await world.sleep(10 * MINUTE);
  await world.apply(kvstore());
  await world.release('kvstore', 'kv:2');
  const { paused, phases } = await world.reaches('kvstore', 1, (status) => status.paused !== null);
  expect(paused).toMatchObject({ by: 'health' });
  expect(paused?.reason).toContain('unhealthy before anything was updated');
  expect(phases[0]?.state).toBe('waiting');
  await world.command('deploy/kvstore/1/deploy/1', 'skip-health-check', {
    check: 'errors',
    for: 'deploy',
    reason: 'this is the fix',
  });
  await world.command('deploy/kvstore/1/deploy/1', 'resume');
  await world.ended('kvstore', 1);
  expect((await world.deployStatus('kvstore', 1)).outcome).toBe('succeeded');
});

test('the same key submitted twice is one release', async () => {
  await world.apply(kvstore());
  const submit = () =>
    world.pipeline('kvstore').executeUpdate('start-release', {
      args: [
        {
          artifacts: [{ name: 'executable', kind: 'executable', version: 'kv:2', metadata: {} }],
          trigger: { kind: 'manual', actor: 'user:alice', key: 'build-77' },
        },
      ],
    });
  expect(await submit()).toEqual({ number: 1, duplicate: false });
  expect(await submit()).toEqual({ number: 1, duplicate: true });
  await world.ended('kvstore', 1);
});

describe('reports of a release to its pipeline', () => {
  /** The signals sent to the pipeline, and the number of its events other than those of its tasks, to which a query may add. */
  async function heard(): Promise<{ signals: string[]; events: number }> {
    const history = await world.pipeline('kvstore').fetchHistory();
    const events = history.events ?? [];
    const signals = events.flatMap(({ workflowExecutionSignaledEventAttributes: signal }) => signal?.signalName ?? []);
    const isTask = (event: (typeof events)[number]): boolean =>
      Boolean(
        event.workflowTaskScheduledEventAttributes ??
        event.workflowTaskStartedEventAttributes ??
        event.workflowTaskCompletedEventAttributes,
      );
    return {
      signals: signals.filter((name) => name !== 'hello'),
      events: events.filter((event) => !isTask(event)).length,
    };
  }

  test('is how it and its deploy ended, at once, where the deploy comes last', async () => {
    await world.apply(kvstore());
    await world.release('kvstore', 'kv:2');
    await world.ended('kvstore', 1);
    const before = await heard();
    await world.release('kvstore', 'kv:3');
    await world.ended('kvstore', 2);
    const after = await heard();
    expect(after.signals.slice(before.signals.length)).toEqual(['deploy-ready', 'release-over']);
    expect(after.events - before.events).toBeLessThanOrEqual(15);
    const { good, deploys } = await world.pipeline('kvstore').query<PipelineState>('pipeline');
    expect(good['deploy']?.at(-1)?.release).toBe(2);
    expect(deploys.holder).toBeNull();
  });

  test('is how its deploy ended before anything else of it has, so that the next may deploy meanwhile', async () => {
    const { actions, ...pipeline } = kvstore();
    await world.apply({ ...pipeline, actions: { ...actions, after: slowAction(60, { needs: ['deploy'] }) } }, CALM);
    await world.release('kvstore', 'kv:2');
    await world.until('the deploy is over', async () => (await heard()).signals.includes('deploy-over'));
    expect((await world.releaseStatus('kvstore', 1)).state).toBe('running');
    await world.ended('kvstore', 1, { withinMs: 3 * HOUR });
    expect((await heard()).signals).toEqual(['deploy-ready', 'deploy-over', 'release-over']);
  });
});
