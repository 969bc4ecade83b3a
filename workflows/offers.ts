import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  defineUpdate,
  setHandler,
  setWorkflowOptions,
  workflowInfo,
} from '@temporalio/workflow';
import { isText } from '../domain/json';
import { formatMarkdown, list, sections } from '../domain/markdown';
import {
  beginChange,
  declareOffers,
  endChange,
  endUse,
  isBoardEmpty,
  isChangeMessage,
  isDeclared,
  isMakeMessage,
  isEndOfChange,
  isPinMessage,
  isUnpinMessage,
  makeOffers,
  pinOffers,
  refuseChange,
  unpinOffers,
  type ChangeMessage,
  type MakeMessage,
  type OfferBoard,
  type OfferChange,
  type OfferRefusal,
  type PinMessage,
  type UnpinMessage,
} from '../domain/offers/board';
import { describeOffer } from '../domain/offers/judge';
import { packBoard, unpackBoard, type PackedBoard } from '../domain/offers/packedBoard';
import { refusePin } from '../domain/offers/pinRefusal';
import { BOARD_QUERIES, hideUsers, type OfferedBoard } from '../domain/offers/readBoard';
import { findRisk, isInsideKnown } from '../domain/offers/risk';
import { fitOffers } from '../domain/offers/room';
import { listWithdrawals, packNotified, unpackNotified, type PackedNotified } from '../domain/offers/withdrawals';
import { formatTime } from '../domain/text';
import { showDetails } from './details';
import { onSignal } from './inbox';
import { buildVersioningOptions } from './versioning';
import { WithdrawalNotices } from './withdrawalNotices';

export interface OffersOrder {
  /** Not packed if an earlier build has started it. */
  readonly board: OfferBoard | PackedBoard;
  /** The withdrawals that users were notified of; there may be more. */
  readonly told?: PackedNotified;
}

/** From a release, by an activity that starts this workflow if there is none. */
const makeOffersSignal = defineSignal<[MakeMessage]>('make-offers');
/** From the pipeline, after its file has changed. */
export const declareOffersSignal = defineSignal<[readonly string[]]>('declare-offers');
/** From a release: its deploy, which has its turn, is about to change offers; later: it has not changed them. */
const changeOffersUpdate = defineUpdate<void, [ChangeMessage]>('change-offers');
export const endChangeSignal = defineSignal<[Pick<OfferChange, 'release' | 'action'>]>('end-change');
/** From a release of another pipeline: a deploy is about to begin; later: it has ended. */
const pinOffersUpdate = defineUpdate<void, [PinMessage]>('pin-offers');
export const unpinOffersSignal = defineSignal<[UnpinMessage]>('unpin-offers');
/** From the pipeline: a person says that a deploy of another one no longer uses its offers. */
export const endUseSignal = defineSignal<[string]>('end-use');
/** The offers without their users, also after this workflow was ended from outside; … */
const offersQuery = defineQuery<OfferedBoard>(BOARD_QUERIES.offers);
/** … with their users; … */
const packedBoardQuery = defineQuery<PackedBoard>(BOARD_QUERIES.packed);
/** … and as earlier builds read them. */
const boardQuery = defineQuery<OfferBoard>(BOARD_QUERIES.plain);

/**
 * The offers of one pipeline. It runs while there is an offer or a user, and waiting costs it nothing: deploys that wait for an offer query it,
 * which writes no history, and a refused update writes none either. A Temporal cancel request does not end it, since the offers would be forgotten.
 */
export async function offers({ board, told }: OffersOrder): Promise<void> {
  CancellationScope.current().cancelRequested.catch(() => undefined);
  return CancellationScope.nonCancellable(() => keepOffers(unpackBoard(board), told));
}
setWorkflowOptions(buildVersioningOptions('offers'), offers);

async function keepOffers(carried: OfferBoard, told?: PackedNotified): Promise<void> {
  let board = carried;
  // The history before may have ended between two notices.
  let changed = told !== undefined;
  const set = (next: OfferBoard): void => {
    board = next;
    changed = true;
  };
  const make = (message: MakeMessage): void =>
    set(makeOffers(board, fitOffers(board, message), formatTime(Date.now())));
  showDetails(() => describe(board));
  setHandler(offersQuery, () => hideUsers(board));
  setHandler(packedBoardQuery, () => packBoard(board));
  setHandler(boardQuery, () => board);
  onSignal(makeOffersSignal, make, isMakeMessage);
  onSignal(declareOffersSignal, (names) => set(declareOffers(board, names)), isDeclared);
  onSignal(endChangeSignal, (change) => set(endChange(board, change)), isEndOfChange);
  onSignal(endUseSignal, (user) => set(endUse(board, user)), isText);
  onSignal(unpinOffersSignal, (message) => set(unpinOffers(board, message)), isUnpinMessage);
  setHandler(changeOffersUpdate, (message) => set(beginChange(board, message)), {
    validator: (message) => refuse(isChangeMessage(message) ? refuseChange(board, message) : 'changed'),
  });
  setHandler(pinOffersUpdate, (message) => set(pinOffers(board, message)), {
    validator: (message) => refuse(isPinMessage(message) ? refusePin(board, message) : 'changed'),
  });
  const notices = new WithdrawalNotices(unpackNotified(board, told ?? {}), () => {
    changed = true;
  });
  do {
    await condition(() => changed || workflowInfo().continueAsNewSuggested);
    changed = false;
    if (!workflowInfo().continueAsNewSuggested) notices.send(listWithdrawals(board));
    else if (allHandlersFinished()) {
      await notices.delivered();
      await continueAsNew<typeof offers>({ board: packBoard(board), told: packNotified(board, notices.told) });
    }
  } while (!isBoardEmpty(board));
}

function refuse(refusal: OfferRefusal | undefined): void {
  if (refusal) throw ApplicationFailure.nonRetryable(`the offers are ${refusal}`, refusal);
}

function describe({ offers: made, users }: OfferBoard): string {
  return sections(
    list(
      'Offers:',
      made.map(
        (offer) =>
          formatMarkdown`**${describeOffer(offer)}** by release ${String(offer.release)}, since ${offer.since}${offer.notMadeBy ? `; release ${String(offer.notMadeBy.release)} does not make it` : ''}${offer.withdrawing ? '; it is withdrawn once no deploy uses it' : ''}`,
      ),
    ),
    list(
      'Users at risk (release the pipeline with offers that fit them, or change their wishes and release them):',
      made.flatMap((offer) =>
        users.flatMap((user) => {
          const risk = findRisk(offer, user, isInsideKnown(offer));
          return risk ? [formatMarkdown`**${risk.user}**: ${describeOffer(offer)}: ${risk.why}`] : [];
        }),
      ),
    ),
    list(
      'Users:',
      users.map(
        ({ user, pins }) =>
          formatMarkdown`${user}: ${[...new Set(pins.flatMap(({ uses }) => uses.map(({ offer }) => offer)))].join(', ')}`,
      ),
    ),
  );
}
