import fc from 'fast-check';
import {
  makeOffers,
  NO_OFFERS,
  pinOffers,
  type OfferBoard,
  type OfferUser,
  type Pin,
  type Use,
} from '../../../domain/offers/board';
import { countBytes, packBoard, unpackBoard } from '../../../domain/offers/packedBoard';
import { refusePin } from '../../../domain/offers/pinRefusal';
import type { ValueSchema } from '../../../domain/offers/schema';
import { OFFER_LIMITS } from '../../../domain/limits';
import { jsonBytes } from '../../../domain/size';

const AT = '2026-11-23T17:00:00.000Z';
const offered = makeOffers(
  NO_OFFERS,
  {
    ...{ release: 1, action: 'deploy', declared: ['vpc'] },
    made: [{ name: 'vpc', version: '1.0.0', value: { id: 'ü' }, to: ['*'] }],
  },
  AT,
);
const use = (more: Partial<Use> = {}): Use => ({ offer: 'vpc', seq: 1, version: '^1', paths: ['id'], ...more });
const withUsers = (users: readonly OfferUser[]): OfferBoard => ({
  ...offered,
  users: [...users].sort((a, b) => (a.user < b.user ? -1 : 1)),
});

/** One for each field, so that a new field is packed, too. */
type Fields<T> = { readonly [F in keyof Required<T>]: fc.Arbitrary<T[F]> };
const whole = <T>(fields: Fields<T>, requiredKeys: readonly (keyof T)[]): fc.Arbitrary<T> =>
  fc.record(fields, { requiredKeys: [...requiredKeys] }) as unknown as fc.Arbitrary<T>;

const schemas: fc.Arbitrary<ValueSchema> = fc.constantFrom(
  { type: 'object' },
  { type: 'array', items: { type: 'string' } },
);
const uses = whole<Use>(
  {
    offer: fc.constantFrom('vpc', 'dns'),
    seq: fc.nat(20),
    version: fc.constantFrom('^1', '≥2'),
    paths: fc.subarray(['id', 'net.size']),
    schema: schemas,
    undeploys: fc.constantFrom(true as const),
  },
  ['offer', 'seq', 'paths'],
);
const pins = whole<Pin>({ release: fc.nat(2_000), place: fc.nat(2_000), uses: fc.array(uses, { maxLength: 3 }) }, [
  'release',
  'uses',
]);
const users = whole<OfferUser>(
  { user: fc.nat(1_000).map((n) => `team-${n}/deploy`), pins: fc.array(pins, { maxLength: 3 }) },
  ['user', 'pins'],
);

test('a board is the same after it was packed and unpacked, and its size is that of the packed one', () => {
  fc.assert(
    fc.property(fc.array(users, { maxLength: 30 }), (all) => {
      const board = withUsers(all);
      const packed = JSON.parse(JSON.stringify(packBoard(board))) as ReturnType<typeof packBoard>;
      expect(unpackBoard(packed)).toEqual(board);
      expect(countBytes(board)).toBe(jsonBytes(packed));
      // Also if equal uses are one object.
      expect(countBytes(unpackBoard(packed))).toBe(jsonBytes(packed));
    }),
  );
});

test('a board that was carried before boards were packed is read as it is', () => {
  const board = pinOffers(offered, { user: 'auth/deploy', release: 3, uses: [use()] });
  expect(unpackBoard(board)).toEqual(board);
});

const many = (count: number, releases: readonly number[], schema?: (n: number) => ValueSchema): OfferBoard =>
  withUsers(
    Array.from({ length: count }, (_, n) => ({
      user: `team-${n}/deploy`,
      pins: releases.map((release) => ({ release, uses: [use(schema ? { schema: schema(n) } : {})] })),
    })),
  );

test('as many deploys as the limit allows use an offer, all of them with two versions at once', () => {
  const full = many(OFFER_LIMITS.users.max, [141, 142]);
  expect(countBytes(full)).toBeLessThan(OFFER_LIMITS.board.max);
  expect(refusePin(full, { user: 'team-7/deploy', release: 143, uses: [use()] })).toBeUndefined();
  expect(refusePin(full, { user: 'other/deploy', release: 1, uses: [use()] })).toBe('full');
  expect(refusePin(many(OFFER_LIMITS.users.max - 1, [141]), { user: 'other/deploy', release: 1, uses: [use()] })).toBe(
    undefined,
  );
});

/** About two kilobytes, the largest schema of a wish. */
const long = (n: number): ValueSchema => ({
  type: 'object',
  required: Array.from({ length: 200 }, (_, at) => `key${at}n${n}`),
});

test('users with a long schema of their own are fewer, and a deploy with a schema that is known still has room', () => {
  const each = countBytes(many(20, [1], long)) - countBytes(many(10, [1], long));
  let room = Math.floor((10 * OFFER_LIMITS.board.max) / each);
  while (countBytes(many(room, [1], long)) > OFFER_LIMITS.board.max - 100) room -= 1;
  expect(room).toBeGreaterThan(100);
  const full = many(room, [1], long);
  const asks = (n: number) => refusePin(full, { user: 'other/deploy', release: 1, uses: [use({ schema: long(n) })] });
  expect([asks(9_999), asks(3)]).toEqual(['full', undefined]);
});

test('deploys that wish alike share one schema in memory, as it was pinned and as it was carried', () => {
  const asked = (n: number, seq: number) => ({
    ...{ user: `team-${n}/deploy`, release: 1, uses: [use({ seq, schema: long(0) })] },
  });
  const pinned = pinOffers(pinOffers(pinOffers(offered, asked(1, 1)), asked(2, 1)), asked(3, 2));
  for (const board of [pinned, unpackBoard(packBoard(pinned))]) {
    const found = board.users.flatMap((one) => one.pins.flatMap((pin) => pin.uses));
    expect(found.map(({ seq }) => seq)).toEqual([1, 1, 2]);
    expect(new Set(found.map(({ schema }) => schema)).size).toBe(1);
  }
});
