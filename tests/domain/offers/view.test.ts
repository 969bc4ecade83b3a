import { NO_OFFERS, pinOffers, type Offer, type OfferBoard } from '../../../domain/offers/board';
import type { Wish } from '../../../domain/offers/judge';
import { listOffers, summarizeOffers, toBoard, viewOffers, viewPresent } from '../../../domain/offers/view';
import { isInRange } from '../../../sdk/versions';
import { specOf } from '../../builders/pipelineWorld';

const made = (name: string, more: Partial<Offer> = {}): Offer => ({
  ...{ name, value: { id: `${name}-7` }, to: ['*'], seq: 2, release: 7, action: 'deploy' },
  ...{ since: '2026-11-23T17:00:00.000Z', ...more },
});
const pin = (user: string, release: number, seq: number) => ({
  ...{ user, release, uses: [{ offer: 'vpc', seq, version: '^2', paths: ['id'] }] },
});
const board: OfferBoard = [pin('auth/deploy', 3, 1), pin('auth/deploy', 4, 2), pin('shop/deploy', 9, 2)].reduce(
  pinOffers,
  {
    ...{ ...NO_OFFERS, seq: 2 },
    offers: [
      made('vpc', { version: '2.0.0', to: ['auth', 'shop'] }),
      made('dns', { withdrawing: true }),
      made('logs', { to: ['shop-*'] }),
    ],
    changes: [{ release: 8, action: 'deploy', offers: ['dns', 'logs'] }],
  },
);
const { offers: declared = [] } = specOf(['deploy'], { offers: [{ name: 'vpc' }, { name: 'bus', version: '1.0.0' }] });

test('the offers of a pipeline have their values, their users with the release and the wish of each pin, and the changes', () => {
  const { offers, changes } = viewOffers('network', board, declared, isInRange);
  expect(offers.map(({ name, state }) => [name, state])).toEqual([
    ['vpc', 'made'],
    ['dns', 'withdrawing'],
    ['logs', 'changing'],
    ['bus', 'unmade'],
  ]);
  expect(offers[0]).toMatchObject({ value: { id: 'vpc-7' }, to: ['auth', 'shop'], release: 7, action: 'deploy' });
  expect(offers[0]?.users).toEqual([
    {
      ...{ user: 'auth/deploy', behind: true },
      pins: [
        { release: 3, seq: 1, range: '^2', parts: ['id'], behind: true },
        { release: 4, seq: 2, range: '^2', parts: ['id'], behind: false },
      ],
    },
    {
      ...{ user: 'shop/deploy', behind: false },
      pins: [{ release: 9, seq: 2, range: '^2', parts: ['id'], behind: false }],
    },
  ]);
  expect(offers[3]).toMatchObject({ version: '1.0.0', value: null, users: [] });
  expect(changes).toEqual([{ release: 8, action: 'deploy', offers: ['dns', 'logs'] }]);
});

test('the status of a pipeline has them without the details', () => {
  expect(listOffers(board, declared, isInRange)[0]).toEqual({
    ...{ name: 'vpc', version: '2.0.0', state: 'made', seq: 2, since: '2026-11-23T17:00:00.000Z', release: 7 },
    users: [
      { user: 'auth/deploy', behind: true },
      { user: 'shop/deploy', behind: false },
    ],
  });
});

describe('a broken offer', () => {
  const withVpc = (more: Partial<Offer>, changes = board.changes): OfferBoard => ({
    ...board,
    changes,
    offers: board.offers.map((offer) => (offer.name === 'vpc' ? { ...offer, ...more } : offer)),
  });
  const rolledBack = withVpc({ version: '1.0.0', seq: 3 });
  const dropped = withVpc({ notMadeBy: { release: 8 } });

  test.each([
    ['has a version that they do not wish for', rolledBack, 'wishes for ^2'],
    ['is not made by the release that runs', dropped, 'release 8 does not make it'],
  ])('says which users are at risk, and why: it %s', (_title, now, risk) => {
    const [offer] = listOffers(now, declared, isInRange);
    expect(offer).toMatchObject({
      state: 'broken',
      users: [
        { user: 'auth/deploy', risk },
        { user: 'shop/deploy', risk },
      ],
    });
    expect(viewOffers('network', now, declared, isInRange).offers[0]).toMatchObject({
      state: 'broken',
      users: [{ risk }, {}],
    });
    expect(summarizeOffers('network', now, isInRange)[0]).toMatchObject({ state: 'broken', users: 2, atRisk: 2 });
  });

  test('is broken whatever else is under way, and new deploys wait for the right reason', () => {
    const both = withVpc({ version: '1.0.0', withdrawing: true }, [{ release: 9, action: 'deploy', offers: ['vpc'] }]);
    const seen = viewOffers('network', both, declared, isInRange);
    expect(seen.offers[0]).toMatchObject({ state: 'broken', withdrawing: true });
    const why = (now: OfferBoard) =>
      viewPresent(
        'web',
        [{ from: 'network', offer: 'vpc', paths: [] }],
        new Map([
          [
            'network',
            toBoard(
              viewOffers(
                'network',
                { ...now, offers: now.offers.map((one) => ({ ...one, to: ['*'] })) },
                declared,
                isInRange,
              ),
            ),
          ],
        ]),
        isInRange,
      )[0]?.why;
    expect(why(both)).toBe('network is withdrawing vpc');
    expect(why(dropped)).toBe('network does not offer vpc at present: its release 8 does not make it');
  });

  test('is none without users: then it is not made', () => {
    const unused = { ...dropped, users: [] };
    expect(listOffers(unused, declared, isInRange)[0]).toMatchObject({ state: 'unmade', notMadeBy: 8, users: [] });
    expect(summarizeOffers('network', unused, isInRange)[0]).not.toHaveProperty('atRisk');
  });
});

test('a list has the offers that a pipeline may use, each with the number of its users', () => {
  const rows = (to?: string) => summarizeOffers('network', board, isInRange, to).map(({ id, users }) => [id, users]);
  expect(rows()).toEqual([
    ['network/vpc', 2],
    ['network/dns', 0],
    ['network/logs', 0],
  ]);
  expect(rows('shop-eu')).toEqual([
    ['network/dns', 0],
    ['network/logs', 0],
  ]);
});

test('wishes are judged by what people see as they are by the board', () => {
  const seen = new Map([['network', toBoard(viewOffers('network', board, declared, isInRange))]]);
  const kept = new Map([['network', board]]);
  const wish = (offer: string, more: Partial<Wish> = {}): Wish => ({ from: 'network', offer, paths: [], ...more });
  const wishes = [
    wish('vpc', { version: '^2', paths: ['id'] }),
    ...[wish('vpc', { version: '^3' }), wish('dns'), wish('logs'), wish('bus'), { ...wish('a'), from: 'away' }],
  ];
  const present = viewPresent('shop', wishes, seen, isInRange);
  expect(present).toEqual(viewPresent('shop', wishes, kept, isInRange));
  expect(present[0]).toEqual({
    ...{ from: 'network', offer: 'vpc', range: '^2', state: 'satisfied', version: '2.0.0', seq: 2, why: null },
  });
  expect(present.map(({ why }) => why)).toEqual([
    null,
    'network offers vpc 2.0.0, but the wish is for ^3',
    'network is withdrawing dns',
    'network is changing logs with release 8',
    'network has not offered bus yet',
    'away has not offered a yet',
  ]);
  expect(present[1]).toMatchObject({ state: 'waiting', version: null, seq: null });
});
