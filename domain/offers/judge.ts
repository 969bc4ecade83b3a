import { isJsonObject } from '../json';
import { plural } from '../text';
import {
  findChange,
  isOfferFor,
  listUsers,
  NO_OFFERS,
  type MadeOffer,
  type Offer,
  type OfferBoard,
  type Use,
} from './board';
import { findPart } from './placeholders';

/** A wish of one deploy, with the parts of the value that its file names. */
export interface Wish {
  readonly from: string;
  readonly offer: string;
  /** A range of versions. */
  readonly version?: string;
  readonly paths: readonly string[];
}

/** The pipelines that the wishes name. */
export const listOffering = (wishes: readonly Wish[]): string[] => [...new Set(wishes.map(({ from }) => from))];

/** The boards of the offering pipelines, by name; null if a pipeline has none. */
export type Boards = ReadonlyMap<string, OfferBoard | null>;

/** Whether a version is in a range, by npm's rules. */
export type RangeTest = (version: string, range: string) => boolean;

export type WishAnswer =
  | { readonly kind: 'satisfied'; readonly granted: readonly GrantedOffer[] }
  /** `reason`: the first wish that waits, in words, and the number of others. `unmet`: all of them. */
  | { readonly kind: 'waiting'; readonly reason: string; readonly unmet: readonly Wish[] };

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
  { from, offer: name, version: range, paths }: Wish,
  board: OfferBoard | null,
  isInRange: RangeTest,
): GrantedOffer | string {
  const offer = board?.offers.find((one) => one.name === name);
  if (offer === undefined) return `${from} has not offered ${name} yet`;
  if (offer.withdrawing) return `${from} is withdrawing ${name}`;
  if (!isOfferFor(offer, pipeline)) return `${from} does not offer ${name} to ${pipeline}`;
  const change = board && findChange(board, name);
  if (change) return `${from} is changing ${name} with release ${change.release}`;
  if (range !== undefined && offer.version === undefined)
    return `${from} offers ${name} without a version, but the wish is for ${range}`;
  if (range !== undefined && !isInRange(offer.version ?? '', range))
    return `${from} offers ${name} ${offer.version}, but the wish is for ${range}`;
  const lacking = paths.find((path) => findPart(offer.value, path) === undefined);
  if (lacking !== undefined) return `${describeOffer(offer)} of ${from} has no ${lacking}`;
  return grantOffer(from, offer, { paths, ...(range === undefined ? {} : { version: range }) });
}

const grantOffer = (from: string, offer: Offer, wished: Pick<Use, 'paths' | 'version'>): GrantedOffer => ({
  from,
  use: { offer: offer.name, seq: offer.seq, ...wished },
  version: offer.version ?? null,
  parts: Object.fromEntries(wished.paths.map((path) => [path, findPart(offer.value, path)])),
});

/** The pipelines whose offers a deploy uses, for its record; nothing if there are none. */
export const listUses = (granted: readonly GrantedOffer[] = []): { readonly uses?: readonly string[] } =>
  granted.length === 0 ? {} : { uses: [...new Set(granted.map(({ from }) => from))] };

/** The offers that the boards know, even if they do not satisfy the wishes; for a deploy that does not wait. */
export const grantAnyway = (pipeline: string, wishes: readonly Wish[], boards: Boards): GrantedOffer[] =>
  wishes.flatMap(({ from, offer: name, version, paths }) => {
    const offer = boards.get(from)?.offers.find((one) => one.name === name);
    const isUsable = offer && isOfferFor(offer, pipeline) && paths.every((path) => hasPart(offer.value, path));
    return isUsable ? [grantOffer(from, offer, { paths, ...(version === undefined ? {} : { version }) })] : [];
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
}

/**
 * Why a deploy must not make these offers: deploys of other pipelines use the earlier value, and the new one does not fit them, or its offer is
 * removed. Undefined if it may.
 */
export function whyUnfit(board: OfferBoard | null, plan: OfferPlan, isInRange: RangeTest): string | undefined {
  for (const before of listOwn(board, plan)) {
    const after = plan.made.find(({ name }) => name === before.name);
    const unfit = listUsers(board ?? NO_OFFERS, before.name).flatMap(({ user, pins }) => {
      const uses = pins.flatMap((pin) => pin.uses.filter((use) => use.offer === before.name));
      const why = uses.map((use) => whyUseUnfit(after, use, isInRange)).find((reason) => reason !== undefined);
      return why === undefined ? [] : [`${user} ${why}`];
    });
    if (unfit.length === 0) continue;
    const more = unfit.length > NAMED ? ` and ${unfit.length - NAMED} more` : '';
    const deploys = `${plural(unfit.length, 'deploy')} of other pipelines: ${unfit.slice(0, NAMED).join(', ')}${more}`;
    return after
      ? `${describeOffer(after)} does not fit ${deploys}`
      : `${before.name} is removed, but is used by ${deploys}`;
  }
  return undefined;
}

/** The offers on the board that this deploy is about to change or remove. */
const listOwn = (board: OfferBoard | null, { action, made, elsewhere }: OfferPlan): readonly Offer[] =>
  (board?.offers ?? []).filter(
    (offer) =>
      (offer.action === action && !elsewhere.includes(offer.name)) || made.some(({ name }) => name === offer.name),
  );

function whyUseUnfit(
  after: MadeOffer | undefined,
  { version: range, paths }: Use,
  isInRange: RangeTest,
): string | undefined {
  if (after === undefined) return range === undefined ? 'uses it' : `wishes for ${range}`;
  if (range !== undefined && (after.version === undefined || !isInRange(after.version, range)))
    return `wishes for ${range}`;
  const lacking = paths.find((path) => !hasPart(after.value, path));
  return lacking === undefined ? undefined : `uses ${lacking}`;
}

/** The offers that may not fit new users after this deploy: removed, of another version, or without a part that they have now. */
export const listNarrowed = (board: OfferBoard | null, plan: OfferPlan): string[] =>
  listOwn(board, plan)
    .filter((before) => {
      const after = plan.made.find(({ name }) => name === before.name);
      return after?.version !== before.version || listPaths(before.value).some((path) => !hasPart(after?.value, path));
    })
    .map(({ name }) => name);

/** The paths of all parts of a value: `a`, `a.b`. */
const listPaths = (value: unknown): string[] =>
  isJsonObject(value)
    ? Object.entries(value).flatMap(([key, part]) => [key, ...listPaths(part).map((path) => `${key}.${path}`)])
    : [];
