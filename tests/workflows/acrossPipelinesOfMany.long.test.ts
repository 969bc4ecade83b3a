import { sendCommand } from '../../client/commands';
import { deployPipeline } from '../builders/deployPipeline';
import { VirtualWorld } from './world';

/** As acrossPipelines.long.test.ts, but with too many units to be known by name, and two pipelines that name them differently. */

const UNITS = 60;
const nameOf = (nth: number): string => `kvstore-${String(nth).padStart(2, '0')}`;
const NAMES = Array.from({ length: UNITS }, (_, nth) => nameOf(nth));

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.open();
  for (const [nth, name] of NAMES.entries())
    await world.job(name, nth % 2 === 0 ? 'x' : 'y', 1, { budget: 1, nSmall: 1 });
});
afterEach(() => world.close());

const QUICK = { phases: [], healthChecks: [] };
const own = deployPipeline('kvstore', { ...QUICK, config: { service: 'kvstore' } });
const hotfixOf = (jobs: readonly string[]) =>
  deployPipeline('kvstore-hotfix', { ...QUICK, config: { jobs: [...jobs] } });
const ships = async (pipeline: string, version: string) => {
  const { number } = await world.release(pipeline, version);
  return world.ended(pipeline, number);
};
const inProduction = async (pipeline: string) => (await world.workflows().pipeline(pipeline)).lastGood['deploy'];
const reverts = (id: string) =>
  sendCommand(world.workflows(), id, 'revert', { actor: 'user:alice', reason: 'it is bad' });
const running = async (): Promise<Readonly<Record<string, number>>> => {
  const versions = (await world.jobs()).map((job) => Object.keys(job.versions).join());
  return Object.fromEntries(
    [...new Set(versions)].map((one) => [one, versions.filter((other) => other === one).length]),
  );
};

test('a hotfix of all units survives a revert of what it replaced, and both pipelines say what runs', async () => {
  await world.apply(own);
  await world.apply(hotfixOf([...NAMES].reverse()));
  await ships('kvstore', 'kv:2');
  await ships('kvstore-hotfix', 'kv:9');
  await expect(reverts('kvstore/1')).rejects.toThrow(/kvstore-hotfix\/1 is what runs now \(kv:9\); revert that one/);
  const by = { by: 'kvstore-hotfix/1', version: 'kv:9' };
  expect(await inProduction('kvstore')).toEqual({ release: 1, version: 'kv:2', replaced: by });
  expect(await inProduction('kvstore-hotfix')).toEqual({ release: 1, version: 'kv:9' });
  await reverts('kvstore-hotfix/1');
  await world.ended('kvstore-hotfix', 2);
  expect(await running()).toEqual({ 'kv:2': UNITS });
  expect(await inProduction('kvstore')).toEqual({ release: 1, version: 'kv:2' });
});

test('a hotfix of most units keeps them when the service goes back, and the count of them is shown', async () => {
  await world.apply(own);
  await world.apply(hotfixOf(NAMES.slice(5)));
  for (const version of ['kv:2', 'kv:3']) await ships('kvstore', version);
  await ships('kvstore-hotfix', 'kv:9');
  const replaced = { by: 'kvstore-hotfix/1', version: 'kv:9', on: '55 of its 60 units' };
  expect(await inProduction('kvstore')).toEqual({ release: 2, version: 'kv:3', replaced });
  await reverts('kvstore/2');
  await world.ended('kvstore', 3);
  expect(await running()).toEqual({ 'kv:2': 5, 'kv:9': 55 });
  expect((await inProduction('kvstore'))?.replaced).toEqual(replaced);
  await reverts('kvstore/3');
  await world.ended('kvstore', 4);
  expect(await running()).toEqual({ 'kv:1': 5, 'kv:9': 55 });
});
