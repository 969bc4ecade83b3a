import { CALM } from './flows';
import { kvstore } from './pipelines';
import { HOUR, MINUTE, VirtualWorld } from './world';

const DEPLOY = 'deploy/kvstore/1/deploy/1';

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.ofKvstore();
});
afterEach(() => world.close());

/** How many tasks of each version the two jobs run. */
async function versions(): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const job of await world.jobs())
    for (const [version, count] of Object.entries(job.versions)) counts[version] = (counts[version] ?? 0) + count;
  return counts;
}

const baking = () => world.reaches('kvstore', 1, ({ state }) => state === 'baking');

async function begin(deploy: Parameters<typeof kvstore>[0] = {}): Promise<void> {
  await world.apply(kvstore({ healthInterval: '10m', ...deploy }), CALM);
  await world.release('kvstore', 'kv:2');
}

test('a pause of twenty hours in the middle of a bake changes nothing but the time', async () => {
  await begin();
  await baking();
  await world.command(DEPLOY, 'pause', { reason: 'the office is closed' });
  await world.sleep(20 * HOUR);
  const paused = await world.deployStatus('kvstore', 1);
  expect(paused).toMatchObject({
    state: 'baking',
    paused: { by: 'operator', actor: 'user:alice', reason: 'the office is closed' },
  });
  // Its bake has ended meanwhile, so the status must not say that it ends any moment.
  expect(paused.phases[0]).toMatchObject({ bakeUntil: null, bakedAt: expect.any(String) as string });
  expect(await versions()).toEqual({ 'kv:1': 9, 'kv:2': 3 });
  await world.command(DEPLOY, 'resume');
  await world.ended('kvstore', 1, { withinMs: HOUR });
  const deploy = await world.deployStatus('kvstore', 1);
  expect(deploy.outcome).toBe('succeeded');
  expect(deploy.spans.pausedMs).toBeGreaterThanOrEqual(20 * HOUR);
  expect(deploy.spans.pausedMs).toBeLessThan(20 * HOUR + 5 * MINUTE);
  expect(await versions()).toEqual({ 'kv:2': 12 });
});

test('while paused an unhealthy verdict still reverts, and with --no-revert it does not', async () => {
  await world.describeVersion('kv:2', { errorRatio: 0.2, afterMs: 30 * MINUTE });
  await begin();
  await baking();
  await world.command(DEPLOY, 'pause');
  await world.ended('kvstore', 1, { withinMs: 2 * HOUR });
  expect(await world.deployStatus('kvstore', 1)).toMatchObject({ outcome: 'reverted', revert: { by: 'health' } });
  expect(await versions()).toEqual({ 'kv:1': 12 });

  await world.describeVersion('kv:3', { errorRatio: 0.2, afterMs: 30 * MINUTE });
  await world.release('kvstore', 'kv:3');
  await world.reaches('kvstore', 2, ({ state }) => state === 'baking');
  await world.command('deploy/kvstore/2/deploy/1', 'pause', { noRevert: true });
  await world.sleep(2 * HOUR);
  expect(await world.deployStatus('kvstore', 2)).toMatchObject({
    state: 'baking',
    paused: { by: 'operator' },
    revert: null,
  });
  await world.command('deploy/kvstore/2/deploy/1', 'cancel');
  await world.ended('kvstore', 2);
});

test('pausing in the middle of an update pauses it in the fleet until it is resumed', async () => {
  for (const job of ['kvstore-slow'])
    await world.job(job, 'x', 40, {
      nSmall: 2,
      service: 'slow',
      timings: { fetchMs: MINUTE, stopMs: 1_000, startMs: MINUTE },
    });
  await begin({ config: { jobs: ['kvstore-slow'] }, phases: [{ scope: '*', amount: '100%', bake: '10m' }] });
  await world.reaches('kvstore', 1, ({ state }) => state === 'updating', { stepMs: 1_000 });
  await world.sleep(5 * MINUTE);
  await world.command(DEPLOY, 'pause');
  await world.sleep(10 * MINUTE);
  const before = (await world.jobs()).find(({ name }) => name === 'kvstore-slow')?.versions;
  await world.sleep(5 * HOUR);
  const after = (await world.jobs()).find(({ name }) => name === 'kvstore-slow')?.versions;
  expect(after).toEqual(before);
  expect(after?.['kv:1']).toBeGreaterThan(0);
  await world.command(DEPLOY, 'resume');
  await world.ended('kvstore', 1);
  expect(await world.deployStatus('kvstore', 1)).toMatchObject({ outcome: 'succeeded' });
});

