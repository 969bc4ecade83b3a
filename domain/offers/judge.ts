import { isJsonObject, sameJson } from '../json';
import { OFFER_LIMITS } from '../limits';
import { cutText, formatBytes } from '../size';
import { plural } from '../text';
import type { UnfitUser, UnfitUsers } from '../views';
import {
  findChange,
  formatOfferChange,
  isOfferFor,
  listUsers,
  NO_OFFERS,
  pickRelease,
  type ChangeMessage,
  isRemovedWith,
  type MakeMessage,
  type OfferRemoval,
  type MadeOffer,
  type Offer,
  type OfferBoard,
  type OfferRefusal,
  type PinMessage,
  type PlacedRelease,
  type Use,
} from './board';
import { findPart } from './placeholders';
import { findShape, whyMismatch, type Comparison, type ValueSchema } from './schema';

/** A wish of one deploy, with the parts of the value that its file names. */
export interface Wish {
  readonly from: string;
  readonly offer: string;
  /** A range of versions. */
  readonly version?: string;
  readonly paths: readonly string[];
  readonly schema?: ValueSchema;
  /** Its pipeline is undeployed if the offer is withdrawn. */
  readonly undeploys?: true;
  /** The change of the offer that the release brings as an artifact; it deploys no other value under that version. */
  readonly change?: string;
}

/** The pipelines that wishes or granted offers name. */
export const listOffering = (wishes: readonly Pick<Wish, 'from'>[]): string[] => [
  ...new Set(wishes.map(({ from }) => from)),
];

/** The boards of the offering pipelines, by name; null if a pipeline has none. Users do not matter. */
export type Boards = ReadonlyMap<string, Pick<OfferBoard, 'offers' | 'changes'> | null>;

/** Whether a version is in a range, by npm's rules. */
export type RangeTest = (version: string, range: string) => boolean;

export type WishAnswer =
  /** `unfit`: users that its own offers will not fit, although a person lets it begin. */
  | { readonly kind: 'satisfied'; readonly granted: readonly GrantedOffer[]; readonly unfit?: UnfitUsers }
  /**
   * `reason`: the first wish that waits, in words, and the number of others. `unmet`: all of them. `unfit`: no wish waits, but its own offers do not
   * fit their users.
   */
  | {
      readonly kind: 'waiting';
      readonly reason: string;
      readonly unmet: readonly Wish[];
      readonly unfit?: UnfitUsers;
    };

/** An offer that satisfies a wish. */
export interface GrantedOffer {
  readonly from: string;
  readonly use: Use;
  readonly version: string | null;
  /** The parts of its value that the wish names, by path. */
  readonly parts: Readonly<Record<string, unknown>>;
}

/** Whether all wishes of a deploy are satisfied. `pipeline` is the one that wishes. */
export function judgeWishes(
  pipeline: string,
  wishes: readonly Wish[],
  boards: Boards,
  isInRange: RangeTest,
): WishAnswer {
  const judged = wishes.map((wish) => judgeWish(pipeline, wish, boards.get(wish.from) ?? null, isInRange));
  const [first, ...others] = judged.filter((one) => typeof one === 'string');
  if (first === undefined)
    return { kind: 'satisfied', granted: judged.flatMap((one) => (typeof one === 'string' ? [] : [one])) };
  const unmet = wishes.filter((_, at) => typeof judged[at] === 'string');
  return {
    kind: 'waiting',
    reason: others.length === 0 ? first : `${first}; ${others.length} more unsatisfied`,
    unmet,
  };
}

function judgeWish(
  pipeline: string,
  wish: Wish,
  board: Pick<OfferBoard, 'offers' | 'changes'> | null,
  isInRange: RangeTest,
): GrantedOffer | string {
  const { from, offer: name } = wish;
  const offer = board?.offers.find((one) => one.name === name);
  if (offer === undefined) return `${from} has not offered ${name} yet`;
  if (offer.withdrawing) return `${from} is withdrawing ${name}`;
  if (offer.notMadeBy)
    return `${from} does not offer ${name} at present: its release ${offer.notMadeBy.release} does not make it`;
  const change = board && findChange(board, name);
  if (change) return `${from} is ${change.removes ? 'removing' : 'changing'} ${name} with release ${change.release}`;
  if (wish.change !== undefined && wish.change !== formatOfferChange(offer))
    return `${from} offers ${name} as ${formatOfferChange(offer)}, but this release brings ${wish.change}`;
  const [misfit] = listMisfits(pipeline, wish, describeMade(offer), isInRange);
  return misfit?.why ?? grantOffer(wish, offer);
}

