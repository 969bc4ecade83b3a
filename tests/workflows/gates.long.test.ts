import { deploying } from './deploys';
import { HOUR, MINUTE, VirtualWorld, type JobView } from './world';

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.ofKvstore();
});
afterEach(() => world.close());

const versions = async () => Object.fromEntries((await world.jobs()).map((job: JobView) => [job.name, job.versions]));
const PATIENT = { phases: [{ name: 'first', scope: 'region:x', amount: 3, bake: '30m' }], healthInterval: '5m' };
const begin = () => deploying(world, {}, PATIENT);

/** The state for the next deploy: the versions of these units. */
const leaving = (versions: Readonly<Record<string, string>>) => {
  const units = Object.entries(versions).map(
    ([id, version]) => expect.objectContaining({ id, version, mixed: false }) as object,
  );
  return { before: { units: expect.arrayContaining(units) as object } };
};

describe('a frozen deploy', () => {
  test('finishes its phase, then waits, and continues by itself once it is unfrozen', async () => {
    const deploy = await begin();
    await deploy.reaches(({ state }) => state === 'baking');
    await deploy.freeze();
    expect((await deploy.status()).summary).toContain('frozen by user:bob, so it pauses before its next phase');
    await world.sleep(10 * MINUTE);
    expect(await deploy.status()).toMatchObject({ state: 'baking', paused: null });
    const { paused, next } = await deploy.reaches((status) => status.paused !== null);
    expect(paused).toMatchObject({ by: 'freeze', reason: 'frozen by user:bob: holidays' });
    expect(next[0]).toContain('conveyor unfreeze kvstore');
    await world.sleep(5 * HOUR);
    expect(await versions()).toEqual({ 'kvstore-x': { 'kv:1': 3, 'kv:2': 3 }, 'kvstore-y': { 'kv:1': 6 } });
    await deploy.unfreeze();
    const { spans, outcome } = await deploy.ended();
    expect(outcome).toBe('succeeded');
    expect(spans.pausedMs).toBeGreaterThanOrEqual(5 * HOUR);
  });

  test('is not resumed by a person, whose own pause the end of the freeze does not end', async () => {
    const deploy = await begin();
    await deploy.freeze();
    await deploy.reaches(({ paused }) => paused?.by === 'freeze');
    await expect(deploy.command('resume')).rejects.toMatchObject({
      cause: { message: expect.stringContaining('frozen') },
    });
    await deploy.command('pause');
    await deploy.command('resume');
    await world.sleep(HOUR);
    expect((await deploy.status()).paused).toMatchObject({ by: 'freeze' });
    await deploy.command('pause');
    await deploy.unfreeze();
    await world.sleep(HOUR);
    expect((await deploy.status()).paused).toMatchObject({ by: 'operator' });
    await deploy.command('resume');
    expect((await deploy.ended()).outcome).toBe('succeeded');
  });

  test('is still checked, and reverts', async () => {
    await world.describeVersion('kv:2', { errorRatio: 0.2, afterMs: HOUR });
    const deploy = await begin();
    await deploy.freeze();
    await deploy.unfreeze();
    await deploy.reaches(({ state }) => state === 'baking');
    await deploy.freeze();
    expect((await deploy.ended()).outcome).toBe('reverted');
    expect(await versions()).toEqual({ 'kvstore-x': { 'kv:1': 6 }, 'kvstore-y': { 'kv:1': 6 } });
  });

  test('that became unhealthy meanwhile, and is not to be reverted, waits for a person also after the freeze', async () => {
    await world.describeVersion('kv:2', { errorRatio: 0.2, afterMs: HOUR });
    const deploy = await deploying(world, {}, { ...PATIENT, onUnhealthy: 'pause' });
    await deploy.reaches(({ state }) => state === 'baking');
    await deploy.freeze();
    await deploy.reaches(({ paused }) => paused?.by === 'health');
    await deploy.unfreeze();
    await world.sleep(2 * HOUR);
    expect(await versions()).toMatchObject({ 'kvstore-y': { 'kv:1': 6 } });
    await deploy.command('revert');
    expect((await deploy.ended()).outcome).toBe('reverted');
  });

  test('is not frozen when it is a rollback, which is a revert', async () => {
    const deploy = await deploying(world, { rollback: true });
    await deploy.freeze();
    expect((await deploy.ended()).outcome).toBe('succeeded');
  });
});

