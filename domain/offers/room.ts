import type { Limit } from '../limits';
import { OFFER_LIMITS } from '../limits';
import { formatBytes } from '../size';
import { makeOffers, pinOffers, type MakeMessage, type OfferBoard, type PinMessage } from './board';
import { countBytes } from './packedBoard';

/** The room of a board: Temporal refuses to carry a larger one from one history to the next. */

/** A pin that makes a board no larger always has room. */
export function hasRoomForPin(board: OfferBoard, asked: PinMessage): boolean {
  const after = pinOffers(board, asked);
  return (
    after.users.length <= Math.max(OFFER_LIMITS.users.max, board.users.length) && fits(board, after, OFFER_LIMITS.board)
  );
}

const hasRoomForOffers = (board: OfferBoard, message: MakeMessage): boolean =>
  fits(board, makeOffers(board, message, UNMADE), OFFER_LIMITS.made);

/** As long as any time. */
const UNMADE = new Date(0).toISOString();

const fits = (before: OfferBoard, after: OfferBoard, { max }: Limit): boolean => {
  const bytes = countBytes(after);
  return bytes <= max || bytes <= countBytes(before);
};

/** Without the last offers that have no room. A deploy waits before its first update for that (`whyNoRoom`), but a rollback does not. */
export function fitOffers(board: OfferBoard, message: MakeMessage): MakeMessage {
  for (let count = message.made.length; count > 0; count -= 1) {
    const some = count === message.made.length ? message : { ...message, made: message.made.slice(0, count) };
    if (hasRoomForOffers(board, some)) return some;
  }
  return { ...message, made: [] };
}

/** Why a deploy must not make its offers now; undefined if it may. Offers that are withdrawn take room until their users are gone. */
export const whyNoRoom = (board: OfferBoard, message: MakeMessage): string | undefined =>
  hasRoomForOffers(board, message)
    ? undefined
    : `its offers have no room: at most ${formatBytes(OFFER_LIMITS.made.max)}, with their users and offers that are withdrawn but used`;
