import { sendCommand } from '../../client/commands';
import { answering } from './answering';
import { actionOf, CALM, deployAction, endsOf, flow } from './flows';
import { HOUR, MINUTE, VirtualWorld } from './world';

/** After an undeploy, everything that Conveyor says of the units and their pipelines is true. */

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.open();
  for (const region of ['x', 'y']) await world.job(`web-${region}`, region, 2, { service: 'web' });
});
afterEach(() => world.close());

const BOTH = ['web-x', 'web-y'];
type Deploy = ReturnType<typeof deployAction>;
const web = (pipeline: string, jobs: string[] = BOTH) => {
  const deploy = deployAction('5m');
  return flow({ deploy: { ...deploy, with: { ...deploy.with, config: { jobs } } } as Deploy }, { pipeline });
};
const SETTINGS = { ...CALM, waitIntervalMs: 2 * MINUTE };
const runs = async () => (await world.jobs()).map(({ versions }) => versions);
const ended = async (pipeline: string, number: number): Promise<string | undefined> => {
  await world.ended(pipeline, number, { withinMs: HOUR });
  return (await endsOf(world, [number], pipeline))[0];
};
const ships = async (pipeline: string, version: string): Promise<void> => {
  const { number } = await world.release(pipeline, version);
  expect(await ended(pipeline, number)).toBe('succeeded');
};
const undeploy = (pipeline: string) => world.command(`pipeline/${pipeline}`, 'undeploy', { reason: 'not needed' });
const undeployed = async (pipeline: string, number: number): Promise<string | undefined> => {
  await undeploy(pipeline);
  expect(await ended(pipeline, number)).toBe('succeeded');
  return actionOf(await world.releaseStatus(pipeline, number), 'deploy')?.message ?? undefined;
};
const inProduction = async (pipeline: string) => (await world.pipelineStatus(pipeline)).lastGood['deploy'];
const reverts = (id: string): Promise<string> =>
  sendCommand(world.workflows(), id, 'revert', { actor: 'user:alice', reason: 'it is bad' }).then(
    () => 'taken',
    ({ message }: Error) => message,
  );
const listing = (isListed: (id: string) => boolean) =>
  answering(world, async ({ method }, real) => {
    if (method !== 'fetchDeployUnits') return undefined;
    const answer = await real();
    return { ...answer, units: answer.units.filter(({ id }) => isListed(id)) };
  });

describe('the other pipeline of the same units', () => {
  beforeEach(async () => {
    await world.apply(web('web-a'), SETTINGS);
    await ships('web-a', 'kv:2');
  });

  test('learns that nothing runs any more, and neither pipeline is said to run', async () => {
    await world.apply(web('web-b'), SETTINGS);
    await ships('web-b', 'kv:9');
    expect(await undeployed('web-b', 2)).toBe('every unit is removed');
    expect(await runs()).toEqual([{}, {}]);
    const replaced = { by: 'web-b/2', version: 'nothing', removed: true };
    expect(await inProduction('web-a')).toEqual({ release: 1, version: 'kv:2', replaced });
    expect(await inProduction('web-b')).toBeUndefined();
    expect(await reverts('web-a/1')).toMatch(/web-b\/2 has removed the units, so nothing of it runs/);
    expect(await reverts('web-b/1')).toContain('nothing of it is deployed');
  });

  test('brings a new version to the units, and a revert of that goes back to the last one that ran', async () => {
    await world.apply(web('web-b'), SETTINGS);
    await ships('web-b', 'kv:9');
    await undeployed('web-b', 2);
    await ships('web-a', 'kv:3');
    expect(await runs()).toEqual([{ 'kv:3': 2 }, { 'kv:3': 2 }]);
    expect(await inProduction('web-a')).toEqual({ release: 2, version: 'kv:3' });
    expect(await reverts('web-a/2')).toBe('taken');
    expect(await ended('web-a', 3)).toBe('succeeded');
    expect(await runs()).toEqual([{ 'kv:2': 2 }, { 'kv:2': 2 }]);
  });

  test('keeps what it runs on the units that were not removed', async () => {
    await world.apply(web('web-b', ['web-x']), SETTINGS);
    await ships('web-b', 'kv:9');
    await undeployed('web-b', 2);
    expect(await runs()).toEqual([{}, { 'kv:2': 2 }]);
    const replaced = { by: 'web-b/2', version: 'nothing', on: 'web-x', removed: true };
    expect(await inProduction('web-a')).toEqual({ release: 1, version: 'kv:2', replaced });
    expect(await reverts('web-a/1')).toBe('taken');
    expect(await ended('web-a', 2)).toBe('succeeded');
    expect(await runs()).toEqual([{ 'kv:1': 2 }, { 'kv:1': 2 }]);
    expect(await inProduction('web-a')).toEqual({ release: 2, version: 'kv:1' });
  });
});

describe('a unit that the push type no longer lists', () => {
  beforeEach(async () => {
    await world.apply(web('web-a'), SETTINGS);
    await ships('web-a', 'kv:2');
  });

  test('is waited for while its tasks run, and removed once it is listed again', async () => {
    const listsAll = listing((id) => id !== 'web-y');
    await undeploy('web-a');
    const lost = /web-y \(2 of 2 tasks run kv:2\) is not listed any more/;
    await world.until('it is named', async () =>
      lost.test((await world.deployStatus('web-a', 2, 'deploy')).paused?.reason ?? ''),
    );
    expect(await runs()).toEqual([{}, { 'kv:2': 2 }]);
    listsAll();
    expect(await ended('web-a', 2)).toBe('succeeded');
    expect(await runs()).toEqual([{}, {}]);
    const { message } = actionOf(await world.releaseStatus('web-a', 2), 'deploy') ?? {};
    expect(message).toBe('every unit is removed');
  });

  test('is named in the outcome if nothing says what it runs', async () => {
    answering(world, ({ method }) => (method === 'needsPush' ? { units: [] } : undefined));
    listing((id) => id !== 'web-y');
    expect(await undeployed('web-a', 2)).toBe(
      'every unit that is listed is removed; web-y (its version is unknown) is not listed any more',
    );
    expect(await runs()).toEqual([{}, { 'kv:2': 2 }]);
  });

  test('is not missed if it was removed before', async () => {
    listing(() => true);
    expect(await undeployed('web-a', 2)).toBe('every unit is removed');
  });
});
