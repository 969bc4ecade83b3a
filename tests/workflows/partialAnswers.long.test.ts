import { answering, away, refusal } from './answering';
import { deploying } from './deploys';
import { HOUR, MINUTE, VirtualWorld } from './world';

/** A gap in an answer of the push type means nothing, and least of all that nothing is left to do. */

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.open();
});
afterEach(() => world.close());

const versions = async () => Object.fromEntries((await world.jobs()).map((job) => [job.name, job.versions]));
const store = async () => {
  for (const region of ['x', 'y']) await world.job(`kvstore-${region}`, region, 6);
};
const listing = (isListed: (id: string) => boolean) =>
  answering(world, async ({ method }, real) => {
    if (method !== 'fetchDeployUnits') return undefined;
    const answer = await real();
    return { ...answer, units: answer.units.filter(({ id }) => isListed(id)) };
  });

test('units of which needsPush says nothing are not passed over as current', async () => {
  await store();
  await world.describeVersion('kv:2', { errorRatio: 0.5 });
  const complete = answering(world, ({ method }) => (method === 'needsPush' ? { units: [] } : undefined));
  const deploy = await deploying(world);
  const { paused } = await deploy.reaches((status) => status.paused !== null);
  expect(paused).toMatchObject({ by: 'dependency', until: 'resumed' });
  expect(paused?.reason).toContain('needsPush says nothing of kvstore-x');
  expect(await versions()).toEqual({ 'kvstore-x': { 'kv:1': 6 }, 'kvstore-y': { 'kv:1': 6 } });
  complete();
  await deploy.command('resume');
  expect(await deploy.ended()).toMatchObject({ outcome: 'reverted' });
});

test('a completion does not succeed because no unit was listed for a moment', async () => {
  await store();
  const deploy = await deploying(world);
  await deploy.reaches(({ state }) => state === 'baking');
  const listsAll = listing(() => false);
  const { paused } = await deploy.reaches(({ state, paused: pause }) => state === 'ended' || pause !== null);
  expect(paused?.reason).toContain('twine names no units any more');
  listsAll();
  await deploy.command('resume');
  expect(await deploy.ended()).toMatchObject({ outcome: 'succeeded' });
  expect(await versions()).toEqual({ 'kvstore-x': { 'kv:2': 6 }, 'kvstore-y': { 'kv:2': 6 } });
});

test('a unit that drops out of the list is named with what it runs, and is not counted among all that run the version', async () => {
  await store();
  const deploy = await deploying(world, {}, { phases: [{ scope: 'region:y', amount: 2, bake: '10m' }] });
  await deploy.reaches(({ state }) => state === 'baking');
  listing((id) => id !== 'kvstore-y');
  const lost = 'kvstore-y (2 of 6 tasks run kv:2) is not listed any more';
  expect(await deploy.ended()).toMatchObject({
    outcome: 'succeeded',
    reason: `every unit that is listed runs kv:2; ${lost}`,
  });
  expect(await versions()).toEqual({ 'kvstore-x': { 'kv:2': 6 }, 'kvstore-y': { 'kv:1': 4, 'kv:2': 2 } });
  const { timeline } = await deploy.status();
  expect(timeline.map(({ text }) => text)).toContain(lost);
});

test('a unit that is listed again before the deploy ends is updated, and named no more', async () => {
  await store();
  const deploy = await deploying(world, {}, { phases: [{ scope: 'region:y', amount: 2, bake: '10m' }] });
  await deploy.reaches(({ state }) => state === 'baking');
  const listsAll = listing((id) => id !== 'kvstore-y');
  listsAll();
  expect(await deploy.ended()).toMatchObject({ outcome: 'succeeded', reason: 'every unit runs kv:2' });
});

test('a revert does not end because no unit was listed, and taken back, for a moment', async () => {
  await store();
  const deploy = await deploying(world);
  await deploy.reaches(({ state }) => state === 'baking');
  const takes = answering(world, ({ method, urgency }) =>
    method === 'executeUpdates' && urgency === 'revert' ? refusal() : undefined,
  );
  const listsAll = listing(() => false);
  await deploy.command('revert');
  await world.sleep(MINUTE);
  expect(await deploy.status()).toMatchObject({ state: 'reverting' });
  listsAll();
  takes();
  expect(await deploy.ended()).toMatchObject({ outcome: 'reverted' });
  expect(await versions()).toEqual({ 'kvstore-x': { 'kv:1': 6 }, 'kvstore-y': { 'kv:1': 6 } });
});

