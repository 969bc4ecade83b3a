import { NAME } from '../ids';
import { areTexts, isJsonObject, isMissing, isText, sameJson, type JsonObject } from '../json';
import { OFFER_LIMITS } from '../limits';
import { matchesAny } from '../pattern';
import { jsonBytes } from '../size';

/**
 * The offers of one pipeline, and the deploys of others that depend on them (µs, section 5.2): a lock that many share, with a value. A change of
 * an offer raises its `seq`. A deploy pins the offers that it uses by their `seq`, from before its first update until another deploy of the
 * same action has succeeded. An offer with a pin is never withdrawn.
 */
export interface OfferBoard {
  /** Rises with every change of an offer. */
  readonly seq: number;
  /** Rises with every change of the users. */
  readonly rev: number;
  readonly offers: readonly Offer[];
  readonly users: readonly OfferUser[];
  /** Deploys of the pipeline that are about to change offers, or do so, in a way that may not fit new users. */
  readonly changes: readonly OfferChange[];
  /** The offers in the file of the pipeline; missing until the pipeline has sent them. */
  readonly declared?: readonly string[];
}

export interface Offer extends MadeOffer {
  readonly seq: number;
  /** The release and the deploy action that made it. */
  readonly release: number;
  readonly action: string;
  readonly since: string;
  /** Its pipeline no longer makes it. It is withdrawn once nothing uses it. */
  readonly withdrawing?: true;
}

/** An offer as a release makes it. */
export interface MadeOffer {
  readonly name: string;
  readonly version?: string;
  readonly value: JsonObject;
  /** Patterns of the pipelines that may use it. */
  readonly to: readonly string[];
}

export interface OfferChange {
  readonly release: number;
  readonly action: string;
  /** Names of offers. */
  readonly offers: readonly string[];
}

/** A deploy action of another pipeline. */
export interface OfferUser {
  /** `auth/deploy` */
  readonly user: string;
  /** Two while a deploy runs: its new tasks use the newer one, the others the older one. The oldest first. */
  readonly pins: readonly Pin[];
}

export interface Pin {
  readonly release: number;
  readonly uses: readonly Use[];
}

/** An offer as a deploy uses it. */
export interface Use {
  readonly offer: string;
  readonly seq: number;
  /** The range of versions that it wishes for. */
  readonly version?: string;
  /** The parts of the value that it uses, such as `id`. */
  readonly paths: readonly string[];
}

export const NO_OFFERS: OfferBoard = { seq: 0, rev: 0, offers: [], users: [], changes: [] };

/** A deploy has made its offers; `declared`: the offers in the file of its pipeline, if the board does not know them. */
export interface MakeMessage {
  readonly release: number;
  readonly action: string;
  readonly made: readonly MadeOffer[];
  readonly declared: readonly string[];
}

/** The board after a deploy made its offers. A release older than the last one that made an offer does not change that offer. */
export function makeOffers(board: OfferBoard, message: MakeMessage, at: string): OfferBoard {
  const { release, action, made } = message;
  const declared = board.declared ?? message.declared;
  const after = made
    .filter(({ name }) => declared.includes(name))
    .reduce((next, offer) => withOffer(next, offer, { release, action, since: at }), board);
  // One release of a pipeline deploys at a time, so changes of earlier ones are over.
  const changes = after.changes.filter((one) => one.release >= release && !isOfAction(one, { release, action }));
  return { ...after, changes };
}

function withOffer(board: OfferBoard, made: MadeOffer, by: Pick<Offer, 'release' | 'action' | 'since'>): OfferBoard {
  const before = board.offers.find(({ name }) => name === made.name);
  if (before && before.release > by.release) return board;
  const isSame = before && before.version === made.version && sameJson(before.value, made.value);
  const seq = isSame ? before.seq : board.seq + 1;
  const offer: Offer = { ...made, ...by, seq, ...(isSame ? { since: before.since } : {}) };
  const offers = before ? board.offers.map((one) => (one === before ? offer : one)) : [...board.offers, offer];
  return { ...board, seq: Math.max(board.seq, seq), offers };
}

