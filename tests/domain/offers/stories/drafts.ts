import type { OfferSpec, WishSpec } from '../../../../domain/spec/offers';
import type { DeployAction, PipelineSpec } from '../../../../domain/spec/pipeline';
import { specOf } from '../../../builders/pipelineWorld';

/** The file of a pipeline in a story: deploys, the offers that they make, and their wishes. */
export interface Draft {
  readonly name: string;
  /** The push type of each deploy `d0`, `d1`, … */
  readonly deploys: readonly string[];
  /** The first letters of their names: `d`, and `e` for one that was renamed. */
  readonly letters: readonly string[];
  /** Each deploy needs the one before. */
  readonly chained: boolean;
  readonly offers: readonly DraftOffer[];
  readonly wishes: readonly DraftWish[];
}

export interface DraftOffer {
  readonly name: string;
  readonly after: number;
  readonly major: number;
  readonly minor: number;
  readonly parts: readonly string[];
  readonly to: readonly string[];
}

export interface DraftWish {
  readonly from: string;
  readonly offer: string;
  readonly range: string | null;
  readonly for: readonly number[];
  /** The parts that the configurations of these deploys use. */
  readonly parts: readonly string[];
}

const PARTS = ['id', 'by', 'net.size'] as const;
const RANGES = [null, '^1', '^2', '>=1', '1.1'] as const;

/** Random numbers from which files are made, so that every shrunk number is a file, too. */
export interface DraftSeed {
  readonly deploys: number;
  readonly chained: boolean;
  readonly offers: readonly number[];
  readonly wishes: readonly number[];
}

const pick = <T>(list: readonly T[], at: number): T => {
  const found = list[at % list.length];
  if (found === undefined) throw new Error('nothing to pick from');
  return found;
};

const some = <T>(list: readonly T[], bits: number): T[] => list.filter((_, index) => ((bits >> index) & 1) === 1);

/** @param isTwisted wishes may make circles */
export function buildDrafts(seeds: readonly DraftSeed[], isTwisted: boolean): Draft[] {
  const bare = seeds.map(({ deploys, chained, offers }, index): Draft => ({
    ...{ name: `p${index}`, deploys: Array.from({ length: deploys }, () => 'twine'), chained, wishes: [] },
    letters: Array.from({ length: deploys }, () => 'd'),
    offers: offers.map((at, nth) => draftOffer(`o${nth}`, deploys, at)),
  }));
  return bare.map((draft, index) =>
    (seeds[index]?.wishes ?? []).reduce((next, at) => withWish(next, bare, at, isTwisted), draft),
  );
}

const draftOffer = (name: string, deploys: number, at: number): DraftOffer => ({
  ...{ name, after: at % deploys, major: 1 + ((at >> 2) % 2), minor: (at >> 3) % 2 },
  ...{ parts: PARTS.filter((_, index) => ((at >> (4 + index)) & 1) === 0), to: ['*'] },
});

/** A deploy may wish for offers of earlier deploys of others, and of the same ones of earlier pipelines: so deploys never make a circle. */
function withWish(draft: Draft, all: readonly Draft[], at: number, isTwisted: boolean): Draft {
  const mine = all.findIndex(({ name }) => name === draft.name);
  const possible = all.flatMap((other, index) =>
    other.offers.flatMap((offer) => {
      if (index === mine || draft.wishes.some(({ from, offer: name }) => from === other.name && name === offer.name))
        return [];
      const may = draft.deploys.flatMap((_, deploy) =>
        isTwisted || offer.after < deploy || (offer.after === deploy && index < mine) ? [deploy] : [],
      );
      return may.length === 0 ? [] : [{ from: other.name, offer, may }];
    }),
  );
  if (possible.length === 0) return draft;
  const { from, offer, may } = pick(possible, at);
  const fitting = [null, `^${offer.major}`, '>=1', `^${offer.major}`];
  const chosen = some(may, at >> 3);
  const wish: DraftWish = {
    ...{ from, offer: offer.name, range: pick(fitting, at >> 2), for: chosen.length > 0 ? chosen : may.slice(-1) },
    parts: some(offer.parts, at >> 5),
  };
  return { ...draft, wishes: [...draft.wishes, wish] };
}

const change = <T>(list: readonly T[], at: number, how: (item: T) => T): readonly T[] =>
  list.map((item, index) => (index === at % list.length ? how(item) : item));

const without = <T>(list: readonly T[], at: number): readonly T[] =>
  list.filter((_, index) => index !== at % list.length);

type Offers = Draft['offers'];
const inOffers =
  (how: (offers: Offers, at: number, draft: Draft) => Offers) =>
  (draft: Draft, at: number): Draft => ({ ...draft, offers: how(draft.offers, at, draft) });
const inWish =
  (how: (wish: DraftWish, at: number) => DraftWish) =>
  (draft: Draft, at: number): Draft => ({ ...draft, wishes: change(draft.wishes, at, (wish) => how(wish, at >> 2)) });

