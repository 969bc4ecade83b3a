import { NO_OFFERS, pinOffers, type Offer, type OfferBoard } from '../../../domain/offers/board';
import { grantAnyway, judgeWishes, listNarrowed, whyUnfit, type Wish } from '../../../domain/offers/judge';
import { isInRange } from '../../../sdk/versions';

const vpc: Offer = {
  ...{ name: 'vpc', version: '2.3.0', value: { id: 'vpc-7', net: { size: 24 } }, to: ['*'] },
  ...{ seq: 4, release: 9, action: 'deploy', since: '2026-11-23T17:00:00.000Z' },
};
const boardWith = (...offers: readonly Offer[]): OfferBoard => ({ ...NO_OFFERS, seq: 4, offers });
const wish = (more: Partial<Wish> = {}): Wish => ({ from: 'registry', offer: 'vpc', paths: [], ...more });
const judge = (wishes: readonly Wish[], board: OfferBoard | null = boardWith(vpc)) =>
  judgeWishes('auth', wishes, new Map([['registry', board]]), isInRange);

test.each([
  ['there is no offer', null, {}, 'registry has not offered vpc yet'],
  ['there is another offer', boardWith({ ...vpc, name: 'dns' }), {}, 'registry has not offered vpc yet'],
  ['it is withdrawn', boardWith({ ...vpc, withdrawing: true }), {}, 'registry is withdrawing vpc'],
  ['it is for others', boardWith({ ...vpc, to: ['web-*'] }), {}, 'registry does not offer vpc to auth'],
  ['its version is another', boardWith(vpc), { version: '^1' }, 'registry offers vpc 2.3.0, but the wish is for ^1'],
  [
    'it has no part of this name',
    boardWith(vpc),
    { paths: ['net.size', 'net.name'] },
    'vpc 2.3.0 of registry has no net.name',
  ],
] as const)('a wish waits while %s, and says so', (_, board, more, reason) =>
  expect(judge([wish(more)], board)).toMatchObject({ kind: 'waiting', reason, unmet: [{ offer: 'vpc' }] }),
);

test('a version that is wished has to be there', () => {
  const { version: _, ...unversioned } = vpc;
  expect(judge([wish({ version: '^2' })], boardWith(unversioned))).toMatchObject({
    kind: 'waiting',
    reason: 'registry offers vpc without a version, but the wish is for ^2',
  });
});

test('the first of several waiting wishes is named', () =>
  expect(judge([wish(), wish({ offer: 'dns' }), wish({ offer: 'logs' })])).toMatchObject({
    kind: 'waiting',
    unmet: [{ offer: 'dns' }, { offer: 'logs' }],
    reason: 'registry has not offered dns yet; 1 more unsatisfied',
  }));

test('a satisfied wish has the parts that it names, and the number of the offer', () =>
  expect(judge([wish({ version: '^2.1', paths: ['id', 'net.size'] })])).toEqual({
    kind: 'satisfied',
    granted: [
      {
        from: 'registry',
        use: { offer: 'vpc', seq: 4, version: '^2.1', paths: ['id', 'net.size'] },
        version: '2.3.0',
        parts: { id: 'vpc-7', 'net.size': 24 },
      },
    ],
  }));

test('an urgent deploy takes offers as they are, and leaves out unknown ones', () => {
  const boards = new Map([['registry', boardWith({ ...vpc, withdrawing: true })]]);
  expect(grantAnyway('auth', [wish({ version: '^1', paths: ['id'] }), wish({ offer: 'dns' })], boards)).toMatchObject([
    { from: 'registry', parts: { id: 'vpc-7' } },
  ]);
});

describe('a change of an offer', () => {
  const used = pinOffers(boardWith(vpc), {
    user: 'auth/deploy',
    release: 3,
    uses: [{ offer: 'vpc', seq: 4, version: '^2', paths: ['id'] }],
  });
  const plan = (...made: readonly object[]) => ({
    ...{ action: 'deploy', elsewhere: [] },
    made: made.map((more) => ({ ...vpc, ...more })),
  });
  const changed = (more: object) => whyUnfit(used, plan(more), isInRange);

  test('waits for users that its version does not fit', () =>
    expect(changed({ version: '3.0.0' })).toBe(
      'vpc 3.0.0 does not fit 1 deploy of other pipelines: auth/deploy wishes for ^2',
    ));
  test('waits for users of a part that it removes', () =>
    expect(changed({ value: { name: 'n' } })).toBe(
      'vpc 2.3.0 does not fit 1 deploy of other pipelines: auth/deploy uses id',
    ));
  test('does not wait if it fits all users', () => {
    expect(changed({ version: '2.9.0', value: { id: 'vpc-8' } })).toBeUndefined();
    expect(whyUnfit(boardWith(vpc), plan({ version: '3.0.0' }), isInRange)).toBeUndefined();
    expect(whyUnfit(null, plan({}), isInRange)).toBeUndefined();
  });
  test('names a few of many', () => {
    const many = ['a', 'b', 'c', 'd', 'e'].reduce(
      (board, name) =>
        pinOffers(board, {
          user: `${name}/deploy`,
          release: 1,
          uses: [{ offer: 'vpc', seq: 4, version: '^2', paths: [] }],
        }),
      boardWith(vpc),
    );
    expect(whyUnfit(many, plan({ version: '3.0.0' }), isInRange)).toBe(
      'vpc 3.0.0 does not fit 5 deploys of other pipelines: a/deploy wishes for ^2, b/deploy wishes for ^2, c/deploy wishes for ^2 and 2 more',
    );
  });

  test('waits for users of an offer that its deploy removes, not of one that another deploy makes', () => {
    expect(whyUnfit(used, plan(), isInRange)).toBe(
      'vpc is removed, but is used by 1 deploy of other pipelines: auth/deploy wishes for ^2',
    );
    expect(whyUnfit(used, { ...plan(), action: 'other' }, isInRange)).toBeUndefined();
    expect(whyUnfit(used, { ...plan(), elsewhere: ['vpc'] }, isInRange)).toBeUndefined();
  });

  test('is announced if it may not fit new users: another version, a part less, or no offer at all', () => {
    const narrowed = (...made: readonly object[]) => listNarrowed(used, plan(...made));
    expect([narrowed({ version: '2.4.0' }), narrowed({ value: { id: 'x' } }), narrowed()]).toEqual([
      ...[['vpc'], ['vpc'], ['vpc']],
    ]);
    expect(narrowed({ value: { id: 'vpc-8', net: { size: 8, more: 1 } } })).toEqual([]);
    expect(listNarrowed(null, plan({}))).toEqual([]);
  });
});