test('skip-bake continues at once, also when given before the bake begins, and only in its phase', async () => {
  await begin({ phases: [{ scope: 'region:x', amount: 3, bake: '8h' }], completion: { bake: '10m' } });
  await world.reaches('kvstore', 1, ({ state }) => state === 'updating', { stepMs: 500 });
  await world.command(DEPLOY, 'skip-bake', { reason: 'seen enough' });
  const release = await world.ended('kvstore', 1, { withinMs: HOUR });
  const { phases, timeline, startedAt, endedAt } = await world.deployStatus('kvstore', 1);
  expect(release.state).toBe('succeeded');
  expect(timeline.filter(({ kind }) => kind.startsWith('bake-')).map(({ kind }) => kind)).toEqual([
    ...['bake-skipped', 'bake-passed'],
  ]);
  expect(phases[0]).toMatchObject({ state: 'succeeded', skipped: 'bake by user:alice: seen enough' });
  expect(phases[1]?.skipped).toBeNull();
  expect(Date.parse(endedAt ?? '') - Date.parse(startedAt)).toBeGreaterThan(10 * MINUTE);
});

test('skip-phase leaves the rest of a phase to the next, and is refused in the completion phase', async () => {
  await begin();
  await baking();
  await world.command(DEPLOY, 'skip-phase', { reason: 'we know this one' });
  await world.reaches('kvstore', 1, ({ phases }) => phases[1]?.state === 'running');
  expect((await world.deployStatus('kvstore', 1)).phases[0]).toMatchObject({
    state: 'skipped',
    skipped: 'phase by user:alice: we know this one',
  });
  await expect(world.command(DEPLOY, 'skip-phase')).rejects.toMatchObject({
    cause: { message: 'the completion phase cannot be skipped; cancel or revert instead' },
  });
  await world.ended('kvstore', 1);
  expect(await versions()).toEqual({ 'kv:2': 12 });
});

test('skip-health-check lets a failing check pass, by name and for as long as was said', async () => {
  await world.describeVersion('kv:2', { errorRatio: 0.2 });
  await begin({ onUnhealthy: 'pause' });
  await world.reaches('kvstore', 1, ({ paused }) => paused?.by === 'health');
  await expect(world.command(DEPLOY, 'skip-health-check', { check: 'latency' })).rejects.toMatchObject({
    cause: { message: 'it has no check called latency (errors)' },
  });
  await world.command(DEPLOY, 'skip-health-check', { check: 'errors', for: 'deploy' });
  await world.command(DEPLOY, 'resume');
  await world.ended('kvstore', 1);
  const deploy = await world.deployStatus('kvstore', 1);
  expect(deploy.outcome).toBe('succeeded');
  expect(deploy.health).toContainEqual(
    expect.objectContaining({ check: 'errors', reason: expect.stringContaining('skipped') }),
  );
});

test('cancel stops where it is, leaves the fleet mixed and says so', async () => {
  await begin();
  await baking();
  await world.command(DEPLOY, 'cancel', { reason: 'wrong branch' });
  expect(await world.ended('kvstore', 1)).toMatchObject({ state: 'cancelled', cause: 'operator' });
  const deploy = await world.deployStatus('kvstore', 1);
  expect(deploy).toMatchObject({ outcome: 'cancelled', classification: 'good-failure' });
  expect(deploy.summary).toBe('cancelled by user:alice: wrong branch; the fleet runs both versions');
  expect(await versions()).toEqual({ 'kv:1': 9, 'kv:2': 3 });
});

test('cancelling through Temporal means the same', async () => {
  await begin();
  await baking();
  await world.settled();
  await world.client.workflow.getHandle(DEPLOY).cancel();
  await world.ended('kvstore', 1);
  expect(await world.deployStatus('kvstore', 1)).toMatchObject({ outcome: 'cancelled' });
});

