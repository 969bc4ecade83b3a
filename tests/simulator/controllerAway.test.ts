import type { TaskControlRequest } from '../../sdk/protocol/taskController';
import { createSimulator } from '../../simulator/app';
import { START, update } from '../builders/simulatorFleet';

/** A controller elsewhere, over the network: only its own job waits for it, and no longer than its deadline. */

const UPDATE = 'deploy/p/1/d/1/0/1';
const CONTEXT = { pipeline: 'kvstore', release: 1, deployId: 'd', actor: 'user:alice', config: {} };

interface Call {
  readonly request: TaskControlRequest;
  /** Approves all that was asked. */
  readonly answer: () => Promise<void>;
}

/** A world in real time that the test turns, whose controller answers when the test says so. */
function givenWorld(speed = 1) {
  let now = START;
  const calls: Call[] = [];
  const network = async (http: Request): Promise<Response> => {
    const request = (await http.json()) as TaskControlRequest;
    return new Promise((resolve) =>
      calls.push({
        request,
        answer: async () => {
          resolve(Response.json({ ack: request.request.map(({ id }) => id) }));
          await settled();
        },
      }),
    );
  };
  const never = () => new Promise<void>(() => undefined);
  const { app } = createSimulator({ seed: 1, speed, now: () => now, network, sleep: never });
  const ask = async (method: string, path: string, body?: object, key = path): Promise<unknown> => {
    const init = { method, headers: { 'idempotency-key': key }, ...(body ? { body: JSON.stringify(body) } : {}) };
    const response = await app.request(path, init);
    const answer: unknown = await response.json();
    if (!response.ok) throw new Error(JSON.stringify(answer));
    await settled();
    return answer;
  };
  return {
    calls,
    pass: (ms: number) => void (now += ms),
    job: (name: string, region: string, more: object = {}) =>
      ask('POST', '/control/jobs', {
        ...{ name, service: 'kv', region, tasks: 6, version: 'kv:1', nSmall: 6, budget: 6, ...more },
      }),
    look: (name: string) => ask('GET', `/control/jobs/${name}`),
    updates: (job: string) =>
      ask(
        'POST',
        '/push-types/twine/executeUpdates',
        { context: CONTEXT, ...update(`${UPDATE}-${job}`, job, 'kv:2') },
        job,
      ),
    track: async (job: string) => {
      const tracked = await ask('POST', '/push-types/twine/trackUpdates', {
        context: CONTEXT,
        updateId: `${UPDATE}-${job}`,
      });
      return (tracked as { units: unknown[] }).units[0];
    },
    control: (method: string, path: string, body?: object) => ask(method, `/control${path}`, body),
    violations: () => ask('GET', '/control/violations'),
  };
}

/** Answers travel through a few promises. */
const settled = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(() => setImmediate(resolve))));

const CONTROLLER = { kind: 'external', url: 'http://elsewhere' };
let world: ReturnType<typeof givenWorld>;

async function begin(speed?: number): Promise<void> {
  world = givenWorld(speed);
  await world.job('kv-x', 'x', { controller: CONTROLLER });
  await world.job('kv-y', 'y');
  await world.updates('kv-x');
  await world.look('kv-x');
}
afterEach(async () => {
  for (const { answer } of world.calls) await answer();
  expect(await world.violations()).toEqual([]);
});

test('while it thinks the world continues: other jobs are updated and have metrics, and its own job runs as it is', async () => {
  await begin();
  await world.updates('kv-y');
  expect(world.calls).toHaveLength(1);
  world.pass(600_000);
  expect(await world.track('kv-y')).toMatchObject({ state: 'done', live: 6 });
  const until = START + 600_000;
  const query = `/metrics?job=kv-y&metric=system.cpu&from=${until - 180_000}&to=${until}`;
  const { series } = (await world.control('GET', query)) as { series: { points: unknown[] }[] };
  expect(series.flatMap(({ points }) => points).length).toBeGreaterThanOrEqual(12);
  expect(await world.look('kv-x')).toMatchObject({ running: 6, versions: { 'kv:1': 6 } });
});

test('an answer in time counts from the moment at which it arrives', async () => {
  await begin();
  world.pass(4_000);
  expect(await world.look('kv-x')).toMatchObject({ running: 6 });
  await world.calls[0]!.answer();
  expect(await world.look('kv-x')).toMatchObject({ updating: 6 });
});

test.each([
  ['at the pace of the world', 1, 7_100],
  ['in a world that runs sixty times as fast', 60, 7_100 / 60],
])('an answer after the deadline approves nothing, %s', async (_, speed, lateMs) => {
  await begin(speed);
  world.pass(lateMs);
  await world.calls[0]!.answer();
  expect(await world.look('kv-x')).toMatchObject({ running: 6, versions: { 'kv:1': 6 } });
  expect(await world.track('kv-x')).toMatchObject({
    state: 'pending',
    reason: 'no answer from the task controller: none within 5000 ms',
  });
});

test('nor does it pass for the answer to the same call when that is made again', async () => {
  await begin();
  world.pass(60_000);
  await world.look('kv-x');
  expect(world.calls.map(({ request }) => request.sequenceNumber)).toEqual([1, 1]);
  await world.calls[0]!.answer();
  expect(await world.look('kv-x')).toMatchObject({ running: 6 });
  await world.calls[1]!.answer();
  expect(await world.look('kv-x')).toMatchObject({ updating: 6 });
});

test('it is asked about the job as it is when the call is made', async () => {
  await begin();
  await world.control('POST', '/faults', { kind: 'machine', id: 'x-m1', downMs: 20_000 });
  world.pass(60_000);
  await world.look('kv-x');
  expect(world.calls.map(({ request }) => request.allUnhealthyTasks)).toEqual([[], []]);
});

test('a world that is written out meanwhile asks again when it is read', async () => {
  await begin();
  await world.control('POST', '/snapshot', (await world.control('GET', '/snapshot')) as object);
  world.pass(60_000);
  await world.look('kv-x');
  await world.calls.at(-1)!.answer();
  expect(await world.look('kv-x')).toMatchObject({ updating: 6 });
});

test('injected trouble approves nothing either, and a delay takes simulated time', async () => {
  await begin();
  await world.calls[0]!.answer();
  world.pass(30_000);
  expect(await world.look('kv-x')).toMatchObject({ running: 6, versions: { 'kv:2': 6 } });
  const fault = { kind: 'http', service: 'external', mode: 'delay', delayMs: 3_000 };
  const { id } = (await world.control('POST', '/faults', fault)) as { id: string };
  await world.control('POST', '/jobs/kv-x/restart', {});
  world.pass(10_000);
  await world.look('kv-x');
  await world.calls.at(-1)!.answer();
  world.pass(2_500);
  expect(await world.look('kv-x')).toMatchObject({ running: 6 });
  world.pass(1_000);
  expect(await world.look('kv-x')).toMatchObject({ down: 6 });
  await world.control('DELETE', `/faults/${id}`);
});
