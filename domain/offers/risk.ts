import { OFFER_LIMITS } from '../limits';
import { cutText } from '../size';
import type { BrokenUseView } from '../views';
import {
  listUsers,
  parseUser,
  type MadeOffer,
  type Offer,
  type OfferBoard,
  type OfferUser,
  type PinMessage,
} from './board';
import { describeOffer, whyUseUnfit, type RangeTest } from './judge';

/** A rollback or an emergency may bring a value that does not fit a user, or no value. Then the user is at risk, and the offer is broken. */
interface UserRisk {
  readonly user: string;
  /** The newest release of the user that uses the offer. */
  readonly release: number;
  /** `wishes for ^2`, or `release 5 does not make it` */
  readonly why: string;
}

/** The risk of a user of an offer as it is now; undefined if it fits what the newest version of the user wishes for. */
export function findRisk(offer: Offer, { user, pins }: OfferUser, isInRange: RangeTest): UserRisk | undefined {
  const newest = pins.findLast(({ uses }) => uses.some((use) => use.offer === offer.name));
  const use = newest?.uses.find((one) => one.offer === offer.name);
  if (newest === undefined || use === undefined) return undefined;
  const why = offer.notMadeBy
    ? `release ${offer.notMadeBy.release} does not make it`
    : whyUseUnfit(offer, use, isInRange);
  return why === undefined ? undefined : { user, release: newest.release, why };
}

/** The users of an offer that are at risk. */
export const listAtRisk = (board: OfferBoard, offer: Offer, isInRange: RangeTest): UserRisk[] =>
  listUsers(board, offer.name).flatMap((user) => findRisk(offer, user, isInRange) ?? []);

/** The risk of a user as a sentence. @param from the pipeline of the offer */
const describeRisk = (from: string, offer: Offer, { user, why }: UserRisk): string =>
  offer.notMadeBy
    ? `release ${offer.notMadeBy.release} of ${from} does not make ${offer.name}, which ${user} uses`
    : `${describeOffer(offer)} of ${from} does not fit ${user}, which ${why}`;

/** The offers of a pipeline that deploys of another one use although they are broken. */
export const listBrokenFor = (
  pipeline: string,
  from: string,
  board: OfferBoard,
  isInRange: RangeTest,
): BrokenUseView[] =>
  board.offers.flatMap((offer) =>
    listAtRisk(board, offer, isInRange).flatMap((risk) => {
      const user = parseUser(risk.user);
      return user?.pipeline === pipeline
        ? [
            {
              action: user.action,
              release: risk.release,
              from,
              offer: offer.name,
              why: describeRisk(from, offer, risk),
            },
          ]
        : [];
    }),
  );

/** The ranges of its users that the version of an offer is not in. They go with the offer to its workflow, which cannot compare versions. */
export function withOutside(board: OfferBoard | null, offer: MadeOffer, isInRange: RangeTest): MadeOffer {
  const { name, version } = offer;
  const uses = (board?.users ?? []).flatMap(({ pins }) => pins.flatMap((pin) => pin.uses));
  const ranges = new Set(uses.flatMap((use) => (use.offer === name ? (use.version ?? []) : [])));
  const outside = [...ranges].filter((range) => version !== undefined && !isInRange(version, range));
  return outside.length === 0 ? offer : { ...offer, outside: outside.slice(0, OFFER_LIMITS.outside.max) };
}

/** Whether the version of an offer is in a range, as far as its workflow knows. */
export const isInsideKnown =
  ({ outside = [] }: MadeOffer): RangeTest =>
  (_, range) =>
    !outside.includes(range);

/** A pipeline that is to be notified that a deploy has broken offers, and the reason. */
export interface BrokenNews {
  readonly pipeline: string;
  readonly reason: string;
}

/** Pipelines that are to be notified; `more`: the number of those that are not, since there are too many. */
export interface BrokenOffers {
  readonly news: readonly BrokenNews[];
  readonly more: number;
}

/** The pipeline of the offers, and the board before and after one of its releases made them. */
interface MadeChange {
  readonly pipeline: string;
  readonly release: number;
  /** It may have the change already, if this is asked again. */
  readonly before: OfferBoard | null;
  readonly after: OfferBoard | null;
}

const NO_NEWS: BrokenOffers = { news: [], more: 0 };

/** The pipelines whose users a release has put at risk, after its own. A user that was at risk before is no news. */
export function findBroken(change: MadeChange, isInRange: RangeTest): BrokenOffers {
  const { pipeline } = change;
  const risks = listNewRisks(change, isInRange);
  if (risks.length === 0) return NO_NEWS;
  const others = [...new Set(risks.map(({ of }) => of))].filter((name) => name !== pipeline);
  const notified = others.slice(0, OFFER_LIMITS.notified.max);
  const news = [
    { pipeline, reason: describeRisks(risks) },
    ...notified.map((name) => ({ pipeline: name, reason: describeRisks(risks.filter(({ of }) => of === name)) })),
  ];
  return { news, more: others.length - notified.length };
}

/**
 * The pipelines to notify of a deploy that has pinned offers which the release that runs no longer makes, if it is new that the deploy uses them.
 * @param pipeline the one of the offers
 */
export function findBrokenFor(
  pipeline: string,
  board: OfferBoard,
  { user, release }: Pick<PinMessage, 'user' | 'release'>,
  isInRange: RangeTest,
): readonly BrokenNews[] {
  const one = board.users.find((its) => its.user === user);
  const isNew = ({ name }: Offer): boolean =>
    (one?.pins ?? []).every((pin) => pin.release === release || pin.uses.every(({ offer }) => offer !== name));
  const risks = board.offers.flatMap((offer) => {
    const risk = one && offer.notMadeBy && isNew(offer) && findRisk(offer, one, isInRange);
    return risk ? [{ of: parseUser(user)?.pipeline ?? '', sentence: describeRisk(pipeline, offer, risk) }] : [];
  });
  const reason = describeRisks(risks);
  return risks.length === 0
    ? []
    : [pipeline, parseUser(user)?.pipeline ?? ''].map((name) => ({ pipeline: name, reason }));
}

interface NewRisk {
  /** The pipeline of the user. */
  readonly of: string;
  readonly sentence: string;
}

function listNewRisks({ pipeline, release, before, after }: MadeChange, isInRange: RangeTest): NewRisk[] {
  if (after === null) return [];
  const changed = after.offers.filter(({ changedBy }) => changedBy === release);
  return changed.flatMap((offer) => {
    const was = before?.offers.find(({ name, changedBy }) => name === offer.name && changedBy !== release);
    const known = new Set(before && was ? listAtRisk(before, was, isInRange).map(({ user }) => user) : []);
    return listAtRisk(after, offer, isInRange).flatMap((risk) => {
      const of = parseUser(risk.user)?.pipeline;
      return of === undefined || known.has(risk.user) ? [] : [{ of, sentence: describeRisk(pipeline, offer, risk) }];
    });
  });
}

/** The number of users that a notice names, and the length of the sentence about each. */
const [NAMED, SENTENCE_BYTES] = [3, 400];

function describeRisks(risks: readonly NewRisk[]): string {
  const named = risks.slice(0, NAMED).map(({ sentence }) => cutText(sentence, SENTENCE_BYTES));
  const more = risks.length - named.length;
  return [...named, ...(more > 0 ? [`${more} more at risk`] : [])].join('; ');
}
