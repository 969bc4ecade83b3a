import { OfferBoards } from '../../activities/offerBoards';
import type { OfferBoard } from '../../domain/offers/board';
import type { PipelineSource } from '../../domain/spec/pipeline';
import { actionOf, CALM, deployAction, endsOf, flow, untilAction } from './flows';
import { HOUR, MINUTE, VirtualWorld } from './world';

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.open();
  for (const service of ['net', 'app', 'dns']) await world.job(`${service}-x`, 'x', 2, { service });
});
afterEach(() => world.close());

type Deploy = ReturnType<typeof deployAction>;
const to = (job: string, more: object = {}): Deploy => {
  const action = deployAction('5m', more);
  return { ...action, with: { ...action.with, config: { jobs: [job] } } } as Deploy;
};
const net = (more: Partial<PipelineSource> = {}) =>
  flow(
    { network: to('net-x'), dns: to('dns-x', { needs: ['network'] }) },
    { pipeline: 'net', offers: [{ name: 'place', after: 'network', value: { job: 'app-x' } }], ...more },
  );
type Wish = NonNullable<PipelineSource['wishes']>[number];
const app = (more: Partial<Wish> = {}) =>
  flow(
    { deploy: to('${wishes.net.place.job}') },
    { pipeline: 'app', wishes: [{ from: 'net', offer: 'place', ...more }] },
  );

const SETTINGS = { ...CALM, waitIntervalMs: 2 * MINUTE };
const runs = async (job: string) => (await world.jobs()).find(({ name }) => name === job)?.versions;
const board = (): Promise<OfferBoard | null> => new OfferBoards(world.client, world.taskQueue).find('net');
const undeploy = (pipeline: string) => world.command(`pipeline/${pipeline}`, 'undeploy', { reason: 'not needed' });
const ended = async (pipeline: string, number: number): Promise<string | undefined> => {
  await world.ended(pipeline, number, { withinMs: HOUR });
  return (await endsOf(world, [number], pipeline))[0];
};
const releaseOf = async (pipeline: string, version: string): Promise<string | undefined> => {
  const { number } = await world.release(pipeline, version);
  return ended(pipeline, number);
};

test('an undeploy removes all units, the last deploy of the file first, and the pipeline is held until a person releases again', async () => {
  await world.apply(net({ offers: undefined }), SETTINGS);
  expect(await releaseOf('net', 'kv:2')).toBe('succeeded');
  await undeploy('net');
  expect(await ended('net', 2)).toBe('succeeded');
  expect([await runs('net-x'), await runs('dns-x')]).toEqual([{}, {}]);
  const status = await world.releaseStatus('net', 2);
  expect(status).toMatchObject({ trigger: { kind: 'undeploy', actor: 'user:alice', reason: 'not needed' } });
  const [dns, network] = [actionOf(status, 'dns'), actionOf(status, 'network')];
  expect(network).toMatchObject({ message: 'every unit is removed', startedAt: dns?.endedAt });

  const { number } = await world.release('net', 'kv:3');
  await untilAction(
    world,
    number,
    'network',
    ({ blockedBy }) => blockedBy?.includes('undeploy by release 2') === true,
    {
      pipeline: 'net',
    },
  );
  await world.command('pipeline/net', 'unhold', { reason: 'needed again' });
  expect(await ended('net', number)).toBe('succeeded');
  expect(await runs('net-x')).toEqual({ 'kv:3': 2 });
  expect(await runs('dns-x')).toEqual({ 'kv:3': 2 });
});

test('an undeploy waits until no other pipeline uses its offers, and no new user begins meanwhile', async () => {
  await world.apply(net(), SETTINGS);
  await world.apply(app(), SETTINGS);
  expect(await releaseOf('net', 'kv:2')).toBe('succeeded');
  expect(await releaseOf('app', 'kv:2')).toBe('succeeded');
  await undeploy('net');
  await untilAction(
    world,
    2,
    'network',
    ({ blockedBy }) => /place is removed, but is used by .*app\/deploy/.test(blockedBy ?? ''),
    {
      pipeline: 'net',
    },
  );
  expect(await runs('dns-x')).toEqual({});
  const { number } = await world.release('app', 'kv:3');
  await untilAction(
    world,
    number,
    'deploy',
    ({ blockedBy }) => /net is removing place with release 2$/.test(blockedBy ?? ''),
    {
      pipeline: 'app',
    },
  );
  await undeploy('app');
  expect(await ended('app', 3)).toBe('succeeded');
  expect(await runs('app-x')).toEqual({});
  expect(await ended('net', 2)).toBe('succeeded');
  expect(await runs('net-x')).toEqual({});
  expect(await board()).toMatchObject({ offers: [], users: [], changes: [] });
});

test('an undeploy that is cancelled leaves the offers as they were', async () => {
  await world.apply(net(), SETTINGS);
  await world.apply(app(), SETTINGS);
  expect(await releaseOf('net', 'kv:2')).toBe('succeeded');
  expect(await releaseOf('app', 'kv:2')).toBe('succeeded');
  await undeploy('net');
  await untilAction(world, 2, 'network', ({ state }) => state === 'blocked', { pipeline: 'net' });
  await world.command('release/net/2', 'cancel');
  expect(await ended('net', 2)).toBe('cancelled (operator)');
  expect(await board()).toMatchObject({ offers: [{ name: 'place', release: 1 }], changes: [] });
  expect(await releaseOf('app', 'kv:3')).toBe('succeeded');
});