/** The file of the pipeline has only these offers from now on; the others are withdrawn as soon as nothing uses them. */
export const declareOffers = (board: OfferBoard, declared: readonly string[]): OfferBoard =>
  dropWithdrawn({
    ...board,
    declared,
    offers: board.offers.map(({ withdrawing: _, ...offer }) =>
      declared.includes(offer.name) ? offer : { ...offer, withdrawing: true as const },
    ),
  });

/** A deploy of the pipeline is about to change offers; `rev`: the users that it knows. */
export interface ChangeMessage extends OfferChange {
  readonly rev: number;
}

export const refuseChange = (board: OfferBoard, { rev }: ChangeMessage): OfferRefusal | undefined =>
  board.rev === rev ? undefined : 'changed';

/** One release of a pipeline deploys at a time, so a change of an earlier one is over. */
export const beginChange = (board: OfferBoard, { release, action, offers }: ChangeMessage): OfferBoard => ({
  ...board,
  changes: [
    ...board.changes.filter((one) => one.release === release && one.action !== action),
    { release, action, offers },
  ],
});

/** The deploy has changed nothing. */
export const endChange = (board: OfferBoard, ended: OfAction): OfferBoard => ({
  ...board,
  changes: board.changes.filter((one) => !isOfAction(one, ended)),
});

type OfAction = Pick<OfferChange, 'release' | 'action'>;

const isOfAction = (one: OfAction, other: OfAction): boolean =>
  one.release === other.release && one.action === other.action;

/** A deploy of another pipeline is about to begin, and asks for the offers that it uses. */
export interface PinMessage {
  readonly user: string;
  readonly release: number;
  readonly uses: readonly Use[];
  /** A rollback, an emergency or a follow-on: it begins anyway, so the pin records what it uses. */
  readonly anyway?: true;
}

/** `changed`: the sender has to look again. `full`: there are too many users. */
export type OfferRefusal = 'changed' | 'full';

/** Why offers cannot be pinned; undefined if they can. */
export function refusePin(board: OfferBoard, asked: PinMessage): OfferRefusal | undefined {
  const isMoved = asked.uses.some((use) => {
    const made = board.offers.find(({ name }) => name === use.offer);
    const isHeld = made === undefined || made.withdrawing || made.seq !== use.seq || findChange(board, use.offer);
    return isHeld || !isFor(made, asked.user);
  });
  if (isMoved && !asked.anyway) return 'changed';
  const after = pinOffers(board, asked);
  const isFull = after.users.length > OFFER_LIMITS.users.max || jsonBytes(after) > OFFER_LIMITS.board.max;
  return isFull && jsonBytes(after) > jsonBytes(board) ? 'full' : undefined;
}

/** The change under way of an offer. */
export const findChange = ({ changes }: OfferBoard, offer: string): OfferChange | undefined =>
  changes.find(({ offers }) => offers.includes(offer));

/** Whether an offer is for a pipeline. */
export const isOfferFor = ({ to }: Pick<MadeOffer, 'to'>, pipeline: string): boolean => matchesAny(to, pipeline);

const isFor = (offer: Offer, user: string): boolean => isOfferFor(offer, parseUser(user)?.pipeline ?? '');

/** The board with the pin of one more release of the user. Repeating it changes nothing. */
export function pinOffers(board: OfferBoard, { user, release, uses }: PinMessage): OfferBoard {
  const known = uses.filter((use) => board.offers.some((offer) => offer.name === use.offer && isFor(offer, user)));
  const pin = known.length > 0 ? [{ release, uses: known }] : [];
  return withPins(board, user, (pins) => [...pins.filter((one) => one.release !== release), ...pin]);
}

/** A deploy that has pinned offers has ended. */
export interface UnpinMessage {
  readonly user: string;
  readonly release: number;
  /**
   * `everywhere`: the pins of earlier releases are removed. `nowhere`: its own is removed. `somewhere`: it was stopped halfway, and all pins stay.
   */
  readonly runs: 'everywhere' | 'nowhere' | 'somewhere';
}