describe('a person reverts', () => {
  test('before anything was updated: nothing is touched', async () => {
    await world.apply(kvstore());
    await world.command('pipeline/kvstore', 'hold');
    await world.release('kvstore', 'kv:2');
    await world.until(
      'the release waits',
      async () => (await world.releaseStatus('kvstore', 1)).actions[0]?.state === 'blocked',
    );
    await world.command('release/kvstore/1', 'revert');
    expect(await world.ended('kvstore', 1)).toMatchObject({ state: 'cancelled', cause: 'operator' });
    expect(await versions()).toEqual({ 'kv:1': 12 });
    expect((await world.pipelineStatus('kvstore')).knownBad).toMatchObject([{ artifact: 'executable@kv:2' }]);
  });

  test('in the middle of it: every task goes back, the version is known-bad and the pipeline held', async () => {
    await begin();
    await baking();
    await world.command(DEPLOY, 'revert', { reason: 'customers complain' });
    await world.ended('kvstore', 1);
    expect(await world.deployStatus('kvstore', 1)).toMatchObject({
      outcome: 'reverted',
      classification: 'good-failure',
      revert: { by: 'user:alice' },
    });
    expect(await versions()).toEqual({ 'kv:1': 12 });
    expect(await world.pipelineStatus('kvstore')).toMatchObject({
      state: 'held',
      knownBad: [{ artifact: 'executable@kv:2' }],
    });
    await expect(world.release('kvstore', 'kv:2')).rejects.toMatchObject({ cause: { type: 'known-bad' } });
  });

  test('saying --not-bad: the version may come again', async () => {
    await begin();
    await baking();
    await world.command(DEPLOY, 'revert', { notBad: true });
    await world.ended('kvstore', 1);
    expect((await world.pipelineStatus('kvstore')).knownBad).toEqual([]);
  });

  test('after it had succeeded: a new release brings the version before it back, at once', async () => {
    await begin();
    await world.ended('kvstore', 1);
    await world.release('kvstore', 'kv:3');
    await world.ended('kvstore', 2);
    expect(await versions()).toEqual({ 'kv:3': 12 });
    const from = await world.now();
    expect(await world.rollBack('kvstore', 2, { actor: 'user:alice', reason: 'it lost data' })).toMatchObject({
      ...{ number: 3, isHeld: true, brings: ['kv:2'] },
    });
    const rollback = await world.ended('kvstore', 3);
    expect(rollback).toMatchObject({ state: 'succeeded', trigger: { kind: 'rollback', of: 2 } });
    expect((await world.now()) - from).toBeLessThan(10 * MINUTE);
    expect(await versions()).toEqual({ 'kv:2': 12 });
    expect(await world.pipelineStatus('kvstore')).toMatchObject({
      state: 'held',
      knownBad: [{ artifact: 'executable@kv:3' }],
      lastGood: { deploy: { release: 3, version: 'kv:2' } },
    });
    const undone = { by: 'kvstore/3', at: rollback.endedAt };
    const runsNow = [{ action: 'deploy', version: 'kv:2', by: 'kvstore/3' }];
    expect(await world.workflows().releaseWithWaits('kvstore', 2)).toMatchObject({
      state: 'succeeded',
      undone,
      runsNow,
    });
    expect(await world.workflows().deploy('kvstore', 2, 'deploy')).toMatchObject({ undone, runsNow });
    expect(await world.workflows().deploy('kvstore', 3, 'deploy')).not.toHaveProperty('undone');
    expect((await world.workflows().pipeline('kvstore')).releases.map((one) => one.undone)).toEqual([
      undefined,
      undone,
      undefined,
    ]);
  });

  test('after the first release had succeeded: the previous version comes back', async () => {
    await begin();
    await world.ended('kvstore', 1);
    expect(await versions()).toEqual({ 'kv:2': 12 });
    await world.rollBack('kvstore', 1, { actor: 'user:alice', reason: 'too slow' });
    expect(await world.ended('kvstore', 2)).toMatchObject({ state: 'succeeded', artifacts: [{ version: 'kv:1' }] });
    expect(await versions()).toEqual({ 'kv:1': 12 });
  });
});

