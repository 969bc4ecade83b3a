import { OFFER_LIMITS } from '../../../domain/limits';
import {
  makeOffers,
  NO_OFFERS,
  pinOffers,
  type MadeOffer,
  type OfferBoard,
  type PinMessage,
  type Use,
} from '../../../domain/offers/board';
import {
  findBroken,
  findBrokenFor,
  findRisk,
  isInsideKnown,
  listBrokenFor,
  withOutside,
} from '../../../domain/offers/risk';
import { isInRange } from '../../../sdk/versions';

const AT = '2026-11-23T17:00:00.000Z';
const vpc = (version: string, more: Partial<MadeOffer> = {}): MadeOffer => ({
  ...{ name: 'vpc', version, value: { id: 'vpc-7' }, to: ['*'] },
  ...more,
});
const make = (board: OfferBoard, release: number, made: readonly MadeOffer[]) =>
  makeOffers(board, { release, action: 'deploy', made, declared: ['vpc', 'dns'], elsewhere: [] }, AT);
const pin = (user: string, release: number, more: Partial<Use> = { version: '^2' }): PinMessage => ({
  ...{ user, release, uses: [{ offer: 'vpc', seq: 1, paths: ['id'], ...more }] },
});
const made = make(NO_OFFERS, 1, [vpc('2.0.0')]);
const used = pinOffers(made, pin('auth/deploy', 3));
const whyOf = (board: OfferBoard) =>
  board.users.map((user) => board.offers[0] && findRisk(board.offers[0], user, isInRange)?.why);

test.each<[string, Partial<Use>, MadeOffer | undefined, string | undefined]>([
  ['the value is what it wishes for', { version: '^2' }, vpc('2.1.0'), undefined],
  ['the version is outside of its range', { version: '^2' }, vpc('1.0.0'), 'wishes for ^2'],
  ['the value lacks a part that it uses', {}, vpc('1.0.0', { value: { name: 'x' } }), 'uses id'],
  [
    'a part has another type',
    { schema: { type: 'object', properties: { id: { type: 'integer' } } } },
    vpc('1.0.0'),
    'wishes for another type: id is a string, not an integer',
  ],
  ['the release that runs does not make it', {}, undefined, 'release 2 does not make it'],
])('a user is at risk only if its offer does not fit it as it is now: %s', (_title, use, now, why) => {
  const board = make(pinOffers(made, pin('auth/deploy', 3, use)), 2, now ? [now] : []);
  expect(whyOf(board)).toEqual([why]);
});

test('the newest version of a user counts, also while its deploy runs', () => {
  const changed = make(used, 2, [vpc('3.0.0')]);
  expect(whyOf(changed)).toEqual(['wishes for ^2']);
  expect(whyOf(pinOffers(changed, pin('auth/deploy', 4, { version: '^3' })))).toEqual([undefined]);
});

test('the pipeline of a user knows which of its deploys is at risk, with which release, and why', () => {
  const both = pinOffers(used, pin('web/deploy', 9, {}));
  const list = (name: string, board: OfferBoard) => listBrokenFor(name, 'network', board, isInRange);
  const rolledBack = make(both, 2, [vpc('1.0.0')]);
  expect(list('auth', rolledBack)).toEqual([
    {
      ...{ action: 'deploy', release: 3, from: 'network', offer: 'vpc' },
      why: 'vpc 1.0.0 of network does not fit auth/deploy, which wishes for ^2',
    },
  ]);
  expect(list('web', rolledBack)).toEqual([]);
  expect(list('web', make(both, 2, []))).toMatchObject([
    { why: 'release 2 of network does not make vpc, which web/deploy uses' },
  ]);
});