describe('a superseded deploy', () => {
  test('finishes the phase that is under way, its bake included, and stops before the next', async () => {
    const deploy = await begin();
    await deploy.reaches(({ state }) => state === 'baking');
    await deploy.overtake('superseded');
    expect((await deploy.status()).summary).toContain('superseded by release 9, so it stops after this phase');
    const result = await deploy.ended();
    expect(result).toMatchObject({
      outcome: 'cancelled',
      cause: 'superseded',
      classification: 'good-failure',
      reason: 'superseded by release 9; the fleet runs both versions',
      leaves: leaving({ 'kvstore-x': 'kv:1' }),
    });
    const { phases, timeline } = await deploy.status();
    expect(phases.map(({ state }) => state)).toEqual(['succeeded', 'waiting']);
    expect(phases[0]?.bakedAt).not.toBeNull();
    expect(timeline.map(({ kind }) => kind)).toContain('overtaken');
  });

  test('ends at once where it waits for its next phase', async () => {
    const deploy = await begin();
    await deploy.freeze();
    await deploy.reaches(({ paused }) => paused?.by === 'freeze');
    await deploy.overtake('superseded');
    const before = await world.now();
    expect(await deploy.ended({ stepMs: 10_000 })).toMatchObject({
      outcome: 'cancelled',
      cause: 'superseded',
    });
    expect((await world.now()) - before).toBeLessThan(MINUTE);
  });

  test('is let through when it is completing already, which is on record', async () => {
    const deploy = await deploying(
      world,
      {},
      { phases: [{ scope: '*', amount: 1, bake: '0s' }], completion: { bake: '30m' } },
    );
    await deploy.reaches(({ phases }) => Boolean(phases[1]?.bakeUntil));
    await deploy.overtake('superseded');
    expect(await deploy.ended()).toMatchObject({ outcome: 'succeeded' });
    const { timeline } = await deploy.status();
    expect(timeline).toContainEqual(
      expect.objectContaining({ kind: 'ignored', text: 'not superseded by release 9: it is completing' }),
    );
  });

  test('still reverts what the phase turns out to be', async () => {
    await world.describeVersion('kv:2', { errorRatio: 0.2, afterMs: 15 * MINUTE });
    const deploy = await begin();
    await deploy.reaches(({ state }) => state === 'baking');
    await deploy.overtake('superseded');
    const result = await deploy.ended();
    expect(result).toMatchObject({ outcome: 'reverted' });
    expect(result.cause).toBeUndefined();
  });
});

describe('a preempted deploy', () => {
  const SLOW = { nSmall: 1, timings: { fetchMs: MINUTE, stopMs: 1_000, startMs: MINUTE } };
  const slowly = async () => {
    await world.job('kvstore-slow', 'x', 40, SLOW);
    return { config: { jobs: ['kvstore-slow'] } };
  };

  const someUpdated = () =>
    world.until('some tasks are updated', async () => ((await versions())['kvstore-slow']?.['kv:2'] ?? 0) > 2);

  test('stops in the middle of its updates, and what is in flight comes up', async () => {
    const deploy = await deploying(world, {}, { ...(await slowly()), phases: [{ scope: '*', amount: '100%' }] });
    await someUpdated();
    const before = await world.now();
    await deploy.overtake('preempted');
    const result = await deploy.ended({ stepMs: 10_000 });
    expect((await world.now()) - before).toBeLessThan(5 * MINUTE);
    expect(result).toMatchObject({
      outcome: 'cancelled',
      cause: 'preempted',
      leaves: leaving({ 'kvstore-slow': 'kv:1' }),
    });
    await world.sleep(5 * MINUTE);
    const then = await versions();
    await world.sleep(5 * HOUR);
    expect(await versions()).toEqual(then);
    expect(then['kvstore-slow']?.['kv:1']).toBeGreaterThan(0);
  });

  test.each(['its bake', 'a pause', 'its completion'])('stops in %s too', async (where) => {
    const deploy = await deploying(world, {}, { ...PATIENT, phases: [{ scope: '*', amount: 1, bake: '30m' }] });
    await deploy.reaches(({ phases }) => Boolean(phases[where === 'its completion' ? 1 : 0]?.bakeUntil));
    if (where === 'a pause') await deploy.command('pause');
    await deploy.overtake('preempted');
    expect(await deploy.ended({ stepMs: 10_000 })).toMatchObject({ outcome: 'cancelled', cause: 'preempted' });
  });

  test('is not stopped while it reverts', async () => {
    const deploy = await deploying(world, {}, { ...(await slowly()), phases: [{ scope: '*', amount: '100%' }] });
    await someUpdated();
    await deploy.command('revert');
    await deploy.reaches(({ state }) => state === 'reverting', { stepMs: 1_000 });
    await deploy.overtake('preempted');
    expect(await deploy.ended()).toMatchObject({ outcome: 'reverted' });
    expect(await versions()).toMatchObject({ 'kvstore-slow': { 'kv:1': 40 } });
  });

  test('hands on what ran before it, so that the next one reverts to that, and the next after that', async () => {
    const first = await begin();
    await first.reaches(({ state }) => state === 'baking');
    await first.overtake('preempted');
    const { leaves } = await first.ended({ stepMs: 10_000 });
    const second = await deploying(
      world,
      { release: 3, ...(leaves && { inherited: leaves }) },
      { phases: [{ scope: '*', amount: 4, bake: '30m' }] },
    );
    await second.reaches(({ state }) => state === 'baking');
    await second.overtake('preempted');
    const handed = (await second.ended({ stepMs: 10_000 })).leaves;
    expect(handed).toMatchObject(leaving({ 'kvstore-x': 'kv:1', 'kvstore-y': 'kv:1' }));
    await world.describeVersion('kv:4', { errorRatio: 0.2 });
    const third = await deploying(
      world,
      { release: 4, ...(handed && { inherited: handed }) },
      { phases: [{ scope: '*', amount: '100%' }] },
    );
    expect(await third.ended()).toMatchObject({ outcome: 'reverted' });
    expect(await versions()).toEqual({ 'kvstore-x': { 'kv:1': 6 }, 'kvstore-y': { 'kv:1': 6 } });
  });
});
