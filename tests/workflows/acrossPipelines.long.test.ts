import { sendCommand } from '../../client/commands';
import { workflowIds } from '../../domain/ids';
import { kvstore } from './pipelines';
import { VirtualWorld } from './world';

/** No pipeline undoes the work of another without a request (domain/broughtVersions.ts). */

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.ofKvstore();
});
afterEach(() => world.close());

const QUICK = { phases: [], healthChecks: [] };
const other = (deploy: Parameters<typeof kvstore>[0] = {}) => ({
  ...kvstore({ ...QUICK, ...deploy }),
  pipeline: 'kvstore-hotfix',
});
const versions = async () => (await world.jobs()).map((job) => Object.keys(job.versions).join());
const everywhere = (version: string) => [version, version];
const ships = async (pipeline: string, version: string) => {
  const { number } = await world.release(pipeline, version);
  return world.ended(pipeline, number);
};
const inProduction = async (pipeline: string) => (await world.workflows().pipeline(pipeline)).lastGood['deploy'];
const knownBad = async (pipeline: string) =>
  (await world.workflows().pipeline(pipeline)).knownBad.map(({ artifact }) => artifact);
const reverts = (id: string) =>
  sendCommand(world.workflows(), id, 'revert', { actor: 'user:alice', reason: 'it is bad' });
/** Brings a version to some tasks of the first region, and is cancelled there. */
const stops = async (pipeline: string, version: string) => {
  const { number } = await world.release(pipeline, version);
  await world.reaches(pipeline, number, ({ state }) => state === 'baking');
  const command = { actor: 'user:alice', reason: 'enough' };
  await sendCommand(world.workflows(), `${pipeline}/${number}`, 'cancel', command);
  await world.ended(pipeline, number);
};
const firstOf = (amount: number | string) => ({ phases: [{ name: 'first', scope: 'region:x', amount, bake: '10m' }] });
const LOCK = workflowIds.serviceLock('twine', 'kvstore');

const twoPipelines = async () => {
  await world.apply(kvstore(QUICK));
  await world.apply(other());
  await ships('kvstore', 'kv:2');
  await ships('kvstore-hotfix', 'kv:9');
};

test('the hotfix of another pipeline survives a revert of what it replaced, and both say what runs', async () => {
  await twoPipelines();
  expect(await versions()).toEqual(everywhere('kv:9'));
  await expect(reverts('kvstore/1')).rejects.toThrow(/kvstore-hotfix\/1 is what runs now \(kv:9\); revert that one/);
  expect(await versions()).toEqual(everywhere('kv:9'));
  expect([await knownBad('kvstore'), await knownBad('kvstore-hotfix')]).toEqual([[], []]);
  const by = { by: 'kvstore-hotfix/1', version: 'kv:9' };
  expect(await inProduction('kvstore')).toEqual({ release: 1, version: 'kv:2', replaced: by });
  expect(await inProduction('kvstore-hotfix')).toEqual({ release: 1, version: 'kv:9' });
});

test('reverting the hotfix brings back what the first had brought, which can then be reverted itself', async () => {
  await twoPipelines();
  await reverts('kvstore-hotfix/1');
  await world.ended('kvstore-hotfix', 2);
  expect(await versions()).toEqual(everywhere('kv:2'));
  expect(await inProduction('kvstore')).toEqual({ release: 1, version: 'kv:2' });
  const by = { by: 'kvstore/1', version: 'kv:2' };
  expect(await inProduction('kvstore-hotfix')).toEqual({ release: 2, version: 'kv:2', replaced: by });
  await reverts('kvstore/1');
  await world.ended('kvstore', 2);
  expect(await versions()).toEqual(everywhere('kv:1'));
});

test('an emergency does it all the same, and is on record', async () => {
  await twoPipelines();
  await world.push('kvstore', 'kv:1');
  await world.ended('kvstore', 2);
  expect(await versions()).toEqual(everywhere('kv:1'));
  const by = { by: 'kvstore/2', version: 'kv:1' };
  expect(await inProduction('kvstore-hotfix')).toEqual({ release: 1, version: 'kv:9', replaced: by });
});

test('a release over the hotfix goes back to the hotfix, not to the earlier version of its own pipeline', async () => {
  await twoPipelines();
  await ships('kvstore', 'kv:3');
  await reverts('kvstore/2');
  await world.ended('kvstore', 3);
  expect(await versions()).toEqual(everywhere('kv:9'));
  expect((await inProduction('kvstore-hotfix'))?.replaced).toBeUndefined();
});

test('a hotfix of one unit stays also when its service goes back twice', async () => {
  await world.apply(kvstore(QUICK));
  await world.apply(other({ config: { jobs: ['kvstore-y'] } }));
  for (const version of ['kv:2', 'kv:3']) await ships('kvstore', version);
  await ships('kvstore-hotfix', 'kv:9');
  await reverts('kvstore/2');
  await world.ended('kvstore', 3);
  expect(await versions()).toEqual(['kv:2', 'kv:9']);
  expect((await inProduction('kvstore'))?.replaced).toMatchObject({ by: 'kvstore-hotfix/1', on: 'kvstore-y' });
  await reverts('kvstore/3');
  await world.ended('kvstore', 4);
  expect(await versions()).toEqual(['kv:1', 'kv:9']);
});

