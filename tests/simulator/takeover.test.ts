import { expectNoViolations, givenFleet, update, type TestFleet } from '../builders/simulatorFleet';

afterEach(expectNoViolations);

const JOB = { nSmall: 3, budget: 3, timings: { fetchMs: 30_000, stopMs: 1_000, startMs: 29_000 } };
const progress = async (fleet: TestFleet, updateId: string) =>
  (await fleet.twine('trackUpdates', { updateId })).body.units[0];
const outdated = async (fleet: TestFleet, rest: object) => {
  const targets = [{ unit: 'kvstore-x', version: 'kv:2', artifacts: [], ...rest }];
  return ((await fleet.twine('needsPush', { targets })).body.units as unknown as { outdated: number }[])[0]?.outdated;
};

/** Three of six tasks are on their way to kv:2. */
async function inFlight(): Promise<TestFleet> {
  const fleet = givenFleet();
  await fleet.job('kvstore-x', JOB);
  await fleet.twine(
    'executeUpdates',
    update('deploy/kvstore/2/deploy/1/0/1', 'kvstore-x', 'kv:2', { amount: { count: 3 } }),
  );
  fleet.pass(10_000);
  return fleet;
}

describe('an update that comes while tasks are on their way to its version', () => {
  test.each([
    ['another try of the same deploy', 'deploy/kvstore/2/deploy/1/0/2', 'none'],
    ['the next phase, after this one was given up', 'deploy/kvstore/2/deploy/1/1/1', 'cancelUpdates'],
  ])('is not done before they are up: %s', async (_, updateId, before) => {
    const fleet = await inFlight();
    if (before !== 'none') await fleet.twine(before, { updateId: 'deploy/kvstore/2/deploy/1/0/1' });
    expect(await outdated(fleet, { amount: { count: 3 } })).toBe(3);
    await fleet.twine('executeUpdates', update(updateId, 'kvstore-x', 'kv:2', { amount: { count: 3 } }));
    expect(await progress(fleet, updateId)).toMatchObject({ state: 'updating', targeted: 3, updated: 0, live: 0 });
    fleet.pass(5 * 60_000);
    expect(await progress(fleet, updateId)).toMatchObject({ state: 'done', targeted: 3, updated: 3, live: 3 });
    expect(await outdated(fleet, { amount: { count: 3 } })).toBe(0);
  });

  test('takes the others after them, no more at once than it may', async () => {
    const fleet = await inFlight();
    await fleet.twine('executeUpdates', update('deploy/kvstore/2/deploy/1/1/1', 'kvstore-x', 'kv:2'));
    fleet.pass(10_000);
    expect((await fleet.look('kvstore-x')).versions).toEqual({ 'kv:1': 3, 'kv:2': 3 });
    fleet.pass(5 * 60_000);
    expect(await progress(fleet, 'deploy/kvstore/2/deploy/1/1/1')).toMatchObject({ state: 'done', live: 6 });
  });

  test('fails with them where they do not live', async () => {
    const fleet = await inFlight();
    await fleet.behaves('kv:2', { crashOnStart: true });
    const again = 'deploy/kvstore/2/deploy/1/0/2';
    await fleet.twine('executeUpdates', update(again, 'kvstore-x', 'kv:2', { amount: { count: 3 } }));
    fleet.pass(60_000 * 2);
    expect(await progress(fleet, again)).toMatchObject({ state: 'failed', targeted: 3 });
  });

  test('leaves tasks of a canary alone', async () => {
    const fleet = givenFleet();
    await fleet.job('kvstore-x', JOB);
    const canary = 'deploy/kvstore/2/canary/1/0/1';
    await fleet.twine('executeUpdates', update(canary, 'kvstore-x', 'kv:2', { amount: { count: 1 } }));
    fleet.pass(10_000);
    const rest = { amount: { count: 2 }, exclude: [canary] };
    expect(await outdated(fleet, rest)).toBe(2);
    await fleet.twine('executeUpdates', update('deploy/kvstore/2/deploy/1/0/1', 'kvstore-x', 'kv:2', rest));
    fleet.pass(5 * 60_000);
    expect(await progress(fleet, 'deploy/kvstore/2/deploy/1/0/1')).toMatchObject({
      state: 'done',
      targeted: 2,
      live: 2,
    });
    expect(await progress(fleet, canary)).toMatchObject({ state: 'done', targeted: 1, live: 1 });
  });
});
