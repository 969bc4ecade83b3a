import { NAME } from '../ids';
import { areTexts, isJsonObject, isMissing, isNestedTooDeep, isText, type JsonObject, sameJson } from '../json';
import { OFFER_LIMITS } from '../limits';
import { matchesAny } from '../pattern';
import { isValueSchema, type ValueSchema } from './schema';

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
  /** Deploys whose units were removed. An earlier release, whose message is late, makes none of their offers. */
  readonly removed?: readonly DeployPlace[];
  /** The newest release of each deploy that has made its offers. An earlier one, whose message is late, makes no offer that is not there. */
  readonly newest?: readonly DeployPlace[];
}

interface DeployPlace extends PlacedRelease {
  readonly action: string;
}

/** A release in the order in which the releases of its pipeline deploy. */
export interface PlacedRelease {
  readonly release: number;
  /** The earlier release that a rerun repeats or a follow-on completes. A release between the two may deploy after it. */
  readonly place?: number;
}

export const pickRelease = ({ release, place }: PlacedRelease): PlacedRelease => ({
  release,
  ...(place === undefined ? {} : { place }),
});

const comesBefore = (one: PlacedRelease, other: PlacedRelease): boolean => {
  const [place, its] = [one.place ?? one.release, other.place ?? other.release];
  return place < its || (place === its && one.release < other.release);
};

/** The release and the deploy action that made it. */
export interface Offer extends MadeOffer, PlacedRelease {
  readonly seq: number;
  readonly action: string;
  readonly since: string;
  /** Its pipeline no longer makes it. It is withdrawn once nothing uses it. */
  readonly withdrawing?: true;
  /** The release that runs now, if it does not make it: an emergency cannot, or a rollback restores a release that does not. */
  readonly notMadeBy?: PlacedRelease;
  /** The release that gave it another value, or ceased to make it. A board that was kept by an earlier version does not know. */
  readonly changedBy?: number;
}

/** `2.3.0-20261123T170000000`: the version of an offer and the time of its last change, which no other change has, even after a board was lost. */
export const formatOfferChange = ({ version, since }: Pick<Offer, 'version' | 'since'>): string =>
  [...(version === undefined ? [] : [version]), since.replace(/[-:.Z]/g, '')].join('-');

/** An offer as a release makes it. */
export interface MadeOffer {
  readonly name: string;
  readonly version?: string;
  readonly value: JsonObject;
  /** Patterns of the pipelines that may use it. */
  readonly to: readonly string[];
  /** Ranges that users wish for and its version is not in, as its maker knew them: workflows cannot compare versions. */
  readonly outside?: readonly string[];
}

export interface OfferChange extends PlacedRelease {
  readonly action: string;
  /** Names of offers. */
  readonly offers: readonly string[];
  /** The deploy removes its units, and these offers with them. */
  readonly removes?: true;
}

/** A deploy action of another pipeline. */
export interface OfferUser {
  /** `auth/deploy` */
  readonly user: string;
  /** Two while a deploy runs: its new tasks use the newer one, the others the older one. The oldest first. */
  readonly pins: readonly Pin[];
}

export interface Pin extends PlacedRelease {
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
  /** The type that it wishes for. */
  readonly schema?: ValueSchema;
  /** Its pipeline is undeployed if the offer is withdrawn. */
  readonly undeploys?: true;
}

export const NO_OFFERS: OfferBoard = { seq: 0, rev: 0, offers: [], users: [], changes: [] };

/** The offers that go with the units of a deploy. */
export interface OfferRemoval {
  /** Those that its file has it make. */
  readonly offers: readonly string[];
  /** All deploys of the file: an offer that another deploy made once is removed with this one. */
  readonly deploys: readonly string[];
}

export const isRemovedWith = ({ name, action }: Offer, by: string, { offers, deploys }: OfferRemoval): boolean =>
  action === by || (offers.includes(name) && !deploys.includes(action));

/** A deploy has made its offers; `declared`: the offers in the file of its pipeline, if the board does not know them. */
export interface MakeMessage extends PlacedRelease {
  readonly action: string;
  readonly made: readonly MadeOffer[];
  readonly declared: readonly string[];
  /** The deploy has removed its units, so its offers are withdrawn. */
  readonly removes?: OfferRemoval;
  /** The offers that other deploys of its file make. An offer of this deploy that is nowhere is no longer made. Missing from earlier versions. */
  readonly elsewhere?: readonly string[];
  /** The name that the deploy had when it made the offers that it restores, if it was another. */
  readonly formerly?: string;
}

