import { kvstore } from './pipelines';
import { HOUR, MINUTE, VirtualWorld } from './world';

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.ofKvstore();
});
afterEach(() => world.close());

/** Every task of every job is on one version, and so are new tasks. */
async function expectFleet(version: string): Promise<void> {
  for (const job of await world.jobs())
    expect(job).toMatchObject({ versions: { [version]: job.size }, jobVersion: version });
}

test('a good version goes through every phase onto every task', async () => {
  await world.apply(kvstore());
  await world.release('kvstore', 'kv:2');
  const release = await world.ended('kvstore', 1);
  expect(release).toMatchObject({ state: 'succeeded', cause: null });
  const deploy = await world.deployStatus('kvstore', 1);
  expect(deploy).toMatchObject({ state: 'ended', outcome: 'succeeded', classification: 'success' });
  expect(deploy.phases.map(({ name, state }) => [name, state])).toEqual([
    ['first', 'succeeded'],
    ['completion', 'succeeded'],
  ]);
  expect(deploy.phases.map(({ units }) => units.reduce((sum, unit) => sum + unit.targeted, 0))).toEqual([3, 9]);
  await expectFleet('kv:2');
});

test('the spans of a deploy add up to its duration', async () => {
  await world.apply(kvstore());
  await world.release('kvstore', 'kv:2');
  await world.reaches('kvstore', 1, ({ state }) => state === 'baking');
  await world.command('deploy/kvstore/1/deploy/1', 'pause');
  await world.sleep(HOUR);
  await world.command('deploy/kvstore/1/deploy/1', 'resume');
  await world.ended('kvstore', 1);
  const { spans, startedAt, endedAt } = await world.deployStatus('kvstore', 1);
  const total = Object.values(spans).reduce((sum, ms) => sum + ms, 0);
  expect(total).toBe(Date.parse(endedAt ?? '') - Date.parse(startedAt));
  expect(spans.pausedMs).toBeGreaterThanOrEqual(HOUR);
});

describe('a bad version', () => {
  test('is caught in the first phase, on the tasks that it reached, and reverted automatically', async () => {
    await world.describeVersion('kv:2', { errorRatio: 0.2 });
    await world.apply(kvstore());
    await world.release('kvstore', 'kv:2');
    expect(await world.ended('kvstore', 1)).toMatchObject({ state: 'failed' });
    const deploy = await world.deployStatus('kvstore', 1);
    expect(deploy).toMatchObject({ outcome: 'reverted', classification: 'good-failure', revert: { by: 'health' } });
    expect(deploy.health[0]).toMatchObject({ unit: 'kvstore-x', check: 'errors', verdict: 'unhealthy' });
    // First its observation before the deploy, then those of the bad version.
    const [before = 1, ...bad] = deploy.health[0]?.recent ?? [];
    expect([before < 0.01, bad.length > 0, bad.every((value) => value > 0.1)]).toEqual([true, true, true]);
    expect(deploy.phases[1]?.state).toBe('waiting');
    await expectFleet('kv:1');
  });

  test('that fails only in the other region is caught in the completion phase, and no task stays on it', async () => {
    await world.describeVersion('kv:2', { errorRatio: 0.2, onlyRegion: 'y' });
    await world.apply(kvstore());
    await world.release('kvstore', 'kv:2');
    await world.ended('kvstore', 1);
    const deploy = await world.deployStatus('kvstore', 1);
    expect(deploy.outcome).toBe('reverted');
    expect(deploy.phases.map(({ state }) => state)).toEqual(['reverted', 'reverted']);
    await expectFleet('kv:1');
  });

  test('that does not start is reverted without waiting for the update timeout', async () => {
    await world.describeVersion('kv:2', { crashOnStart: true });
    await world.apply(kvstore());
    await world.release('kvstore', 'kv:2');
    await world.ended('kvstore', 1);
    const deploy = await world.deployStatus('kvstore', 1);
    expect(deploy).toMatchObject({ outcome: 'reverted', classification: 'good-failure' });
    expect(deploy.spans.updateMs).toBeLessThan(30 * MINUTE);
    await expectFleet('kv:1');
  });

  test('whose first tasks fail once and then come up continues by itself', async () => {
    await world.describeVersion('kv:2', { crashOnStart: true });
    await world.apply(kvstore());
    await world.release('kvstore', 'kv:2');
    const isFailing = async () =>
      (await world.deployStatus('kvstore', 1)).timeline.some(({ kind }) => kind === 'failing');
    await world.until('a task failed to start', isFailing, { stepMs: 1_000 });
    await world.describeVersion('kv:2', {});
    await world.ended('kvstore', 1);
    const { outcome, timeline } = await world.deployStatus('kvstore', 1);
    expect(outcome).toBe('succeeded');
    expect(timeline.filter(({ kind }) => kind === 'retrying')).toHaveLength(1);
    await expectFleet('kv:2');
  });

  test('only pauses where the owner wants that', async () => {
    await world.describeVersion('kv:2', { errorRatio: 0.2 });
    await world.apply(kvstore({ onUnhealthy: 'pause' }));
    await world.release('kvstore', 'kv:2');
    const { paused } = await world.reaches('kvstore', 1, (status) => status.paused !== null);
    expect(paused).toMatchObject({ by: 'health' });
    await world.command('deploy/kvstore/1/deploy/1', 'revert');
    await world.ended('kvstore', 1);
    await expectFleet('kv:1');
  });
});

