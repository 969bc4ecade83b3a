import { Simulation } from '../../simulator/simulation';
import { SimulatedStore } from '../../simulator/configerator/store';
import { ConfigFleetWorld } from '../builders/configFleet';

/** Refusals of the control API of configuration, by the name of the field. */

let world: ConfigFleetWorld;
beforeEach(async () => {
  world = new ConfigFleetWorld();
  await world.commit({ 'feed/limits': 1 });
  await world.hosts('edge', 'eu', 4);
});

const VALUE = { path: 'feed/limits', when: { equals: 1 }, behaviour: {} };

test.each([
  ['/config/subscribers', { job: 'nobody', paths: ['a'] }, 404, 'job: no job nobody'],
  [
    '/config/subscribers',
    { name: 'edge', region: 'eu', hosts: 1, paths: ['a'] },
    409,
    'edge subscribes to flags already',
  ],
  ['/config/subscribers', { name: 'x', region: 'eu', hosts: 1_000_001, paths: ['a'] }, 400, 'hosts'],
  [
    '/config/subscribers',
    { name: 'x', region: 'eu', hosts: 1_000_000, paths: ['a'] },
    400,
    'hosts: a world has at most 1000000',
  ],
  ['/config/subscribers', { name: 'x', region: 'eu', hosts: 1, paths: [] }, 400, 'paths'],
  ['/config/subscribers', { name: 'x', region: 'eu', hosts: 1, paths: ['../a'] }, 400, 'it leaves its folder'],
  ['/config/subscribers', { name: 'x/y', region: 'eu', hosts: 1, paths: ['a'] }, 400, 'expected letters'],
  ['/config/changes', { values: { '/a': 1 } }, 400, 'it begins with /'],
  ['/config/changes', { values: { a: 'x'.repeat(1024 * 1024) } }, 400, 'values: the value of a is'],
  ['/config/commits', { change: 9 }, 404, 'change: there is no change 9 in flags'],
  [
    '/config/behaviours',
    { ...VALUE, when: { field: 'soft' } },
    400,
    'when: expected one of equals, above, below, contains',
  ],
  ['/config/behaviours', { ...VALUE, behaviour: { errorRatio: 2 } }, 400, 'behaviour.errorRatio'],
  ['/config/behaviours', { ...VALUE, behaviour: { crashOnStart: true } }, 400, 'crashOnStart'],
  ['/config/faults', { kind: 'observer', id: 'eu-o9' }, 404, 'id: there is no observer eu-o9'],
  ['/config/faults', { kind: 'partition', id: 'moon' }, 404, 'id: there is no region with subscribers moon'],
  ['/config/faults', { kind: 'proxy-slow', hosts: ['edge-9'], delayMs: 1 }, 404, 'hosts: it means none'],
  ['/config/faults', { kind: 'proxy-slow', hosts: ['edge-1'] }, 400, 'delayMs'],
  ['/config/faults', { kind: 'proxy-restart', share: 2 }, 400, 'share'],
])('POST %s %j is refused', async (path, body, status, words) => {
  const answer = await world.answer('POST', path, body);
  expect([answer.status, answer.body.error?.message]).toEqual([status, expect.stringContaining(words)]);
});

test('a change that was overtaken is refused by the name of the winner', async () => {
  await world.propose({ 'feed/limits': 2 });
  await world.commit({ 'feed/limits': 3 });
  const { status, body } = await world.answer('POST', '/config/commits', { change: 1 });
  expect([status, body.error?.message]).toEqual([
    409,
    expect.stringMatching(
      /^change: change 1 cannot land: feed\/limits was changed by the commit [0-9a-f]{12} meanwhile$/,
    ),
  ]);
});

test('the ledger has each call that was to change something of configuration, and whether it did', async () => {
  const version = await world.propose({ 'feed/limits': 2 });
  await world.push('fetchDeployUnits', {});
  const updateId = 'deploy/feed/1/deploy/1/0/1';
  const update = (wanted: string): object => ({
    ...{ updateId, wholeUnit: false, urgency: 'normal' },
    targets: [{ unit: 'flags/feed:eu', version: wanted, artifacts: [], amount: { count: 1 } }],
  });
  await expect(world.push('executeUpdates', update('9@none'), 'first')).rejects.toThrow();
  await world.push('executeUpdates', update(version), 'first');
  await world.push('executeUpdates', update(version), 'first');
  await world.push('trackUpdates', { updateId });
  await world.push('cancelUpdates', { updateId }, 'cancel');
  const of = { service: 'config', caller: 'deploy/feed/1/deploy/1' };
  expect(await world.control('GET', '/ledger')).toMatchObject([
    { ...of, method: 'executeUpdates', key: 'first', effect: false },
    { ...of, method: 'executeUpdates', key: 'first', effect: true },
    { ...of, method: 'executeUpdates', key: 'first', effect: false },
    { ...of, method: 'cancelUpdates', key: 'cancel', effect: true },
  ]);
  expect(await world.violations()).toEqual([]);
});

test('a fault that is over cannot be fixed, nor one that never was', async () => {
  const id = await world.breaks({ kind: 'leader', downMs: 1_000 });
  await world.pass(2_000);
  for (const gone of [id, 'config-fault-99'])
    expect((await world.answer('DELETE', `/config/faults/${gone}`)).status).toBe(404);
});

test('the next after 1,000 behaviours and as many faults is refused', async () => {
  for (let nth = 0; nth < 1_000; nth += 1) {
    expect((await world.answer('POST', '/config/behaviours', { ...VALUE, when: { equals: nth } })).status).toBe(200);
    expect((await world.answer('POST', '/config/faults', { kind: 'leader' })).status).toBe(201);
  }
  expect((await world.answer('POST', '/config/behaviours', VALUE)).status).toBe(400);
  expect((await world.answer('POST', '/config/faults', { kind: 'leader' })).status).toBe(400);
});

test('a store with 100,000 writes is full, and one without a leader is away, which is worth another try', async () => {
  const simulation = new Simulation({ seed: 1, speed: 1 });
  const store = new SimulatedStore(() => simulation.configerator);
  const { log, faults } = simulation.configerator.state;
  const commit = { commit: 'c1', sequence: 1, values: [] };
  faults.set('f', { id: 'f', kind: 'leader' });
  await expect(store.apply('flags', commit)).rejects.toMatchObject({ code: 'store-unavailable', retryable: true });
  expect(await store.head('flags')).toBeUndefined();
  faults.clear();
  for (let nth = 0; nth < 99_999; nth += 1) log.push({ kind: 'commit', repository: 'other', commit });
  expect(await store.apply('flags', commit)).toBe('applied');
  await expect(store.putOverrides('flags', [])).rejects.toMatchObject({ code: 'store-full' });
});