/**
 * The board after a deploy made its offers. A release older than the last one that made an offer does not change that offer. One that is withdrawn
 * has its value, too: its file may have it again before it is gone.
 */
export function makeOffers(board: OfferBoard, message: MakeMessage, at: string): OfferBoard {
  const { action, made } = message;
  const removed = board.removed ?? [];
  if (removed.some((one) => one.action === action && comesBefore(message, one))) return board;
  const declared = board.declared ?? message.declared;
  const by = { ...pickRelease(message), action, since: at };
  const isLate = (board.newest ?? []).some((one) => one.action === action && comesBefore(message, one));
  const find = (name: string): Offer | undefined => board.offers.find((one) => one.name === name);
  const after = made
    .filter(({ name }) => (declared.includes(name) && (!isLate || find(name))) || find(name)?.withdrawing)
    .reduce((next, offer) => withOffer(next, offer, { ...by, isDeclared: declared.includes(offer.name) }), board);
  const left = message.removes ? withdrawOwn(after, message, message.removes) : dropOwn(after, message);
  const newest = isLate ? {} : { newest: withPlace(board.newest, message) };
  return { ...left, ...newest, changes: left.changes.flatMap((change) => changeAfter(change, message)) };
}

/** A file may get other deploys again and again, so the oldest are forgotten. */
const withPlace = (places: readonly DeployPlace[] = [], { action, ...by }: MakeMessage): readonly DeployPlace[] =>
  [...places.filter((one) => one.action !== action), { ...pickRelease(by), action }].slice(-OFFER_LIMITS.places.max);

/** The units are gone, so an offer that stays for users is not made any more. The next release may make it again. */
const withdrawOwn = (board: OfferBoard, by: MakeMessage, removal: OfferRemoval): OfferBoard =>
  dropWithdrawn({
    ...board,
    removed: withPlace(board.removed, by),
    offers: board.offers.map((offer) =>
      isRemovedWith(offer, by.action, removal) && comesBefore(offer, by)
        ? { ...dropOffer(offer, by), withdrawing: true as const }
        : offer,
    ),
  });

const dropOwn = (board: OfferBoard, by: MakeMessage): OfferBoard => ({
  ...board,
  offers: board.offers.map((offer) => (isDropped(offer, by) ? dropOffer(offer, by) : offer)),
});

/** Whether a deploy no longer makes an offer that it made before. */
const isDropped = (offer: Offer, { action, formerly, made, elsewhere, ...by }: MakeMessage): boolean =>
  elsewhere !== undefined &&
  [action, formerly].includes(offer.action) &&
  ![...made.map(({ name }) => name), ...elsewhere].includes(offer.name) &&
  !comesBefore(by, offer) &&
  !comesAfter(offer.notMadeBy, by);

const comesAfter = (one: PlacedRelease | undefined, other: PlacedRelease): boolean =>
  one !== undefined && comesBefore(other, one);

const dropOffer = (offer: Offer, by: PlacedRelease): Offer => ({
  ...offer,
  notMadeBy: pickRelease(by),
  ...(offer.notMadeBy ? {} : { changedBy: by.release }),
});

/** The part of a change that is not over. An earlier deploy may not have made its offers yet, so its change of an offer ends with the next value. */
function changeAfter(change: OfferChange, made: MakeMessage): readonly OfferChange[] {
  if (isOfAction(change, made)) return [];
  if (!comesBefore(change, made)) return [change];
  if (change.action === made.action) return [];
  const offers = change.offers.filter((offer) => !made.made.some(({ name }) => name === offer));
  return offers.length === 0 ? [] : [{ ...change, offers }];
}

function withOffer(
  board: OfferBoard,
  made: MadeOffer,
  { isDeclared, ...by }: Pick<Offer, 'release' | 'place' | 'action' | 'since'> & { readonly isDeclared: boolean },
): OfferBoard {
  const before = board.offers.find(({ name }) => name === made.name);
  if (before && comesBefore(by, before)) return board;
  const isSame = before && before.version === made.version && sameJson(before.value, made.value);
  const seq = isSame ? before.seq : board.seq + 1;
  const notMadeBy = comesAfter(before?.notMadeBy, by) ? before?.notMadeBy : undefined;
  const isChanged = !isSame || before.notMadeBy !== notMadeBy;
  const changedBy = isChanged ? by.release : before.changedBy;
  const offer: Offer = {
    ...{ ...made, ...by, seq },
    ...(isSame ? { since: before.since } : {}),
    ...(before?.withdrawing && !isDeclared ? { withdrawing: true } : {}),
    ...(notMadeBy ? { notMadeBy } : {}),
    ...(changedBy === undefined ? {} : { changedBy }),
  };
  const offers = before ? board.offers.map((one) => (one === before ? offer : one)) : [...board.offers, offer];
  return { ...board, seq: Math.max(board.seq, seq), offers };
}

