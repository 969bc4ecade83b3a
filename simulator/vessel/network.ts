import { VESSEL_LIMITS } from '../../domain/limits';
import { hasBit } from '../../configerator/domain/vessel/bits';
import { isOffered, recordServedPiece } from '../../configerator/domain/vessel/offer';
import type { Sender } from './host';

/** The result of a request for a piece, and its time. */
export interface Delivery {
  readonly at: number;
  readonly outcome: 'busy' | 'failed' | 'sent';
  /** The digest of the data that was sent. */
  readonly digest: number;
  /** Whether the sender works on it until then. */
  readonly isSending: boolean;
}

/** One way, by distance: within a rack, a region, and between regions. */
const LATENCY_MS = [0.1, 0.5, 40] as const;
/** How long a host waits for an answer, and for a piece, from a silent sender. */
const [ANSWER_MS, PIECE_MS] = [3000, 20_000];

/** The digest of a piece as it was published; a liar's data has another. */
export const digestOfPiece = (piece: number): number => piece + 1;

type Place = Pick<Sender, 'region' | 'rack'>;

const roundTrip = (one: Place, other: Place): number =>
  2 * LATENCY_MS[one.region !== other.region ? 2 : one.rack === other.rack ? 0 : 1];

/** When a host that is asked for its list of pieces answers, and whether it does. */
export function answerAt(from: Place, to: Sender, now: number): { readonly at: number; readonly isThere: boolean } {
  const at = now + roundTrip(from, to);
  return to.goneAt > at ? { at, isThere: true } : { at: now + ANSWER_MS, isThere: false };
}

/** Requests a piece from a sender, which sends one after the other as fast as it can. */
export function request(from: Place, to: Sender, piece: number, bytes: number, now: number): Delivery {
  const trip = roundTrip(from, to);
  const failed = { at: now + PIECE_MS, outcome: 'failed', digest: 0, isSending: false } as const;
  if (to.goneAt <= now + trip) return failed;
  if (to.sending >= VESSEL_LIMITS.uploads.max || !gives(to, piece, now))
    return { at: now + trip, outcome: 'busy', digest: 0, isSending: false };
  to.sending += 1;
  to.served?.set(piece, recordServedPiece(to.served.get(piece), now));
  to.freeAt = Math.max(now, to.freeAt) + (bytes / to.upload) * 1000;
  const at = to.freeAt + trip;
  if (to.goneAt <= at || at > now + PIECE_MS) return { ...failed, isSending: true };
  return { at, outcome: 'sent', digest: to.isLiar ? -1 : digestOfPiece(piece), isSending: true };
}

const gives = ({ served, have }: Sender, piece: number, now: number): boolean =>
  served ? isOffered(served.get(piece), now) : hasBit(have, piece);
