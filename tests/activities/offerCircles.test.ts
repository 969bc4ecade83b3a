import type { OfferRun } from '../../activities/offerLooks';
import { makeOffers, NO_OFFERS, pinOffers, type OfferBoard } from '../../domain/offers/board';
import type { Wish } from '../../domain/offers/judge';
import type { ActiveRelease, ReadyAction } from '../../domain/pipeline/state';
import { pipelineSchema, type PipelineSource } from '../../domain/spec/pipeline';
import { OfferWorld } from '../builders/offerActivities';

const deploy = (needs: string[] = []): PipelineSource['actions'][string] => ({
  ...{ type: 'deploy', inputs: ['executable'], needs },
  with: { pushType: 'twine' },
});
const waits = (action: string, release = 1): ReadyAction => ({
  ...{ release, action, artifacts: [], rollback: false, kind: 'deploy', later: { why: 'waiting for other pipelines' } },
});

function pipeline(world: OfferWorld, name: string, ready: readonly ReadyAction[], more: Partial<PipelineSource>): void {
  const spec = pipelineSchema.parse({
    pipeline: name,
    owners: ['user:alice'],
    artifacts: { executable: { finder: 'manual' } },
    actions: { deploy: deploy() },
    ...more,
  });
  world.pipelines.set(name, { spec, ready, active: [], history: [] });
}

const UNMADE = 'registry has not offered vpc yet';
const VPC: Wish = { from: 'registry', offer: 'vpc', paths: [] };
const CIRCLE = 'auth/deploy → registry/network → auth/deploy';
const TO_BREAK =
  'to break it, change a wish or after: of one of them, then type conveyor apply FILE and conveyor release PIPELINE';
const NAMED = `${UNMADE}; these deploys wait for each other: ${CIRCLE}; ${TO_BREAK}`;

const minutes = (count: number): number => count * 60_000;
const look = (world: OfferWorld, seen: string, { waited = 5, attempt = 2, ...more } = {}) =>
  world
    .look(
      {
        ...{ pipeline: 'auth', user: 'auth/deploy', wishes: [VPC], seen, sinceMs: world.nowMs - minutes(waited) },
        ...(more as Partial<OfferRun>),
      },
      attempt,
    )
    .catch((error: unknown) => (error as Error).message);

/** Two pipelines whose files were applied at the same time. */
function givenCircle(ready = [waits('network')]): OfferWorld {
  const world = new OfferWorld(0);
  const auth = { offers: [{ name: 'group' }], wishes: [{ from: 'registry', offer: 'vpc' }] };
  pipeline(world, 'auth', [waits('deploy')], auth);
  pipeline(world, 'registry', ready, {
    actions: { network: deploy(), service: deploy(['network']) },
    offers: [{ name: 'vpc', after: 'service' }],
    wishes: [{ from: 'auth', offer: 'group', for: ['network'] }],
  });
  return world;
}

test('a deploy that has waited for minutes names the circle in which it waits, and says so once', async () => {
  const world = givenCircle();
  expect(await look(world, UNMADE)).toEqual({ kind: 'waiting', reason: NAMED, unmet: [VPC] });
  expect(await look(world, NAMED)).toBe(NAMED);
  expect(await look(world, NAMED, { waited: 6 })).toBe(NAMED);
});

test.each([
  ['has not waited for long', { waited: 4 }],
  ['looked for one a few looks ago', { waited: 6, attempt: 20 }],
])('a deploy that %s looks for no circle', async (_, when) => {
  const world = givenCircle();
  expect(await look(world, UNMADE, when)).toBe(UNMADE);
  expect(world.queries).toEqual(['offers registry']);
});

test.each([15, 25, 305])(
  'a deploy that has waited for %d minutes looks for one, however often its reason has changed',
  async (waited) => {
    expect(await look(givenCircle(), UNMADE, { waited, attempt: 2 })).toMatchObject({ reason: NAMED });
  },
);

test('a circle is no longer named once it is broken', async () => {
  const world = givenCircle();
  pipeline(world, 'registry', [waits('network')], { offers: [{ name: 'vpc' }] });
  expect(await look(world, NAMED)).toEqual({ kind: 'waiting', reason: UNMADE, unmet: [VPC] });
});

test('a pipeline that does not answer makes no circle, ends none and fails no wait', async () => {
  const world = givenCircle();
  world.pipelines.set('registry', new Error('no worker'));
  expect(await look(world, UNMADE)).toBe(UNMADE);
  expect(await look(world, NAMED)).toBe(NAMED);
});

test('deploys of a file in a circle that do not wait are no circle', async () => {
  expect(await look(givenCircle([]), UNMADE)).toBe(UNMADE);
  const running: ReadyAction = { release: 1, action: 'network', artifacts: [], rollback: false, kind: 'deploy' };
  expect(await look(givenCircle([running]), UNMADE)).toBe(UNMADE);
});

test('a deploy whose wish is satisfied holds no other', async () => {
  const world = givenCircle();
  const made = [{ name: 'group', value: {}, to: ['*'] }];
  world.boards.set('auth', makeOffers(NO_OFFERS, { release: 1, action: 'deploy', made, declared: ['group'] }, ''));
  expect(await look(world, UNMADE)).toBe(UNMADE);
});

