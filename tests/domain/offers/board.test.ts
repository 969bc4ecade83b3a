import fc from 'fast-check';
import {
  beginChange,
  declareOffers,
  endChange,
  endUse,
  isBoardEmpty,
  isChangeMessage,
  isMakeMessage,
  isPinMessage,
  isUnpinMessage,
  listUsers,
  makeOffers,
  NO_OFFERS,
  pinOffers,
  refuseChange,
  reopenBoard,
  unpinOffers,
  type MadeOffer,
  type OfferBoard,
} from '../../../domain/offers/board';
import { listPins } from '../../../domain/offers/judge';
import { refusePin } from '../../../domain/offers/pinRefusal';
import { OFFER_LIMITS } from '../../../domain/limits';

const AT = '2026-11-23T17:00:00.000Z';
const vpc = (more: Partial<MadeOffer> = {}): MadeOffer => ({
  ...{ name: 'vpc', version: '1.0.0', value: { id: 1 }, to: ['*'] },
  ...more,
});
const make = (board: OfferBoard, release: number, made = [vpc()], declared = made.map(({ name }) => name)) =>
  makeOffers(board, { release, action: 'deploy', made, declared }, AT);
const use = (seq: number, offer = 'vpc') => ({ offer, seq, paths: [] });
const pin = (release: number, seq: number, user = 'auth/deploy') => ({ user, release, uses: [use(seq)] });
const unpin = (release: number, runs: 'everywhere' | 'nowhere' | 'somewhere', user = 'auth/deploy') => ({
  ...{ user, release, runs },
});
const change = ({ rev }: OfferBoard, release = 2, action = 'deploy') => ({ release, action, offers: ['vpc'], rev });
const offered = make(NO_OFFERS, 1);

test('a change of an offer raises its number; the same offer again does not', () => {
  expect(offered.offers).toMatchObject([{ name: 'vpc', seq: 1, release: 1 }]);
  const again = make(offered, 2);
  expect(again.offers).toMatchObject([{ seq: 1, release: 2 }]);
  expect(make(again, 3, [vpc({ value: { id: 2 } })]).offers).toMatchObject([{ seq: 2, release: 3 }]);
});

test('a rerun that deployed before a newer release does not keep that one from making its offers', () => {
  const rerun = makeOffers(
    offered,
    { release: 3, place: 1, action: 'deploy', made: [vpc({ value: { id: 3 } })], declared: ['vpc'] },
    AT,
  );
  expect(rerun.offers).toMatchObject([{ value: { id: 3 }, release: 3, place: 1 }]);
  expect(make(rerun, 2, [vpc({ value: { id: 2 } })]).offers).toMatchObject([{ value: { id: 2 }, release: 2 }]);
  const late = make(rerun, 1, [vpc({ value: { id: 9 } })]);
  expect(late.offers).toMatchObject([{ value: { id: 3 } }]);
});

test('an offer that is new in a release is not made by its late message after a rollback of that release', () => {
  const rolledBack = make(offered, 3);
  const late = make(rolledBack, 2, [vpc({ value: { id: 2 } }), vpc({ name: 'dns' })], ['vpc', 'dns']);
  expect(late.offers).toEqual(rolledBack.offers);
  expect(make(rolledBack, 4, [vpc(), vpc({ name: 'dns' })], ['vpc', 'dns']).offers).toHaveLength(2);
});

test('the newest releases of as many deploys are known as the limit says, also after the offers were gone', () => {
  const all = Array.from({ length: OFFER_LIMITS.places.max + 1 }, (_, n) => `deploy-${n}`);
  const board = all.reduce(
    (next, action) => makeOffers(next, { release: 2, action, made: [], declared: [] }, AT),
    NO_OFFERS,
  );
  const known = reopenBoard(board).newest?.map(({ action }) => action);
  expect(known).toEqual(all.slice(1));
});

test('a late message of an older release changes nothing', () => {
  const newer = make(offered, 5, [vpc({ version: '2.0.0' })]);
  expect(make(newer, 4, [vpc({ version: '1.5.0' })])).toEqual(newer);
});

test('a release with an older file makes no offer that its pipeline has removed', () =>
  expect(make(NO_OFFERS, 1, [vpc()], []).offers).toEqual([]));

