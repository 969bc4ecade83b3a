import { OfferBoards } from '../../activities/offerBoards';
import { listUsers, NO_OFFERS, type OfferBoard } from '../../domain/offers/board';
import type { PipelineSource } from '../../domain/spec/pipeline';
import { actionOf, CALM, deployAction, endsOf, flow, slowAction, untilAction } from './flows';
import { executable, HOUR, MINUTE, VirtualWorld } from './world';

/** Two teams: `net` offers the name of a job, and `app` deploys to the job that is offered. */

let world: VirtualWorld;
beforeEach(async () => {
  world = await VirtualWorld.open();
  for (const service of ['net', 'app', 'spare']) await world.job(`${service}-x`, 'x', 2, { service });
});
afterEach(() => world.close());

type Deploy = ReturnType<typeof deployAction>;
const to = (job: string, more: object = {}): Deploy => {
  const action = deployAction('5m', more);
  return { ...action, with: { ...action.with, config: { jobs: [job] } } } as Deploy;
};
type Offer = NonNullable<PipelineSource['offers']>[number];
const offer = (more: Partial<Offer> = {}): Offer => ({
  ...{ name: 'place', version: '1.0.0', value: { job: 'app-x', by: '${executable.version}' } },
  ...more,
});
const net = (offers: readonly Offer[] = [offer()], more: Partial<PipelineSource> = {}) =>
  flow({ deploy: to('net-x') }, { pipeline: 'net', offers: [...offers], ...more });
const app = (version = '^1', more: Partial<PipelineSource> = {}) =>
  flow(
    { deploy: to('${wishes.net.place.job}') },
    { pipeline: 'app', wishes: [{ from: 'net', offer: 'place', version }], ...more },
  );

const SETTINGS = { ...CALM, waitIntervalMs: 2 * MINUTE };
const released = async (pipeline: string, version: string): Promise<number> =>
  (await world.release(pipeline, version)).number;
const runs = async (job: string) => (await world.jobs()).find(({ name }) => name === job)?.versions;
const blocked = (pipeline: string, number: number, why: string | RegExp) =>
  untilAction(world, number, 'deploy', ({ blockedBy }) => blockedBy?.match(why) !== null, { pipeline });
const board = (): Promise<OfferBoard | null> => new OfferBoards(world.client, world.taskQueue).find('net');
const users = async () => listUsers((await board()) ?? NO_OFFERS, 'place').map(({ user }) => user);
const ends = async (pipeline: string, version: string) => {
  const number = await released(pipeline, version);
  await world.ended(pipeline, number);
  return (await endsOf(world, [number], pipeline))[0];
};

test('a deploy waits for the offer of another pipeline, names it, and is configured with its value', async () => {
  await world.apply(app(), SETTINGS);
  await released('app', 'kv:2');
  await blocked('app', 1, /: net has not offered place yet$/);
  await world.apply(net([offer({ version: '2.0.0' })]), SETTINGS);
  expect(await ends('net', 'kv:2')).toBe('succeeded');
  await blocked('app', 1, /: net offers place 2\.0\.0, but the wish is for \^1$/);
  await world.apply(net(), SETTINGS);
  expect(await ends('net', 'kv:3')).toBe('succeeded');
  await world.ended('app', 1, { withinMs: HOUR });
  expect(await endsOf(world, [1], 'app')).toEqual(['succeeded']);
  expect(await runs('app-x')).toEqual({ 'kv:2': 2 });
  expect(await users()).toEqual(['app/deploy']);
  expect((await board())?.offers).toMatchObject([{ value: { job: 'app-x', by: 'kv:3' }, release: 2 }]);
});

