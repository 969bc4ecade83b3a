import { newService } from '../../configerator/pushType/service';
import { EMPTY_MS } from '../../configerator/pushType/cleanup';
import { MemoryStore } from '../../configerator/store/memory';
import { CONFIG_LIMITS } from '../../domain/limits';
import { healthCheckSchema } from '../../domain/spec/health';
import { PushWorld } from './pushWorld';

const [EU, US, ASIA] = ['flags/feed:eu', 'flags/feed:us', 'flags/feed:asia'];
const PATH = 'feed/limits';
const DEPLOY = 'deploy/feed/1/deploy/1';

/** Two hosts in each of two regions read `feed/limits`, which is 1. */
async function world() {
  const clock = { ms: 0 };
  const made = await PushWorld.open(null, new MemoryStore(() => clock.ms));
  made.restart({ now: () => clock.ms });
  const base = await made.commits({ [PATH]: 1 });
  for (const region of ['eu', 'us'])
    for (let n = 0; n < 2; n += 1) await made.hosts.join(`${region}-${n}`, region, [PATH]);
  await made.ask('fetchDeployUnits', {});
  /** Hosts that are up announce themselves again. */
  const later = async (ms: number): Promise<void> => {
    clock.ms += ms;
    await made.hosts.look();
  };
  return Object.assign(made, { base, later });
}

type It = Awaited<ReturnType<typeof world>>;

const units = async (it: It) =>
  (await it.ask<{ units: { id: string; version: string }[] }>('fetchDeployUnits', {})).units;
const ids = async (it: It): Promise<string[]> => (await units(it)).map(({ id }) => id);
const values = async (it: It): Promise<string[]> =>
  [...new Set(Object.values(await it.hosts.values(PATH)))].map((value) => String(value).trim());
const onBranch = (it: It): string => it.bench.git('show', 'main:values/feed/limits.json').trim();

/** All hosts of a region are gone, as their store says. */
async function leaves(it: It, region: string): Promise<void> {
  for (const { host, labels } of it.hosts.all) if (labels['region'] === region) it.hosts.gone.add(host);
  await it.later(120_000);
  await it.ask('fetchDeployUnits', {});
}

describe('a region that comes', () => {
  test('while a version is to land does not keep it from landing, and has it with the commit', async () => {
    const it = await world();
    const { version, change } = await it.bench.proposeValues({ [PATH]: 2 });
    it.beforeLand = () => Promise.reject(new Error('Temporal is away'));
    await it.complete(DEPLOY, version, [EU, US]);
    await it.settle(3);
    await it.hosts.join('asia-0', 'asia', [PATH]);
    await it.settle(3);
    expect([await values(it), onBranch(it)]).toEqual([['1'], '1']);
    it.beforeLand = () => Promise.resolve();
    await it.settle();
    expect(await it.progress(`${DEPLOY}/9/1`)).toMatchObject([{ state: 'done' }, { state: 'done' }]);
    expect([await values(it), onBranch(it), it.landed]).toEqual([['2'], '2', [change]]);
    expect((await units(it)).map(({ version: one }) => one)).toEqual([version, version, version]);
  });

  test('after the landing goes back with the others', async () => {
    const it = await world();
    const { version } = await it.bench.proposeValues({ [PATH]: 2 });
    await it.complete(DEPLOY, version, [EU, US]);
    await it.settle();
    await it.hosts.join('asia-0', 'asia', [PATH]);
    await it.settle(2);
    await it.revert(DEPLOY, it.base, [`${DEPLOY}/9/1`], [EU, US]);
    await it.settle();
    expect([await values(it), onBranch(it)]).toEqual([['1'], '1']);
    expect(await it.store.overrides('flags', PATH)).toEqual([]);
    expect(await ids(it)).toEqual([EU, US, ASIA]);
  });
});