test('a unit of which no verdict comes does not pass with the others', async () => {
  await store();
  await world.describeVersion('kv:2', { errorRatio: 0.5, onlyRegion: 'y' });
  const complete = answering(world, async ({ method }, real) => {
    if (method !== 'runHealthChecks') return undefined;
    const answer = await real();
    return { ...answer, units: answer.units.filter(({ id }) => id !== 'kvstore-y') };
  });
  const deploy = await deploying(world);
  const { paused } = await deploy.reaches((status) => status.state === 'ended' || status.paused !== null);
  expect(paused?.reason).toContain('was not answered for');
  complete();
  await deploy.command('resume');
  expect(await deploy.ended()).toMatchObject({ outcome: 'reverted' });
  expect(await versions()).toEqual({ 'kvstore-x': { 'kv:1': 6 }, 'kvstore-y': { 'kv:1': 6 } });
});

test('a canary goes back also on units that are not listed any more', async () => {
  await store();
  const deploy = await deploying(world, { action: 'canary', canary: CANARY }, { healthInterval: '5m' });
  await deploy.reaches(({ state }) => state === 'baking');
  listing((id) => id !== 'kvstore-y');
  expect(await deploy.ended()).toMatchObject({ outcome: 'succeeded' });
  expect(await versions()).toEqual({ 'kvstore-x': { 'kv:1': 6 }, 'kvstore-y': { 'kv:1': 6 } });
});

test('an unhealthy canary goes back even while its units cannot be listed', async () => {
  await world.job('kvstore-x', 'x', 6);
  await world.describeVersion('kv:2', { errorRatio: 0.5 });
  const deploy = await deploying(world, { action: 'canary', canary: CANARY }, oneJob);
  await deploy.reaches(({ state }) => state === 'baking', { stepMs: 10_000 });
  const answers = answering(world, ({ method }) => (method === 'fetchDeployUnits' ? away() : undefined));
  await deploy.reaches(({ state }) => state === 'reverting');
  await world.sleep(5 * MINUTE);
  expect(await versions()).toEqual({ 'kvstore-x': { 'kv:1': 6 } });
  answers();
  expect(await deploy.ended()).toMatchObject({ outcome: 'reverted' });
});

const CANARY = { amount: { count: 2 }, bakeMs: 30 * MINUTE, keepUntil: false } as const;
const oneJob = { config: { jobs: ['kvstore-x'] }, healthInterval: '1m' } as const;

test.each([
  ['healthy', {}, 'succeeded'],
  ['unhealthy', { errorRatio: 0.5 }, 'reverted'],
])('a canary that is %s goes back, and ends once its units can be listed again', async (_, behaviour, outcome) => {
  await world.job('kvstore-x', 'x', 6);
  await world.describeVersion('kv:2', behaviour);
  const deploy = await deploying(world, { action: 'canary', canary: CANARY }, oneJob);
  await deploy.reaches(({ state }) => state === 'baking', { stepMs: 10_000 });
  const answers = answering(world, ({ method }) => (method === 'fetchDeployUnits' ? refusal() : undefined));
  await deploy.reaches(({ paused }) => paused?.until === 'resumed');
  if (outcome === 'reverted') expect(await versions()).toEqual({ 'kvstore-x': { 'kv:1': 6 } });
  const { historyLength } = await deploy.handle.describe();
  await world.sleep(HOUR);
  expect((await deploy.handle.describe()).historyLength).toBe(historyLength);
  answers();
  await deploy.command('resume');
  expect(await deploy.ended()).toMatchObject({ outcome });
  expect(await versions()).toEqual({ 'kvstore-x': { 'kv:1': 6 } });
});

test.each([
  ['is not answered', away],
  ['is refused', refusal],
])('a canary that turns unhealthy while the listing of units %s goes back', async (_, answer) => {
  await world.job('kvstore-x', 'x', 6);
  await world.describeVersion('kv:2', { errorRatio: 0.5, afterMs: 45 * MINUTE });
  const deploy = await deploying(world, { action: 'canary', canary: CANARY }, oneJob);
  await deploy.reaches(({ state }) => state === 'baking', { stepMs: 10_000 });
  const answers = answering(world, ({ method }) => (method === 'fetchDeployUnits' ? answer() : undefined));
  await deploy.reaches(({ paused }) => paused?.by === 'dependency');
  await world.sleep(HOUR);
  await deploy.command('revert');
  await world.sleep(5 * MINUTE);
  expect(await versions()).toEqual({ 'kvstore-x': { 'kv:1': 6 } });
  answers();
  await world.sleep(5 * MINUTE);
  if ((await deploy.status()).paused) await deploy.command('resume');
  expect(await deploy.ended()).toMatchObject({ outcome: 'reverted' });
});

test('a canary goes back where no unit is listed any more', async () => {
  await world.job('kvstore-x', 'x', 6);
  const deploy = await deploying(world, { action: 'canary', canary: CANARY }, oneJob);
  await deploy.reaches(({ state }) => state === 'baking', { stepMs: 10_000 });
  listing(() => false);
  expect(await deploy.ended()).toMatchObject({ outcome: 'succeeded' });
  expect(await versions()).toEqual({ 'kvstore-x': { 'kv:1': 6 } });
});