describe('a push type that is down for an hour', () => {
  const outage = async () => {
    const { id } = await world.control<{ id: string }>('POST', '/control/faults', {
      kind: 'http',
      service: 'twine',
      mode: 'error',
    });
    return () => world.control('DELETE', `/control/faults/${id}`);
  };

  test('pauses the deploy visibly and delays it, no more', async () => {
    await world.apply(kvstore());
    const back = await outage();
    await world.release('kvstore', 'kv:2');
    const { paused, summary } = await world.reaches('kvstore', 1, (status) => status.paused !== null);
    expect(paused).toMatchObject({ by: 'dependency', reason: expect.stringContaining('an injected fault') });
    expect(summary).toContain('twine does not answer');
    await world.sleep(HOUR);
    await back();
    await world.ended('kvstore', 1);
    const deploy = await world.deployStatus('kvstore', 1);
    expect(deploy.outcome).toBe('succeeded');
    expect(deploy.spans.dependencyWaitMs).toBeGreaterThan(50 * MINUTE);
    await expectFleet('kv:2');
  });

  test('neither passes nor reverts a phase that is baking', async () => {
    await world.apply(kvstore());
    await world.release('kvstore', 'kv:2');
    await world.reaches('kvstore', 1, ({ state }) => state === 'baking');
    const back = await outage();
    await world.sleep(HOUR);
    const during = await world.deployStatus('kvstore', 1);
    expect(during).toMatchObject({ state: 'baking', paused: { by: 'dependency' } });
    expect(during.phases[0]?.state).toBe('running');
    await back();
    await world.ended('kvstore', 1);
    expect((await world.deployStatus('kvstore', 1)).outcome).toBe('succeeded');
  });

  test('is waited for in the middle of an update, and nothing is updated twice', async () => {
    await world.apply(kvstore());
    await world.release('kvstore', 'kv:2');
    await world.reaches('kvstore', 1, ({ state }) => state === 'updating', { stepMs: 500 });
    const back = await outage();
    await world.sleep(HOUR);
    await back();
    await world.ended('kvstore', 1);
    expect((await world.deployStatus('kvstore', 1)).outcome).toBe('succeeded');
    await expectFleet('kv:2');
  });
});

test('a week of 43 phases with bakes of four hours stays under 2,000 history events', async () => {
  await world.job('kvstore-z', 'z', 43);
  const phases = Array.from({ length: 42 }, (_, index) => ({ scope: '*', amount: index + 1, bake: '4h' }));
  const source = kvstore({ config: { jobs: ['kvstore-z'] }, phases, healthInterval: '1h' });
  // A long heartbeat timeout lets an hour pass in one sleep.
  await world.apply(source, { heartbeatTimeoutMs: 6 * HOUR });
  await world.release('kvstore', 'kv:2');
  await world.ended('kvstore', 1, { stepMs: 4 * HOUR, withinMs: 9 * 24 * HOUR });
  const deploy = await world.deployStatus('kvstore', 1);
  expect(deploy.outcome).toBe('succeeded');
  expect(Date.parse(deploy.endedAt ?? '') - Date.parse(deploy.startedAt)).toBeGreaterThan(7 * 24 * HOUR);
  const { historyLength } = await world.client.workflow.getHandle('deploy/kvstore/1/deploy/1').describe();
  expect(historyLength).toBeLessThan(2_000);
});
