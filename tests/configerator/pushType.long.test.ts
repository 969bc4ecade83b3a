import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryStore } from '../../configerator/store/memory';
import { conveyorError } from '../../domain/errors';
import { callExtension, viaApp } from '../../sdk/client';
import { pushTypeProtocol } from '../../sdk/protocol/pushType';
import { PushWorld } from './pushWorld';

const [EU, US] = ['flags/feed:eu', 'flags/feed:us'];
const PATH = 'feed/limits';
const DEPLOY = 'deploy/feed/1/deploy/1';

const folder = mkdtempSync(join(tmpdir(), 'conveyor-push-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Ten hosts in each of two regions read `feed/limits`, which is 1. */
async function world(
  memory: string | null = null,
  store?: MemoryStore,
): Promise<PushWorld & { readonly base: string }> {
  const made = await PushWorld.open(memory, store);
  const base = await made.commits({ [PATH]: 1 });
  for (const region of ['eu', 'us'])
    for (let n = 0; n < 10; n += 1) await made.hosts.join(`${region}-${n}`, region, [PATH]);
  await made.ask('fetchDeployUnits', {});
  return Object.assign(made, { base });
}

/** How many hosts have which value. */
const counts = async ({ hosts }: PushWorld, path = PATH): Promise<Record<string, number>> => {
  const found: Record<string, number> = {};
  for (const value of Object.values(await hosts.values(path)))
    found[String(value).trim()] = (found[String(value).trim()] ?? 0) + 1;
  return found;
};

const onBranch = ({ bench }: PushWorld): string => bench.git('show', 'main:values/feed/limits.json').trim();

test('a value reaches the hosts of the phase before anything is committed, and the others with the commit', async () => {
  const it = await world();
  const { version, change } = await it.bench.proposeValues({ [PATH]: 2 });
  await it.push(`${DEPLOY}/0/1`, version, { amount: { count: 2 } });
  await it.settle();
  expect(await it.progress(`${DEPLOY}/0/1`)).toMatchObject([{ id: EU, state: 'done', targeted: 2, live: 2 }]);
  expect([await counts(it), onBranch(it)]).toEqual([{ 1: 18, 2: 2 }, '1']);
  await it.hosts.join('eu-late', 'eu', [PATH]);
  expect((await it.hosts.values(PATH))['eu-late']?.trim()).toBe('1');
  await it.complete(DEPLOY, version, [EU, US]);
  await it.settle();
  expect(await it.progress(`${DEPLOY}/9/1`)).toMatchObject([{ state: 'done' }, { state: 'done' }]);
  expect([await counts(it), onBranch(it), it.landed]).toEqual([{ 2: 21 }, '2', [change]]);
  expect(await it.store.overrides('flags', PATH)).toEqual([]);
  const { units } = await it.ask<{ units: object[] }>('fetchDeployUnits', {});
  expect(units).toMatchObject([
    { id: EU, version, mixed: false, size: 11 },
    { id: US, version, size: 10 },
  ]);
});

test('while it lands only the hosts of the phases have it, including hosts that join and a landing that is held', async () => {
  const it = await world();
  const { version } = await it.bench.proposeValues({ [PATH]: 2 });
  await it.push(`${DEPLOY}/0/1`, version, { amount: { count: 2 } });
  await it.settle();
  it.beforeLand = () => new Promise(() => undefined);
  const put = jest.spyOn(it.store, 'putOverrides');
  await it.complete(DEPLOY, version, [EU, US]);
  await it.ask('pauseUpdates', { updateId: `${DEPLOY}/9/1` });
  const steps = async (): Promise<void> => {
    for (let n = 0; n < 4; n += 1) {
      await it.fleet.step('flags/feed');
      await it.hosts.look();
    }
    expect(put.mock.calls.flatMap(([, overrides]) => overrides)).toEqual([]);
    expect(await counts(it)).toMatchObject({ 2: 2 });
  };
  await steps();
  await it.hosts.join('eu-late', 'eu', [PATH]);
  await steps();
  await it.ask('resumeUpdates', { updateId: `${DEPLOY}/9/1` });
  await it.hosts.join('us-late', 'us', [PATH]);
  await steps();
  expect(await counts(it)).toEqual({ 1: 20, 2: 2 });
});

test('a completion is not through before its change has landed, though a phase before it has reached all hosts', async () => {
  const it = await world();
  const { version } = await it.bench.proposeValues({ [PATH]: 2 });
  await it.push(`${DEPLOY}/0/1`, version, { units: [EU, US], amount: { all: true } });
  await it.settle();
  it.beforeLand = () => Promise.reject(new Error('Temporal is away'));
  await it.complete(DEPLOY, version, [EU, US]);
  await it.settle(3);
  const missing = async () =>
    (await it.progress(`${DEPLOY}/9/1`)).map(({ state, targeted, live }) => [state === 'done', targeted - live]);
  expect([await counts(it), await missing()]).toEqual([
    { 2: 20 },
    [
      [false, 1],
      [false, 1],
    ],
  ]);
  it.beforeLand = () => Promise.resolve();
  await it.settle();
  expect([onBranch(it), await missing()]).toEqual([
    '2',
    [
      [true, 0],
      [true, 0],
    ],
  ]);
});

test('a revert before the landing takes the value from those who had it, and nothing is ever committed', async () => {
  const it = await world();
  const { version } = await it.bench.proposeValues({ [PATH]: 2 });
  await it.push(`${DEPLOY}/0/1`, version, { amount: { count: 5 } });
  await it.settle();
  await it.revert(DEPLOY, it.base, [`${DEPLOY}/0/1`], [EU]);
  await it.settle();
  expect(await it.progress(`${DEPLOY}/revert/1`)).toMatchObject([{ state: 'done', targeted: 5, live: 5 }]);
  expect([await counts(it), it.landed]).toEqual([{ 1: 20 }, []]);
  expect(await it.store.overrides('flags', PATH)).toEqual([]);
});

test('a revert after the landing reaches every host at once, and lands as a change of its own', async () => {
  const it = await world();
  const { version, change } = await it.bench.proposeValues({ [PATH]: 2 });
  await it.complete(DEPLOY, version, [EU, US]);
  await it.settle();
  let isFree = (): void => undefined;
  it.beforeLand = () => new Promise((resolve) => (isFree = resolve));
  await it.revert(DEPLOY, it.base, [`${DEPLOY}/9/1`], [EU, US]);
  await it.fleet.step('flags/feed');
  await it.hosts.look();
  await it.fleet.step('flags/feed');
  expect([await counts(it), onBranch(it)]).toEqual([{ 1: 20 }, '2']);
  it.beforeLand = () => Promise.resolve();
  isFree();
  await it.settle();
  expect(await it.progress(`${DEPLOY}/revert/1`)).toMatchObject([{ state: 'done' }, { state: 'done' }]);
  expect([await counts(it), onBranch(it), it.landed]).toEqual([{ 1: 20 }, '1', [change, change + 1]]);
  expect(await it.store.overrides('flags', PATH)).toEqual([]);
  expect(newest(it)).toMatch(
    new RegExp(
      `^conveyor: Restore the state before change ${change}\\n\\nDeploy: deploy/feed/1/deploy/1\\n\\nChange: `,
    ),
  );
});

test('a commit that rolls back names the person who asked for it, and its author is Conveyor', async () => {
  const it = await world();
  const { version } = await it.bench.proposeValues({ [PATH]: 2 });
  await it.complete(DEPLOY, version, [EU, US]);
  await it.settle();
  await it.complete(`${DEPLOY}-back`, it.base, [EU, US]);
  await it.settle();
  expect([await counts(it), onBranch(it)]).toEqual([{ 1: 20 }, '1']);
  expect(newest(it)).toMatch(
    /^conveyor: Restore the state of [0-9a-f]{12}\n\nDeploy: deploy\/feed\/1\/deploy\/1\nRequested-by: user:alice\n\nChange: /,
  );
});

/** The author and the message of the newest commit. */
const newest = (it: PushWorld): string => it.bench.git('log', '-1', '--format=%an: %B', 'main');

test('a value committed by hand comes back after a landing, however long no host has had it', async () => {
  const it = await PushWorld.open();
  const byHand = await it.bench.proposeValues({ [PATH]: 1 });
  it.bench.git('update-ref', 'refs/heads/main', byHand.version.split('@')[1] ?? '');
  await it.tail();
  await it.hosts.join('eu-0', 'eu', [PATH]);
  const [unit] = (await it.ask<{ units: { version: string }[] }>('fetchDeployUnits', {})).units;
  const { version } = await it.bench.proposeValues({ [PATH]: 2 });
  await it.complete(DEPLOY, version, [EU]);
  await it.settle();
  // Every request makes it forget what it no longer needs.
  await it.ask('fetchDeployUnits', {});
  await it.revert(DEPLOY, unit?.version ?? '', [`${DEPLOY}/9/1`], [EU]);
  await it.settle();
  expect([await counts(it), onBranch(it)]).toEqual([{ 1: 1 }, '1']);
});

test('after the landing hosts are compared with what they measured under the commit before', async () => {
  const it = await world();
  const { version } = await it.bench.proposeValues({ [PATH]: 2 });
  const before = it.bench.git('rev-parse', 'main').trim();
  await it.complete(DEPLOY, version, [EU, US]);
  await it.settle();
  const targets = { units: [EU], updatedBy: [`${DEPLOY}/9/1`] };
  await it.ask('runHealthChecks', { targets, checks: [], baseline: { start: 0, end: 1 }, now: 2 });
  const [judged] = it.judged;
  const now = it.bench.git('rev-parse', 'main').trim();
  expect([judged?.fresh.includes(`eu-0@${now}`), judged?.before?.includes(`eu-0@${before}`)]).toEqual([true, true]);
});

test('hosts that read several paths are judged by what they have of those that the change concerns', async () => {
  const it = await PushWorld.open();
  const OTHER = 'feed/other';
  await it.commits({ [PATH]: 1 });
  const ofPath = it.bench.git('rev-parse', 'main').trim();
  await it.commits({ [OTHER]: 1 });
  const ofOther = it.bench.git('rev-parse', 'main').trim();
  for (const host of ['eu-0', 'eu-1']) await it.hosts.join(host, 'eu', [PATH, OTHER]);
  await it.ask('fetchDeployUnits', {});
  const { version } = await it.bench.proposeValues({ [PATH]: 2 });
  await it.push(`${DEPLOY}/0/1`, version, { amount: { count: 1 } });
  await it.settle();
  const judge = async (updatedBy: readonly string[]) => {
    await it.ask('runHealthChecks', {
      ...{ targets: { units: [EU], updatedBy }, checks: [], baseline: { start: 0, end: 1 }, now: 2 },
    });
    return it.judged.at(-1);
  };
  const phase = await judge([`${DEPLOY}/0/1`]);
  const [fresh = ''] = phase?.fresh ?? [];
  const [inside, outside] = fresh.startsWith('eu-0@') ? ['eu-0', 'eu-1'] : ['eu-1', 'eu-0'];
  expect(phase).toMatchObject({
    fresh: [`${inside}@${version}`],
    control: [`${outside}@${ofPath}`, `${outside}@${ofOther}`],
    before: [`${inside}@${ofPath}`, `${inside}@${ofOther}`],
  });
  await it.complete(DEPLOY, version, [EU]);
  await it.settle();
  const landed = it.bench.git('rev-parse', 'main').trim();
  const after = await judge([`${DEPLOY}/0/1`, `${DEPLOY}/9/1`]);
  expect([...(after?.fresh ?? [])].sort()).toEqual([`eu-0@${landed}`, `eu-1@${landed}`]);
});

test.each<[string, (it: PushWorld & { readonly base: string }, version: string) => Promise<unknown>, string]>([
  ['was taken back', (it) => it.revert(DEPLOY, it.base, [`${DEPLOY}/0/1`], [EU]), '1'],
  [
    'was followed by another that landed',
    async (it) => {
      const next = await it.bench.proposeValues({ [PATH]: 3 });
      await it.complete('deploy/feed/2/deploy/1', next.version, [EU, US]);
    },
    '3',
  ],
])('a host that returns after the deploy whose value it had %s gets what is committed', async (_how, ends, value) => {
  let now = 0;
  const it = await world(null, new MemoryStore(() => now));
  const { version } = await it.bench.proposeValues({ [PATH]: 2 });
  await it.push(`${DEPLOY}/0/1`, version, { amount: { count: 2 } });
  await it.settle();
  const [lost = ''] = Object.entries(await it.hosts.values(PATH)).find(([, has]) => has?.trim() === '2') ?? [];
  // It falls silent until its lease is over.
  it.hosts.gone.add(lost);
  now = 50_000;
  await it.hosts.look();
  now = 70_000;
  await it.settle();
  await ends(it, version);
  await it.settle();
  it.hosts.gone.delete(lost);
  await it.settle();
  expect([await counts(it), await it.store.overrides('flags', PATH)]).toEqual([{ [value]: 20 }, []]);
});

/** A change for all hosts is on its way to the branch, and then taken back. */
async function revertOnTheWay(memory: string | null = null) {
  const it = await world(memory);
  const { version } = await it.bench.proposeValues({ [PATH]: 2 });
  let isFree = (): void => undefined;
  it.beforeLand = () => new Promise((resolve) => (isFree = resolve));
  await it.complete(DEPLOY, version, [EU, US]);
  await it.fleet.step('flags/feed');
  await it.revert(DEPLOY, it.base, [`${DEPLOY}/9/1`], [EU, US]);
  for (let n = 0; n < 3; n += 1) {
    await it.fleet.step('flags/feed');
    await it.hosts.look();
  }
  return { it, lands: () => isFree() };
}

test('a revert while its change is on the way to the branch waits for the answer, and takes back what landed', async () => {
  const { it, lands } = await revertOnTheWay();
  expect(await it.progress(`${DEPLOY}/revert/1`)).toMatchObject([{ state: 'updating' }, { state: 'updating' }]);
  it.beforeLand = () => Promise.resolve();
  lands();
  await it.settle();
  expect([await counts(it), onBranch(it), it.landed.length]).toEqual([{ 1: 20 }, '1', 2]);
  expect(await it.progress(`${DEPLOY}/revert/1`)).toMatchObject([{ state: 'done' }, { state: 'done' }]);
  expect(await it.store.overrides('flags', PATH)).toEqual([]);
});

test('a value that lands although it was taken back reaches no host, not even one that joins, however long the landing that takes it back needs', async () => {
  const { it, lands } = await revertOnTheWay();
  it.beforeLand = () => new Promise(() => undefined);
  const landed = new Promise<void>((resolve) => {
    it.afterLand = resolve;
  });
  lands();
  await landed;
  await it.hosts.look();
  await it.hosts.join('eu-late', 'eu', [PATH]);
  expect([await counts(it), onBranch(it)]).toEqual([{ 1: 21 }, '2']);
});

test('a revert whose change does not land after all is through without landing anything', async () => {
  const it = await world();
  const { version } = await it.bench.proposeValues({ [PATH]: 2 });
  let answers = (): void => undefined;
  const refused = { code: 'config-value-refused', message: 'a schema refuses it', hint: '' };
  it.restart({
    land: ({ change }) => new Promise((resolve) => (answers = () => resolve({ change, refused }))),
  });
  await it.complete(DEPLOY, version, [EU, US]);
  await it.fleet.step('flags/feed');
  await it.revert(DEPLOY, it.base, [`${DEPLOY}/9/1`], [EU, US]);
  await it.fleet.step('flags/feed');
  answers();
  await it.settle();
  expect(await it.progress(`${DEPLOY}/revert/1`)).toMatchObject([{ state: 'done' }, { state: 'done' }]);
  expect([await counts(it), onBranch(it), await it.store.overrides('flags', PATH)]).toEqual([{ 1: 20 }, '1', []]);
});

test('a service that dies while a change is on the way to the branch asks what became of it, also once it is taken back', async () => {
  const { it, lands } = await revertOnTheWay(join(folder, 'on-the-way.json'));
  it.beforeLand = () => Promise.resolve();
  it.restart();
  await it.fleet.step('flags/feed');
  expect(await it.progress(`${DEPLOY}/revert/1`)).toMatchObject([{ state: 'updating' }, { state: 'updating' }]);
  lands();
  await it.settle();
  expect([await counts(it), onBranch(it)]).toEqual([{ 1: 20 }, '1']);
  expect(await it.progress(`${DEPLOY}/revert/1`)).toMatchObject([{ state: 'done' }, { state: 'done' }]);
});

/** Its repository cannot be asked whether a change could land, so that each phase begins. */
const unasked = <World extends PushWorld>(it: World): World => {
  it.fleet.whyNotDeployed = () => Promise.resolve(undefined);
  return it;
};

test('a change whose file others have changed meanwhile does not land, and says which file and who won', async () => {
  const it = unasked(await world());
  const { version } = await it.bench.proposeValues({ [PATH]: 2 });
  await it.commits({ [PATH]: 3 });
  await it.complete(DEPLOY, version, [EU, US]);
  await it.settle();
  expect(await it.progress(`${DEPLOY}/9/1`)).toMatchObject([
    { id: EU, state: 'failed', reason: expect.stringMatching(/feed\/limits\.json was changed by change \d+/) },
    {},
  ]);
  expect(await counts(it)).toEqual({ 3: 20 });
});

test('a landing that was refused once is tried again when the update is, also that of a revert', async () => {
  const it = await world();
  const { version } = await it.bench.proposeValues({ [PATH]: 2 });
  const refused = { code: 'config-value-refused', message: 'a schema refuses it', hint: '' };
  let isRefused = true;
  it.restart({
    land: (request) => (isRefused ? Promise.resolve({ change: request.change, refused }) : it.land(request)),
  });
  const [wholly, failed] = [{ units: [EU, US], wholeUnit: true, amount: { all: true } }, { state: 'failed' }];
  await it.push(`${DEPLOY}/9/1`, version, wholly);
  await it.settle();
  expect(await it.progress(`${DEPLOY}/9/1`)).toMatchObject([failed, failed]);
  isRefused = false;
  await it.push(`${DEPLOY}/9/2`, version, wholly);
  await it.settle();
  expect([await counts(it), await it.progress(`${DEPLOY}/9/2`)]).toMatchObject([{ 2: 20 }, [{ state: 'done' }, {}]]);
  isRefused = true;
  const updates = [`${DEPLOY}/9/1`, `${DEPLOY}/9/2`];
  await it.revert(DEPLOY, it.base, updates, [EU, US]);
  await it.settle();
  expect(await it.progress(`${DEPLOY}/revert/1`)).toMatchObject([failed, failed]);
  isRefused = false;
  await it.push(`${DEPLOY}/revert/2`, it.base, { units: [EU, US], urgency: 'revert', updatedBy: updates });
  await it.settle();
  expect([await counts(it), onBranch(it)]).toEqual([{ 1: 20 }, '1']);
  expect(await it.progress(`${DEPLOY}/revert/2`)).toMatchObject([{ state: 'done' }, { state: 'done' }]);
});

test('a host that refuses the value stops its update before the others of the phase have it', async () => {
  const it = await world();
  it.hosts.refuses = (value) => (value?.trim() === '-1' ? 'a limit is positive' : undefined);
  const { version } = await it.bench.proposeValues({ [PATH]: -1 });
  await it.push(`${DEPLOY}/0/1`, version, { amount: { all: true } });
  await it.settle();
  const [unit] = await it.progress(`${DEPLOY}/0/1`);
  expect(unit).toMatchObject({
    state: 'failed',
    live: 0,
    reason: expect.stringMatching(/^eu-\d refuses .*a limit is positive/),
  });
  expect(await counts(it)).toEqual({ 1: 17, '-1': 3 });
});

test('two pipelines with other files land at once; the second deploy of one file waits and names the first', async () => {
  const it = await world();
  await it.commits({ 'ads/limits': 1 });
  await it.hosts.join('ads-1', 'eu', ['ads/limits']);
  const [feed, ads] = [await it.bench.proposeValues({ [PATH]: 2 }), await it.bench.proposeValues({ 'ads/limits': 2 })];
  await it.push(`${DEPLOY}/0/1`, feed.version, { amount: { count: 1 } });
  await it.settle();
  const again = await it.bench.proposeValues({ [PATH]: 3 });
  const same = callExtension({
    service: { name: 'config', url: 'http://config', timeoutMs: 60_000 },
    ...{ protocol: pushTypeProtocol, method: 'executeUpdates', key: 'same', fetch: viaApp(it.app) },
    request: {
      ...{ updateId: 'deploy/all/1/deploy/1/0/1', wholeUnit: false, urgency: 'normal' },
      targets: [{ unit: 'flags/feed/limits:eu', version: again.version, artifacts: [], amount: { count: 1 } }],
    },
    context: {
      ...{ pipeline: 'all', release: 1, deployId: 'deploy/all/1/deploy/1', actor: 'user:alice' },
      config: { repository: 'flags', paths: [PATH] },
    },
  });
  // The only answer after which a deploy tries again by itself.
  await expect(same).rejects.toMatchObject({
    code: 'extension-unavailable',
    message: expect.stringContaining(`path-busy: ${PATH} is being changed by ${DEPLOY}`),
  });
  await it.ask('fetchDeployUnits', {}, ['ads/']);
  await it.complete(DEPLOY, feed.version, [EU, US]);
  await it.complete('deploy/ads/1/deploy/1', ads.version, ['flags/ads:eu'], ['ads/']);
  await it.settle();
  expect(it.landed.toSorted()).toEqual([feed.change, ads.change]);
  expect([await counts(it), await counts(it, 'ads/limits')]).toEqual([{ 2: 20 }, { 2: 1 }]);
});

test('an older version is deployed again by a new change that brings back what it was', async () => {
  const it = await world();
  const two = await it.bench.proposeValues({ [PATH]: 2 });
  await it.complete(DEPLOY, two.version, [EU, US]);
  await it.settle();
  await it.complete('deploy/feed/2/deploy/1', it.base, [EU, US]);
  await it.settle();
  expect([await counts(it), onBranch(it), it.landed.length]).toEqual([{ 1: 20 }, '1', 2]);
});

test('a deploy stops if its paths are committed to, and its revert leaves that commit alone', async () => {
  const it = await world();
  const { version } = await it.bench.proposeValues({ [PATH]: 2 });
  await it.push(`${DEPLOY}/0/1`, version, { amount: { count: 2 } });
  await it.settle();
  await it.commits({ [PATH]: 7 });
  await it.settle();
  await expect(it.push(`${DEPLOY}/1/1`, version, { amount: { count: 5 } })).rejects.toThrow(/^changed-elsewhere/);
  await it.revert(DEPLOY, it.base, [`${DEPLOY}/0/1`], [EU]);
  await it.settle();
  expect([await counts(it), onBranch(it)]).toEqual([{ 7: 20 }, '7']);
});

test('a version that was replaced by another commit can be deployed again', async () => {
  const it = await world();
  const { version } = await it.bench.proposeValues({ [PATH]: 2 });
  await it.complete(DEPLOY, version, [EU, US]);
  await it.settle();
  await it.commits({ [PATH]: 7 });
  await it.settle();
  const targets = [EU, US].map((unit) => ({ unit, version, artifacts: [], amount: { all: true } }));
  expect(await it.ask('needsPush', { targets })).toMatchObject({ units: [{ outdated: 10 }, { outdated: 10 }] });
  await it.complete('deploy/feed/9/deploy/1', version, [EU, US]);
  await it.settle();
  expect([await counts(it), onBranch(it)]).toEqual([{ 2: 20 }, '2']);
});

test('a revert to a version that was deployed again goes back to it, and not to the commit that replaced it before', async () => {
  const it = await world();
  const { version } = await it.bench.proposeValues({ [PATH]: 2 });
  await it.complete(DEPLOY, version, [EU, US]);
  await it.settle();
  await it.commits({ [PATH]: 7 });
  await it.complete('deploy/feed/9/deploy/1', version, [EU, US]);
  await it.settle();
  const next = await it.bench.proposeValues({ [PATH]: 3 });
  await it.push('deploy/feed/10/deploy/1/0/1', next.version, { amount: { count: 2 } });
  await it.settle();
  expect(await counts(it)).toEqual({ 2: 18, 3: 2 });
  await it.revert('deploy/feed/10/deploy/1', version, ['deploy/feed/10/deploy/1/0/1'], [EU]);
  await it.settle();
  expect([await counts(it), onBranch(it)]).toEqual([{ 2: 20 }, '2']);
});

test('a change of paths that the pipeline does not own is refused, and so is an unproposed one', async () => {
  const it = await world();
  const { version } = await it.bench.proposeValues({ [PATH]: 2, 'ads/limits': 2 });
  await expect(it.push(`${DEPLOY}/0/1`, version)).rejects.toThrow(/^not-deployable: .*ads\/limits/);
  await expect(it.push(`${DEPLOY}/0/1`, `99@${'a'.repeat(40)}`)).rejects.toThrow(/^config-change-unknown/);
  await expect(it.push(`${DEPLOY}/0/1`, 'newest')).rejects.toThrow(/^unknown-version: .*N@COMMIT/);
  await expect(it.push(`${DEPLOY}/0/1`, `1@${'a'.repeat(40)}`)).rejects.toThrow(/^unknown-version/);
  expect(await it.ask('validateConfig', {}, ['../feed'])).toMatchObject({ problems: [{ path: 'config.paths.0' }] });
});

test('a deploy continues after the service dies before or after each of its effects, and each happens once', async () => {
  for (let nth = 1; nth <= 7; nth += 1) {
    const it = await world(join(folder, `state-${nth}.json`));
    const { version } = await it.bench.proposeValues({ [PATH]: 2 });
    const dies = dyingStore(it, nth);
    await it.push(`${DEPLOY}/0/1`, version, { amount: { count: 3 } });
    await settleAgain(it, dies);
    await it.complete(DEPLOY, version, [EU, US]);
    await settleAgain(it, dies);
    expect([await counts(it), onBranch(it)]).toEqual([{ 2: 20 }, '2']);
    expect(it.bench.git('rev-list', '--count', 'main').trim()).toBe('2');
    expect(await it.store.overrides('flags', PATH)).toEqual([]);
    expect(await it.progress(`${DEPLOY}/9/1`)).toMatchObject([{ state: 'done' }, { state: 'done' }]);
  }
});

/** The process ends at the nth effect, before it (odd) or after it. */
function dyingStore(it: PushWorld, nth: number) {
  const died = { count: 0, isDead: false };
  const store = it.store;
  const mortal =
    <A extends unknown[], R>(effect: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      died.count += 1;
      const isLast = died.count === Math.ceil(nth / 2);
      if (died.isDead || (isLast && nth % 2 === 1)) {
        died.isDead = true;
        throw new Error('killed');
      }
      const answer = await effect(...args);
      if (isLast) {
        died.isDead = true;
        throw new Error('killed');
      }
      return answer;
    };
  it.restart({
    storeOf: () =>
      new Proxy(store, {
        get: (target, name) => {
          const member = Reflect.get(target, name) as unknown;
          if (typeof member !== 'function') return member;
          const bound = (member as (...args: unknown[]) => Promise<unknown>).bind(target);
          return name === 'putOverrides' || name === 'removeOverrides' ? mortal(bound) : bound;
        },
      }),
    land: mortal((request) => it.land(request)),
  });
  return died;
}

async function settleAgain(it: PushWorld, dies: { isDead: boolean }): Promise<void> {
  await it.settle(6).catch(() => undefined);
  if (dies.isDead) {
    dies.isDead = false;
    it.restart();
  }
  await it.settle();
}

test('a quarter of the hosts that are there get a value at a time, however many have left', async () => {
  const it = await world();
  const left = Array.from({ length: 30 }, (_, n) => `gone-${n}`);
  const { fleet, bench } = it;
  const seats = fleet.memory.state.units[EU]?.slots;
  const hosts = fleet.memory.state.services['flags/feed']?.hosts[EU];
  const [slot] = seats ?? [];
  for (const host of left) {
    hosts?.push(host);
    if (slot) seats?.push({ ...slot, gone: true });
  }
  const { version } = await bench.proposeValues({ [PATH]: 2 });
  await it.push(`${DEPLOY}/0/1`, version, { amount: { count: 8 } });
  await fleet.step('flags/feed');
  await it.hosts.look();
  expect(await counts(it)).toEqual({ 1: 17, 2: 3 });
});

test('while others land first, progress shows which change waits, and after how many', async () => {
  const it = await world();
  const { version, change } = await it.bench.proposeValues({ [PATH]: 2 });
  let before: number | undefined = 12;
  it.restart({ landBefore: (_, asked) => (asked === change ? before : undefined) });
  it.beforeLand = () => new Promise((resolve) => setImmediate(resolve));
  await it.complete(DEPLOY, version, [EU, US]);
  await it.fleet.step('flags/feed');
  const reason = `change ${change} waits to land, after 12 others`;
  expect(await it.progress(`${DEPLOY}/9/1`)).toMatchObject([
    { reason, ahead: 12 },
    { reason, ahead: 12 },
  ]);
  before = undefined;
  await it.settle();
  expect(await it.progress(`${DEPLOY}/9/1`)).toMatchObject([{ state: 'done' }, { state: 'done' }]);
});

test('a version without a known change lands nothing, and reports that instead of counting as committed', async () => {
  const it = await world();
  const { version } = await it.bench.proposeValues({ [PATH]: 2 });
  await it.push(`${DEPLOY}/0/1`, version, { amount: { count: 2 } });
  await it.settle();
  const service = it.fleet.memory.state.services['flags/feed'];
  delete service?.changes[version];
  await it.complete(DEPLOY, version, [EU, US]);
  expect(it.fleet.landingWait('flags/feed')).toBeUndefined();
  await it.settle();
  const reason = `the change of ${version} is unknown, so it cannot land`;
  expect(await it.progress(`${DEPLOY}/9/1`)).toMatchObject([
    { state: 'failed', reason },
    { state: 'failed', reason },
  ]);
  expect([service?.committed, it.landed, onBranch(it)]).toEqual([it.base, [], '1']);
});

test('an override that comes back with an old backup of the store, of a deploy that has ended, blocks no path', async () => {
  const it = await world();
  const { version } = await it.bench.proposeValues({ [PATH]: 2 });
  await it.push(`${DEPLOY}/0/1`, version, { amount: { count: 2 } });
  await it.settle();
  const backup = await it.store.overrides('flags', PATH);
  await it.revert(DEPLOY, it.base, [`${DEPLOY}/0/1`], [EU]);
  await it.settle();
  expect(await it.store.overrides('flags', PATH)).toEqual([]);
  await it.store.putOverrides('flags', backup);
  const next = await it.bench.proposeValues({ [PATH]: 3 });
  await it.push('deploy/flags/2/deploy/1/0/1', next.version, { amount: { count: 2 } });
  await it.settle();
  expect(await counts(it)).toEqual({ 1: 18, 3: 2 });
});

test('hosts lose what an old backup of the store brings back, of a deploy that has ended, without another deploy', async () => {
  const it = await world();
  const { version } = await it.bench.proposeValues({ [PATH]: 2 });
  await it.push(`${DEPLOY}/0/1`, version, { amount: { count: 2 } });
  await it.settle();
  const backup = await it.store.overrides('flags', PATH);
  await it.fleet.sweep(it.fleet.services[0] ?? '');
  expect(await it.store.overrides('flags', PATH)).toEqual(backup);
  await it.revert(DEPLOY, it.base, [`${DEPLOY}/0/1`], [EU]);
  await it.settle();
  await it.store.putOverrides('flags', backup);
  await it.fleet.sweep(it.fleet.services[0] ?? '');
  expect(await it.store.overrides('flags', PATH)).toEqual([]);
});

test('overrides that were changed, taken away or added by hand are again those of the deploy', async () => {
  const it = await world();
  const { version } = await it.bench.proposeValues({ [PATH]: 2 });
  await it.push(`${DEPLOY}/0/1`, version, { amount: { count: 2 } });
  await it.settle();
  const right = await it.store.overrides('flags', PATH);
  const mend = async (isAll = true, of = it.store.overrides('flags', PATH)) => {
    const found = (await of).map((one) => ({ id: one.id, path: one.path, it: one, isOwn: true }));
    return [await it.fleet.mendOverrides('flags', found, isAll), await it.store.overrides('flags', PATH)];
  };
  expect(await mend()).toEqual([0, right]);
  const [own] = right;
  await it.store.putOverrides('flags', [{ ...own!, hosts: ['eu-0', 'us-0', 'us-1'] }]);
  expect(await mend(false)).toEqual([1, right]);
  await it.store.removeOverrides('flags', own?.id ?? '');
  expect(await mend()).toEqual([1, right]);
  await it.store.putOverrides('flags', [{ ...own!, id: 'deploy/x/1/deploy/1/0/1#eu' }]);
  expect(await mend(false)).toEqual([1, right]);
  await it.revert(DEPLOY, it.base, [`${DEPLOY}/0/1`], [EU]);
  await it.settle();
  // It was seen before a step has taken it away.
  expect(await mend(true, Promise.resolve(right))).toEqual([0, []]);
});

test('a store that was put back to an older state gets what is exposed again', async () => {
  const it = await world();
  const { version } = await it.bench.proposeValues({ [PATH]: 2 });
  await it.push(`${DEPLOY}/0/1`, version, { amount: { count: 2 } });
  await it.settle();
  expect(await counts(it)).toEqual({ 1: 18, 2: 2 });
  const [lost] = await it.store.overrides('flags', PATH);
  await it.store.removeOverrides('flags', lost?.id ?? '');
  await it.hosts.look();
  expect(await counts(it)).toEqual({ 1: 20 });
  await it.settle();
  expect(await counts(it)).toEqual({ 1: 18, 2: 2 });
});

describe('a revert goes back to what git and the hosts have, whatever its pipeline remembers', () => {
  const NEXT = 'deploy/feed/2/deploy/1';
  /** The second change lands everywhere and its deploy is given up; then a third one is exposed to both regions. */
  const givenUp = async () => {
    const it = unasked(await world());
    const second = await it.bench.proposeValues({ [PATH]: 2 });
    const third = await it.bench.proposeValues({ [PATH]: 3 });
    await it.complete(DEPLOY, second.version, [EU, US]);
    await it.settle();
    await it.ask('cancelUpdates', { updateId: `${DEPLOY}/9/1` });
    await it.push(`${NEXT}/0/1`, third.version, { units: [EU, US], amount: { count: 2 } });
    await it.settle();
    return { it, second, third };
  };
  const revertMixed = ({ ask }: Pick<PushWorld, 'ask'>, targets: Record<string, string>, updatedBy: string[]) =>
    ask('executeUpdates', {
      ...{ updateId: `${NEXT}/revert/1`, wholeUnit: false, urgency: 'revert' },
      targets: Object.entries(targets).map(([unit, version]) => ({ unit, version, artifacts: [], updatedBy })),
    });
  const states = async (it: PushWorld) => (await it.progress(`${NEXT}/revert/1`)).map(({ state }) => state);

  test('after a deploy that was given up once its change had landed', async () => {
    const { it, second } = await givenUp();
    expect(await counts(it)).toEqual({ 2: 16, 3: 4 });
    await revertMixed({ ask: it.ask.bind(it) }, { [EU]: it.base, [US]: second.version }, [`${NEXT}/0/1`]);
    await it.settle();
    expect([await counts(it), onBranch(it), await states(it)]).toEqual([{ 2: 20 }, '2', ['done', 'done']]);
  });

  test('where its change cannot land, since another of the same file did', async () => {
    const { it, second, third } = await givenUp();
    await it.push(`${NEXT}/9/1`, third.version, { units: [EU, US], wholeUnit: true, amount: { all: true } });
    await it.settle();
    expect(await it.progress(`${NEXT}/9/1`)).toMatchObject([{ state: 'failed' }, { state: 'failed' }]);
    const updates = [`${NEXT}/0/1`, `${NEXT}/9/1`];
    await revertMixed({ ask: it.ask.bind(it) }, { [EU]: it.base, [US]: second.version }, updates);
    await it.settle();
    expect([await counts(it), onBranch(it), await states(it)]).toEqual([{ 2: 20 }, '2', ['done', 'done']]);
    expect(await it.store.overrides('flags', PATH)).toEqual([]);
  });

  test('after its own landing, to the one version that was committed before', async () => {
    const it = await world();
    const newer = await it.commits({ [PATH]: 7 });
    await it.ask('fetchDeployUnits', {});
    const { version } = await it.bench.proposeValues({ [PATH]: 2 });
    await it.complete(NEXT, version, [EU, US]);
    await it.settle();
    await revertMixed({ ask: it.ask.bind(it) }, { [EU]: it.base, [US]: newer }, [`${NEXT}/9/1`]);
    await it.settle();
    expect([await counts(it), onBranch(it), await states(it)]).toEqual([{ 7: 20 }, '7', ['done', 'done']]);
  });
});

describe('a change that could never land is refused before any host sees it', () => {
  const problems = async (it: PushWorld, version: string, paths?: string[]): Promise<string[]> => {
    const answer = await it.ask<{ problems: { message: string }[] }>('validateConfig', { version }, paths);
    return answer.problems.map(({ message }) => message);
  };

  test('a change of a file that has changed since, by the names of both', async () => {
    const it = await world();
    const { version } = await it.bench.proposeValues({ [PATH]: 2 });
    const other = await it.bench.proposeValues({ 'feed/words': 1 });
    expect([await problems(it, version), await problems(it, other.version)]).toEqual([[], []]);
    const winner = await it.commits({ [PATH]: 3 });
    const [why] = await problems(it, version);
    expect(why).toBe(
      `change 2 cannot land: feed/limits.json was changed by change ${winner.split('@')[0]} meanwhile; merge the change that landed and propose again`,
    );
    expect(await problems(it, other.version)).toEqual([]);
    // Who goes back to what has landed brings it as a new change.
    expect([await problems(it, it.base), await problems(it, winner)]).toEqual([[], []]);
  });

  test('a change of paths of two pipelines, and an unproposed one', async () => {
    const it = await world();
    const { version } = await it.bench.proposeValues({ [PATH]: 2, 'ads/limits': 1 });
    expect(await problems(it, version)).toEqual([expect.stringContaining('changes ads/limits, which config.paths')]);
    expect(await problems(it, version, ['feed/', 'ads/'])).toEqual([]);
    expect(await problems(it, `99@${'a'.repeat(40)}`)).toEqual([expect.stringContaining('there is no')]);
  });

  test('before its next phase, a change that others have made impossible meanwhile', async () => {
    const it = await world();
    const { version } = await it.bench.proposeFiles({
      ...{ 'feed/limits.json': '2\n', 'feed/notes.ts': 'export const a = 1;\n' },
    });
    await it.push(`${DEPLOY}/0/1`, version, { amount: { count: 2 } });
    await it.settle();
    const other = await it.bench.proposeFiles({
      ...{ 'feed/limits.json': '1\n', 'feed/notes.ts': 'export const a = 2;\n' },
    });
    await it.land({ repository: 'flags', change: other.change });
    await expect(it.push(`${DEPLOY}/1/1`, version, { amount: { count: 5 } })).rejects.toThrow(
      'conflict: change 2 cannot land: feed/notes.ts was changed by change 3 meanwhile',
    );
    await it.settle();
    expect(await counts(it)).toEqual({ 1: 18, 2: 2 });
    await it.revert(DEPLOY, it.base, [`${DEPLOY}/0/1`], [EU]);
    await it.settle();
    expect(await counts(it)).toEqual({ 1: 20 });
  });

  test('and a repository that does not answer refuses nothing', async () => {
    const it = await world();
    const { version } = await it.bench.proposeValues({ [PATH]: 2 });
    const { fleet } = it;
    jest
      .spyOn(fleet, 'whyNotDeployed')
      .mockRejectedValue(conveyorError('config-repository-unreachable', { repository: 'flags', detail: 'it is away' }));
    expect(await problems(it, version)).toEqual([]);
  });
});
