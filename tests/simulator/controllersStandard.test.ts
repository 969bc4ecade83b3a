import { createSimulator } from '../../simulator/app';
import { splitIntoDomains } from '../../simulator/controllers/placement';
import { UPDATING } from '../../simulator/twine/job';
import type { JobView } from '../../simulator/twine/jobs';
import { expectNoViolations, givenFleet, START, update, type TestFleet } from '../builders/simulatorFleet';
import { controllerSchema } from '../../simulator/controllers/spec';

afterEach(expectNoViolations);

const JOB = { name: 'kv-x', region: 'x', version: 'kv:1' };
const context = { pipeline: 'kv', release: 1, deployId: 'd', actor: 'user:alice', config: {} };

/** A job with a controller, all of which an update is to bring to another version. */
async function given(controller: Readonly<Record<string, unknown>>, tasks: number): Promise<TestFleet> {
  const fleet = givenFleet();
  await fleet.job('kv-x', { tasks, nSmall: '100%', budget: '100%', controller: { everyMs: 1000, ...controller } });
  await fleet.twine('executeUpdates', update('u/0/1', 'kv-x', 'kv:2'));
  return fleet;
}

/** Lets the update go through; the job as it was after each second. */
async function watch(fleet: TestFleet): Promise<JobView[]> {
  const seen: JobView[] = [];
  for (let second = 0; (second < 300 && seen.at(-1)?.versions['kv:1'] !== undefined) || seen.length < 2; second += 1) {
    fleet.pass(1000);
    seen.push(await fleet.look('kv-x'));
  }
  return seen;
}

const mostUpdating = (seen: readonly JobView[]): number => Math.max(...seen.map(({ updating }) => updating));

describe('controllers that come with the simulated world', () => {
  test('shard-aware takes a domain of a store at a time', async () => {
    const fleet = await given({ kind: 'shard-aware', shards: 300 }, 30);
    expect(mostUpdating(await watch(fleet))).toBe(10);
    expect((await fleet.look('kv-x')).versions).toEqual({ 'kv:2': 30 });
  });

  test('shard-aware leaves the neighbours of a failure alone until it is over', async () => {
    const fleet = await given({ kind: 'shard-aware', shards: 300 }, 30);
    await fleet.control('POST', '/faults', { kind: 'msb', id: 'x-msb4', downMs: 100_000 });
    for (let second = 0; second < 90; second += 1) {
      fleet.pass(1000);
      await fleet.look('kv-x');
    }
    // Slots 4, 16 and 28 are down; only the rest of their domain continues.
    expect((await fleet.look('kv-x')).versions).toEqual({ 'kv:1': 20, 'kv:2': 10 });
    await watch(fleet);
    expect((await fleet.look('kv-x')).versions).toEqual({ 'kv:2': 30 });
  });

  test('shard-aware has its domains of whole switch boards, however many a region has', async () => {
    const fleet = givenFleet();
    await fleet.control('POST', '/reset', { regions: { x: { msbs: 4 } } });
    await fleet.job('kv-x', { tasks: 24, nSmall: '100%', budget: '100%', controller: { kind: 'shard-aware' } });
    await fleet.twine('executeUpdates', update('u/0/1', 'kv-x', 'kv:2'));
    const sizes = new Set((await watch(fleet)).map(({ versions }) => versions['kv:2']));
    // Boards 0 and 3 are one domain, 1 and 2 one each.
    expect([...sizes]).toEqual([12, 18, 24]);
  });

  test('leader-last keeps a majority, and takes the leader last', async () => {
    let now = START;
    const { app, simulation, advance } = createSimulator({ seed: 1, speed: 1, now: () => now });
    const post = (path: string, body: object, headers = {}) =>
      app.request(path, { method: 'POST', body: JSON.stringify(body), headers });
    const controller = { kind: 'leader-last', leader: 2 };
    await post('/control/jobs', { ...JOB, tasks: 5, nSmall: '100%', budget: '100%', controller });
    await post(
      '/push-types/twine/executeUpdates',
      { context, ...update('u/0/1', 'kv-x', 'kv:2') },
      { 'idempotency-key': 'k' },
    );
    const order: number[] = [];
    const { tasks } = simulation.fleet.jobs.get('kv-x')!;
    for (; order.length < 5 && now < START + 300_000; now += 1000) {
      await advance();
      const updating = [0, 1, 2, 3, 4].filter((slot) => tasks.state[slot] === UPDATING);
      expect(updating.length).toBeLessThan(3);
      order.push(...updating.filter((slot) => !order.includes(slot)));
    }
    expect(order).toEqual([0, 1, 3, 4, 2]);
  });

  test('load-adaptive takes no more than the others can stand in for', async () => {
    const fleet = await given({ kind: 'load-adaptive', limit: 0.5 }, 200);
    // At noon they are at 40%: 160 of them would be at 50%.
    const atOnce = mostUpdating(await watch(fleet));
    expect(Math.abs(atOnce - 40)).toBeLessThan(4);
  });

  test.each([
    ['shard-aware', { shards: 300 }, 30, 15],
    ['leader-last', { leader: 8 }, 9, 3],
    ['load-adaptive', { limit: 0.9 }, 200, 150],
  ])('%s lets a job become smaller, and its tasks start anew', async (kind, options, tasks, fewer) => {
    const fleet = givenFleet();
    await fleet.job('kv-x', { tasks, nSmall: '100%', budget: '100%', controller: { kind, ...options } });
    await fleet.control('PATCH', '/jobs/kv-x', { tasks: fewer });
    const look = async () => {
      fleet.pass(1000);
      return fleet.look('kv-x');
    };
    const sizes: number[] = [];
    for (let second = 0; second < 60; second += 1) sizes.push((await look()).size);
    expect(sizes.at(-1)).toBe(fewer);
    await fleet.control('POST', '/jobs/kv-x/restart');
    const down: number[] = [];
    while ((await look()).restarting !== undefined && down.length < 300) down.push((await fleet.look('kv-x')).down);
    expect(Math.max(...down)).toBeGreaterThan(0);
    expect(Math.max(...down)).toBeLessThan(fewer);
    expect(await fleet.look('kv-x')).toMatchObject({ size: fewer, running: fewer });
  });

  test('a store has its domains of whole switch boards, or of single tasks where there are fewer boards than replicas', () => {
    const slots = [0, 1, 2, 3, 4, 5, 6];
    expect(splitIntoDomains(slots, 4, 3)).toEqual([
      [0, 3, 4],
      [1, 5],
      [2, 6],
    ]);
    expect(splitIntoDomains(slots, 2, 3)).toEqual([
      [0, 3, 6],
      [1, 4],
      [2, 5],
    ]);
  });

  test.each([
    [{ kind: 'shard-aware', shards: 0 }, /controller\.shards/],
    [{ kind: 'load-adaptive', limit: 70 }, /controller\.limit/],
    [{ kind: 'leader-last', members: 3 }, /members/],
    [{ kind: 'leader-first' }, /shard-aware, leader-last, load-adaptive, external/],
  ])('%j is refused by name', async (controller, message) => {
    const { status, body } = await givenFleet().answer('POST', '/jobs', {
      ...JOB,
      ...{ tasks: 3, controller },
    });
    expect(status).toBe(400);
    expect(body.error.message).toMatch(message);
  });
});

test.each(['constructor', 'nobody'])('a job cannot have the controller %s, which is none', (kind) => {
  expect(controllerSchema.safeParse({ kind }).error?.issues).toMatchObject([
    { path: ['kind'], message: expect.stringContaining('expected one of') },
  ]);
});
