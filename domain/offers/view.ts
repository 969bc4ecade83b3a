import type { OfferSpec } from '../spec/offers';
import type { OfferView, WishView } from '../views';
import { listUsers, type Offer, type OfferBoard } from './board';
import type { GrantedOffer, Wish } from './judge';

/** The offers of a pipeline as people see them: those that are made, and those of its file that are not made yet. */
export function listOffers(board: OfferBoard | null, declared: readonly OfferSpec[] = []): OfferView[] {
  const made = board?.offers ?? [];
  const unmade = declared.filter(({ name }) => !made.some((offer) => offer.name === name));
  return [
    ...made.map((offer) => viewOffer(board, offer)),
    ...unmade.map(({ name, version }): OfferView => ({
      ...{ name, version: version ?? null, state: 'unmade', seq: null, since: null, release: null, users: [] },
    })),
  ];
}

function viewOffer(board: OfferBoard | null, { name, version, seq, since, release, withdrawing }: Offer): OfferView {
  const users = board ? listUsers(board, name) : [];
  return {
    ...{ name, version: version ?? null, seq, since, release },
    state: withdrawing ? 'withdrawing' : 'made',
    users: users.map(({ user, pins }) => {
      const uses = pins.flatMap((pin) => pin.uses.filter(({ offer }) => offer === name));
      return { user, behind: uses.some((use) => use.seq < seq) };
    }),
  };
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