describe('a deploy whose units are removed', () => {
  const remove = (board: OfferBoard, release: number, action = 'deploy') =>
    makeOffers(
      board,
      { release, action, made: [], declared: ['vpc'], removes: { offers: ['vpc'], deploys: [action] } },
      AT,
    );

  test('takes its offers with it, and those of other deploys stay', () => {
    const two = makeOffers(
      offered,
      { release: 1, action: 'other', made: [vpc({ name: 'dns' })], declared: ['vpc', 'dns'] },
      AT,
    );
    expect(remove(two, 2).offers).toMatchObject([{ name: 'dns' }]);
    expect(isBoardEmpty(remove(offered, 2))).toBe(true);
  });

  test('leaves an offer withdrawing that an emergency still uses, until that ends or the offer is made again', () => {
    const used = remove(pinOffers(offered, pin(3, 1)), 2);
    expect(used.offers).toMatchObject([{ name: 'vpc', withdrawing: true }]);
    expect(endUse(used, 'auth/deploy').offers).toEqual([]);
    expect(make(used, 3).offers[0]).not.toHaveProperty('withdrawing');
  });

  test('makes no offer by the late message of an earlier release, even after all was forgotten but that', () => {
    const left = reopenBoard(remove(offered, 2));
    expect(make(left, 1).offers).toEqual([]);
    expect(make(left, 3).offers).toMatchObject([{ name: 'vpc', release: 3 }]);
  });

  test('takes an offer with it that another deploy made, if the file no longer has that one', () => {
    expect(isBoardEmpty(remove(offered, 2, 'renamed'))).toBe(true);
    const message = { release: 2, action: 'moved', made: [], declared: ['vpc'] };
    const both = { ...message, removes: { offers: ['vpc'], deploys: ['deploy', 'moved'] } };
    expect(makeOffers(offered, both, AT).offers).toMatchObject([{ name: 'vpc', action: 'deploy' }]);
  });

  test('leaves its offers withdrawn if the list of the file changes while users are left', () => {
    const used = remove(pinOffers(offered, pin(3, 1)), 2);
    expect(declareOffers(used, ['vpc', 'dns']).offers).toMatchObject([{ name: 'vpc', withdrawing: true }]);
  });

  test('does not remove the offer of a newer release', () =>
    expect(remove(make(offered, 5), 4).offers).toMatchObject([{ name: 'vpc', release: 5 }]));

  test('ends its change', () => expect(remove(beginChange(offered, change(offered)), 2).changes).toEqual([]));
});

describe('an offer that the release that runs does not make', () => {
  const drop = (board: OfferBoard, release: number, elsewhere: readonly string[] = []) =>
    makeOffers(board, { release, action: 'deploy', made: [], declared: ['vpc'], elsewhere }, AT);
  const used = pinOffers(offered, pin(3, 1));
  const dropped = drop(used, 2);

  test('stays for its users, and no new one comes', () => {
    expect(dropped.offers).toMatchObject([
      { name: 'vpc', seq: 1, release: 1, notMadeBy: { release: 2 }, changedBy: 2 },
    ]);
    expect(dropped.users).toEqual(used.users);
    expect(refusePin(dropped, pin(4, 1, 'web/deploy'))).toBe('changed');
    expect(refusePin(dropped, { ...pin(4, 1, 'web/deploy'), anyway: true })).toBeUndefined();
  });

  test('is offered again by the next release that makes it', () => {
    const again = make(dropped, 3);
    expect(again.offers).toMatchObject([{ seq: 1, release: 3, changedBy: 3 }]);
    expect(again.offers[0]).not.toHaveProperty('notMadeBy');
    expect(refusePin(again, pin(4, 1, 'web/deploy'))).toBeUndefined();
  });

  test('is not offered again by a late message of an earlier release', () => {
    const later = drop(offered, 5);
    expect(make(later, 4).offers).toMatchObject([{ release: 4, notMadeBy: { release: 5 } }]);
    expect(drop(later, 4).offers).toEqual(later.offers);
    expect(drop(make(offered, 6), 5).offers).toMatchObject([{ release: 6, changedBy: 1 }]);
    expect(drop(make(offered, 6), 5).offers[0]).not.toHaveProperty('notMadeBy');
  });

  test('is changed once, however many releases do not make it', () =>
    expect(drop(dropped, 6).offers).toMatchObject([{ notMadeBy: { release: 6 }, changedBy: 2 }]));

  test('is gone with its last user if the file has dropped it, too', () => {
    const withdrawn = declareOffers(dropped, []);
    expect(withdrawn.offers).toMatchObject([{ withdrawing: true, notMadeBy: { release: 2 } }]);
    expect(declareOffers(withdrawn, ['vpc']).offers).toEqual(dropped.offers);
    expect(isBoardEmpty(unpinOffers(withdrawn, unpin(3, 'nowhere')))).toBe(true);
  });

  test('is none that another deploy makes, of the same file or at present', () => {
    expect(drop(used, 2, ['vpc']).offers).toEqual(used.offers);
    const other = { release: 2, action: 'other', made: [], declared: ['vpc'], elsewhere: [] };
    expect(makeOffers(used, other, AT).offers).toEqual(used.offers);
  });

  test('is not known by a message of an earlier version, which does not say what other deploys make', () => {
    const message = { release: 2, action: 'deploy', made: [], declared: ['vpc'] };
    expect(makeOffers(used, message, AT).offers).toEqual(used.offers);
    expect([isMakeMessage(message), isMakeMessage({ ...message, elsewhere: ['vpc'] })]).toEqual([true, true]);
    expect(isMakeMessage({ ...message, elsewhere: [7] })).toBe(false);
  });
});