test('a circle of others is not reported as its own', async () => {
  const world = givenCircle();
  pipeline(world, 'web', [waits('deploy')], { wishes: [{ from: 'auth', offer: 'group' }] });
  const reason = 'auth has not offered group yet';
  const wishes = [{ from: 'auth', offer: 'group', paths: [] }];
  expect(await look(world, reason, { pipeline: 'web', user: 'web/deploy', wishes } as object)).toBe(reason);
});

test('a new version that its user awaits while the old one is in use is a circle, too', async () => {
  const world = new OfferWorld(0);
  const place = (version: string) => ({ name: 'place', version, value: {}, to: ['*'] });
  const offered = makeOffers(
    NO_OFFERS,
    { release: 1, action: 'deploy', made: [place('1.0.0')], declared: ['place'] },
    '',
  );
  const board: OfferBoard = pinOffers(offered, {
    ...{ user: 'app/deploy', release: 1 },
    uses: [{ offer: 'place', seq: 1, version: '^1', paths: [] }],
  });
  world.boards.set('net', board);
  pipeline(world, 'net', [waits('deploy', 2)], { offers: [{ name: 'place', version: '2.0.0', value: {} }] });
  pipeline(world, 'app', [waits('deploy', 2)], { wishes: [{ from: 'net', offer: 'place', version: '^2' }] });
  const ask = {
    ...{ pipeline: 'net', user: 'net/deploy', wishes: [] },
    plan: { action: 'deploy', made: [place('2.0.0')], elsewhere: [] },
  };
  const reason = 'place 2.0.0 does not fit 1 deploy of other pipelines: app/deploy wishes for ^1';
  expect(await look(world, reason, ask as object)).toMatchObject({
    reason: `${reason}; these deploys wait for each other: net/deploy → app/deploy → net/deploy; to break it, type conveyor override-offer net/1/deploy --reason …`,
  });
  const wishes = [{ from: 'net', offer: 'place', version: '^2', paths: [] }];
  const other = 'net offers place 1.0.0, but the wish is for ^2';
  expect(await look(world, other, { pipeline: 'app', user: 'app/deploy', wishes } as object)).toMatchObject({
    reason: `${other}; these deploys wait for each other: app/deploy → net/deploy → app/deploy; ${TO_BREAK}`,
  });
});

describe('pipelines that are undeployed', () => {
  const undeploy = (number: number): ActiveRelease => ({
    ...{ number, artifacts: [], state: 'running', createdAt: '' },
    trigger: { kind: 'undeploy', actor: 'user:alice', key: null },
  });
  const used = (by: string): OfferBoard =>
    pinOffers(
      makeOffers(
        NO_OFFERS,
        { release: 1, action: 'deploy', made: [{ name: 'vpc', value: {}, to: ['*'] }], declared: ['vpc'] },
        '',
      ),
      { user: `${by}/deploy`, release: 1, uses: [{ offer: 'vpc', seq: 1, paths: [] }] },
    );
  const removal = (of: string) => ({
    ...{ pipeline: of, user: `${of}/deploy`, wishes: [] },
    plan: { action: 'deploy', made: [], elsewhere: [], removes: { offers: ['vpc'], deploys: ['deploy'] } },
  });
  const remove = (world: OfferWorld, name: string, more: Partial<PipelineSource> = {}): void => {
    pipeline(world, name, [waits('deploy', 2)], more);
    world.pipelines.set(name, { ...world.pipelines.get(name), active: [undeploy(2)] } as never);
  };
  const reason = (by: string) => `vpc is removed, but is used by 1 deploy of other pipelines: ${by}/deploy uses it`;

  test('are no circle if one waits for the other, and that one for a third', async () => {
    const world = new OfferWorld(0);
    const wish = { wishes: [{ from: 'net', offer: 'vpc' }] };
    world.boards.set('net', used('shop'));
    world.boards.set('shop', used('third'));
    pipeline(world, 'third', [], {});
    remove(world, 'net', { offers: [{ name: 'vpc' }] });
    remove(world, 'shop', { ...wish, offers: [{ name: 'vpc' }] });
    expect(await look(world, reason('shop'), removal('net') as object)).toBe(reason('shop'));
  });

  test('are a circle if they use offers of each other, even if no file has the wishes any more', async () => {
    const world = new OfferWorld(0);
    world.boards.set('net', used('shop'));
    world.boards.set('shop', used('net'));
    remove(world, 'net');
    remove(world, 'shop');
    expect(await look(world, reason('shop'), removal('net') as object)).toMatchObject({
      reason: `${reason('shop')}; these deploys wait for each other: net/deploy → shop/deploy → net/deploy; to break it, type conveyor override-offer net/1/deploy --reason …`,
    });
  });
});

/** A chain of pipelines, each of which waits for the next; the last one waits for the first. */
function givenLong(length: number): OfferWorld {
  const world = new OfferWorld(0);
  for (let nth = 0; nth < length; nth += 1)
    pipeline(world, nth === 0 ? 'auth' : nth === 1 ? 'registry' : `p${nth}`, [waits('deploy')], {
      offers: [{ name: 'vpc' }],
      wishes: [{ from: ['auth', 'registry'][(nth + 1) % length] ?? `p${(nth + 1) % length}`, offer: 'vpc' }],
    });
  return world;
}

test('circles of at most 64 deploys are followed', async () => {
  expect(await look(givenLong(64), UNMADE)).toMatchObject({ kind: 'waiting' });
  expect(await look(givenLong(65), UNMADE)).toBe(UNMADE);
});
