import { OFFER_LIMITS, SPEC_LIMITS } from '../limits';
import { hasNoSuchQuery } from '../queryRefusals';
import type { OfferBoard } from './board';
import { countBytes, unpackBoard, type PackedBoard } from './packedBoard';

/** The queries of the workflow of the offers (workflows/offers.ts). */
export const BOARD_QUERIES = { offers: 'offers', packed: 'packed-board', plain: 'board' } as const;

/** What deploys that wish for offers need to know of a board: nothing of its users, of which there may be thousands. */
export interface OfferedBoard extends Pick<OfferBoard, 'rev' | 'offers' | 'changes' | 'declared'> {
  /** Whether it has room for any deploy. If not, it may still have room for some. */
  readonly isRoomy: boolean;
}

export const hideUsers = (board: OfferBoard): OfferedBoard => ({
  ...{ rev: board.rev, offers: board.offers, changes: board.changes },
  ...(board.declared === undefined ? {} : { declared: board.declared }),
  isRoomy: isRoomy(board),
});

/** Everything in a pin is from the file of its pipeline, so it is no larger. */
const isRoomy = (board: OfferBoard): boolean =>
  board.users.length < OFFER_LIMITS.users.max && countBytes(board) + SPEC_LIMITS.spec.max <= OFFER_LIMITS.board.max;

/** Asks the workflow of the offers of a pipeline. */
export type AskOffers = <T>(query: string) => Promise<T>;

/** The offers of a pipeline with their users; null if the code of their workflow never ran. */
export const readBoard = async (ask: AskOffers): Promise<OfferBoard | null> =>
  (await ifKnown(async () => unpackBoard(await ask<PackedBoard>(BOARD_QUERIES.packed)))) ??
  ifKnown(() => ask<OfferBoard>(BOARD_QUERIES.plain));

/** As `readBoard`, without the users. */
export async function readOffered(ask: AskOffers): Promise<OfferedBoard | null> {
  const offered = await ifKnown(() => ask<OfferedBoard>(BOARD_QUERIES.offers));
  if (offered) return offered;
  const board = await readBoard(ask);
  return board && hideUsers(board);
}

/** The answer to a query; null if the workflow has none of this name, as in an earlier build. */
async function ifKnown<T>(asking: () => Promise<T>): Promise<T | null> {
  try {
    return await asking();
  } catch (error) {
    if (hasNoSuchQuery(error)) return null;
    throw error;
  }
}