describe('a notice of a broken offer', () => {
  const find = (before: OfferBoard | null, after: OfferBoard | null, release = 2) =>
    findBroken({ pipeline: 'network', release, before, after }, isInRange);
  const broken = make(used, 2, [vpc('1.0.0')]);
  const why = 'vpc 1.0.0 of network does not fit auth/deploy, which wishes for ^2';
  const NONE = { news: [], more: 0 };

  test('goes to the owners of both sides if a release puts a user at risk', () => {
    const news = [
      { pipeline: 'network', reason: why },
      { pipeline: 'auth', reason: why },
    ];
    expect(find(used, broken)).toEqual({ news, more: 0 });
    expect(find(used, make(used, 2, [])).news).toMatchObject([
      { pipeline: 'network', reason: 'release 2 of network does not make vpc, which auth/deploy uses' },
      { pipeline: 'auth' },
    ]);
    // Asked again, after the message has arrived.
    expect(find(broken, broken)).toEqual({ news, more: 0 });
  });

  test('is not sent if all users fit, if nothing has changed, and if the offer is gone', () => {
    expect(find(used, make(used, 2, [vpc('2.1.0')]))).toEqual(NONE);
    expect(find(broken, make(broken, 4, [vpc('1.0.0')]), 4)).toEqual(NONE);
    const dropped = make(used, 2, []);
    expect(find(dropped, make(dropped, 4, []), 4)).toEqual(NONE);
    expect(find(used, null)).toEqual(NONE);
  });

  test('is sent if the units of a deploy are removed while its offers are used', () => {
    const removes = { offers: ['vpc'], deploys: ['deploy'] };
    const by = { release: 2, action: 'deploy', made: [], declared: ['vpc'], elsewhere: [] };
    const after = makeOffers(used, { ...by, removes }, AT);
    expect(find(used, after).news).toMatchObject([
      { pipeline: 'network', reason: 'release 2 of network does not make vpc, which auth/deploy uses' },
      { pipeline: 'auth' },
    ]);
    expect(after.offers).toMatchObject([{ name: 'vpc', withdrawing: true }]);
    const again = make(after, 3, [vpc('2.0.0')]);
    expect(again.offers).toEqual([expect.not.objectContaining({ withdrawing: true })]);
    expect(whyOf(again)).toEqual([undefined]);
  });

  test('is sent to both sides for a user that comes after its offer is gone, once', () => {
    const dropped = make(used, 2, []);
    const late = pinOffers(dropped, pin('web/deploy', 9));
    const why = 'release 2 of network does not make vpc, which web/deploy uses';
    expect(findBrokenFor('network', late, { user: 'web/deploy', release: 9 }, isInRange)).toEqual([
      { pipeline: 'network', reason: why },
      { pipeline: 'web', reason: why },
    ]);
    const again = pinOffers(late, pin('web/deploy', 10));
    expect(findBrokenFor('network', again, { user: 'web/deploy', release: 10 }, isInRange)).toEqual([]);
    expect(findBrokenFor('network', used, { user: 'auth/deploy', release: 3 }, isInRange)).toEqual([]);
  });

  test('is not about a user that was at risk before, but about a new one', () => {
    const more = pinOffers(broken, pin('web/deploy', 9, { version: '^1' }));
    expect(find(more, make(more, 4, [vpc('1.1.0')]), 4)).toEqual(NONE);
    expect(find(more, make(more, 4, [vpc('3.0.0')]), 4).news.map(({ pipeline }) => pipeline)).toEqual([
      'network',
      'web',
    ]);
  });

  test('is one for each pipeline, and names the first deploys', () => {
    const users = ['a/d0', 'a/d1', 'b/d0', 'c/d0', 'd/d0'];
    const many = users.reduce((board, user) => pinOffers(board, pin(user, 3)), made);
    const { news } = find(many, make(many, 2, [vpc('1.0.0')]));
    expect(news.map(({ pipeline, reason }) => [pipeline, reason.match(/\w\/d\d/g)?.join(' ')])).toEqual([
      ['network', 'a/d0 a/d1 b/d0'],
      ['a', 'a/d0 a/d1'],
      ...['b', 'c', 'd'].map((name) => [name, `${name}/d0`]),
    ]);
    expect(news[0]?.reason).toMatch(/; 2 more at risk$/);
  });

  test(`goes to at most ${OFFER_LIMITS.notified.max} pipelines of users, and the number of the others is known`, () => {
    const most = OFFER_LIMITS.notified.max;
    const withUsers = (count: number) =>
      Array.from({ length: count }, (_, n) => `p${n}/deploy`).reduce(
        (board, user) => pinOffers(board, pin(user, 3)),
        made,
      );
    const [full, over] = [most, most + 2].map((count) => {
      const many = withUsers(count);
      return find(many, make(many, 2, [vpc('1.0.0')]));
    });
    expect([full?.news.length, full?.more]).toEqual([most + 1, 0]);
    expect([over?.news.length, over?.more]).toEqual([most + 1, 2]);
  });
});

test('the workflow of the offers, which cannot compare versions, knows the ranges that an offer is not in', () => {
  const both = pinOffers(used, pin('web/deploy', 9, { version: '>=1' }));
  const told = withOutside(both, vpc('1.0.0'), isInRange);
  expect(told.outside).toEqual(['^2']);
  const board = make(both, 2, [told]);
  const [offer] = board.offers;
  expect(board.users.map((user) => offer && findRisk(offer, user, isInsideKnown(offer))?.why)).toEqual([
    'wishes for ^2',
    undefined,
  ]);
  expect(withOutside(both, vpc('2.1.0'), isInRange)).toEqual(vpc('2.1.0'));
  expect(withOutside(null, vpc('1.0.0'), isInRange)).toEqual(vpc('1.0.0'));
});

test.each([0, 1])('it knows at most as many ranges as its limit: %d more', (more) => {
  const { max } = OFFER_LIMITS.outside;
  const ranges = Array.from({ length: max + more }, (_, n) => `^${n + 2}`);
  const many = ranges.reduce((board, version, n) => pinOffers(board, pin(`p${n}/deploy`, 3, { version })), made);
  expect(withOutside(many, vpc('1.0.0'), isInRange).outside).toHaveLength(max);
});
