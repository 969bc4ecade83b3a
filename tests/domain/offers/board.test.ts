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
  refusePin,
  unpinOffers,
  type MadeOffer,
  type OfferBoard,
} from '../../../domain/offers/board';
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

test('a late message of an older release changes nothing', () => {
  const newer = make(offered, 5, [vpc({ version: '2.0.0' })]);
  expect(make(newer, 4, [vpc({ version: '1.5.0' })])).toEqual(newer);
});

test('a release with an older file makes no offer that its pipeline has removed', () =>
  expect(make(NO_OFFERS, 1, [vpc()], [])).toEqual(NO_OFFERS));

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

test('a change of an earlier release is over once another one begins', () => {
  const first = beginChange(offered, change(offered, 2));
  const both = beginChange(first, change(first, 2, 'other'));
  expect(both.changes.map(({ action }) => action)).toEqual(['deploy', 'other']);
  expect(beginChange(both, change(both, 3)).changes).toEqual([{ release: 3, action: 'deploy', offers: ['vpc'] }]);
});

test('the file of the pipeline decides, not the list that an older release has read', () => {
  const used = pinOffers(offered, pin(3, 1));
  const removed = declareOffers(used, []);
  expect(make(removed, 4, [vpc({ value: { id: 2 } })], ['vpc']).offers).toMatchObject([{ seq: 1, withdrawing: true }]);
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
