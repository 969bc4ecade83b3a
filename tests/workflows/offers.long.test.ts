import { defaultPayloadConverter } from '@temporalio/common';
import type { NotifyRequest } from '../../activities/notify';
import { OfferBoards } from '../../activities/offerBoards';
import { exportPipeline, importPipeline } from '../../client/apply';
import { OFFER_LIMITS } from '../../domain/limits';
import { formatOfferChange, listUsers, NO_OFFERS, type OfferBoard } from '../../domain/offers/board';
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
  untilAction(world, number, 'deploy', ({ blockedBy }) => blockedBy?.match(why) != null, { pipeline });
const board = (): Promise<OfferBoard | null> => new OfferBoards(world.client, world.taskQueue).find('net');
/** A command that is refused with this reason. */
const refused = (command: Promise<unknown>, why: string) =>
  expect(command).rejects.toMatchObject({ cause: { message: expect.stringContaining(why) as string } });
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

test('a deploy waits for a value of the type that it wishes for, and the type stays while it uses it', async () => {
  const typed = { type: 'object', properties: { size: { type: 'integer' } }, required: ['size'] } as const;
  const sized = (size: unknown) => net([offer({ value: { job: 'app-x', size } })]);
  await world.apply(sized('large'), SETTINGS);
  await world.apply(app('^1', { wishes: [{ from: 'net', offer: 'place', version: '^1', schema: typed }] }), SETTINGS);
  expect(await ends('net', 'kv:2')).toBe('succeeded');
  await released('app', 'kv:2');
  await blocked('app', 1, /: place 1\.0\.0 of net does not fit the wish: size is a string, not an integer$/);
  await world.apply(sized(3), SETTINGS);
  expect(await ends('net', 'kv:3')).toBe('succeeded');
  await world.ended('app', 1, { withinMs: HOUR });
  expect(await endsOf(world, [1], 'app')).toEqual(['succeeded']);
  await world.apply(sized('large'), SETTINGS);
  await released('net', 'kv:4');
  await blocked('net', 3, /app\/deploy wishes for another type: size is a string, not an integer$/);
  await world.command('release/net/3', 'cancel');
  await world.ended('net', 3);
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

/** The notices of a release about broken offers, delivered or not: receiver, id and reason. */
async function listBrokenNotices(release: string): Promise<readonly (readonly [string, string, string])[]> {
  const { events } = await world.client.workflow.getHandle(`release/${release}`).fetchHistory();
  const sent = (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: scheduled }) => {
    const [payload] = scheduled?.input?.payloads ?? [];
    return scheduled?.activityType?.name === 'notify' && payload
      ? [defaultPayloadConverter.fromPayload<NotifyRequest>(payload)]
      : [];
  });
  return sent
    .filter(({ event }) => event.on === 'offer-broken')
    .map(({ url = '', event }) => [url, event.id, event.reason] as const)
    .sort(([one], [other]) => (one < other ? -1 : 1));
}
/** As `conveyor status app` shows them. */
const brokenUses = async () => (await world.workflows().pipeline('app')).brokenUses;
const receiver = (url: string) => ({ notify: [{ on: ['offer-broken' as const], url }] });