test('a hotfix that comes through while a revert waits for it stays', async () => {
  await world.apply(kvstore(QUICK));
  await world.apply(other({ phases: [{ name: 'first', scope: 'region:x', amount: 3, bake: '10m' }] }));
  await ships('kvstore', 'kv:2');
  await world.release('kvstore-hotfix', 'kv:9');
  await world.reaches('kvstore-hotfix', 1, ({ state }) => state === 'baking');
  await reverts('kvstore/1');
  await world.reaches('kvstore', 2, ({ state }) => state === 'waiting-lock');
  await world.ended('kvstore-hotfix', 1);
  const { state, actions } = await world.ended('kvstore', 2);
  expect([state, actions[0]?.message]).toEqual([
    'failed',
    'nothing was updated: kvstore-x, kvstore-y keep kv:9, which kvstore-hotfix/1 has brought there since',
  ]);
  expect(await versions()).toEqual(everywhere('kv:9'));
  // The person has called kv:2 bad, whatever happened to its units; kv:9 is not affected.
  expect([await knownBad('kvstore'), await knownBad('kvstore-hotfix')]).toEqual([['executable@kv:2'], []]);
});

test('where a hotfix went to some units only, a revert brings back the others and says so', async () => {
  await world.apply(kvstore(QUICK));
  await world.apply(other({ config: { jobs: ['kvstore-x'] } }));
  await ships('kvstore', 'kv:2');
  await ships('kvstore-hotfix', 'kv:9');
  const replaced = { by: 'kvstore-hotfix/1', version: 'kv:9', on: 'kvstore-x' };
  expect(await inProduction('kvstore')).toEqual({ release: 1, version: 'kv:2', replaced });
  await reverts('kvstore/1');
  const { actions } = await world.ended('kvstore', 2);
  expect(await versions()).toEqual(['kv:9', 'kv:1']);
  expect(actions[0]?.message).toBe(
    'every other unit runs kv:1; kvstore-x keeps kv:9, which kvstore-hotfix/1 has brought there since',
  );
});

test('a pipeline that was retired meanwhile, and applied anew, undoes no hotfix either', async () => {
  await world.apply(kvstore(QUICK));
  await world.apply(other());
  await ships('kvstore', 'kv:2');
  const records = await world.pipeline('kvstore').query('pipeline');
  await world.pipeline('kvstore').terminate('gone for a while');
  await ships('kvstore-hotfix', 'kv:9');
  await world.client.workflow.start('pipeline', {
    workflowId: workflowIds.pipeline('kvstore'),
    taskQueue: world.taskQueue,
    args: [records],
  });
  await reverts('kvstore/1');
  expect((await world.ended('kvstore', 2)).state).toBe('failed');
  expect(await versions()).toEqual(everywhere('kv:9'));
  expect([await knownBad('kvstore'), await knownBad('kvstore-hotfix')]).toEqual([['executable@kv:2'], []]);
});

test('a lock that was terminated, and made anew, still knows whose the service is', async () => {
  await world.apply(kvstore(QUICK));
  await world.apply(other({ phases: [{ name: 'first', scope: 'region:x', amount: 3, bake: '10m' }] }));
  await ships('kvstore', 'kv:2');
  await world.release('kvstore-hotfix', 'kv:9');
  await world.reaches('kvstore-hotfix', 1, ({ state }) => state === 'baking');
  await world.client.workflow.getHandle(LOCK).terminate('by mistake');
  await reverts('kvstore/1');
  await world.ended('kvstore-hotfix', 1);
  expect((await world.ended('kvstore', 2)).state).toBe('failed');
  expect(await versions()).toEqual(everywhere('kv:9'));
  expect([await knownBad('kvstore'), await knownBad('kvstore-hotfix')]).toEqual([['executable@kv:2'], []]);
});

test('a hotfix that was cancelled keeps the units that it had reached, and both the status and the outcome say so', async () => {
  await world.apply(kvstore(QUICK));
  await world.apply(other(firstOf('100%')));
  await ships('kvstore', 'kv:2');
  await stops('kvstore-hotfix', 'kv:9');
  expect(await versions()).toEqual(['kv:9', 'kv:2']);
  const replaced = { by: 'kvstore-hotfix/1', version: 'kv:9', on: 'some tasks of kvstore-x' };
  expect(await inProduction('kvstore')).toEqual({ release: 1, version: 'kv:2', replaced });
  await reverts('kvstore/1');
  const { actions } = await world.ended('kvstore', 2);
  expect(await versions()).toEqual(['kv:9', 'kv:1']);
  expect(actions[0]?.message).toBe(
    'every other unit runs kv:1; kvstore-x keeps kv:9, which kvstore-hotfix/1 has brought there since',
  );
});

test('one odd task does not take a unit from the hotfix that runs there', async () => {
  await world.apply(kvstore(QUICK));
  await world.apply(other({ config: { jobs: ['kvstore-x'] } }));
  await world.apply({ ...other(firstOf(1)), pipeline: 'kvstore-trial' });
  await ships('kvstore', 'kv:2');
  await ships('kvstore-hotfix', 'kv:9');
  await stops('kvstore-trial', 'kv:5');
  await reverts('kvstore/1');
  await world.ended('kvstore', 2);
  expect((await world.jobs()).map((job) => job.versions)).toEqual([{ 'kv:9': 5, 'kv:5': 1 }, { 'kv:1': 6 }]);
});

test('a cancelled release is taken back from every task of a unit, also where a hotfix of another pipeline ran before', async () => {
  await twoPipelines();
  await world.apply(kvstore({ ...QUICK, ...firstOf('100%') }));
  await stops('kvstore', 'kv:3');
  expect(await versions()).toEqual(['kv:3', 'kv:9']);
  await reverts('kvstore/2');
  await world.ended('kvstore', 3);
  expect(await versions()).toEqual(everywhere('kv:9'));
});