/** An offer, or as much of it as its file says. */
interface KnownOffer extends Pick<MadeOffer, 'name' | 'to'> {
  readonly version?: string | null;
  /** Whether its value has a part. */
  has(path: string): boolean;
  /** Whether its value has a type. */
  compare(schema: ValueSchema): Comparison;
}

const describeMade = (offer: Offer): KnownOffer => ({
  ...offer,
  has: (path) => hasPart(offer.value, path),
  compare: (schema) => {
    const why = whyMismatch(offer.value, schema);
    return why === undefined ? { verdict: 'fits' } : { verdict: 'does-not-fit', why };
  },
});

/** A reason why an offer does not satisfy a wish. `isOpen`: too little is known of the offer, and it may satisfy it. */
interface Misfit {
  readonly why: string;
  readonly isOpen?: true;
}

/** The reasons why an offer does not satisfy a wish of a pipeline; none if it does. */
export function listMisfits(
  pipeline: string,
  { from, offer: name, version: range, paths, schema }: Wish,
  offer: KnownOffer,
  isInRange: RangeTest,
): readonly Misfit[] {
  const lacking = paths.find((path) => !offer.has(path));
  return [
    ...(isOfferFor(offer, pipeline) ? [] : [{ why: `${from} does not offer ${name} to ${pipeline}` }]),
    ...(range === undefined ? [] : listVersionMisfits(from, offer, range, isInRange)),
    ...(lacking === undefined ? [] : [{ why: `${describeOffer(offer)} of ${from} has no ${lacking}` }]),
    ...(schema === undefined ? [] : listTypeMisfits(from, offer, schema)),
  ];
}

function listVersionMisfits(from: string, offer: KnownOffer, range: string, isInRange: RangeTest): Misfit[] {
  if (offer.version == null)
    return [{ why: `${from} offers ${offer.name} without a version, but the wish is for ${range}`, isOpen: true }];
  return isInRange(offer.version, range)
    ? []
    : [{ why: `${from} offers ${describeOffer(offer)}, but the wish is for ${range}` }];
}

function listTypeMisfits(from: string, offer: KnownOffer, schema: ValueSchema): Misfit[] {
  const compared = offer.compare(schema);
  if (compared.verdict === 'fits') return [];
  const what = `${describeOffer(offer)} of ${from}`;
  return compared.verdict === 'undecidable'
    ? [{ why: `${what} may not fit the wish: ${compared.why}`, isOpen: true }]
    : [{ why: `${what} does not fit the wish: ${compared.why}` }];
}

const grantOffer = ({ from, paths, version, schema, undeploys }: Wish, offer: Offer): GrantedOffer => ({
  from,
  use: {
    ...{ offer: offer.name, seq: offer.seq, paths },
    ...(version === undefined ? {} : { version }),
    ...(schema === undefined ? {} : { schema }),
    ...(undeploys ? { undeploys } : {}),
  },
  version: offer.version ?? null,
  parts: Object.fromEntries(paths.map((path) => [path, findPart(offer.value, path)])),
});

/** The pins of a deploy, one for each pipeline whose offers it uses. */
export const listPins = (
  { user, anyway, ...by }: Omit<PinMessage, 'uses'>,
  granted: readonly GrantedOffer[],
): { readonly from: string; readonly pin: PinMessage }[] =>
  [...new Set(granted.map(({ from }) => from))].map((from) => ({
    from,
    pin: {
      ...{ user, ...pickRelease(by), uses: granted.filter((one) => one.from === from).map(({ use }) => use) },
      ...(anyway ? { anyway, keeps: true as const } : {}),
    },
  }));

