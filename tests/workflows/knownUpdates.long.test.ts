import { DEFAULT_SETTINGS } from '../../domain/settings';
import type { DeployStatus } from '../../domain/views';
import { answering, away } from './answering';
import { deploying, type LoneDeploy } from './deploys';
import { HOUR, MINUTE, VirtualWorld } from './world';

/**
 * After a restore the numbers of lost releases are used again, and with them the ids of updates: a push type answers
 * with the outcome of the lost ones.
 */

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.open();
  await world.job('kvstore-x', 'x', 6);
});
afterEach(() => world.close());

const SPEC = { config: { jobs: ['kvstore-x'] } };
const deploy = (release: number, more: object = {}): Promise<LoneDeploy> =>
  deploying(world, { release }, { ...SPEC, ...more });
const versions = async () => (await world.jobs())[0]?.versions;
const texts = ({ timeline }: DeployStatus) => timeline.map(({ text }) => text);

/** Releases 2 and 3, which the restored state does not know; the latter was in its first phase. */
async function lostReleases(more: object = {}): Promise<void> {
  expect(await (await deploy(2, more)).ended()).toMatchObject({ outcome: 'succeeded' });
  const third = await deploy(3, more);
  await third.reaches(({ state }) => state === 'baking');
  await third.command('cancel');
  expect(await third.ended()).toMatchObject({ outcome: 'cancelled' });
  expect(await versions()).toEqual({ 'kv:2': 3, 'kv:3': 3 });
}

const LOCKSTEP = { lockstep: true };

test('in lockstep a deploy brings its version, and its traffic, whatever a lost release of its number did', async () => {
  await lostReleases(LOCKSTEP);
  const again = await deploy(2, LOCKSTEP);
  await succeeds(again);
  expect(texts(await again.status())).toContain('100% of the traffic goes to kv:2');
  expect(world.simulator.simulation.fleet.traffic?.get('kvstore-x')?.at(-1)).toMatchObject({
    version: 'kv:2',
    percent: 100,
  });
});

/** The update of the completion of release 2. */
const COMPLETION = 'deploy/kvstore/2/deploy/1/1/1';

async function succeeds(again: LoneDeploy): Promise<void> {
  expect(await again.ended()).toMatchObject({ outcome: 'succeeded', reason: 'every unit runs kv:2' });
  expect(await versions()).toEqual({ 'kv:2': 6 });
}

test('a deploy whose updates were done by a lost release of its number brings its version all the same', async () => {
  await lostReleases();
  const again = await deploy(2);
  await succeeds(again);
  expect(texts(await again.status())).toContain(
    `completion: ${COMPLETION} counts as done, but 3 tasks of it as outdated: others have come, or the push type knows that id from a release that a restore has lost`,
  );
});

test('so does one whose version the lost releases have replaced altogether', async () => {
  for (const release of [2, 3]) await (await deploy(release)).ended();
  await succeeds(await deploy(2));
});

test('that one of the tasks of a known update restarts makes it none of the present release', async () => {
  await lostReleases();
  let looks = 0;
  answering(world, async ({ method, updateId }, real) => {
    if (method !== 'trackUpdates' || updateId !== COMPLETION) return undefined;
    looks += 1;
    const { units } = await real();
    return { units: looks === 1 ? units.map((unit) => ({ ...unit, live: unit.live - 1 })) : units };
  });
  await succeeds(await deploy(2));
});

test.each([
  ['is garbled once', 1, () => ({ garbage: true })],
  ['does not come for half a minute', 6, away],
  ['is garbled for long', 20, () => ({ garbage: true })],
])('an update is not believed because the count %s', async (_, times, answer) => {
  await lostReleases();
  let left = 0;
  answering(world, ({ method, updateId, context }) => {
    if (context?.deployId !== 'deploy/kvstore/2/deploy/1') return undefined;
    if (method === 'executeUpdates' && updateId === COMPLETION) left = times;
    if (method !== 'needsPush' || left === 0) return undefined;
    left -= 1;
    return answer();
  });
  const again = await deploy(2);
  const { paused } = await again.reaches((status) => status.state === 'ended' || status.paused !== null, {
    stepMs: 5_000,
  });
  if (paused?.until === 'resumed') {
    left = 0;
    await again.command('skip-health-check', { for: 'deploy' });
    await again.command('resume');
  }
  await succeeds(again);
});

