import { joinWords, plural } from '../text';
import { listUsers, parseUser, type Offer, type OfferBoard } from './board';

/** A deploy of another pipeline, and an offer that it uses and that is withdrawn. */
export interface Withdrawal {
  readonly user: string;
  readonly offer: string;
}

/** The users whose pipelines are to be undeployed, with each offer of theirs that is withdrawn, or removed with its deploy. */
export function listWithdrawals(board: OfferBoard): Withdrawal[] {
  const leaves = ({ name, withdrawing }: Offer): boolean =>
    withdrawing === true || board.changes.some(({ offers, removes }) => removes === true && offers.includes(name));
  const leaving = new Set(board.offers.filter(leaves).map(({ name }) => name));
  if (leaving.size === 0) return [];
  return board.users.flatMap(({ user, pins }) => {
    const uses = pins.flatMap((pin) => pin.uses.filter(({ offer, undeploys }) => undeploys && leaving.has(offer)));
    return [...new Set(uses.map(({ offer }) => offer))].map((offer) => ({ user, offer }));
  });
}

/** The withdrawals of which the pipelines of users were notified. */
export type Notified = ReadonlySet<string>;

/** By offer: the places of its users in the list of the board, since their names take more room. */
export type PackedNotified = Readonly<Record<string, readonly number[]>>;

const formatWithdrawal = ({ user, offer }: Withdrawal): string => `${user} ${offer}`;

/**
 * The next notices to send, and the withdrawals whose users know after that. One that is over is forgotten, since the offer may be withdrawn again.
 * @param most thousands of users may be notified, and Temporal refuses so many messages at once
 */
export function planNotices(
  told: Notified,
  withdrawals: readonly Withdrawal[],
  most: number,
): { readonly told: Notified; readonly notices: readonly Withdrawal[] } {
  const notices: Withdrawal[] = [];
  const after = new Set<string>();
  for (const withdrawal of withdrawals) {
    const key = formatWithdrawal(withdrawal);
    if (!told.has(key)) {
      if (notices.length >= most) continue;
      notices.push(withdrawal);
    }
    after.add(key);
  }
  return { told: after, notices };
}

export function packNotified({ users }: Pick<OfferBoard, 'users'>, told: Notified): PackedNotified {
  const places = new Map(users.map(({ user }, place) => [user, place]));
  const packed: Record<string, number[]> = {};
  for (const key of told) {
    const [user = '', offer = ''] = key.split(' ');
    const place = places.get(user);
    if (place !== undefined) (packed[offer] ??= []).push(place);
  }
  return packed;
}

export const unpackNotified = ({ users }: Pick<OfferBoard, 'users'>, packed: PackedNotified): Notified =>
  new Set(
    Object.entries(packed).flatMap(([offer, places]) =>
      places.flatMap((place) => {
        const user = users[place]?.user;
        return user === undefined ? [] : [formatWithdrawal({ user, offer })];
      }),
    ),
  );

/** The largest number of users, and of pipelines, that a note names. */
const NAMED_IN_NOTE = 10;

/**
 * Offers in use that the next file of their pipeline withdraws, each with its users and the pipelines that are undeployed for it; in words.
 * @param declared the offers of that file
 */
export const noteWithdrawn = (board: OfferBoard | null, declared: readonly string[]): readonly string[] =>
  (board?.offers ?? []).flatMap(({ name, withdrawing }) => {
    const users = board === null || withdrawing || declared.includes(name) ? [] : listUsers(board, name);
    if (users.length === 0) return [];
    const follow = users.filter(({ pins }) =>
      pins.some(({ uses }) => uses.some(({ offer, undeploys }) => offer === name && undeploys)),
    );
    const gone = [...new Set(follow.map(({ user }) => parseUser(user)?.pipeline ?? user))];
    const ends =
      gone.length === 0
        ? ''
        : `; Conveyor now undeploys ${nameSome(gone)}, as the wish says (onWithdraw: undeploy), unless the offer is back in the file before`;
    return [
      `its file withdraws ${name}, which is used by ${plural(users.length, 'deploy')} of other pipelines: ${nameSome(users.map(({ user }) => user))}${ends}`,
    ];
  });

function nameSome(names: readonly string[]): string {
  const more = names.length - NAMED_IN_NOTE;
  return joinWords([...names.slice(0, NAMED_IN_NOTE), ...(more > 0 ? [`${more} more`] : [])], 'and');
}