test('a region whose hosts died with the new value is unknown, which is not healthy', async () => {
  const it = await world();
  const { version } = await it.bench.proposeValues({ [PATH]: 2 });
  await it.push(`${DEPLOY}/0/1`, version, { units: [EU, US], amount: { count: 1 } });
  await it.settle();
  const values = Object.entries(await it.hosts.values(PATH));
  for (const [host, value] of values) if (value?.trim() === '2' && host.startsWith('us')) it.hosts.gone.add(host);
  await it.later(50_000);
  await it.later(50_000);
  const targets = { units: [EU, US], updatedBy: [`${DEPLOY}/0/1`] };
  const checks = [healthCheckSchema.parse({ name: 'errors', metric: 'errors', threshold: { above: 1 } })];
  const answer = await it.ask('runHealthChecks', { targets, checks, baseline: { start: 0, end: 1 }, now: 2 });
  expect(JSON.stringify(answer)).toContain('of 1 updated task none can be reached');
  expect(it.judged.map(({ id, fresh, updated, control }) => [id, fresh.length, updated, control.length])).toEqual([
    [EU, 1, 1, 1],
    [US, 0, 1, 1],
  ]);
});

test('a region has the labels that all of its hosts there say, as many as a unit may have, and none in place of its own', async () => {
  const it = await PushWorld.open();
  await it.commits({ [PATH]: 1 });
  const said = { tier: 'edge', repository: 'other', long: 'x'.repeat(129) };
  await it.hosts.join('eu-0', 'eu', [PATH], { ...said, rack: 'r1' });
  await it.hosts.join('eu-1', 'eu', [PATH], { ...said, rack: 'r2' });
  const many = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`l${n + 10}`, 'y']));
  await it.hosts.join('us-0', 'us', [PATH], many);
  const { units } = await it.ask<{ units: { labels: Record<string, string> }[] }>('fetchDeployUnits', {});
  expect(units[0]?.labels).toEqual({ repository: 'flags', region: 'eu', tier: 'edge' });
  expect(Object.keys(units[1]?.labels ?? {})).toEqual([
    ...Array.from({ length: 14 }, (_, n) => `l${n + 10}`),
    ...['repository', 'region'],
  ]);
});

