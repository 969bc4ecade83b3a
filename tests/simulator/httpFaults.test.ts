import { callExtension, viaApp } from '../../sdk/client';
import { healthCheckSchema } from '../../domain/spec/health';
import { pushTypeProtocol } from '../../sdk/protocol/pushType';
import { createSimulator } from '../../simulator/app';
import { expectNoViolations, givenFleet, START, update, type TestFleet } from '../builders/simulatorFleet';

afterEach(expectNoViolations);

const UPDATE = 'deploy/p/1/d/1/0/1';
const CONTEXT = { pipeline: 'p', release: 1, deployId: 'd', actor: 'user:alice', config: {} };

const push = (fleet: Pick<TestFleet, 'app'>) =>
  callExtension({
    service: { name: 'twine', url: 'http://simulator/push-types/twine', timeoutMs: 1000 },
    protocol: pushTypeProtocol,
    method: 'executeUpdates',
    request: {
      updateId: UPDATE,
      wholeUnit: false,
      urgency: 'normal',
      targets: [{ unit: 'kvstore-x', version: 'kv:2', artifacts: [], amount: { all: true } }],
    },
    context: CONTEXT,
    key: UPDATE,
    runId: 'deploy/p/1/d/1',
    fetch: viaApp(fleet.app),
  });

async function given(fault: Readonly<Record<string, unknown>>): Promise<{ fleet: TestFleet; id: string }> {
  const fleet = givenFleet();
  await fleet.job('kvstore-x');
  const { id } = (await fleet.control('POST', '/faults', { kind: 'http', service: 'twine', ...fault })) as {
    id: string;
  };
  return { fleet, id };
}

const effects = async (fleet: TestFleet): Promise<boolean[]> =>
  ((await fleet.control('GET', '/ledger')) as { effect: boolean }[]).map(({ effect }) => effect);

test('error: the call is turned away before it has an effect, as often as asked, and may be tried again', async () => {
  const { fleet } = await given({ mode: 'error', count: 2 });
  for (let i = 0; i < 2; i += 1) await expect(push(fleet)).rejects.toMatchObject({ code: 'extension-unavailable' });
  expect(await effects(fleet)).toEqual([]);
  expect(await push(fleet)).toEqual({ accepted: ['kvstore-x'] });
});

test('lose-reply: the effect happens, the answer does not arrive, and trying again has no second effect', async () => {
  const { fleet } = await given({ mode: 'lose-reply', count: 1 });
  await expect(push(fleet)).rejects.toMatchObject({
    code: 'extension-unavailable',
    message: expect.stringContaining('connection was lost'),
  });
  expect(await push(fleet)).toEqual({ accepted: ['kvstore-x'] });
  expect(await effects(fleet)).toEqual([true, false]);
});

test('duplicate: the call is delivered twice and has one effect', async () => {
  const { fleet } = await given({ mode: 'duplicate', count: 1 });
  expect(await push(fleet)).toEqual({ accepted: ['kvstore-x'] });
  expect(await effects(fleet)).toEqual([true, false]);
});

test('garbage: the answer is not the protocol, and is not worth trying again', async () => {
  const { fleet } = await given({ mode: 'garbage', method: 'executeUpdates' });
  await expect(push(fleet)).rejects.toMatchObject({ code: 'extension-protocol', retryable: false });
});

test('down: no call is answered and nothing happens, for as long as asked from the first call on', async () => {
  const { fleet } = await given({ mode: 'down', forMs: 3_600_000 });
  fleet.pass(3_600_000);
  await expect(push(fleet)).rejects.toMatchObject({
    code: 'extension-unavailable',
    message: expect.stringContaining('nobody answers'),
  });
  fleet.pass(3_599_000);
  await expect(push(fleet)).rejects.toMatchObject({ code: 'extension-unavailable' });
  expect(await effects(fleet)).toEqual([]);
  fleet.pass(1_000);
  expect(await push(fleet)).toEqual({ accepted: ['kvstore-x'] });
});

test.each([
  ['down', 'nobody answers'],
  ['error', 'an injected fault'],
  ['lose-reply', 'the connection was lost before the answer'],
  ['garbage', 'the data source answered with something that is not series of points'],
])('a data source that is in trouble (%s) makes health checks errored, never healthy', async (mode, reason) => {
  const { fleet } = await given({ service: 'data-source', method: 'query', mode });
  const check = {
    name: 'errors',
    metric: 'rpc.error_ratio',
    transform: [{ average: '3m' }],
    threshold: { above: 0.05 },
  };
  fleet.pass(600_000);
  const { body } = await fleet.twine('runHealthChecks', {
    ...{ targets: { units: ['kvstore-x'], updatedBy: [] }, checks: [check] },
    ...{ baseline: { start: START, end: START }, now: START + 600_000 },
  });
  expect(body.units).toMatchObject([{ checks: [{ verdict: 'errored', reason: expect.stringContaining(reason) }] }]);
});