test('the release that changed an offer last is known, also if later ones make the same value', () => {
  const again = make(offered, 2);
  expect(
    [offered, again, make(again, 3, [vpc({ value: { id: 2 } })])].map(({ offers }) => offers[0]?.changedBy),
  ).toEqual([1, 1, 3]);
  const before: OfferBoard = { ...offered, offers: offered.offers.map(({ changedBy: _, ...kept }) => kept) };
  expect(make(before, 2).offers[0]).not.toHaveProperty('changedBy');
});

test('a pin needs the offer as it is now, for this pipeline, and room', () => {
  expect(refusePin(offered, pin(3, 1))).toBeUndefined();
  expect(refusePin(offered, pin(3, 2))).toBe('changed');
  expect(refusePin(NO_OFFERS, pin(3, 1))).toBe('changed');
  const some = make(NO_OFFERS, 1, [vpc({ to: ['auth-*'] })]);
  expect(refusePin(some, pin(3, 1))).toBe('changed');
  expect(refusePin(some, pin(3, 1, 'auth-eu/deploy'))).toBeUndefined();
  const users = Array.from({ length: OFFER_LIMITS.users.max }, (_, n) => ({
    user: `p${n}/deploy`,
    pins: [{ release: 1, uses: [use(1)] }],
  })).sort((a, b) => (a.user < b.user ? -1 : 1));
  expect(refusePin({ ...offered, users }, pin(3, 1))).toBe('full');
  expect(refusePin({ ...offered, users }, pin(3, 1, 'p7/deploy'))).toBeUndefined();
  expect(refusePin(offered, { ...pin(3, 9), anyway: true })).toBeUndefined();
});

test('a running deploy uses the offers of both versions, an ended one those of the version that runs', () => {
  const before = pinOffers(offered, pin(3, 1));
  const changed = make(before, 2, [vpc({ value: { id: 2 } })]);
  const both = pinOffers(changed, pin(4, 2));
  const releases = (board: OfferBoard) =>
    listUsers(board, 'vpc').flatMap(({ pins }) => pins.map(({ release }) => release));
  expect(releases(both)).toEqual([3, 4]);
  expect(releases(unpinOffers(both, unpin(4, 'everywhere')))).toEqual([4]);
  expect(releases(unpinOffers(both, unpin(4, 'nowhere')))).toEqual([3]);
  expect(releases(unpinOffers(both, unpin(4, 'somewhere')))).toEqual([3, 4]);
});

test('pins of a rerun and of a follow-on are gone once a release that deployed after them has succeeded', () => {
  const pinned = [
    pin(1, 1),
    { ...pin(3, 1), place: 1 },
    { ...pin(4, 1, 'web/deploy'), place: 1 },
    pin(2, 1),
    pin(2, 1, 'web/deploy'),
  ].reduce((board, one) => pinOffers(board, one), offered);
  const after = ['auth/deploy', 'web/deploy'].reduce(
    (board, user) => unpinOffers(board, unpin(2, 'everywhere', user)),
    pinned,
  );
  expect(after.users.map(({ pins }) => pins.map(({ release }) => release))).toEqual([[2], [2]]);
});

