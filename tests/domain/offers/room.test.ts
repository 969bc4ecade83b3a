import { OFFER_LIMITS } from '../../../domain/limits';
import { declareOffers, makeOffers, NO_OFFERS, pinOffers, type OfferBoard } from '../../../domain/offers/board';
import { countBytes } from '../../../domain/offers/packedBoard';
import { fitOffers, whyNoRoom } from '../../../domain/offers/room';

const AT = '2026-11-23T17:00:00.000Z';
const offer = (name: string, bytes = 7_000) => ({ name, value: { text: 'x'.repeat(bytes) }, to: ['*'] });
const message = (release: number, ...made: ReturnType<typeof offer>[]) => ({
  ...{ release, action: 'deploy', elsewhere: [], made },
  declared: made.map(({ name }) => name),
});
const make = (board: OfferBoard, ...given: Parameters<typeof message>): OfferBoard => {
  const wanted = message(...given);
  const declared = declareOffers(board, wanted.declared);
  return makeOffers(declared, fitOffers(declared, wanted), AT);
};

/** Each release renames its offer, and each earlier one is withdrawn but used. */
function fill(): OfferBoard {
  let board = NO_OFFERS;
  for (let release = 1; countBytes(board) + 7_500 <= OFFER_LIMITS.made.max; release += 1) {
    board = make(board, release, offer(`offer-${release}`));
    const { seq } = board;
    board = pinOffers(board, {
      ...{ user: `team-${release}/deploy`, release: 1 },
      uses: [{ offer: `offer-${release}`, seq, paths: [] }],
    });
  }
  return board;
}
const full = fill();
const next = full.offers.length + 1;

test('offers grow up to their limit, beyond which a deploy waits for users of the withdrawn ones', () => {
  const declared = declareOffers(full, ['small', 'large']);
  expect(whyNoRoom(declared, message(next, offer('small', 10)))).toBeUndefined();
  expect(whyNoRoom(declared, message(next, offer('large', 8_000)))).toBe(
    'its offers have no room: at most 1024 kB, with their users and offers that are withdrawn but used',
  );
});

test('a rollback makes the offers that have room, and the others are not made', () => {
  const after = make(full, next, offer('small', 10), offer('large', 8_000));
  expect(countBytes(after)).toBeLessThanOrEqual(OFFER_LIMITS.made.max);
  expect(after.offers.map(({ name }) => name).filter((name) => !name.startsWith('offer'))).toEqual(['small']);
  const last = full.offers.at(-1)?.name ?? '';
  const filler = offer('filler', OFFER_LIMITS.made.max - countBytes(full) - 300);
  const grown = make(full, next, filler, offer(last, 8_000));
  expect(grown.offers.find(({ name }) => name === last)).toMatchObject({ name: last, notMadeBy: { release: next } });
});