test('a rollback that breaks an offer notifies both owners once, its user is at risk, and a roll forward ends that', async () => {
  const [forNet, forApp] = ['https://net.invalid/', 'https://app.invalid/'];
  await world.apply(net(), SETTINGS);
  await world.apply(app('^2', receiver(forApp)), SETTINGS);
  expect(await ends('net', 'kv:2')).toBe('succeeded');
  await world.apply(net([offer({ version: '2.0.0' })], receiver(forNet)), SETTINGS);
  expect(await ends('net', 'kv:3')).toBe('succeeded');
  expect(await ends('app', 'kv:2')).toBe('succeeded');
  expect([await listBrokenNotices('net/2'), await brokenUses()]).toEqual([[], undefined]);
  await world.rollBack('net', 2, { actor: 'user:alice', reason: 'slow' });
  // Neither receiver answers, which does not delay the rollback.
  await world.ended('net', 3);
  expect([await endsOf(world, [3], 'net'), await runs('net-x')]).toEqual([['succeeded'], { 'kv:2': 2 }]);
  const why = 'place 1.0.0 of net does not fit app/deploy, which wishes for ^2';
  const id = 'deploy/net/3/deploy/1/offer-broken';
  const notices = [
    [forApp, `${id}/app`, why],
    [forNet, id, why],
  ];
  await world.until('both owners are notified', async () => (await listBrokenNotices('net/3')).length === 2);
  expect(await listBrokenNotices('net/3')).toEqual(notices);
  expect(await brokenUses()).toMatchObject([{ action: 'deploy', release: 1, from: 'net', offer: 'place', why }]);
  expect(await world.workflows().releaseWithWaits('app', 1)).toMatchObject({ brokenUses: [{ why }] });
  await released('app', 'kv:3');
  await blocked('app', 2, /: net offers place 1\.0\.0, but the wish is for \^2$/);
  expect(await users()).toEqual(['app/deploy']);
  await world.command('pipeline/net', 'unhold');
  expect(await ends('net', 'kv:4')).toBe('succeeded');
  await world.ended('app', 2, { withinMs: HOUR });
  expect([await endsOf(world, [2], 'app'), await brokenUses()]).toEqual([['succeeded'], undefined]);
  expect([await listBrokenNotices('net/3'), await listBrokenNotices('net/4')]).toEqual([notices, []]);
});

test('an offer that the release of a rollback does not make is broken, and new deploys wait until it is made again', async () => {
  await world.apply(net([]), SETTINGS);
  await world.apply(app(), SETTINGS);
  expect(await ends('net', 'kv:2')).toBe('succeeded');
  await world.apply(net(), SETTINGS);
  expect(await ends('net', 'kv:3')).toBe('succeeded');
  expect(await ends('app', 'kv:2')).toBe('succeeded');
  await world.rollBack('net', 2, { actor: 'user:alice', reason: 'slow' });
  await world.ended('net', 3);
  await released('app', 'kv:3');
  await blocked('app', 2, /: net does not offer place at present: its release 3 does not make it$/);
  expect(await brokenUses()).toMatchObject([{ why: 'release 3 of net does not make place, which app/deploy uses' }]);
  await world.command('pipeline/net', 'unhold');
  expect(await ends('net', 'kv:4')).toBe('succeeded');
  await world.ended('app', 2, { withinMs: HOUR });
  expect([await endsOf(world, [2], 'app'), await brokenUses()]).toEqual([['succeeded'], undefined]);
});

test('an emergency from whose artifacts an offer cannot be made breaks it', async () => {
  const value = { job: 'app-x', id: '${executable.metadata.id}' };
  await world.apply(net([offer({ value })]), SETTINGS);
  await world.apply(app(), SETTINGS);
  await world.start('net', { artifacts: [{ ...executable('kv:2'), metadata: { id: 'vpc-7' } }] });
  await world.ended('net', 1);
  expect(await ends('app', 'kv:2')).toBe('succeeded');
  await world.push('net', 'kv:3');
  await world.ended('net', 2);
  expect([await endsOf(world, [2], 'net'), await runs('net-x')]).toEqual([['succeeded'], { 'kv:3': 2 }]);
  await world.until('it is broken', async () => (await brokenUses()) !== undefined);
  expect((await board())?.offers).toMatchObject([{ release: 1, notMadeBy: { release: 2 } }]);
});

test('a rollback does not need the wish that the file has by now', async () => {
  await world.apply(flow({ deploy: to('app-x') }, { pipeline: 'app' }), SETTINGS);
  for (const version of ['kv:2', 'kv:3']) expect(await ends('app', version)).toBe('succeeded');
  await world.apply(app(), SETTINGS);
  await world.rollBack('app', 2, { actor: 'user:alice', reason: 'slow' });
  await world.ended('app', 3);
  expect([await endsOf(world, [3], 'app'), await runs('app-x')]).toEqual([['succeeded'], { 'kv:2': 2 }]);
});