test('an undeploy waits for a push type that does not answer, and a person cancels it, since a removal brings nothing to go back to', async () => {
  await world.apply(net({ offers: undefined }), SETTINGS);
  expect(await releaseOf('net', 'kv:2')).toBe('succeeded');
  const fault = { kind: 'http', service: 'twine', method: 'removeUnits', mode: 'error' };
  const { id } = await world.control<{ id: string }>('POST', '/control/faults', fault);
  await undeploy('net');
  const isDown = /^twine does not answer removeUnits; trying until it does/;
  await world.until('it is paused', async () =>
    isDown.test((await world.deployStatus('net', 2, 'dns')).paused?.reason ?? ''),
  );
  const NOT_BACK = 'an undeploy cannot be reverted: cancel it, then release the version that should run';
  await expect(world.command('deploy/net/2/dns/1', 'revert')).rejects.toMatchObject({ cause: { message: NOT_BACK } });
  await expect(world.command('release/net/2', 'revert')).rejects.toMatchObject({ cause: { message: NOT_BACK } });
  await world.command('release/net/2', 'cancel');
  expect(await ended('net', 2)).toBe('cancelled (operator)');
  expect([await runs('net-x'), await runs('dns-x')]).toEqual([{ 'kv:2': 2 }, { 'kv:2': 2 }]);
  expect(Object.keys((await world.pipelineStatus('net')).lastGood)).toEqual(['network', 'dns']);
  await undeploy('net');
  await world.sleep(MINUTE);
  await world.control('DELETE', `/control/faults/${id}`);
  expect(await ended('net', 3)).toBe('succeeded');
  expect([await runs('net-x'), await runs('dns-x')]).toEqual([{}, {}]);
});

test('an undeploy leaves alone the units that another pipeline has updated since', async () => {
  for (const region of ['x', 'y']) await world.job(`web-${region}`, region, 2, { service: 'web' });
  const web = (pipeline: string, jobs: string[]) => {
    const deploy = to('');
    return flow({ deploy: { ...deploy, with: { ...deploy.with, config: { jobs } } } as Deploy }, { pipeline });
  };
  await world.apply(web('all', ['web-x', 'web-y']), SETTINGS);
  await world.apply(web('some', ['web-y']), SETTINGS);
  expect(await releaseOf('all', 'kv:2')).toBe('succeeded');
  expect(await releaseOf('some', 'kv:3')).toBe('succeeded');
  await undeploy('all');
  expect(await ended('all', 2)).toBe('succeeded');
  expect([await runs('web-x'), await runs('web-y')]).toEqual([{}, { 'kv:3': 2 }]);
  expect(actionOf(await world.releaseStatus('all', 2), 'deploy')?.message).toMatch(
    /^every other unit is removed; .*some\/1/,
  );
});

describe('a pipeline whose wish says so is undeployed by itself', () => {
  beforeEach(async () => {
    await world.apply(net(), SETTINGS);
    await world.apply(app({ onWithdraw: 'undeploy' }), SETTINGS);
    expect(await releaseOf('net', 'kv:2')).toBe('succeeded');
    expect(await releaseOf('app', 'kv:2')).toBe('succeeded');
  });
  const isGone = async () => {
    expect(await ended('app', 2)).toBe('succeeded');
    expect(await runs('app-x')).toEqual({});
    const { trigger } = await world.releaseStatus('app', 2);
    expect(trigger).toMatchObject({ actor: 'service:conveyor', reason: 'net withdraws place' });
  };

  test('if the other pipeline is undeployed, which waits for it', async () => {
    await undeploy('net');
    await world.until('app is being undeployed', async () => (await world.pipelineStatus('app')).held !== null);
    await isGone();
    expect(await ended('net', 2)).toBe('succeeded');
    expect([await runs('net-x'), await runs('dns-x')]).toEqual([{}, {}]);
  });

  test('if its file no longer has the offer', async () => {
    await world.apply(net({ offers: undefined }), SETTINGS);
    await world.until('app is being undeployed', async () => (await world.pipelineStatus('app')).held !== null);
    await isGone();
    expect(await board()).toMatchObject({ offers: [], users: [] });
  });

  test('not because of a message that anybody sends, and not if its present file says otherwise', async () => {
    const notice = { from: 'net', offer: 'place', action: 'deploy' };
    await world.pipeline('app').signal('offer-withdrawn', notice);
    await world.sleep(MINUTE);
    await world.apply(app(), SETTINGS);
    await world.apply(net({ offers: undefined }), SETTINGS);
    await world.sleep(10 * MINUTE);
    expect(await world.pipelineStatus('app')).toMatchObject({ held: null });
    expect(await board()).toMatchObject({ offers: [{ withdrawing: true }], users: [{ user: 'app/deploy' }] });
  });
});