test('an unused offer is withdrawn at once, a used one with its last user', () => {
  expect(isBoardEmpty(declareOffers(offered, []))).toBe(true);
  const used = declareOffers(pinOffers(offered, pin(3, 1)), []);
  expect(used.offers).toMatchObject([{ withdrawing: true }]);
  expect(refusePin(used, pin(3, 1, 'other/deploy'))).toBe('changed');
  expect(declareOffers(used, ['vpc']).offers[0]).not.toHaveProperty('withdrawing');
  expect(isBoardEmpty(unpinOffers(used, unpin(3, 'nowhere')))).toBe(true);
});

test('a change that may not fit new users keeps them away until it is made, or given up', () => {
  const changing = beginChange(offered, change(offered));
  expect(refusePin(changing, pin(3, 1))).toBe('changed');
  expect(refusePin(endChange(changing, { release: 2, action: 'deploy' }), pin(3, 1))).toBeUndefined();
  expect(refusePin(make(changing, 2, [vpc({ version: '2.0.0' })]), pin(3, 2))).toBeUndefined();
  expect(refusePin(changing, { ...pin(3, 1), anyway: true })).toBeUndefined();
});

test('a release that changes nothing ends no change of another one, and a rollback ends those before it', () => {
  const changing = beginChange(offered, change(offered, 2));
  expect(endChange(changing, { release: 3, action: 'deploy' })).toEqual(changing);
  expect(endChange(changing, { release: 2, action: 'other' })).toEqual(changing);
  expect(make(changing, 3, []).changes).toEqual([]);
  expect(make(changing, 1, []).changes).toEqual(changing.changes);
});

test('a change is begun only with the users that its release has seen', () => {
  const seen = change(offered);
  expect(refuseChange(offered, seen)).toBeUndefined();
  expect(refuseChange(pinOffers(offered, pin(3, 1)), seen)).toBe('changed');
});

test('a change whose message is late keeps new users away, also after the change of a later release that was reverted', () => {
  const first = beginChange(offered, change(offered, 2));
  const second = beginChange(first, change(first, 3));
  expect(second.changes.map(({ release }) => release)).toEqual([2, 3]);
  const reverted = endChange(second, { release: 3, action: 'deploy' });
  expect(refusePin(reverted, pin(3, 1))).toBe('changed');
  expect(refusePin(make(reverted, 2, [vpc({ version: '2.0.0' })]), pin(3, 2))).toBeUndefined();
});

test('a change is over once a later release has made its offers, unless that was another deploy of other offers', () => {
  const first = beginChange(offered, { ...change(offered, 2, 'other'), offers: ['vpc', 'dns'] });
  const made = makeOffers(first, { release: 3, action: 'deploy', made: [vpc()], declared: ['vpc', 'dns'] }, AT);
  expect(made.changes).toEqual([{ release: 2, action: 'other', offers: ['dns'] }]);
  expect(makeOffers(made, { release: 4, action: 'other', made: [], declared: ['vpc'] }, AT).changes).toEqual([]);
});

test('the file of the pipeline decides, not the list that an older release has read', () => {
  const used = pinOffers(offered, pin(3, 1));
  const removed = declareOffers(used, []);
  const dns = vpc({ name: 'dns' });
  expect(make(removed, 4, [dns], ['vpc', 'dns']).offers).toMatchObject([{ name: 'vpc', seq: 1, withdrawing: true }]);
});

test('an offer that comes back to the file has the value of the last deploy, even if that ended meanwhile', () => {
  const removed = declareOffers(pinOffers(offered, pin(3, 1)), []);
  const made = make(removed, 4, [vpc({ value: { id: 2 } })], []);
  expect(made.offers).toMatchObject([{ seq: 2, withdrawing: true, value: { id: 2 } }]);
  expect(declareOffers(made, ['vpc']).offers).toMatchObject([{ seq: 2, value: { id: 2 } }]);
});

test('a person ends the use by a deploy that is gone', () => {
  const used = declareOffers(pinOffers(offered, pin(3, 1)), []);
  expect(endUse(used, 'other/deploy')).toEqual(used);
  expect(isBoardEmpty(endUse(used, 'auth/deploy'))).toBe(true);
});

/** Everything that may reach the offers of a pipeline, in any order, lost, twice or late. */
const messages = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constant('make' as const),
      release: fc.nat(9),
      names: fc.subarray(['a', 'b', 'c']),
      value: fc.nat(2),
      declared: fc.subarray(['a', 'b', 'c']),
    }),
    fc.record({ kind: fc.constant('declare' as const), declared: fc.subarray(['a', 'b', 'c']) }),
    fc.record({
      kind: fc.constant('pin' as const),
      user: fc.constantFrom('p/d', 'q/d'),
      release: fc.nat(9),
      uses: fc.subarray(['a', 'b', 'c']),
      seq: fc.nat(6),
    }),
    fc.record({
      kind: fc.constant('unpin' as const),
      user: fc.constantFrom('p/d', 'q/d'),
      release: fc.nat(9),
      runs: fc.constantFrom('everywhere' as const, 'nowhere' as const, 'somewhere' as const),
    }),
  ),
  { maxLength: 40 },
);

