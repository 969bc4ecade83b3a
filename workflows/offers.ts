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
  refusePin,
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
import { formatTime } from '../domain/text';
import { showDetails } from './details';
import { onSignal } from './inbox';
import { buildVersioningOptions } from './versioning';

export interface OffersOrder {
  readonly board: OfferBoard;
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
/** The offers and their users, also after this workflow was ended from outside. */
const boardQuery = defineQuery<OfferBoard>('board');

/**
 * The offers of one pipeline. It runs while there is an offer or a user, and waiting costs it nothing: deploys that wait for an offer query it,
 * which writes no history, and a refused update writes none either. A Temporal cancel request does not end it, since the offers would be forgotten.
 */
export async function offers({ board }: OffersOrder): Promise<void> {
  CancellationScope.current().cancelRequested.catch(() => undefined);
  return CancellationScope.nonCancellable(() => keepOffers(board));
}
setWorkflowOptions(buildVersioningOptions('offers'), offers);

async function keepOffers(carried: OfferBoard): Promise<void> {
  let board = carried;
  let changed = false;
  const set = (next: OfferBoard): void => {
    board = next;
    changed = true;
  };
  showDetails(() => describe(board));
  setHandler(boardQuery, () => board);
  onSignal(makeOffersSignal, (message) => set(makeOffers(board, message, formatTime(Date.now()))), isMakeMessage);
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
  do {
    await condition(() => changed || workflowInfo().continueAsNewSuggested);
    changed = false;
    if (workflowInfo().continueAsNewSuggested && allHandlersFinished()) await continueAsNew<typeof offers>({ board });
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
          formatMarkdown`**${describeOffer(offer)}** by release ${String(offer.release)}, since ${offer.since}${offer.withdrawing ? '; it is withdrawn once no deploy uses it' : ''}`,
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