describe('a region that all hosts have left', () => {
  test('is not a unit any more after a day, and one again when a host comes back, with the value of now', async () => {
    const it = await world();
    await leaves(it, 'us');
    await it.later(EMPTY_MS - 1);
    expect(await ids(it)).toEqual([EU, US]);
    await it.later(1);
    expect(await ids(it)).toEqual([EU]);
    const newer = await it.commits({ [PATH]: 3 });
    it.hosts.gone.clear();
    await it.hosts.look();
    await it.settle(2);
    expect(await units(it)).toMatchObject([
      { id: EU, version: newer, mixed: false },
      { id: US, version: newer, mixed: false },
    ]);
    expect(await values(it)).toEqual(['3']);
  });

  test('keeps no deploy that has it in a phase, and none that is taken back', async () => {
    const it = await world();
    const { version } = await it.bench.proposeValues({ [PATH]: 2 });
    await it.push(`${DEPLOY}/0/1`, version, { units: [EU, US], amount: { count: 1 } });
    await it.settle();
    await leaves(it, 'us');
    await it.later(EMPTY_MS);
    expect(await ids(it)).toEqual([EU]);
    expect(await it.progress(`${DEPLOY}/0/1`)).toMatchObject([
      { id: EU, state: 'done' },
      { id: US, state: 'done' },
    ]);
    await it.push(`${DEPLOY}/1/1`, version, { units: [US], amount: { all: true } });
    await it.settle(2);
    expect(await it.progress(`${DEPLOY}/1/1`)).toMatchObject([{ id: US, state: 'done', targeted: 0 }]);
    await it.complete(DEPLOY, version, [EU]);
    await it.settle();
    expect(onBranch(it)).toBe('2');
    await it.later(EMPTY_MS);
    expect(await ids(it)).toEqual([EU]);
    await it.revert(DEPLOY, it.base, [`${DEPLOY}/0/1`, `${DEPLOY}/1/1`, `${DEPLOY}/9/1`], [EU, US]);
    await it.settle();
    expect([await values(it), onBranch(it)]).toEqual([['1'], '1']);
  });

  test('does not keep a version from landing, and returning hosts have it', async () => {
    const it = await world();
    const { version } = await it.bench.proposeValues({ [PATH]: 2 });
    await leaves(it, 'us');
    await it.complete(DEPLOY, version, [EU]);
    await it.settle();
    expect(onBranch(it)).toBe('2');
    it.hosts.gone.clear();
    await it.hosts.look();
    await it.settle(2);
    expect([await values(it), await it.store.overrides('flags', PATH)]).toEqual([['2'], []]);
    expect((await units(it)).map((unit) => unit.version)).toEqual([version, version]);
  });

  test('is a unit for as long as an update means it', async () => {
    const it = await world();
    const { version } = await it.bench.proposeValues({ [PATH]: 2 });
    await it.push(`${DEPLOY}/0/1`, version, { units: [US], amount: { count: 1 } });
    await it.ask('pauseUpdates', { updateId: `${DEPLOY}/0/1` });
    await leaves(it, 'us');
    await it.later(2 * EMPTY_MS);
    expect(await ids(it)).toEqual([EU, US]);
    await it.ask('cancelUpdates', { updateId: `${DEPLOY}/0/1` });
    expect(await ids(it)).toEqual([EU]);
  });

  test('stays while it is the last', async () => {
    const it = await world();
    await leaves(it, 'us');
    await leaves(it, 'eu');
    await it.later(EMPTY_MS);
    expect(await ids(it)).toHaveLength(1);
  });

  test('without ever having had one is refused', async () => {
    const it = await world();
    const { version } = await it.bench.proposeValues({ [PATH]: 2 });
    await expect(it.push(`${DEPLOY}/0/1`, version, { units: [ASIA] })).rejects.toThrow('unknown-unit');
  });
});

test('a service that was forgotten is known again when it is deployed, with what is committed since', async () => {
  const it = await world();
  const { services } = it.fleet.memory.state;
  for (let n = 0; n < CONFIG_LIMITS.services.max; n += 1)
    services[`flags/new-${n}`] = newService({ repository: 'flags', paths: [`new-${n}/`] });
  await it.ask('fetchDeployUnits', {}, ['other/']);
  expect(services['flags/feed']).toBeUndefined();
  for (const name of Object.keys(services)) delete services[name];
  const newer = await it.commits({ [PATH]: 3 });
  expect(await units(it)).toMatchObject([
    { id: EU, size: 2, version: newer },
    { id: US, size: 2, version: newer },
  ]);
  const { version } = await it.bench.proposeValues({ [PATH]: 4 });
  await it.complete(DEPLOY, version, [EU, US]);
  await it.settle();
  await it.revert(DEPLOY, newer, [`${DEPLOY}/9/1`], [EU, US]);
  await it.settle();
  expect([await values(it), onBranch(it)]).toEqual([['3'], '3']);
});

test('a completion is through once it is committed, and not before the last unit is to have it', async () => {
  const it = await world();
  const { version } = await it.bench.proposeValues({ [PATH]: 2 });
  await it.complete(DEPLOY, version, [EU]);
  await it.settle();
  expect([(await it.progress(`${DEPLOY}/9/1`))[0]?.state, onBranch(it)]).toEqual(['updating', '1']);
  await it.push(`${DEPLOY}/9/2`, version, { units: [US], wholeUnit: true, amount: { all: true } });
  await it.settle();
  expect([(await it.progress(`${DEPLOY}/9/1`))[0]?.state, onBranch(it)]).toEqual(['done', '2']);
});