type Message = typeof messages extends fc.Arbitrary<(infer M)[]> ? M : never;

function apply(board: OfferBoard, message: Message): OfferBoard {
  switch (message.kind) {
    case 'make': {
      const made = message.names.map((name) => vpc({ name, value: { is: message.value } }));
      return makeOffers(board, { release: message.release, action: 'deploy', made, declared: message.declared }, AT);
    }
    case 'declare':
      return declareOffers(board, message.declared);
    case 'pin': {
      const asked = { ...message, uses: message.uses.map((name) => use(message.seq, name)) };
      return refusePin(board, asked) === undefined ? pinOffers(board, asked) : board;
    }
    case 'unpin':
      return unpinOffers(board, message);
  }
}

test('a used offer stays, and a change is never taken for the value before, in any order of messages, lost and repeated ones included', () => {
  fc.assert(
    fc.property(messages, (all) => {
      const seen = new Map<string, string>();
      all.reduce((board, message) => {
        const next = apply(board, message);
        const names = new Set(next.offers.map(({ name }) => name));
        // The board never names an offer that it does not have.
        for (const { pins } of next.users)
          for (const { uses } of pins) for (const { offer } of uses) expect(names).toContain(offer);
        for (const { name, seq, value } of next.offers) {
          const key = `${name}#${seq}`;
          expect(seen.get(key) ?? JSON.stringify(value)).toBe(JSON.stringify(value));
          seen.set(key, JSON.stringify(value));
        }
        expect(apply(next, message)).toEqual(next);
        return next;
      }, NO_OFFERS);
    }),
  );
});

const using = (schema: unknown) => ({
  ...{ user: 'a/b', release: 1 },
  uses: [{ offer: 'vpc', seq: 1, paths: [], schema }],
});
let deep: object = { type: 'array' };
for (let level = 0; level < 200; level += 1) deep = { type: 'array', items: deep };

test('a pin by hand with a schema is taken only if the schema is one', () =>
  expect(
    [using({ type: 'object' }), using(null), using({ type: 'object', required: null }), using(deep)].map(isPinMessage),
  ).toEqual([...[true, false, false, false]]));

test.each([
  null,
  'vpc',
  {},
  { release: 1 },
  { user: 'a/b', release: 1, uses: [{}] },
  { release: -1, made: [], declared: [] },
])('a message by hand of another shape is recognised: %j', (message) =>
  expect([isMakeMessage, isChangeMessage, isPinMessage, isUnpinMessage].map((is) => is(message))).toEqual([
    ...[false, false, false, false],
  ]),
);

test('a rollback of a user to which an offer is no longer given keeps its pin, so that the offer waits for it', () => {
  const used = pinOffers(offered, pin(2, 1));
  const narrowed = make(used, 2, [vpc({ to: ['shop'] })]);
  const [asked] = listPins({ user: 'auth/deploy', release: 3, anyway: true }, [
    { from: 'net', use: use(1), version: '1.0.0', parts: {} },
  ]);
  const back = unpinOffers(pinOffers(narrowed, asked!.pin), unpin(3, 'everywhere'));
  expect(back.users).toMatchObject([{ user: 'auth/deploy', pins: [{ release: 3, uses: [use(1)] }] }]);
  expect(declareOffers(back, []).offers).toMatchObject([{ name: 'vpc', withdrawing: true }]);
  const stranger = pinOffers(narrowed, { ...asked!.pin, user: 'mail/deploy' });
  expect(listUsers(stranger, 'vpc').map(({ user }) => user)).toEqual(['auth/deploy']);
});

test('a rollback of a renamed deploy marks the offers that it made under its earlier name and no longer makes', () => {
  const back = { release: 3, action: 'ship', made: [], declared: ['vpc'], elsewhere: [] };
  expect(makeOffers(offered, { ...back, formerly: 'deploy' }, AT).offers).toMatchObject([
    { notMadeBy: { release: 3 } },
  ]);
  expect(makeOffers(offered, back, AT).offers).toEqual(offered.offers);
});