/** Why a deploy waits if a pipeline has no room for it. */
export const formatFull = (from: string): string => {
  const { users, board } = OFFER_LIMITS;
  return `${from} has no room for another deploy: at most ${users.max.toLocaleString('en')} use its offers, in ${formatBytes(board.max)}`;
};

/** The pipelines whose offers a deploy uses, for its record; nothing if there are none. */
export const listUses = (granted: readonly GrantedOffer[] = []): { readonly uses?: readonly string[] } =>
  granted.length === 0 ? {} : { uses: [...new Set(granted.map(({ from }) => from))] };

/** The offers that the boards know, even if they do not satisfy the wishes; for a deploy that does not wait. */
export const grantAnyway = (pipeline: string, wishes: readonly Wish[], boards: Boards): GrantedOffer[] =>
  wishes.flatMap((wish) => {
    const offer = boards.get(wish.from)?.offers.find(({ name }) => name === wish.offer);
    const isUsable = offer && isOfferFor(offer, pipeline) && wish.paths.every((path) => hasPart(offer.value, path));
    return isUsable ? [grantOffer(wish, offer)] : [];
  });

const hasPart = (value: unknown, path: string): boolean => findPart(value, path) !== undefined;

const WAITS = 'waiting for other pipelines: ';

/** The reason of a wait for offers, as people read it … */
export const formatOfferWait = (reason: string): string => WAITS + reason;

/** … and whether a reason is one. */
export const isOfferWait = (reason: string): boolean => reason.startsWith(WAITS);

/** `vpc 2.3.0` */
export const describeOffer = ({
  name,
  version,
}: {
  readonly name: string;
  readonly version?: string | null;
}): string => (version == null ? name : `${name} ${version}`);

/** The largest number of users that a reason names. */
const NAMED = 3;

/** The offers that a deploy of the pipeline makes. */
export interface OfferPlan {
  readonly action: string;
  readonly made: readonly MadeOffer[];
  /** The names of offers that other deploys of its file make. */
  readonly elsewhere: readonly string[];
  /** The deploy removes its units, and with them its offers. */
  readonly removes?: OfferRemoval;
}

/** The part of a plan that the board learns when the deploy has succeeded. */
export const pickMade = ({
  made,
  elsewhere,
  removes,
}: OfferPlan): Pick<MakeMessage, 'made' | 'elsewhere' | 'removes'> => ({
  ...{ made, elsewhere },
  ...(removes ? { removes } : {}),
});

/** The deploys of other pipelines that use an earlier value of an offer which this deploy makes or removes, and that the new one does not fit. */
export const listUnfit = (board: OfferBoard | null, plan: OfferPlan, isInRange: RangeTest): readonly UnfitUser[] =>
  listOwn(board, plan).flatMap((before) => {
    const after = plan.made.find(({ name }) => name === before.name);
    return listUsers(board ?? NO_OFFERS, before.name).flatMap(({ user, pins }) => {
      const uses = pins.flatMap((pin) => pin.uses.filter((use) => use.offer === before.name));
      const bound = uses.filter((use) => isBound(before, after, use, isInRange) || plan.removes !== undefined);
      const why = bound.map((use) => whyUseUnfit(after, use, isInRange)).find((reason) => reason !== undefined);
      return why === undefined ? [] : [{ offer: before.name, user, why }];
    });
  });

/**
 * Whether a new value, or none, may be worse for a use than an offer as it is now. An emergency may use an offer that does not fit it, and no other
 * value is worse for that. If the release that runs does not make the offer, as after an override, another one that does not is no worse.
 */
const isBound = (before: Offer, after: MadeOffer | undefined, use: Use, isInRange: RangeTest): boolean =>
  after === undefined ? before.notMadeBy === undefined : whyUseUnfit(before, use, isInRange) === undefined;

/**
 * Why a deploy must not make these offers: deploys of other pipelines use the earlier value, and the new one does not fit them, or its offer is
 * removed. Undefined if it may.
 */
