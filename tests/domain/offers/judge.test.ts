import {
  beginChange,
  makeOffers,
  NO_OFFERS,
  pinOffers,
  type Offer,
  type OfferBoard,
} from '../../../domain/offers/board';
import { OFFER_LIMITS } from '../../../domain/limits';
import {
  announceChange,
  cutUnfit,
  grantAnyway,
  judgeWishes,
  listNarrowed,
  listUnfit,
  planChange,
  whyUnfit,
  type Wish,
} from '../../../domain/offers/judge';
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
  [
    'the release that runs does not make it',
    boardWith({ ...vpc, notMadeBy: { release: 10 } }),
    {},
    'registry does not offer vpc at present: its release 10 does not make it',
  ],
  ['it is for others', boardWith({ ...vpc, to: ['web-*'] }), {}, 'registry does not offer vpc to auth'],
  ['its version is another', boardWith(vpc), { version: '^1' }, 'registry offers vpc 2.3.0, but the wish is for ^1'],
  [
    'it has no part of this name',
    boardWith(vpc),
    { paths: ['net.size', 'net.name'] },
    'vpc 2.3.0 of registry has no net.name',
  ],
  [
    'it has changed since the release was made for a change of it',
    boardWith(vpc),
    { change: '2.3.0-20261123T165900000' },
    'registry offers vpc as 2.3.0-20261123T170000000, but this release brings 2.3.0-20261123T165900000',
  ],
  [
    'a part of it has another type',
    boardWith(vpc),
    { schema: { type: 'object', properties: { id: { type: 'integer' } } } },
    'vpc 2.3.0 of registry does not fit the wish: id is a string, not an integer',
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

  test('lists all users that do not fit, of each offer, and begins without them only if a person says so', () => {
    const dns = { ...vpc, name: 'dns' };
    const both = pinOffers(
      { ...used, offers: [vpc, dns] },
      {
        ...{ user: 'shop/deploy', release: 1 },
        uses: ['vpc', 'dns'].map((offer) => ({ offer, seq: 4, version: '^2.1', paths: [] })),
      },
    );
    const change = plan({ version: '3.0.0' });
    expect(listUnfit(both, change, isInRange)).toEqual([
      { offer: 'vpc', user: 'auth/deploy', why: 'wishes for ^2' },
      { offer: 'vpc', user: 'shop/deploy', why: 'wishes for ^2.1' },
      { offer: 'dns', user: 'shop/deploy', why: 'wishes for ^2.1' },
    ]);
    expect(planChange(both, change, { release: 10 }, isInRange)).toBe('changed');
    const begun = planChange(both, change, { release: 10, override: true }, isInRange);
    expect(begun).toEqual({ release: 10, action: 'deploy', offers: ['vpc', 'dns'], rev: both.rev });
  });
  test('names as many of these users as an answer carries, and counts the others', () => {
    const { unfit, unfitWhy } = OFFER_LIMITS;
    const all = (count: number) =>
      Array.from({ length: count }, (_, n) => ({ offer: 'vpc', user: `a${n}/deploy`, why: 'x'.repeat(unfitWhy.max) }));
    expect(cutUnfit(all(unfit.max))).toEqual({ users: all(unfit.max), more: 0 });
    expect(cutUnfit(all(unfit.max + 1))).toEqual({ users: all(unfit.max), more: 1 });
    const [long] = cutUnfit([{ offer: 'vpc', user: 'a/deploy', why: 'x'.repeat(unfitWhy.max + 1) }]).users;
    expect(long?.why.length).toBeLessThanOrEqual(unfitWhy.max);
  });
  test('waits for users that its version does not fit', () =>
    expect(changed({ version: '3.0.0' })).toBe(
      'vpc 3.0.0 does not fit 1 deploy of other pipelines: auth/deploy wishes for ^2',
    ));
  test('waits for users of a part that it removes', () =>
    expect(changed({ value: { name: 'n' } })).toBe(
      'vpc 2.3.0 does not fit 1 deploy of other pipelines: auth/deploy uses id',
    ));
  test('waits for users of another type', () => {
    const typed = pinOffers(boardWith(vpc), {
      user: 'auth/deploy',
      release: 3,
      uses: [{ offer: 'vpc', seq: 4, paths: [], schema: { type: 'object', required: ['id'] } }],
    });
    expect(whyUnfit(typed, plan({ value: {} }), isInRange)).toBe(
      'vpc 2.3.0 does not fit 1 deploy of other pipelines: auth/deploy wishes for another type: id is missing',
    );
  });
  test('does not wait for a user that the present value does not fit either, unless it removes the offer', () => {
    const misfit = pinOffers(boardWith(vpc), {
      user: 'auth/deploy',
      release: 3,
      uses: [{ offer: 'vpc', seq: 4, version: '^9', paths: [] }],
      anyway: true,
    });
    expect(whyUnfit(misfit, plan({ version: '2.4.0' }), isInRange)).toBeUndefined();
    expect(whyUnfit(misfit, plan(), isInRange)).toMatch(/^vpc is removed, but is used by/);
  });
  test('does not wait again for users of an offer that the release that runs has ceased to make, unless it removes the units', () => {
    const dropped = makeOffers(used, { release: 10, action: 'deploy', made: [], declared: ['vpc'], elsewhere: [] }, '');
    expect(dropped.offers).toMatchObject([{ notMadeBy: { release: 10 } }]);
    expect(whyUnfit(dropped, plan(), isInRange)).toBeUndefined();
    expect(whyUnfit(dropped, plan({ version: '3.0.0' }), isInRange)).toMatch(/auth\/deploy wishes for \^2$/);
    const removal = { ...plan(), removes: { offers: ['vpc'], deploys: ['deploy'] } };
    expect(whyUnfit(dropped, removal, isInRange)).toMatch(/^vpc is removed, but is used by/);
  });
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

  test('is announced if it may not fit new users: another version, other parts or types, or no offer at all', () => {
    const narrowed = (...made: readonly object[]) => listNarrowed(used, plan(...made));
    expect([
      narrowed({ version: '2.4.0' }),
      narrowed({ value: { id: 'x' } }),
      narrowed({ value: { id: 'x', net: { size: 1.5 } } }),
      narrowed({ value: { id: 'x', net: { size: 24, more: 1 } } }),
      narrowed(),
    ]).toEqual(Array.from({ length: 5 }, () => ['vpc']));
    expect(narrowed({ value: { id: 'vpc-8', net: { size: 8 } } })).toEqual([]);
    expect(listNarrowed(null, plan({}))).toEqual([]);
  });

  test('that an undeploy makes is announced while users are there, and says that the offer is removed', () => {
    const removal = { ...plan(), made: [], removes: { offers: ['vpc'], deploys: ['deploy'] } };
    const change = announceChange(used, removal, { release: 10 });
    expect(change).toEqual({ release: 10, action: 'deploy', offers: ['vpc'], rev: used.rev, removes: true });
    expect(planChange(used, removal, { release: 10 }, isInRange)).toBe('changed');
    expect(judge([wish()], beginChange(used, change!))).toMatchObject({
      reason: 'registry is removing vpc with release 10',
    });
  });

  test('is not announced for a part that no file can name, since its key has a dot', () => {
    const value = { 'a.b': 1, '': 2, id: 'vpc-7' };
    expect(listNarrowed(boardWith({ ...vpc, value }), plan({ value }))).toEqual([]);
  });
});