test('a person lets a deploy begin although it does not fit a user, which keeps its pin', async () => {
  await world.apply(net(), SETTINGS);
  await world.apply(app(), SETTINGS);
  expect(await ends('net', 'kv:2')).toBe('succeeded');
  expect(await ends('app', 'kv:2')).toBe('succeeded');
  await world.apply(net([offer({ version: '2.0.0' })]), SETTINGS);
  await released('net', 'kv:3');
  await blocked('net', 2, /does not fit 1 deploy of other pipelines/);
  const action = async () => actionOf(await world.releaseStatus('net', 2), 'deploy');
  const unfit = { users: [{ offer: 'place', user: 'app/deploy', why: 'wishes for ^1' }], more: 0 };
  expect(await action()).toMatchObject({ unfit });
  const override = (reason: string) => world.command('release/net/2', 'override-offer', { action: 'deploy', reason });
  await override('attack');
  await refused(override('again'), 'user:alice has already overridden it');
  await world.reaches('net', 2, ({ state }) => state === 'baking', { stepMs: 10_000 });
  await refused(override('late'), 'user:alice has already overridden it');
  await world.ended('net', 2);
  const status = await world.releaseStatus('net', 2);
  expect(actionOf(status, 'deploy')).toMatchObject({ state: 'succeeded', override: { reason: 'attack' } });
  expect(actionOf(status, 'deploy')).not.toHaveProperty('unfit');
  expect(status.commands).toMatchObject([{ verb: 'override-offer', actor: 'user:alice', reason: 'attack' }]);
  expect(status.timeline).toContainEqual(
    expect.objectContaining({
      text: 'deploy begins although its offers do not fit 1 deploy of other pipelines: app/deploy wishes for ^1 (place)',
    }),
  );
  expect((await board())?.offers).toMatchObject([{ version: '2.0.0', seq: 2 }]);
  expect((await board())?.users).toMatchObject([{ user: 'app/deploy', pins: [{ release: 1, uses: [{ seq: 1 }] }] }]);
});

test('a person gives no deploy the value that it wishes for', async () => {
  await world.apply(app(), SETTINGS);
  await released('app', 'kv:2');
  await blocked('app', 1, /: net has not offered place yet$/);
  const override = world.command('release/app/1', 'override-offer', { action: 'deploy' });
  await refused(override, 'deploy lacks a value that only another pipeline can offer');
  await world.command('release/app/1', 'cancel');
  await world.ended('app', 1);
});

test('the next release waits for its users again, although a person let an earlier one begin', async () => {
  await world.apply(net(), SETTINGS);
  await world.apply(app(), SETTINGS);
  expect(await ends('net', 'kv:2')).toBe('succeeded');
  expect(await ends('app', 'kv:2')).toBe('succeeded');
  await world.describeVersion('kv:3', { errorRatio: 0.5 });
  await world.apply(net([offer({ version: '2.0.0' })], { releases: { onRevert: 'continue' } }), SETTINGS);
  await released('net', 'kv:3');
  await blocked('net', 2, /does not fit/);
  await world.command('release/net/2', 'override-offer', { action: 'deploy' });
  await world.ended('net', 2);
  expect((await endsOf(world, [2], 'net'))[0]).toMatch(/^failed/);
  await released('net', 'kv:4');
  await blocked('net', 3, /: place 2\.0\.0 does not fit 1 deploy of other pipelines: app\/deploy wishes for \^1$/);
  await world.command('release/net/3', 'cancel');
  await world.ended('net', 3);
});

test('an emergency whose use has no room in the list of users says so in its release', async () => {
  await world.apply(net(), SETTINGS);
  await world.apply(app(), SETTINGS);
  expect(await ends('net', 'kv:2')).toBe('succeeded');
  const made = (await board()) ?? NO_OFFERS;
  await world.client.workflow.getHandle('offers/net').terminate();
  const full = Array.from({ length: OFFER_LIMITS.users.max }, (_, n) => ({
    user: `u${String(n).padStart(4, '0')}/deploy`,
    pins: [{ release: 1, uses: [{ offer: 'place', seq: 1, paths: [] }] }],
  }));
  await world.client.workflow.start('offers', {
    ...{ workflowId: 'offers/net', taskQueue: world.taskQueue },
    args: [{ board: { ...made, users: full } }],
  });
  await world.push('app', 'kv:2');
  await world.ended('app', 1);
  const { state, timeline } = await world.releaseStatus('app', 1);
  expect([state, await runs('app-x')]).toEqual(['succeeded', { 'kv:2': 2 }]);
  const text =
    'deploy uses offers without being one of their users: net has too many users; they may change or be withdrawn';
  expect(timeline).toContainEqual(expect.objectContaining({ text }));
  await world.client.workflow.getHandle('offers/net').terminate();
});