export function whyUnfit(
  board: OfferBoard | null,
  plan: OfferPlan,
  isInRange: RangeTest,
  all = listUnfit(board, plan, isInRange),
): string | undefined {
  const [first] = all;
  if (first === undefined) return undefined;
  const unfit = all.filter(({ offer }) => offer === first.offer).map(({ user, why }) => `${user} ${why}`);
  const more = unfit.length > NAMED ? ` and ${unfit.length - NAMED} more` : '';
  const deploys = `${plural(unfit.length, 'deploy')} of other pipelines: ${unfit.slice(0, NAMED).join(', ')}${more}`;
  const after = plan.made.find(({ name }) => name === first.offer);
  return after
    ? `${describeOffer(after)} does not fit ${deploys}`
    : `${first.offer} is removed, but is used by ${deploys}`;
}

/** The first of these users, as an answer carries them. */
export const cutUnfit = (all: readonly UnfitUser[]): UnfitUsers => ({
  users: all
    .slice(0, OFFER_LIMITS.unfit.max)
    .map((one) => ({ ...one, why: cutText(one.why, OFFER_LIMITS.unfitWhy.max) })),
  more: Math.max(0, all.length - OFFER_LIMITS.unfit.max),
});

/** The offers on the board that this deploy is about to change or remove. */
const listOwn = (board: OfferBoard | null, { action, made, elsewhere, removes }: OfferPlan): readonly Offer[] =>
  (board?.offers ?? []).filter((offer) =>
    removes
      ? isRemovedWith(offer, action, removes)
      : (offer.action === action && !elsewhere.includes(offer.name)) || made.some(({ name }) => name === offer.name),
  );

/** Why an offer does not fit a use of it, such as `wishes for ^2`; undefined if it does. `after`: undefined if it is removed. */
export function whyUseUnfit(
  after: MadeOffer | undefined,
  { version: range, paths, schema }: Use,
  isInRange: RangeTest,
): string | undefined {
  if (after === undefined) return range === undefined ? 'uses it' : `wishes for ${range}`;
  if (range !== undefined && (after.version === undefined || !isInRange(after.version, range)))
    return `wishes for ${range}`;
  const lacking = paths.find((path) => !hasPart(after.value, path));
  if (lacking !== undefined) return `uses ${lacking}`;
  const mismatch = schema && whyMismatch(after.value, schema);
  return mismatch === undefined ? undefined : `wishes for another type: ${mismatch}`;
}

/**
 * The message of a deploy that is about to change offers in a way that may not fit new users; null if it changes none. `changed`: a user has come
 * that it does not fit. `override`: a person lets the deploy begin all the same.
 */
export function planChange(
  board: OfferBoard,
  plan: OfferPlan,
  { override, ...by }: PlacedRelease & { readonly override?: true },
  isInRange: RangeTest,
): ChangeMessage | OfferRefusal | null {
  return override || whyUnfit(board, plan, isInRange) === undefined ? announceChange(board, plan, by) : 'changed';
}

/** The same, whether or not it fits the present users: an undeploy that waits for them admits no new ones. */
export function announceChange(board: OfferBoard, plan: OfferPlan, by: PlacedRelease): ChangeMessage | null {
  const offers = listNarrowed(board, plan);
  const removes = plan.removes ? { removes: true as const } : {};
  return offers.length === 0 ? null : { ...by, action: plan.action, offers, rev: board.rev, ...removes };
}

/** The offers that may not fit new users after this deploy: removed, of another version, or with other parts or types. */
export const listNarrowed = (board: OfferBoard | null, plan: OfferPlan): string[] =>
  listOwn(board, plan)
    .filter((before) => {
      const after = plan.made.find(({ name }) => name === before.name);
      return after?.version !== before.version || !sameJson(findShape(after?.value), findShape(before.value));
    })
    .map(({ name }) => name);

/** The paths of all parts of a value that a file can name: `a`, `a.b`. A key with a dot is none. */
export const listPaths = (value: unknown): string[] =>
  isJsonObject(value)
    ? Object.entries(value)
        .filter(([key]) => key !== '' && !key.includes('.'))
        .flatMap(([key, part]) => [key, ...listPaths(part).map((path) => `${key}.${path}`)])
    : [];