/** Its units were removed since it was made. */
const isRemoved = ({ removed = [] }: OfferBoard, offer: Offer): boolean =>
  removed.some((one) => one.action === offer.action && comesBefore(offer, one));

/** The file of the pipeline has only these offers from now on; the others are withdrawn as soon as nothing uses them. */
export const declareOffers = (board: OfferBoard, declared: readonly string[]): OfferBoard =>
  dropWithdrawn({
    ...board,
    declared,
    offers: board.offers.map(({ withdrawing: _, ...offer }) =>
      declared.includes(offer.name) && !isRemoved(board, offer) ? offer : { ...offer, withdrawing: true as const },
    ),
  });

/** A deploy of the pipeline is about to change offers; `rev`: the users that it knows. */
export interface ChangeMessage extends OfferChange {
  readonly rev: number;
}

export const refuseChange = (board: OfferBoard, { rev }: ChangeMessage): OfferRefusal | undefined =>
  board.rev === rev ? undefined : 'changed';

/** A change of an earlier release continues until it is made, or a later one is: its message may be late. */
export const beginChange = (board: OfferBoard, { action, offers, removes, ...by }: ChangeMessage): OfferBoard => ({
  ...board,
  changes: [
    ...board.changes.filter((one) => !isOfAction(one, { release: by.release, action })),
    { ...pickRelease(by), action, offers, ...(removes ? { removes } : {}) },
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
export interface PinMessage extends PlacedRelease {
  readonly user: string;
  readonly uses: readonly Use[];
  /** A rollback, an emergency or a follow-on: it begins anyway, so the pin records what it uses. */
  readonly anyway?: true;
  /** Its pins of offers that are no longer for it stay, because its units run with them. Missing from earlier versions. */
  readonly keeps?: true;
}

/** `changed`: the sender has to look again. `full`: there are too many users. */
export type OfferRefusal = 'changed' | 'full';

/** The change under way of an offer. */
export const findChange = ({ changes }: Pick<OfferBoard, 'changes'>, offer: string): OfferChange | undefined =>
  changes.find(({ offers }) => offers.includes(offer));

/** Whether an offer is for a pipeline. */
export const isOfferFor = ({ to }: Pick<MadeOffer, 'to'>, pipeline: string): boolean => matchesAny(to, pipeline);

/** Whether an offer is for a deploy of another pipeline. */
export const isOfferForUser = (offer: Offer, user: string): boolean =>
  isOfferFor(offer, parseUser(user)?.pipeline ?? '');

/** The board with the pin of one more release of the user. Repeating it changes nothing. */
export function pinOffers(board: OfferBoard, { user, uses, keeps, ...by }: PinMessage): OfferBoard {
  const mayUse = (offer: Offer): boolean =>
    isOfferForUser(offer, user) || (keeps === true && isUsedBy(board, offer.name, user));
  const known = shareUses(
    board,
    uses.filter((use) => board.offers.some((offer) => offer.name === use.offer && mayUse(offer))),
  );
  const pin = known.length > 0 ? [{ ...pickRelease(by), uses: known }] : [];
  return withPins(board, user, (pins) => [...pins.filter(({ release }) => release !== by.release), ...pin]);
}

/** Thousands of deploys wish alike, so equal uses are one object in memory. */
function shareUses({ users }: OfferBoard, uses: readonly Use[]): readonly Use[] {
  const known = new Set<Use>();
  for (const { pins } of users) for (const pin of pins) for (const use of pin.uses) known.add(use);
  return uses.map((use) => {
    let shared = use;
    for (const one of known) {
      if (one.offer !== use.offer || !sameJson({ ...one, seq: use.seq }, use)) continue;
      if (one.seq === use.seq) return one;
      shared = { ...one, seq: use.seq };
    }
    return shared;
  });
}

/** A deploy that has pinned offers has ended. */
export interface UnpinMessage extends PlacedRelease {
  readonly user: string;
  /**
   * `everywhere`: the pins of earlier releases are removed. `nowhere`: its own is removed. `somewhere`: it was stopped halfway, and all pins stay.
   */
  readonly runs: 'everywhere' | 'nowhere' | 'somewhere';
}

export function unpinOffers(board: OfferBoard, message: UnpinMessage): OfferBoard {
  const { user, release, runs } = message;
  const stays = (pin: Pin): boolean =>
    runs === 'somewhere' || (runs === 'everywhere' ? !comesBefore(pin, message) : pin.release !== release);
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
  const users = board.users.filter((one) => one !== before);
  const next = users.findIndex((one) => one.user > user);
  if (pins.length > 0) users.splice(next === -1 ? users.length : next, 0, { user, pins });
  return { ...board, rev: board.rev + 1, users };
}

const dropWithdrawn = (board: OfferBoard): OfferBoard => ({
  ...board,
  offers: board.offers.filter(({ name, withdrawing }) => !withdrawing || listUsers(board, name).length > 0),
});

/** The users that have pinned an offer. */
export const listUsers = ({ users }: OfferBoard, offer: string): readonly OfferUser[] =>
  users.filter(({ pins }) => pins.some(({ uses }) => uses.some((use) => use.offer === offer)));

/** Whether a deploy of another pipeline has pinned an offer. */
export const isUsedBy = (board: OfferBoard, offer: string, user: string): boolean =>
  listUsers(board, offer).some((one) => one.user === user);

/** Whether no offer and no user is left. */
export const isBoardEmpty = ({ offers, users }: OfferBoard): boolean => offers.length + users.length === 0;

/** The board with which the workflow of the offers starts again. Only its numbers and the places of its deploys are left of an empty one. */
export const reopenBoard = (board: OfferBoard): OfferBoard =>
  isBoardEmpty(board) ? { ...NO_OFFERS, seq: board.seq, rev: board.rev, ...pickPlaces(board) } : board;

const pickPlaces = ({ removed, newest }: OfferBoard): Pick<OfferBoard, 'removed' | 'newest'> => ({
  ...(removed === undefined ? {} : { removed }),
  ...(newest === undefined ? {} : { newest }),
});

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;

const isPlaced = ({ release, place }: JsonObject): boolean => isCount(release) && (isMissing(place) || isCount(place));

/** A person can send a message by hand (domain/messageShapes.ts). */
export const isMakeMessage = (value: unknown): value is MakeMessage =>
  isEndOfChange(value) &&
  areTexts(value['declared']) &&
  (isMissing(value['removes']) || isOfferRemoval(value['removes'])) &&
  (isMissing(value['elsewhere']) || areTexts(value['elsewhere'])) &&
  (isMissing(value['formerly']) || isText(value['formerly'])) &&
  Array.isArray(value['made']) &&
  value['made'].every(isMadeOffer);

const isOfferRemoval = (value: unknown): boolean =>
  isJsonObject(value) && areTexts(value['offers']) && areTexts(value['deploys']);

const isMadeOffer = (value: unknown): boolean =>
  isJsonObject(value) &&
  isText(value['name']) &&
  (isMissing(value['version']) || isText(value['version'])) &&
  isJsonObject(value['value']) &&
  areTexts(value['to']) &&
  (isMissing(value['outside']) || areTexts(value['outside']));

/** A deploy action of the pipeline itself. */
export const isEndOfChange = (value: unknown): value is JsonObject & OfAction =>
  isJsonObject(value) && isPlaced(value) && isText(value['action']);

export const isChangeMessage = (value: unknown): value is ChangeMessage =>
  isEndOfChange(value) && isCount(value['rev']) && areTexts(value['offers']);

export const isDeclared = (value: unknown): value is readonly string[] => areTexts(value);

const isOfUser = (value: unknown): value is JsonObject =>
  isJsonObject(value) && isText(value['user']) && parseUser(value['user']) !== undefined && isPlaced(value);

export const isPinMessage = (value: unknown): value is PinMessage =>
  !isNestedTooDeep(value) && isOfUser(value) && Array.isArray(value['uses']) && value['uses'].every(isUse);

const isUse = (value: unknown): boolean =>
  isJsonObject(value) &&
  isText(value['offer']) &&
  isCount(value['seq']) &&
  areTexts(value['paths']) &&
  (value['schema'] === undefined || isValueSchema(value['schema']));

const RUNS: readonly unknown[] = ['everywhere', 'nowhere', 'somewhere'] satisfies UnpinMessage['runs'][];

export const isUnpinMessage = (value: unknown): value is UnpinMessage =>
  isOfUser(value) && RUNS.includes(value['runs']);