test('an offer that does not fit its users waits for them, before the first update of its own deploy', async () => {
  await world.apply(net(), SETTINGS);
  await world.apply(app(), SETTINGS);
  expect(await ends('net', 'kv:2')).toBe('succeeded');
  expect(await ends('app', 'kv:2')).toBe('succeeded');
  await world.apply(net([offer({ version: '2.0.0' })]), SETTINGS);
  await released('net', 'kv:3');
  await blocked('net', 2, /: place 2\.0\.0 does not fit 1 deploy of other pipelines: app\/deploy wishes for \^1$/);
  expect(await runs('net-x')).toEqual({ 'kv:2': 2 });
  await world.apply(app('>=1'), SETTINGS);
  expect(await ends('app', 'kv:3')).toBe('succeeded');
  await world.ended('net', 2, { withinMs: HOUR });
  expect(await endsOf(world, [2], 'net')).toEqual(['succeeded']);
});

test('an offer that was removed from its file is withdrawn after its last user, and its deploy waits for that', async () => {
  await world.apply(net(), SETTINGS);
  await world.apply(app(), SETTINGS);
  expect(await ends('net', 'kv:2')).toBe('succeeded');
  expect(await ends('app', 'kv:2')).toBe('succeeded');
  await world.apply(net([]), SETTINGS);
  await released('app', 'kv:3');
  await blocked('app', 2, /: net is withdrawing place$/);
  expect((await board())?.offers).toMatchObject([{ withdrawing: true }]);
  await released('net', 'kv:3');
  await blocked(
    'net',
    2,
    /: place is removed, but is used by 1 deploy of other pipelines: app\/deploy wishes for \^1$/,
  );
  expect(await runs('net-x')).toEqual({ 'kv:2': 2 });
  await world.command('release/app/2', 'cancel');
  await world.ended('app', 2);
  await world.apply(flow({ deploy: to('app-x') }, { pipeline: 'app' }), SETTINGS);
  expect(await ends('app', 'kv:4')).toBe('succeeded');
  await world.ended('net', 2, { withinMs: HOUR });
  expect([await endsOf(world, [2], 'net'), (await board())?.offers]).toEqual([['succeeded'], []]);
});

/** `net` offers 2.0.0 instead of 1.0.0 with its second release, whose deploy bakes. */
async function beginChange(): Promise<void> {
  await world.apply(net(), SETTINGS);
  await world.apply(app(), SETTINGS);
  expect(await ends('net', 'kv:2')).toBe('succeeded');
  await world.apply(net([offer({ version: '2.0.0' })]), SETTINGS);
  await released('net', 'kv:3');
  await world.reaches('net', 2, ({ state }) => state === 'baking', { stepMs: 10_000 });
}

test('no new user comes while an offer changes in a way that may not fit it', async () => {
  await beginChange();
  await released('app', 'kv:2');
  await blocked('app', 1, /: net is changing place with release 2$/);
  await world.ended('net', 2);
  await blocked('app', 1, /: net offers place 2\.0\.0, but the wish is for \^1$/);
  await world.command('release/app/1', 'cancel');
  await world.ended('app', 1);
});

test('a newer release that is cancelled before it begins does not end the change of the one that runs', async () => {
  await beginChange();
  await released('net', 'kv:4');
  await world.command('release/net/3', 'cancel');
  await world.ended('net', 3, { stepMs: 10_000 });
  await released('app', 'kv:2');
  await blocked('app', 1, /: net is changing place with release 2$/);
  await world.command('release/app/1', 'cancel');
  await world.ended('app', 1);
  await world.ended('net', 2);
});

test('a retry takes its turn and its offers anew', async () => {
  await world.apply(net(), SETTINGS);
  const needs = { needs: ['deploy'], runIf: 'always' as const };
  const more = { releases: { onRevert: 'continue' } } as const;
  const actions = { deploy: to('${wishes.net.place.job}'), after: slowAction(60, needs) };
  await world.apply({ ...app('^1', more), actions }, SETTINGS);
  expect(await ends('net', 'kv:2')).toBe('succeeded');
  await world.describeVersion('kv:3', { errorRatio: 0.5 });
  await released('app', 'kv:3');
  await untilAction(world, 1, 'deploy', ({ state }) => state === 'failed', { pipeline: 'app' });
  await world.describeVersion('kv:3', { errorRatio: 0 });
  await world.command('pipeline/app', 'allow-artifact', { artifact: 'executable@kv:3' });
  await world.command('release/app/1', 'retry', { action: 'deploy' });
  await untilAction(world, 1, 'deploy', ({ state }) => state === 'succeeded', { pipeline: 'app' });
  expect([await runs('app-x'), await users()]).toEqual([{ 'kv:3': 2 }, ['app/deploy']]);
  await world.ended('app', 1);
});

