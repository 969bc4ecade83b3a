import { OFFER_LIMITS } from '../../../domain/limits';
import { makeOffers, NO_OFFERS, pinOffers, type OfferBoard } from '../../../domain/offers/board';
import { describeMove, listExported } from '../../../domain/offers/moved';

const AT = '2026-11-23T17:00:00.000Z';
const made: OfferBoard = makeOffers(
  NO_OFFERS,
  {
    ...{ release: 1, action: 'deploy', declared: ['vpc'] },
    made: [{ name: 'vpc', version: '2.3.0', value: { id: 'vpc-7' }, to: ['*'] }],
  },
  AT,
);
const withUsers = (count: number): OfferBoard =>
  Array.from({ length: count }).reduce<OfferBoard>(
    (board, _, n) =>
      pinOffers(board, {
        ...{ user: `shop-${String(n).padStart(4, '0')}/deploy`, release: 1 },
        uses: [{ offer: 'vpc', seq: 1, paths: [] }],
      }),
    made,
  );
const offer = { name: 'vpc', version: '2.3.0', value: {}, to: ['*'] };
const network = { pipeline: 'network', spec: { offers: [offer] } };
const noted = (moved: Parameters<typeof describeMove>[0], boards: Record<string, OfferBoard | null> = {}) =>
  describeMove(moved, new Map(Object.entries(boards)));

describe('an export', () => {
  test('names the offers and their users, and no values', () => {
    expect(listExported(withUsers(1))).toEqual({ made: ['vpc 2.3.0'], users: ['shop-0000/deploy'], more: 0 });
    expect([listExported(null), listExported(NO_OFFERS)]).toEqual([undefined, undefined]);
  });

  test('counts the users beyond its limit', () => {
    const { max } = OFFER_LIMITS.exported;
    expect(listExported(withUsers(max))).toMatchObject({ users: { length: max }, more: 0 });
    expect(listExported(withUsers(max + 1))).toMatchObject({ users: { length: max }, more: 1 });
  });
});

describe('an import', () => {
  const file = { ...network, offers: { made: ['vpc 2.3.0'], users: ['auth/deploy', 'shop/deploy'], more: 0 } };

  test('says on another Temporal that neither the offers nor their users came along', () =>
    expect(noted(file)).toEqual([
      'its offers are not made here (vpc 2.3.0): deploys that wish for them wait for its next deploy',
      '2 deploys used its offers where the file was written, and no change waits for them here until they deploy again: auth/deploy, shop/deploy',
    ]));

  test('names ten of many users', () => {
    const users = Array.from({ length: 12 }, (_, n) => `shop-${n}/deploy`);
    const [, note] = noted({ ...network, offers: { made: [], users, more: 3 } });
    expect(note).toMatch(/^15 deploys used .*: shop-0\/deploy, .*, shop-9\/deploy and 5 more$/);
  });

  test('has nothing to say where the offers are known', () =>
    expect(noted(file, { network: withUsers(1) })).toEqual([]));

  test('says which pipelines do not know that its own deploys may use their offers', () => {
    const shop = { pipeline: 'shop-0000', spec: {}, uses: { deploy: ['network', 'dns'], gone: [] } };
    expect(noted(shop, { network: withUsers(1), dns: made })).toEqual([
      'shop-0000/deploy may use offers of dns, which do not know it as a user here until it deploys again',
    ]);
    expect(noted({ ...shop, uses: { deploy: ['network'] } }, { network: withUsers(1) })).toEqual([]);
  });
});
