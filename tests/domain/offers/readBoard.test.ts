import { NO_OFFERS, pinOffers, type Offer, type OfferBoard } from '../../../domain/offers/board';
import { countBytes, packBoard } from '../../../domain/offers/packedBoard';
import { hideUsers, readBoard, readOffered } from '../../../domain/offers/readBoard';
import { OFFER_LIMITS } from '../../../domain/limits';
import { jsonBytes } from '../../../domain/size';

const vpc: Offer = {
  ...{ name: 'vpc', version: '2.3.0', value: { id: 'vpc-7' }, to: ['*'] },
  ...{ seq: 4, release: 9, action: 'deploy', since: '2026-11-23T17:00:00.000Z' },
};
const offered: OfferBoard = { ...NO_OFFERS, seq: 4, offers: [vpc], declared: ['vpc'] };
const board = pinOffers(offered, { user: 'auth/deploy', release: 3, uses: [{ offer: 'vpc', seq: 4, paths: ['id'] }] });

class QueryNotRegisteredError extends Error {
  override readonly name = 'QueryNotRegisteredError';
}

/** A workflow with these queries. */
function answering(known: Readonly<Record<string, unknown>>) {
  const asked: string[] = [];
  const ask = <T>(query: string): Promise<T> => {
    asked.push(query);
    return query in known
      ? Promise.resolve(known[query] as T)
      : Promise.reject(
          new QueryNotRegisteredError(
            `Workflow did not register a handler for ${query}. Registered queries: [${Object.keys(known).join(' ')}]`,
          ),
        );
  };
  return { ask, asked };
}

test('a deploy that wishes for an offer reads nothing of its users', async () => {
  const { ask, asked } = answering({ offers: hideUsers(board) });
  expect(await readOffered(ask)).toEqual({ rev: 1, offers: [vpc], changes: [], declared: ['vpc'], isRoomy: true });
  expect(asked).toEqual(['offers']);
});

test('a worker of an earlier build answers with the whole board', async () => {
  expect(await readOffered(answering({ board }).ask)).toEqual(hideUsers(board));
  expect(await readBoard(answering({ board }).ask)).toEqual(board);
  expect(await readBoard(answering({ board, 'packed-board': packBoard(board) }).ask)).toEqual(board);
});

test('offers whose code never ran are none', async () => {
  expect([await readBoard(answering({}).ask), await readOffered(answering({}).ask)]).toEqual([null, null]);
});

test('offers that do not answer are not taken for none', async () => {
  const ask = () => Promise.reject(new Error('no worker'));
  await expect(readOffered(ask)).rejects.toThrow('no worker');
  await expect(readBoard(ask)).rejects.toThrow('no worker');
});

test('a board counts as roomy only while the largest pin fits', () => {
  const many = (count: number): OfferBoard => ({
    ...offered,
    users: Array.from({ length: count }, (_, n) => ({ user: `team-${n}/deploy`, pins: [] })),
  });
  expect([many(OFFER_LIMITS.users.max - 1), many(OFFER_LIMITS.users.max)].map((one) => hideUsers(one).isRoomy)).toEqual(
    [...[true, false]],
  );
  const large = (bytes: number): OfferBoard => ({ ...offered, offers: [{ ...vpc, value: { id: 'x'.repeat(bytes) } }] });
  const rest = OFFER_LIMITS.board.max - 64 * 1024 - countBytes(large(0));
  expect([large(rest), large(rest + 1)].map((one) => hideUsers(one).isRoomy)).toEqual([true, false]);
});

test('ten thousand users make the answer to a deploy that wishes no larger', () => {
  const users = Array.from({ length: OFFER_LIMITS.users.max - 1 }, (_, n) => ({ user: `team-${n}/deploy`, pins: [] }));
  expect(jsonBytes(hideUsers({ ...board, users }))).toBe(jsonBytes(hideUsers(board)));
});