/** How people change files. */
const CHANGES = {
  'raise major': inOffers((offers, at) => change(offers, at, (one) => ({ ...one, major: 1 + (one.major % 3) }))),
  'raise minor': inOffers((offers, at) => change(offers, at, (one) => ({ ...one, minor: (one.minor + 1) % 3 }))),
  'change parts': inOffers((offers, at) => change(offers, at, (one) => ({ ...one, parts: some(PARTS, at >> 2) }))),
  'remove offer': inOffers((offers, at) => without(offers, at)),
  'add offer': inOffers((offers, at, { deploys }) => {
    const name = ['o0', 'o1', 'o2'].find((free) => !offers.some((one) => one.name === free));
    return name === undefined ? offers : [...offers, draftOffer(name, deploys.length, at)];
  }),
  'move offer': inOffers((offers, at, { deploys }) =>
    change(offers, at, (one) => ({ ...one, after: (at >> 2) % deploys.length })),
  ),
  'narrow offer': inOffers((offers, at) =>
    change(offers, at, (one) => ({ ...one, to: pick([['*'], ['p0', 'p2'], ['p1']], at >> 2) })),
  ),
  'change range': inWish((wish, at) => ({ ...wish, range: pick(RANGES, at) })),
  'change used parts': inWish((wish, at) => ({ ...wish, parts: some(PARTS, at) })),
  'remove wish': (draft: Draft, at: number): Draft => ({ ...draft, wishes: without(draft.wishes, at) }),
  'add wish': withWish,
  rename: (draft: Draft, at: number): Draft => ({
    ...draft,
    letters: change(draft.letters, at, (letter) => (letter === 'd' ? 'e' : 'd')),
  }),
  'change push type': (draft: Draft, at: number): Draft => ({
    ...draft,
    deploys: change(draft.deploys, at, (type) => (type === 'twine' ? 'kube' : 'twine')),
  }),
} as const;

export type ChangeKind = keyof typeof CHANGES | 'nothing';

/** How often people change files in each way. */
export const CHANGE_WEIGHTS: Readonly<Record<ChangeKind, number>> = {
  ...{ nothing: 2, 'raise major': 4, 'raise minor': 1, 'change parts': 4, 'remove offer': 2, 'add offer': 2 },
  ...{ 'move offer': 1, 'narrow offer': 1, 'change range': 3, 'change used parts': 2, 'remove wish': 2, 'add wish': 2 },
  ...{ 'change push type': 1, rename: 2 },
};

export const changeDraft = (
  draft: Draft,
  all: readonly Draft[],
  { kind, at }: { readonly kind: ChangeKind; readonly at: number },
  isTwisted: boolean,
): Draft => {
  if (kind === 'nothing') return draft;
  return kind === 'add wish' ? withWish(draft, all, at, isTwisted) : CHANGES[kind](draft, at);
};

const BASE = specOf(['deploy'], { releases: { onRevert: 'continue', maxActive: 50 } });
const DEPLOY = BASE.actions['deploy'] as DeployAction;

const VALUES = {
  id: (offer: string) => ({ id: `${offer}-id` }),
  by: () => ({ by: '${executable.version}' }),
  'net.size': () => ({ net: { size: 24 } }),
};

/** `d0`, or `e0` once it was renamed. */
export const nameDeploy = ({ letters }: Pick<Draft, 'letters'>, index: number): string =>
  `${letters[index] ?? 'd'}${index}`;

/** A deploy by its place in the file, whatever its name: `p0/0` for `p0/e0`. */
export const toPlace = (user: string): string => user.replace(/\/[de]/, '/');

export function toSpec(draft: Draft): PipelineSpec {
  const { name, deploys, chained, offers, wishes } = draft;
  const actions = deploys.map((pushType, index) => {
    const used = wishes.filter((wish) => wish.for.includes(index));
    const texts = used.flatMap(({ from, offer, parts }) => parts.map((part) => `\${wishes.${from}.${offer}.${part}}`));
    const action: DeployAction = {
      ...DEPLOY,
      needs: chained && index > 0 ? [nameDeploy(draft, index - 1)] : [],
      with: { ...DEPLOY.with, pushType, config: Object.fromEntries(texts.map((text, nth) => [`c${nth}`, text])) },
    };
    return [nameDeploy(draft, index), action] as const;
  });
  return {
    ...{ ...BASE, pipeline: name, actions: Object.fromEntries(actions) },
    ...(offers.length === 0 ? {} : { offers: offers.map((offer) => toOfferSpec(draft, offer)) }),
    ...(wishes.length === 0 ? {} : { wishes: wishes.map((wish) => toWishSpec(draft, wish)) }),
  };
}

const toOfferSpec = (draft: Draft, { name, after, major, minor, parts, to }: DraftOffer): OfferSpec => ({
  ...{ name, after: nameDeploy(draft, after), version: `${major}.${minor}.0`, to: [...to] },
  value: Object.assign(
    {},
    ...PARTS.filter((part) => parts.includes(part)).map((part) => VALUES[part](`${draft.name}.${name}`)),
  ) as OfferSpec['value'],
});

const toWishSpec = (draft: Draft, { from, offer, range, for: deploys }: DraftWish): WishSpec => ({
  ...{ from, offer, for: deploys.map((index) => nameDeploy(draft, index)) },
  ...(range === null ? {} : { version: range }),
});