test('a pipeline that has withdrawn all offers can offer again', async () => {
  await world.apply(net(), SETTINGS);
  expect(await ends('net', 'kv:2')).toBe('succeeded');
  await world.apply(net([]), SETTINGS);
  await world.until('all are withdrawn', async () => (await board())?.offers.length === 0);
  await world.apply(net(), SETTINGS);
  expect(await ends('net', 'kv:3')).toBe('succeeded');
  await world.apply(app(), SETTINGS);
  expect(await ends('app', 'kv:2')).toBe('succeeded');
});

test('a change that was reverted keeps no user away', async () => {
  await world.apply(net(), SETTINGS);
  await world.apply(app(), SETTINGS);
  expect(await ends('net', 'kv:2')).toBe('succeeded');
  await world.describeVersion('kv:3', { errorRatio: 0.5 });
  await world.apply(net([offer({ version: '2.0.0' })]), SETTINGS);
  expect(await ends('net', 'kv:3')).toMatch(/^failed/);
  expect(await ends('app', 'kv:2')).toBe('succeeded');
});

test('a release that waits for an offer makes way for a newer one, and a person can cancel it', async () => {
  await world.apply(app(), SETTINGS);
  await released('app', 'kv:2');
  await blocked('app', 1, /: net has not offered place yet$/);
  await released('app', 'kv:3');
  await world.ended('app', 1, { withinMs: HOUR });
  await blocked('app', 2, /: net has not offered place yet$/);
  expect(await world.pipelineStatus('app')).toMatchObject({ waits: [{ release: 2, action: 'deploy' }] });
  await world.command('release/app/2', 'cancel');
  await world.ended('app', 2);
  expect(await endsOf(world, [1, 2], 'app')).toEqual(['cancelled (superseded)', 'cancelled (operator)']);
});

test('a rollback waits for no offer and goes where its release went, whatever the offer says by then', async () => {
  await world.apply(net(), SETTINGS);
  await world.apply(app(), SETTINGS);
  expect(await ends('net', 'kv:2')).toBe('succeeded');
  for (const version of ['kv:2', 'kv:3', 'kv:4']) expect(await ends('app', version)).toBe('succeeded');
  await world.apply(net([offer({ version: '1.1.0', value: { job: 'spare-x' } })]), SETTINGS);
  expect(await ends('net', 'kv:3')).toBe('succeeded');
  await world.rollBack('app', 3, { actor: 'user:alice', reason: 'slow' });
  await world.ended('app', 4);
  expect([await endsOf(world, [4], 'app'), await runs('app-x')]).toEqual([['succeeded'], { 'kv:3': 2 }]);
  expect(await runs('spare-x')).toEqual({ 'kv:1': 2 });
  await world.client.workflow.getHandle('offers/net').terminate();
  await world.rollBack('app', 4, { actor: 'user:alice', reason: 'slow' });
  await world.ended('app', 5);
  expect([await endsOf(world, [5], 'app'), await runs('app-x')]).toEqual([['succeeded'], { 'kv:2': 2 }]);
});

test('a rollback brings the offers back with the version that it restores', async () => {
  await world.apply(net(), SETTINGS);
  expect(await ends('net', 'kv:2')).toBe('succeeded');
  await world.apply(net([offer({ version: '2.0.0' })]), SETTINGS);
  expect(await ends('net', 'kv:3')).toBe('succeeded');
  expect((await board())?.offers).toMatchObject([{ version: '2.0.0', value: { by: 'kv:3' }, release: 2 }]);
  await world.rollBack('net', 2, { actor: 'user:alice', reason: 'slow' });
  await world.ended('net', 3);
  await world.until('the offers are back', async () => (await board())?.offers[0]?.release === 3);
  expect((await board())?.offers).toMatchObject([{ version: '1.0.0', value: { by: 'kv:2' } }]);
});