/** A simulator whose time passes ten times as fast, and no faster than it sleeps; what it slept, in ms. */
async function delayed(service: string, delayMs: number) {
  const clock = { now: START };
  const slept: number[] = [];
  const sleep = (ms: number): Promise<void> => Promise.resolve(void (clock.now += slept.push(ms) && ms));
  const { app } = createSimulator({ seed: 1, speed: 10, now: () => clock.now, sleep });
  const post = (path: string, body: unknown) => app.request(path, { method: 'POST', body: JSON.stringify(body) });
  await post('/control/jobs', { name: 'kvstore-x', region: 'x', tasks: 2, version: 'kv:1', nSmall: 1, budget: 1 });
  await post('/control/faults', { kind: 'http', service, mode: 'delay', delayMs });
  return { app, clock, slept };
}

test.each([
  ['later, where it is within the deadline', 50_000, 5_000, 'healthy', 'within the limit'],
  ['not at all, where it is beyond the deadline', 200_000, 10_000, 'errored', 'did not answer within 10000 ms'],
])('delay: a data source answers health checks %s', async (_, delayMs, sleptMs, verdict, reason) => {
  const { app, clock, slept } = await delayed('data-source', delayMs);
  clock.now += 600_000;
  const check = { name: 'errors', metric: 'rpc.error_ratio', lookback: 60_000, threshold: { above: 0.5 } };
  const body = await callExtension({
    ...{ service: { name: 'twine', url: 'http://simulator/push-types/twine', timeoutMs: 1000 }, fetch: viaApp(app) },
    ...{ protocol: pushTypeProtocol, method: 'runHealthChecks', context: CONTEXT },
    request: {
      ...{ targets: { units: ['kvstore-x'], updatedBy: [] }, checks: [healthCheckSchema.parse(check)] },
      ...{ baseline: { start: START, end: START }, now: clock.now },
    },
  });
  expect(slept).toEqual([sleptMs]);
  expect(body.units).toMatchObject([{ checks: [{ verdict, reason: expect.stringContaining(reason) as string }] }]);
});

test('delay: the answer comes after the simulated time that was asked for', async () => {
  const { app, slept } = await delayed('twine', 50_000);
  await push({ app });
  expect(slept).toEqual([5000]);
  const ledger = (await (await app.request('/control/ledger')).json()) as { at: number }[];
  expect(ledger.map(({ at }) => at)).toEqual([START + 5000]);
});

test('a fault hits only its service and method, and ends when it is lifted', async () => {
  const { fleet, id } = await given({ mode: 'error', method: 'trackUpdates' });
  await push(fleet);
  expect((await fleet.twine('trackUpdates', { updateId: UPDATE })).status).toBe(503);
  await fleet.control('DELETE', `/faults/${id}`);
  expect((await fleet.twine('trackUpdates', { updateId: UPDATE })).status).toBe(200);
  expect((await fleet.answer('DELETE', `/faults/${id}`)).status).toBe(404);
});

test('a rate hits about that share of the calls', async () => {
  const { fleet } = await given({ mode: 'error', rate: 0.25 });
  let failed = 0;
  for (let i = 0; i < 400; i += 1) if ((await fleet.twine('fetchDeployUnits', {})).status === 503) failed += 1;
  expect(failed).toBeGreaterThan(60);
  expect(failed).toBeLessThan(140);
});

test('the ledger says who asked for what, when, under which key, and whether it changed anything', async () => {
  const fleet = givenFleet();
  await fleet.job('kvstore-x');
  await push(fleet);
  const entry = { service: 'twine', key: UPDATE, caller: 'deploy/p/1/d/1' };
  fleet.pass(1000);
  await push(fleet);
  await fleet.twine('executeUpdates', update('deploy/p/2/d/1/0/1', 'kvstore-x', 'kv:3'), 'refused');
  await fleet.twine('pauseUpdates', { updateId: UPDATE }, 'pause');
  expect(await fleet.control('GET', '/ledger')).toEqual([
    { at: START, method: 'executeUpdates', effect: true, ...entry },
    { at: START + 1000, method: 'executeUpdates', effect: false, ...entry },
    { at: START + 1000, method: 'executeUpdates', effect: false, ...entry, key: 'refused', caller: '' },
    { at: START + 1000, method: 'pauseUpdates', effect: true, ...entry, key: 'pause', caller: '' },
  ]);
  expect(await fleet.control('GET', `/ledger?since=${START + 1}`)).toHaveLength(3);
});