export function unpinOffers(board: OfferBoard, { user, release, runs }: UnpinMessage): OfferBoard {
  const stays = (pin: Pin): boolean =>
    runs === 'somewhere' || (runs === 'everywhere' ? pin.release >= release : pin.release !== release);
  return dropWithdrawn(withPins(board, user, (pins) => pins.filter(stays)));
}

/** The pipeline and the action in `auth/deploy`; undefined for another text. */
export function parseUser(text: string): { readonly pipeline: string; readonly action: string } | undefined {
  const [pipeline = '', action = '', ...rest] = text.split('/');
  return NAME.test(pipeline) && NAME.test(action) && rest.length === 0 ? { pipeline, action } : undefined;
}

/** A person says that a deploy no longer uses any offer. */
export const endUse = (board: OfferBoard, user: string): OfferBoard => dropWithdrawn(withPins(board, user, () => []));

function withPins(board: OfferBoard, user: string, change: (pins: readonly Pin[]) => readonly Pin[]): OfferBoard {
  const before = board.users.find((one) => one.user === user);
  const pins = change(before?.pins ?? []);
  if (sameJson(pins, before?.pins ?? [])) return board;
  const others = board.users.filter((one) => one !== before);
  const users = pins.length === 0 ? others : [...others, { user, pins }];
  return { ...board, rev: board.rev + 1, users: users.sort((a, b) => (a.user < b.user ? -1 : 1)) };
}

const dropWithdrawn = (board: OfferBoard): OfferBoard => ({
  ...board,
  offers: board.offers.filter(({ name, withdrawing }) => !withdrawing || listUsers(board, name).length > 0),
});

/** The users that have pinned an offer. */
export const listUsers = ({ users }: OfferBoard, offer: string): readonly OfferUser[] =>
  users.filter(({ pins }) => pins.some(({ uses }) => uses.some((use) => use.offer === offer)));

/** Whether no offer and no user is left. */
export const isBoardEmpty = ({ offers, users }: OfferBoard): boolean => offers.length + users.length === 0;

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;

/** A person can send a message by hand (domain/messageShapes.ts). */
export const isMakeMessage = (value: unknown): value is MakeMessage =>
  isEndOfChange(value) &&
  areTexts(value['declared']) &&
  Array.isArray(value['made']) &&
  value['made'].every(isMadeOffer);

const isMadeOffer = (value: unknown): boolean =>
  isJsonObject(value) &&
  isText(value['name']) &&
  (isMissing(value['version']) || isText(value['version'])) &&
  isJsonObject(value['value']) &&
  areTexts(value['to']);

/** A deploy action of the pipeline itself. */
export const isEndOfChange = (value: unknown): value is JsonObject & OfAction =>
  isJsonObject(value) && isCount(value['release']) && isText(value['action']);

export const isChangeMessage = (value: unknown): value is ChangeMessage =>
  isEndOfChange(value) && isCount(value['rev']) && areTexts(value['offers']);

export const isDeclared = (value: unknown): value is readonly string[] => areTexts(value);

const isOfUser = (value: unknown): value is JsonObject =>
  isJsonObject(value) && isText(value['user']) && parseUser(value['user']) !== undefined && isCount(value['release']);

export const isPinMessage = (value: unknown): value is PinMessage =>
  isOfUser(value) && Array.isArray(value['uses']) && value['uses'].every(isUse);

const isUse = (value: unknown): boolean =>
  isJsonObject(value) && isText(value['offer']) && isCount(value['seq']) && areTexts(value['paths']);

const RUNS: readonly unknown[] = ['everywhere', 'nowhere', 'somewhere'] satisfies UnpinMessage['runs'][];

export const isUnpinMessage = (value: unknown): value is UnpinMessage =>
  isOfUser(value) && RUNS.includes(value['runs']);
