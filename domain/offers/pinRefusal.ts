import { findChange, isOfferForUser, type OfferBoard, type OfferRefusal, type PinMessage } from './board';
import { hasRoomForPin } from './room';

/** Why offers cannot be pinned; undefined if they can. */
export function refusePin(board: OfferBoard, asked: PinMessage): OfferRefusal | undefined {
  const isMoved = asked.uses.some((use) => {
    const made = board.offers.find(({ name }) => name === use.offer);
    const isHeld = made === undefined || made.withdrawing || made.seq !== use.seq || findChange(board, use.offer);
    return isHeld || made.notMadeBy !== undefined || !isOfferForUser(made, asked.user);
  });
  if (isMoved && !asked.anyway) return 'changed';
  return hasRoomForPin(board, asked) ? undefined : 'full';
}