test('a rollback does not need the wish that the file has by now', async () => {
  await world.apply(flow({ deploy: to('app-x') }, { pipeline: 'app' }), SETTINGS);
  for (const version of ['kv:2', 'kv:3']) expect(await ends('app', version)).toBe('succeeded');
  await world.apply(app(), SETTINGS);
  await world.rollBack('app', 2, { actor: 'user:alice', reason: 'slow' });
  await world.ended('app', 3);
  expect([await endsOf(world, [3], 'app'), await runs('app-x')]).toEqual([['succeeded'], { 'kv:2': 2 }]);
});

test('a person ends the use by a deploy that is gone, also after the workflow of the offers was ended from outside', async () => {
  await world.apply(net(), SETTINGS);
  await world.apply(app(), SETTINGS);
  expect(await ends('net', 'kv:2')).toBe('succeeded');
  expect(await ends('app', 'kv:2')).toBe('succeeded');
  await world.client.workflow.getHandle('offers/net').terminate();
  await world.apply(net([offer({ version: '2.0.0' })]), SETTINGS);
  await released('net', 'kv:3');
  await blocked('net', 2, /does not fit 1 deploy of other pipelines/);
  await world.command('pipeline/net', 'end-use', { user: 'app/deploy' });
  await world.ended('net', 2, { withinMs: HOUR });
  expect([await endsOf(world, [2], 'net'), await users()]).toEqual([['succeeded'], []]);
});

test('offers are known again with their users after their workflow was ended from outside', async () => {
  await world.apply(net(), SETTINGS);
  await world.apply(app(), SETTINGS);
  expect(await ends('net', 'kv:2')).toBe('succeeded');
  expect(await ends('app', 'kv:2')).toBe('succeeded');
  await world.client.workflow.getHandle('offers/net').terminate();
  expect(await ends('app', 'kv:3')).toBe('succeeded');
  expect(await users()).toEqual(['app/deploy']);
  expect(await ends('net', 'kv:3')).toBe('succeeded');
  expect((await board())?.offers).toMatchObject([{ name: 'place', release: 2, value: { by: 'kv:3' } }]);
});

test('a reverted deploy uses no offer any more', async () => {
  await world.apply(net(), SETTINGS);
  await world.apply(app(), SETTINGS);
  expect(await ends('net', 'kv:2')).toBe('succeeded');
  await world.describeVersion('kv:3', { errorRatio: 0.5 });
  expect(await ends('app', 'kv:3')).toMatch(/^failed/);
  expect(await users()).toEqual([]);
});

test('two pipelines wish of each other, action by action, and start in any order', async () => {
  const registry = (): PipelineSource =>
    flow(
      { network: to('net-x'), service: { ...to('spare-x'), needs: ['network'] } as Deploy },
      {
        pipeline: 'registry',
        offers: [{ name: 'vpc', after: 'network', value: { id: 'vpc-1' } }],
        wishes: [{ from: 'auth', offer: 'group', for: ['service'] }],
      },
    );
  const auth = (): PipelineSource =>
    flow(
      { deploy: to('app-x') },
      { pipeline: 'auth', offers: [{ name: 'group' }], wishes: [{ from: 'registry', offer: 'vpc' }] },
    );
  await world.apply(auth(), SETTINGS);
  await world.apply(registry(), SETTINGS);
  for (const pipeline of ['auth', 'registry']) await world.start(pipeline, { artifacts: [executable('kv:2')] });
  for (const pipeline of ['auth', 'registry']) await world.ended(pipeline, 1, { withinMs: 2 * HOUR });
  expect([await endsOf(world, [1], 'auth'), await endsOf(world, [1], 'registry')]).toEqual([
    ['succeeded'],
    ['succeeded'],
  ]);
  const status = await world.releaseStatus('registry', 1);
  const at = (name: string) => Date.parse(actionOf(status, name)?.endedAt ?? '');
  const authEnd = Date.parse((await world.releaseStatus('auth', 1)).endedAt ?? '');
  expect([at('network') < authEnd, authEnd < at('service')]).toEqual([true, true]);
});
