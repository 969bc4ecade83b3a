import type { OfferSpec } from '../spec/offers';
import { plural } from '../text';
import type {
  OfferDetails,
  OfferSummary,
  OfferUserDetails,
  OfferView,
  PipelineOffers,
  PlannedWish,
  UnfitUsers,
  WishView,
} from '../views';
import { findChange, isOfferFor, listUsers, NO_OFFERS, type Offer, type OfferBoard, type OfferUser } from './board';
import { judgeWishes, type Boards, type GrantedOffer, type RangeTest, type Wish } from './judge';
import { findRisk, listAtRisk } from './risk';

/** The offers of a pipeline as people see them: those that are made, and those of its file that are not made yet. */
export const listOffers = (
  board: OfferBoard | null,
  declared: readonly OfferSpec[],
  isInRange: RangeTest,
): OfferView[] =>
  listDetails(board ?? NO_OFFERS, declared, isInRange).map(
    ({ action: _action, value: _value, to: _to, withdrawing: _withdrawing, users, ...offer }): OfferView => ({
      ...offer,
      users: users.map(({ pins: _pins, ...user }) => user),
    }),
  );

/** As `listOffers`, with all that is known of them. */
export const viewOffers = (
  pipeline: string,
  board: OfferBoard | null,
  declared: readonly OfferSpec[],
  isInRange: RangeTest,
): PipelineOffers => ({
  ...{ id: pipeline, kind: 'offers' },
  offers: listDetails(board ?? NO_OFFERS, declared, isInRange),
  changes: board?.changes ?? [],
});

/** The offers on a board as rows of a list; only those for a pipeline if it is given. */
export const summarizeOffers = (
  pipeline: string,
  board: OfferBoard,
  isInRange: RangeTest,
  to?: string,
): OfferSummary[] =>
  board.offers
    .filter((offer) => to === undefined || isOfferFor(offer, to))
    .map((offer): OfferSummary => {
      const atRisk = listAtRisk(board, offer, isInRange).length;
      return {
        ...{ id: `${pipeline}/${offer.name}`, kind: 'offer', pipeline, name: offer.name },
        ...{ version: offer.version ?? null, state: findState(board, offer, atRisk), since: offer.since },
        ...{ release: offer.release, to: offer.to, users: listUsers(board, offer.name).length },
        ...(atRisk === 0 ? {} : { atRisk }),
      };
    });

/** A board that satisfies the same wishes. Its users are as answers show them: the types that they wish for are unknown. */
export const toBoard = ({ offers, changes }: PipelineOffers): OfferBoard => ({
  ...NO_OFFERS,
  changes,
  users: toUsers(offers),
  offers: offers.flatMap(
    ({ name, version, state, seq, since, release, action, value, to, withdrawing, notMadeBy }): Offer[] =>
      seq === null || since === null || release === null || action === null || value === null
        ? []
        : [
            {
              ...{ name, value, to, seq, since, release, action },
              ...(version === null ? {} : { version }),
              ...(withdrawing || state === 'withdrawing' ? { withdrawing: true } : {}),
              ...(notMadeBy === undefined ? {} : { notMadeBy: { release: notMadeBy } }),
            },
          ],
  ),
});

const toUsers = (offers: PipelineOffers['offers']): OfferUser[] =>
  offers.flatMap(({ name, users }) =>
    users.map(({ user, pins }) => ({
      user,
      pins: pins.map(({ release, seq, range, parts }) => ({
        release,
        uses: [{ offer: name, seq, paths: parts, ...(range === null ? {} : { version: range }) }],
      })),
    })),
  );

function listDetails(board: OfferBoard, declared: readonly OfferSpec[], isInRange: RangeTest): OfferDetails[] {
  const unmade = declared.filter(({ name }) => !board.offers.some((offer) => offer.name === name));
  return [
    ...board.offers.map((offer) => viewOffer(board, offer, isInRange)),
    ...unmade.map(({ name, version, to }): OfferDetails => ({
      ...{ name, version: version ?? null, state: 'unmade', seq: null, since: null, release: null },
      ...{ action: null, value: null, to, users: [] },
    })),
  ];
}

function viewOffer(board: OfferBoard, offer: Offer, isInRange: RangeTest): OfferDetails {
  const users = listUsers(board, offer.name).map((user) => viewUser(offer, user, isInRange));
  const atRisk = users.filter(({ risk }) => risk !== undefined).length;
  return {
    ...{ name: offer.name, version: offer.version ?? null, state: findState(board, offer, atRisk), seq: offer.seq },
    ...{ since: offer.since, release: offer.release, action: offer.action, value: offer.value, to: offer.to },
    ...(offer.withdrawing ? { withdrawing: true } : {}),
    ...(offer.notMadeBy ? { notMadeBy: offer.notMadeBy.release } : {}),
    users,
  };
}

function findState(board: OfferBoard, { name, withdrawing, notMadeBy }: Offer, atRisk: number): OfferSummary['state'] {
  if (atRisk > 0) return 'broken';
  if (withdrawing) return 'withdrawing';
  const change = findChange(board, name);
  if (change) return change.removes ? 'removing' : 'changing';
  return notMadeBy ? 'unmade' : 'made';
}

function viewUser(offer: Offer, user: OfferUser, isInRange: RangeTest): OfferUserDetails {
  const pins = user.pins.flatMap(({ release, uses }) =>
    uses
      .filter((use) => use.offer === offer.name)
      .map(({ seq, version, paths }) => ({
        ...{ release, seq, range: version ?? null, parts: paths, behind: seq < offer.seq },
      })),
  );
  const behind = pins.some((pin) => pin.behind);
  const risk = findRisk(offer, user, isInRange);
  return { user: user.user, behind, ...(risk ? { risk: risk.why } : {}), pins };
}

/** `its offers do not fit 1 deploy of other pipelines: app/deploy wishes for ^1 (place)` */
export function describeBreak({ users, more }: UnfitUsers): string {
  const words = users.map(({ offer, user, why }) => `${user} ${why} (${offer})`);
  const count = plural(users.length + more, 'deploy');
  return `its offers do not fit ${count} of other pipelines: ${words.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** The wishes of a deploy that waits; `unmet`: those that are not satisfied. */
export const viewWaiting = (wishes: readonly Wish[], unmet: readonly Wish[]): WishView[] =>
  wishes.map(({ from, offer, version }) => ({
    ...{ from, offer, range: version ?? null, version: null, seq: null },
    state: unmet.some((one) => one.from === from && one.offer === offer) ? 'waiting' : 'satisfied',
  }));

/** The offers that a deploy uses. */
export const viewGranted = (granted: readonly GrantedOffer[]): WishView[] =>
  granted.map(({ from, use, version }) => ({
    ...{ from, offer: use.offer, range: use.version ?? null, state: 'satisfied', version },
    seq: use.seq,
  }));

/** The wishes of a deploy that has not begun, each with the reason why it would wait. */
export const viewPresent = (
  pipeline: string,
  wishes: readonly Wish[],
  boards: Boards,
  isInRange: RangeTest,
): PlannedWish[] =>
  wishes.flatMap((wish): PlannedWish[] => {
    const answer = judgeWishes(pipeline, [wish], boards, isInRange);
    return answer.kind === 'satisfied'
      ? viewGranted(answer.granted).map((view) => ({ ...view, why: null }))
      : viewWaiting([wish], answer.unmet).map((view) => ({ ...view, why: answer.reason }));
  });