test('where the units ran several versions before the first release, people read which goes back to which', async () => {
  await world.control('DELETE', '/control/jobs/kvstore-y');
  await world.job('kvstore-y', 'y', 6, { version: 'kv:0' });
  const each = 'kv:1 in kvstore-x; kv:0 in kvstore-y';
  await begin();
  await world.ended('kvstore', 1);
  await expect(world.rollBack('kvstore', 1, { actor: 'user:alice', reason: 'too slow' })).rejects.toMatchObject({
    cause: { message: expect.stringContaining(`before release 1 units ran several versions (${each})`) as string },
  });
});

test('a revert that is under way can be paused and resumed, and not cancelled', async () => {
  await world.job('kvstore-slow', 'x', 40, {
    nSmall: 2,
    service: 'slow',
    timings: { fetchMs: MINUTE, stopMs: 1_000, startMs: MINUTE },
  });
  await begin({ config: { jobs: ['kvstore-slow'] }, phases: [{ scope: '*', amount: '50%', bake: '1h' }] });
  await world.reaches('kvstore', 1, ({ state }) => state === 'baking');
  await world.command(DEPLOY, 'revert');
  await world.reaches('kvstore', 1, ({ state }) => state === 'reverting', { stepMs: 1_000 });
  await expect(world.command(DEPLOY, 'cancel')).rejects.toMatchObject({
    cause: { message: 'it is reverting; a revert can be paused but not stopped' },
  });
  await world.command(DEPLOY, 'pause');
  await world.sleep(5 * HOUR);
  expect(await world.deployStatus('kvstore', 1)).toMatchObject({ state: 'reverting', paused: { by: 'operator' } });
  await world.command(DEPLOY, 'resume');
  await world.ended('kvstore', 1);
  expect(await world.deployStatus('kvstore', 1)).toMatchObject({ outcome: 'reverted' });
});

test('a person who is not an owner can look but not act, and signals that change nothing are on record', async () => {
  await begin();
  await baking();
  await expect(world.command(DEPLOY, 'pause', { actor: 'user:mallory' })).rejects.toMatchObject({
    cause: { type: 'not-permitted' },
  });
  await world.client.workflow.getHandle(DEPLOY).signal('revert');
  await world.client.workflow.getHandle(DEPLOY).signal('no-such-verb');
  await world.client.workflow.getHandle(DEPLOY).signal('policy');
  await world.pipeline('kvstore').signal('deploy-ready');
  const deploy = await world.deployStatus('kvstore', 1);
  expect(deploy).toMatchObject({ state: 'baking', paused: null });
  expect(deploy.commands).toMatchObject([
    { verb: 'revert', actor: 'user:unknown', accepted: false, rejection: 'user:unknown is not an owner of kvstore' },
  ]);
  expect(deploy.timeline.map(({ text }) => text)).toContain('ignored the unknown signal no-such-verb');
  await world.ended('kvstore', 1);
});

test('a rule of the platform admits principals that are not owners, and is on record with them; a group never comes in', async () => {
  await begin();
  await baking();
  const group = { actor: 'group:storage', permitted: 'platform.admins' };
  await expect(world.command(DEPLOY, 'pause', group)).rejects.toMatchObject({ cause: { type: 'not-permitted' } });
  await world.client.workflow.getHandle(DEPLOY).signal('pause', { ...group, reason: 'r' });
  await world.command(DEPLOY, 'cancel', { actor: 'user:root', permitted: 'platform.admins' });
  await world.ended('kvstore', 1);
  expect((await world.deployStatus('kvstore', 1)).commands).toMatchObject([
    { verb: 'pause', actor: 'group:storage', accepted: false, rejection: expect.stringContaining('groups never act') },
    { verb: 'cancel', actor: 'user:root', accepted: true, permitted: 'platform.admins' },
  ]);
});

test('when several people press pause at the same moment one gets the answer that it worked', async () => {
  await begin();
  await baking();
  const pressed = await Promise.allSettled(
    [1, 2, 3].map((nth) => world.command(DEPLOY, 'pause', { reason: `press ${nth}` })),
  );
  expect(pressed.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  await world.command(DEPLOY, 'cancel');
  await world.ended('kvstore', 1);
});