test('a deploy whose push type contradicts itself again and again waits for a person, and succeeds by nothing that it said', async () => {
  const honest = lying();
  const stubborn = await deploy(2, { healthChecks: [] });
  const { paused } = await stubborn.reaches((status) => status.paused !== null || status.state === 'ended');
  expect(paused?.by).toBe('unit');
  expect(paused?.reason).toContain('deploy/kvstore/2/deploy/1/0/4 counts as done');
  expect(await versions()).toEqual({ 'kv:1': 6 });
  honest();
  await stubborn.command('resume');
  await succeeds(stubborn);
});

test('a revert that comes while a failed try is given up waits for no person', async () => {
  let cancels = 0;
  let silent = true;
  lying(({ method }) => (method === 'cancelUpdates' && (cancels += 1) > 3 && silent ? away() : undefined));
  const stubborn = await deploy(2, { healthChecks: [] });
  await stubborn.reaches(({ paused }) => paused?.by === 'dependency', { stepMs: 5_000 });
  await stubborn.command('revert');
  silent = false;
  expect(await stubborn.ended()).toMatchObject({ outcome: 'reverted', reverted: { by: 'user:alice' } });
});

test('nor does it succeed because its time is up meanwhile', async () => {
  let failures = 4;
  const honest = lying(({ method }) => (method === 'trackUpdates' && failures-- > 0 ? away() : undefined));
  const phases = [{ name: 'first', scope: '*', amount: 3, bake: '10m', updateTimeout: '20s' }];
  const hasty = await deploy(2, { healthChecks: [], phases });
  const isThrough = ({ state, paused }: DeployStatus) => state === 'baking' || paused?.by === 'unit';
  expect((await hasty.reaches(isThrough, { stepMs: 5_000 })).state).toBe('updating');
  honest();
  await hasty.command('cancel');
  await hasty.ended();
});

test('denied updates take nothing from the patience with tasks that do not come up at once', async () => {
  const toTry = ({ updateId = '' }: { updateId?: string }) => /\/0\/[123]$/.test(updateId);
  lying((asked) => (toTry(asked) ? undefined : PASSED_ON));
  await world.describeVersion('kv:2', { crashOnStart: true });
  const settings = { ...DEFAULT_SETTINGS, heartbeatTimeoutMs: HOUR, transientMs: 5 * MINUTE, trackIntervalMs: 15_000 };
  const slow = await deploying(world, { settings }, { ...SPEC, healthChecks: [] });
  await slow.reaches(({ timeline }) => timeline.some(({ kind }) => kind === 'failing'), { stepMs: 5_000 });
  await world.describeVersion('kv:2', {});
  await succeeds(slow);
});

test('a revert ends where the push type contradicts itself for good, and says that it did', async () => {
  const bad = await deploy(2);
  await bad.reaches(({ state }) => state === 'baking');
  answering(world, ({ method, updateId, common }) => {
    if (method === 'needsPush' && common?.updatedBy) return { units: [{ id: 'kvstore-x', size: 6, outdated: 3 }] };
    return method === 'trackUpdates' && updateId?.includes('/revert/') ? { units: [DONE] } : undefined;
  });
  await bad.command('revert');
  expect(await bad.ended()).toMatchObject({ outcome: 'reverted' });
  expect(await versions()).toEqual({ 'kv:1': 6 });
  const { timeline } = await bad.status();
  expect(timeline.filter(({ kind }) => kind === 'retrying')).toHaveLength(3);
});

test('a revert begins at once, also while the push type is asked what it means', async () => {
  const honest = lying();
  const doubted = await deploy(2);
  await doubted.reaches(({ state }) => state === 'updating', { stepMs: 1_000 });
  honest();
  await doubted.command('revert');
  expect(await doubted.ended()).toMatchObject({ outcome: 'reverted' });
});

const DONE = { id: 'kvstore-x', state: 'done', targeted: 3, updated: 3, live: 3, failed: 0, unreachable: 0, gone: 0 };
const PASSED_ON = 'passed on';

/** Until the returned function is called, the push type accepts no update and reports all as done; `others` answers the other calls. */
const lying = (
  others: (asked: { method: string | undefined; updateId?: string }) => object | 'passed on' | undefined = () =>
    undefined,
) =>
  answering(world, (asked) => {
    const other = others(asked);
    if (other !== undefined) return other === PASSED_ON ? undefined : (other as object);
    if (asked.method === 'executeUpdates') return { accepted: ['kvstore-x'] };
    return asked.method === 'trackUpdates' ? { units: [DONE] } : undefined;
  });
