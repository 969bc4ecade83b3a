import type { Artifact } from '../artifact';
import type { DeployResult } from '../deploy/state';
import { excessText, over } from '../excess';
import { isJsonObject } from '../json';
import { OFFER_LIMITS, SPEC_LIMITS } from '../limits';
import type { PipelineState } from '../pipeline/state';
import { jsonBytes } from '../size';
import type { OfferSpec, WishSpec } from '../spec/offers';
import type { DeployAction, PipelineSpec } from '../spec/pipeline';
import type { MadeOffer, UnpinMessage } from './board';
import type { GrantedOffer, Wish } from './judge';
import {
  fillPlaceholders,
  findArtifactField,
  listPlaceholders,
  listWishedParts,
  parseArtifactField,
} from './placeholders';

type Deploys = Pick<PipelineSpec, 'actions'>;

const listDeploys = ({ actions }: Deploys): string[] =>
  Object.keys(actions).filter((name) => actions[name]?.type === 'deploy');

/** The deploy after which an offer is made; undefined if the file must name it, because it does not have exactly one. */
export function findMaker(spec: Deploys, { after }: Pick<OfferSpec, 'after'>): string | undefined {
  const [only, ...others] = listDeploys(spec);
  return after ?? (others.length === 0 ? only : undefined);
}

export const listOffersAfter = (spec: Deploys & Pick<PipelineSpec, 'offers'>, action: string): readonly OfferSpec[] =>
  (spec.offers ?? []).filter((offer) => findMaker(spec, offer) === action);

/** The offers that a pipeline makes at present; a retired one makes none. */
export const listDeclaredOffers = ({ spec, retired }: Pick<PipelineState, 'spec' | 'retired'>): string[] =>
  retired ? [] : (spec.offers ?? []).map(({ name }) => name);

/** The names of the offers that other deploys of the file make. */
export const listOffersElsewhere = (spec: Deploys & Pick<PipelineSpec, 'offers'>, action: string): string[] =>
  (spec.offers ?? []).filter((offer) => findMaker(spec, offer) !== action).map(({ name }) => name);

export const isWishedFor = (wish: Pick<WishSpec, 'for'>, action: string): boolean => wish.for?.includes(action) ?? true;

/** The wishes of a deploy, each with the parts that its configuration uses. */
export function listWishes({ actions, wishes = [] }: Deploys & Pick<PipelineSpec, 'wishes'>, name: string): Wish[] {
  const action = actions[name];
  if (action?.type !== 'deploy') return [];
  const parts = listWishedParts(action.with.config).flatMap((part) => ('broken' in part ? [] : [part]));
  return wishes
    .filter((wish) => isWishedFor(wish, name))
    .map(({ from, offer, version }) => ({
      ...{ from, offer },
      ...(version === undefined ? {} : { version }),
      paths: parts.filter((part) => part.from === from && part.offer === offer).map(({ path }) => path),
    }));
}

/** Whether a configuration has values that are known only once its deploy begins. */
export const usesWishes = ({ wishes }: Pick<PipelineSpec, 'wishes'>, config: unknown): boolean =>
  wishes !== undefined && listWishedParts(config).length > 0;

/**
 * Where the version of a deploy runs after its end. A follow-on updates a few units, and a deploy may have skipped some; `somewhere` also stands
 * for an unknown end.
 */
export function findRunning(result: DeployResult | undefined, isFollowOn: boolean): UnpinMessage['runs'] {
  if (result?.outcome === 'succeeded')
    return isFollowOn || (result.skipped ?? []).length > 0 ? 'somewhere' : 'everywhere';
  return result && (result.outcome === 'reverted' || result.leaves === undefined) ? 'nowhere' : 'somewhere';
}

/** The configuration of a deploy with the values of the offers that it uses, or why it cannot be deployed with them. */
export function fillWishes<C>(
  config: C,
  wishes: readonly Wish[],
  granted: readonly GrantedOffer[],
): { readonly config: C } | { readonly refusal: string } {
  const values = new Map<string, unknown>();
  for (const { from, offer, paths } of wishes) {
    const parts = granted.find((one) => one.from === from && one.use.offer === offer)?.parts ?? {};
    for (const path of paths) {
      if (!Object.hasOwn(parts, path))
        return { refusal: `its config uses ${offer} of ${from}, and no value of it is known` };
      values.set(['wishes', from, offer, ...(path === '' ? [] : [path])].join('.'), parts[path]);
    }
  }
  const filled = fillPlaceholders(config, values) as C;
  const excess = over(SPEC_LIMITS.config, jsonBytes(filled));
  return excess ? { refusal: excessText(excess) } : { config: filled };
}

/** The values for a deploy that does not wait for offers. */
export interface KnownOffers {
  /** An earlier deploy: its configuration, and the offers whose values are in it. */
  readonly earlier: {
    readonly pushType: string;
    readonly config: DeployAction['with']['config'];
    readonly granted: readonly GrantedOffer[];
  } | null;
  readonly present: readonly GrantedOffer[];
}

/**
 * The configuration of a deploy that does not wait, or why it has none. A rollback and a follow-on have that of the earlier deploy, which went where
 * the version runs. An emergency has that of its file, with the present values, and earlier ones where there are none.
 */
export function fillAnyway(
  { pushType, config }: Pick<DeployAction['with'], 'pushType' | 'config'>,
  wishes: readonly Wish[],
  { earlier, present }: KnownOffers,
  isAgain: boolean,
):
  | { readonly config: DeployAction['with']['config']; readonly granted: readonly GrantedOffer[] }
  | { readonly refusal: string } {
  const known = earlier?.pushType === pushType ? earlier : null;
  if (isAgain && known) return { config: known.config, granted: known.granted };
  const granted = wishes.flatMap((wish) => {
    const isOf = ({ from, use }: GrantedOffer): boolean => from === wish.from && use.offer === wish.offer;
    return present.find(isOf) ?? known?.granted.find(isOf) ?? [];
  });
  const filled = fillWishes(config, wishes, granted);
  return 'refusal' in filled ? filled : { config: filled.config, granted };
}

/** The offers of a file with the fields of the deploy's artifacts filled in, or why one cannot be made. */
export function resolveOffers(
  offers: readonly OfferSpec[],
  artifacts: readonly Artifact[],
): { readonly made: readonly MadeOffer[] } | { readonly refusal: string } {
  const made: MadeOffer[] = [];
  let bytes = 0;
  for (const { name, version, value, to } of offers) {
    const values = new Map<string, unknown>();
    for (const placeholder of listPlaceholders(value)) {
      const named = parseArtifactField(placeholder);
      const artifact = named && artifacts.find((one) => one.name === named.artifact);
      const found = named && artifact && findArtifactField(artifact, named.field);
      if (found === undefined) return { refusal: `the offer ${name} uses ${placeholder}, which its artifact lacks` };
      values.set(placeholder, found);
    }
    const filled = fillPlaceholders(value, values);
    const excess = over(SPEC_LIMITS.offerValue, jsonBytes(filled));
    if (excess) return { refusal: `the offer ${name}: ${excessText(excess)}` };
    bytes += jsonBytes(filled);
    made.push({ name, ...(version === undefined ? {} : { version }), value: isJsonObject(filled) ? filled : {}, to });
  }
  const excess = over(OFFER_LIMITS.values, bytes);
  return excess ? { refusal: excessText(excess) } : { made };
}
