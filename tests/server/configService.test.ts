import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigMemory } from '../../configerator/pushType/memory';
import type { Land } from '../../configerator/pushType/ports';
import { Lander } from '../../configerator/repository/land';
import { MemoryStore } from '../../configerator/store/memory';
import { judgeTargets } from '../../sdk/health';
import { createConfigService, type ConfigServiceOptions } from '../../server/configService/service';
import { Hosts } from '../configerator/hosts';
import { bench, NOW } from '../configerator/repositories';
import { Sleeps } from '../configerator/sleeps';

const folder = mkdtempSync(join(tmpdir(), 'conveyor-config-service-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const R = 'flags';
const PATH = 'feed/limits';
const UNIT = 'flags/feed:eu';
const DEPLOY = 'deploy/feed/1/deploy/1';

/** The service over a real repository, a store in memory and three hosts; no part sleeps unless `Sleeps` says so. */
async function world(given: Partial<ConfigServiceOptions> = {}) {
  const it = await bench();
  const lander = new Lander(it.repository);
  const land: Land = async ({ change }) => {
    const [landing] = await lander.land([change], NOW);
    if (landing === undefined) throw new Error('no answer');
    return landing;
  };
  const store = new MemoryStore(() => 0);
  const hosts = new Hosts(store, R);
  for (const n of [1, 2, 3]) await hosts.join(`h${n}`, 'eu', [PATH]);
  const sleeps = new Sleeps();
  const log: string[] = [];
  const options: ConfigServiceOptions = {
    repositories: { names: [R], open: () => Promise.resolve(it.repository), getStore: () => store },
    memory: new ConfigMemory(join(folder, `${Math.random()}.json`)),
    judge: (request) => judgeTargets({ ...request, query: () => Promise.resolve({ series: [] }) }),
    ...{ land, sleep: sleeps.sleep, now: () => NOW, log: (line: string) => log.push(line) },
    ...given,
  };
  return { it, store, hosts, sleeps, log, options };
}

function started(options: ConfigServiceOptions) {
  const service = createConfigService(options);
  const ending = new AbortController();
  const running = service.run(ending.signal);
  const end = async (): Promise<void> => {
    ending.abort();
    await running;
  };
  let keys = 0;
  const ask = async (
    method: string,
    request: object,
    headers: Readonly<Record<string, string>> = {},
    given: object = {},
  ) => {
    const context = {
      ...{ pipeline: 'feed', release: 1, deployId: DEPLOY, actor: 'user:alice' },
      config: { repository: R, paths: ['feed/'] },
      ...given,
    };
    const response = await service.app.request(method, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': `key ${(keys += 1)}`, ...headers },
      body: JSON.stringify({ ...request, context }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const look = async (path: string) => {
    const response = await service.app.request(path);
    return { status: response.status, text: await response.text() };
  };
  return { end, ask, look };
}

/** Resolves once every part that runs sleeps: the tailer, the stepper and the sweeper. */
async function allAsleep(sleeps: Sleeps): Promise<void> {
  while (sleeps.waiting.length < 3) await sleeps.next();
}

const pushed = (version: string, update = 'executeUpdates') =>
  [
    `/push-types/config/${update}`,
    {
      ...{ updateId: `${DEPLOY}/9/1`, wholeUnit: true, urgency: 'normal' },
      targets: [{ unit: UNIT, version, artifacts: [], amount: { all: true } }],
    },
  ] as const;

test('a release is found, deployed and lands, and the store has it without polling', async () => {
  const { it, store, hosts, sleeps, options } = await world();
  const { end, ask, look } = started(options);
  await allAsleep(sleeps);
  const { version } = await it.proposeValues({ [PATH]: 1 });
  const subscriptions = [{ pipeline: 'feed', artifact: 'limits', with: { repository: R, paths: ['feed/'] } }];
  const found = await ask('/artifact-finders/config-changes/getArtifacts', { subscriptions });
  expect(found.body).toMatchObject({ found: [{ artifact: { kind: 'config', version } }] });
  await ask('/push-types/config/fetchDeployUnits', {});
  // The one who sleeps for five seconds is the tailer, which is woken by the landing alone.
  const awake = sleeps.next();
  expect(await ask(...pushed(version))).toMatchObject({ status: 200 });
  await awake;
  expect(await store.head(R)).toMatchObject({ sequence: 1 });
  expect(Object.values(await hosts.values(PATH))).toEqual(['1\n', '1\n', '1\n']);
  expect((await look('/metrics')).text).toContain('conveyor_config_landings_total{result="landed"} 1');
  await end();
});

test('models are deployed through the same service, and nothing else under their name', async () => {
  const { it, store, hosts, sleeps, options } = await world();
  await hosts.join('h9', 'eu', ['models/feed']);
  const { end, ask } = started(options);
  await allAsleep(sleeps);
  const { version } = await it.proposeValues({ 'models/feed': 1 });
  const context = { config: { repository: R, paths: ['models/feed'] } };
  const units = await ask('/push-types/model/fetchDeployUnits', {}, {}, context);
  expect(units.body).toMatchObject({ units: [{ id: 'flags/models/feed:eu' }] });
  const [path, request] = pushed(version);
  const targets = request.targets.map((target) => ({ ...target, unit: 'flags/models/feed:eu' }));
  expect(await ask(path.replace('config', 'model'), { ...request, targets }, {}, context)).toMatchObject({
    status: 200,
  });
  while ((await store.head(R)) === undefined) await sleeps.next();
  expect((await hosts.values('models/feed'))['h9']).toBe('1\n');
  expect(await ask('/push-types/model/fetchDeployUnits', {})).toMatchObject({
    body: { error: { code: 'not-deployable' } },
  });
  await end();
});

test('another process continues the work of the one before it, without a request', async () => {
  const file = join(folder, 'kept.json');
  const never: Land = () => new Promise(() => undefined);
  const { it, store, sleeps, options } = await world({ memory: new ConfigMemory(file), land: never });
  const first = started(options);
  await allAsleep(sleeps);
  const { version } = await it.proposeValues({ [PATH]: 1 });
  await first.ask('/push-types/config/fetchDeployUnits', {});
  await first.ask(...pushed(version));
  // As after kill -9: the first one never ends in order.
  const again = new Sleeps();
  const lander = new Lander(it.repository);
  const land: Land = async ({ change }) => {
    const [landing] = await lander.land([change], NOW);
    return landing ?? Promise.reject(new Error('no answer'));
  };
  const second = started({ ...options, memory: new ConfigMemory(file), sleep: again.sleep, land });
  while ((await store.head(R)) === undefined) await again.next();
  expect(await store.head(R)).toMatchObject({ sequence: 1 });
  await second.end();
});

test('it is ready once the store has the branch, and says which repository is away', async () => {
  let isAway = false;
  const { it, store, sleeps, log, options } = await world();
  const repositories = {
    ...{ names: [R], getStore: () => store },
    open: () => (isAway ? Promise.reject(new Error('the disk is gone')) : Promise.resolve(it.repository)),
  };
  const { end, look } = started({ ...options, repositories });
  expect(await look('/readyz')).toMatchObject({
    status: 503,
    text: expect.stringContaining('not seen the branch yet'),
  });
  await allAsleep(sleeps);
  expect(await look('/readyz')).toMatchObject({ status: 200 });
  isAway = true;
  const next = sleeps.next();
  sleeps.waiting.find(({ ms }) => ms === 5_000)?.end();
  await next;
  const { status, text } = await look('/readyz');
  expect({ status, body: JSON.parse(text) as object }).toEqual({
    status: 503,
    body: {
      status: 'unavailable',
      checks: [{ name: 'tailer of flags', status: 'unavailable', detail: 'the disk is gone' }],
    },
  });
  expect((await look('/metrics')).text).toMatch(/^conveyor_config_tailer_up\{repository="flags"\} 0$/m);
  expect(log).toEqual(['flags: the store does not get the branch: the disk is gone']);
  expect(await look('/healthz')).toEqual({ status: 200, text: 'ok' });
  await end();
});

test('with a token, deploys and finders need it', async () => {
  const { options } = await world({ token: 'secret' });
  const { end, ask } = started(options);
  const finder = '/artifact-finders/config-changes/getArtifacts';
  expect([
    (await ask('/push-types/config/fetchDeployUnits', {})).status,
    (await ask(finder, { subscriptions: [] })).status,
    (await ask(finder, { subscriptions: [] }, { authorization: 'Bearer secret' })).status,
  ]).toEqual([401, 401, 200]);
  await end();
});