test('records that are older than the offers take no user away, and leave none behind', async () => {
  const importing = (document: Awaited<ReturnType<typeof exportPipeline>>) =>
    importPipeline(world.workflows(), { taskQueue: world.taskQueue }, document, { actor: 'user:alice' });
  const exported = (pipeline: string) => exportPipeline(world.workflows(), pipeline);
  await world.apply(flow({ deploy: to('net-x') }, { pipeline: 'net' }), SETTINGS);
  await world.apply(app(), SETTINGS);
  const older = { net: await exported('net'), app: await exported('app') };
  await world.apply(net(), SETTINGS);
  expect(await ends('net', 'kv:2')).toBe('succeeded');
  expect(await ends('app', 'kv:2')).toBe('succeeded');
  expect((await exported('net')).offers).toEqual({ made: ['place 1.0.0'], users: ['app/deploy'], more: 0 });
  expect(await importing({ ...older.net, nextNumber: 2 })).toMatchObject({
    configNotes: ['its file withdraws place, which is used by 1 deploy of other pipelines: app/deploy'],
  });
  await released('net', 'kv:3');
  await blocked('net', 2, /: place is removed, but is used by 1 deploy of other pipelines: app\/deploy/);
  await importing({ ...older.app, nextNumber: 2 });
  await world.apply(flow({ deploy: to('app-x') }, { pipeline: 'app' }), SETTINGS);
  expect(await ends('app', 'kv:3')).toBe('succeeded');
  await world.ended('net', 2, { withinMs: HOUR });
  expect([await endsOf(world, [2], 'net'), await users()]).toEqual([['succeeded'], []]);
});

test('records of offers under a name that has none bring neither the offers nor their users, and this is said', async () => {
  await world.apply(net(), SETTINGS);
  await world.apply(app(), SETTINGS);
  expect(await ends('net', 'kv:2')).toBe('succeeded');
  expect(await ends('app', 'kv:2')).toBe('succeeded');
  const document = await exportPipeline(world.workflows(), 'net');
  await world.apply(flow({ deploy: to('spare-x') }, { pipeline: 'moved' }), SETTINGS);
  const moved = { ...document, pipeline: 'moved', spec: { ...document.spec, pipeline: 'moved' } };
  const options = { taskQueue: world.taskQueue };
  const { configNotes } = await importPipeline(world.workflows(), options, moved, { actor: 'user:alice' });
  expect(configNotes).toEqual([
    'its offers are not made here (place 1.0.0): deploys that wish for them wait for its next deploy',
    '1 deploy used its offers where the file was written, and no change waits for them here until they deploy again: app/deploy',
  ]);
  expect(await new OfferBoards(world.client, world.taskQueue).find('moved')).toBeNull();
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

test('a pipeline that takes an offer as an artifact is released with each change of it', async () => {
  const place = { finder: 'offer', with: { pipeline: 'net', offer: 'place' } };
  const more = { artifacts: { executable: { finder: 'manual' }, place } };
  const deploy = { ...to('${wishes.net.place.job}'), inputs: ['executable', 'place'] };
  await world.apply({ ...app('^1', more), actions: { deploy } }, SETTINGS);
  const sweep = () =>
    world.client.workflow.execute('artifactSweep', {
      ...{ workflowId: 'sweep/offer', taskQueue: world.taskQueue },
      args: [{ finder: 'offer', heartbeatTimeoutMs: HOUR }],
    });
  const change = async (version: string, brings: string): Promise<void> => {
    await world.apply(net([offer({ version })]), SETTINGS);
    expect(await ends('net', brings)).toBe('succeeded');
  };
  await change('1.0.0', 'kv:2');
  expect(await sweep()).toMatchObject({ found: 1 });
  await released('app', 'kv:2');
  await world.ended('app', 1);
  await change('1.1.0', 'kv:3');
  expect(await sweep()).toMatchObject({ found: 1, released: 1 });
  await world.ended('app', 2);
  expect(await sweep()).toMatchObject({ released: 0 });
  expect(await endsOf(world, [1, 2], 'app')).toEqual(['succeeded', 'succeeded']);
  const [changed] = (await board())?.offers ?? [];
  expect(await runs('app-x')).toEqual({ [`executable@kv:2+place@${changed && formatOfferChange(changed)}`]: 2 });
});