test.each([
  [
    'nobody says in time what they run',
    () => answering(world, ({ method }) => (method === 'fetchDeployUnits' ? away() : undefined)),
  ],
  ['they are not listed any more', () => listing(() => false)],
])('a canary beside a deploy in the middle of its phases goes back though %s', async (_, happens) => {
  await world.job('kvstore-x', 'x', 12);
  const spec = { config: { jobs: ['kvstore-x'] }, healthChecks: [] };
  const phases = [{ name: 'half', scope: '*', amount: 6, bake: '8h' }];
  const beside = await deploying(world, {}, { ...spec, phases });
  await beside.reaches(({ state }) => state === 'baking');
  const deploy = await deploying(world, { release: 3, action: 'canary', canary: CANARY }, spec);
  await deploy.reaches(({ state }) => state === 'baking', { stepMs: 10_000 });
  const isOn = async (version: string) => (await world.jobs())[0]?.versions[version] ?? 0;
  expect(await isOn('kv:3')).toBe(2);
  const ends = happens();
  await deploy.command('revert');
  await world.sleep(5 * MINUTE);
  expect(await isOn('kv:3')).toBe(0);
  ends();
  expect(await deploy.ended()).toMatchObject({ outcome: 'reverted' });
  await beside.command('cancel');
  await beside.ended();
});

/** A deploy of half of four units, which waits before its completion and by then has other units than at its start. */
async function halfWay({ gone, joined = [], slow }: { gone: string[]; joined?: string[]; slow?: string }) {
  const timings = { fetchMs: 30 * MINUTE, stopMs: 1_000, startMs: 2_000 };
  const names = ['kvstore-a', 'kvstore-b', 'kvstore-c', 'kvstore-d'];
  for (const name of names) await world.job(name, 'x', 4, name === slow ? { timings } : {});
  const phases = [{ name: 'half', scope: '*', amount: { units: '50%' }, bake: '10m' }];
  const config = { jobs: [...names, ...joined] };
  for (const name of joined) await world.job(name, 'x', 4);
  const early = listing((id) => !joined.includes(id));
  const deploy = await deploying(world, {}, { config, phases, healthChecks: [] });
  await deploy.reaches(({ state }) => state === 'baking');
  early();
  for (const name of gone) await world.control('DELETE', `/control/jobs/${name}`);
  listing((id) => !gone.includes(id));
  await deploy.freeze();
  await deploy.reaches(({ paused }) => paused?.by === 'freeze');
  await deploy.command('revert');
  return deploy;
}

test.each([
  ['one of them has', { gone: ['kvstore-a'] }],
  ['the others have', { gone: ['kvstore-c', 'kvstore-d'], slow: 'kvstore-b' }],
])('a revert of a share of whole units takes back those that it has reached once %s gone', async (_, change) => {
  const deploy = await halfWay(change);
  expect(await deploy.ended()).toMatchObject({ outcome: 'reverted' });
  const left = ['kvstore-a', 'kvstore-b', 'kvstore-c', 'kvstore-d'].filter((name) => !change.gone.includes(name));
  expect(await versions()).toEqual(Object.fromEntries(left.map((name) => [name, { 'kv:1': 4 }])));
});

test('a revert of a share of whole units takes back those that it has reached though others have joined', async () => {
  const deploy = await halfWay({ gone: [], joined: ['kvstore-0', 'kvstore-00'] });
  expect(await deploy.ended()).toMatchObject({ outcome: 'reverted' });
  for (const counts of Object.values(await versions())) expect(counts).toEqual({ 'kv:1': 4 });
});

test('a deploy that is paused while it waits for a canary waits without asking', async () => {
  await world.job('kvstore-x', 'x', 6);
  const config = { jobs: ['kvstore-x'] };
  const deploy = await deploying(world, {}, { config, healthChecks: [] });
  const free = answering(world, ({ method, updateId, context }) =>
    method === 'executeUpdates' && updateId?.includes('/1/1') && context?.deployId === deploy.handle.workflowId
      ? away()
      : undefined,
  );
  await deploy.reaches(({ phases }) => phases[1]?.state === 'running');
  const kept = { amount: { count: 1 }, bakeMs: 4 * HOUR, keepUntil: false } as const;
  const other = { release: 3, action: 'canary', canary: kept };
  const canary = await deploying(world, other, { config, healthInterval: '5m', healthChecks: [] });
  await canary.reaches(({ state }) => state === 'baking');
  free();
  await deploy.reaches(({ state }) => state === 'waiting-lock');
  await deploy.command('pause');
  const events = async () => (await deploy.handle.describe()).historyLength;
  await world.sleep(MINUTE);
  const before = await events();
  await world.sleep(HOUR);
  expect(await events()).toBe(before);
  await deploy.command('resume');
  expect(await deploy.ended()).toMatchObject({ outcome: 'succeeded' });
});
