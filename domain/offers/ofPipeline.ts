import type { Artifact } from '../artifact';
import type { DeployResult } from '../deploy/state';
import { excessText, over } from '../excess';
import { OFFER } from '../finder/standard';
import { isJsonObject } from '../json';
import { OFFER_LIMITS, SPEC_LIMITS } from '../limits';
import type { PipelineState } from '../pipeline/state';
import { jsonBytes } from '../size';
import type { ReleaseInput } from '../release/state';
import type { OfferSpec, WishSpec } from '../spec/offers';
import type { ActionSpec, DeployAction, PipelineSpec } from '../spec/pipeline';
import type { MadeOffer, PlacedRelease, UnpinMessage } from './board';
import type { GrantedOffer, OfferPlan, Wish } from './judge';
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
const listOffersElsewhere = (spec: Deploys & Pick<PipelineSpec, 'offers'>, action: string): string[] =>
  (spec.offers ?? []).filter((offer) => findMaker(spec, offer) !== action).map(({ name }) => name);

/** A deploy with the offers of other pipelines that it needs, and those that it makes (docs/design/offers.md). */
export interface DeployOffers {
  readonly wishes: readonly Wish[];
  /** Null if its pipeline has never offered anything. */
  readonly plan: OfferPlan | null;
}

/** Whether a deploy has anything to do with offers. Older releases, and most newer ones, do not. */
export const needsOffers = ({ wishes, plan }: DeployOffers): boolean => wishes.length > 0 || plan !== null;

/**
 * The offers of a deploy; `lacks`: why one cannot be made from its artifacts, so that it makes none. A follow-on brings nothing new, and a rollback
 * makes those of the release that it restores. An undeploy removes its own, and needs the others only for its configuration.
 */
export function findDeployOffers(
  {
    spec,
    trigger,
    offered,
  }: Pick<ReleaseInput, 'spec' | 'offered'> & { readonly trigger: Pick<ReleaseInput['trigger'], 'kind'> },
  action: string,
  artifacts: readonly Artifact[],
): DeployOffers & { readonly lacks?: string } {
  const wishes = listWishes(spec, action).map((wish) => withChange(spec, wish, artifacts));
  const own = listOffersAfter(spec, action);
  if (trigger.kind === 'undeploy') return { wishes, plan: offered ? planOfferRemoval(spec, action) : null };
  const isAgain = trigger.kind === 'rollback' || trigger.kind === 'follow-on';
  if (isAgain || (own.length === 0 && !offered)) return { wishes, plan: null };
  const resolved = resolveOffers(own, artifacts);
  const elsewhere = listOffersElsewhere(spec, action);
  if ('refusal' in resolved) return { wishes, plan: { action, made: [], elsewhere }, lacks: resolved.refusal };
  return { wishes, plan: { action, made: resolved.made, elsewhere } };
}

/** The offers that a deploy with the file and the artifacts of an earlier release makes, and those that other deploys of that file make. */
export function planRestored(
  spec: Deploys & Pick<PipelineSpec, 'offers'>,
  action: string,
  artifacts: readonly Artifact[],
): Pick<OfferPlan, 'made' | 'elsewhere'> {
  const resolved = resolveOffers(listOffersAfter(spec, action), artifacts);
  return { made: 'made' in resolved ? resolved.made : [], elsewhere: listOffersElsewhere(spec, action) };
}

/** The offers of a file before their artifacts are known: placeholders of these stand for texts. */
export const planUnfilled = (spec: Deploys & Pick<PipelineSpec, 'offers'>, action: string): OfferPlan => ({
  action,
  made: listOffersAfter(spec, action).map(({ name, version, value, to }) => ({
    ...{ name, value, to },
    ...(version === undefined ? {} : { version }),
  })),
  elsewhere: listOffersElsewhere(spec, action),
});

const planOfferRemoval = (spec: Deploys & Pick<PipelineSpec, 'offers'>, action: string): OfferPlan => ({
  ...{ action, made: [], elsewhere: listOffersElsewhere(spec, action) },
  removes: { offers: listOffersAfter(spec, action).map(({ name }) => name), deploys: listDeploys(spec) },
});

/** The types of actions that wait for offers: of all deploys, and of others if the wish names them. */
const WISHING = ['deploy', 'build', 'pkg', 'integr-test', 'perf-test', 'custom-script', 'custom'] as const;

export const canWish = <A extends ActionSpec>(action: A): action is Extract<A, { type: (typeof WISHING)[number] }> =>
  WISHING.some((type) => type === action.type);

export const isWishedFor = (wish: Pick<WishSpec, 'for'>, name: string, action: ActionSpec): boolean =>
  canWish(action) && (wish.for?.includes(name) ?? action.type === 'deploy');

/** The part of an action in which placeholders stand for values of offers. */
const getWishing = ({ type, with: given }: ActionSpec): unknown => (type === 'deploy' ? given.config : given);

/** An offer of another pipeline that a file names, as a wish or as an artifact. */
export interface NamedOffer {
  readonly from: string;
  readonly offer: string;
}

interface TakenOffer extends NamedOffer {
  readonly artifact: string;
}

/** The artifacts that are offers of other pipelines. */
export const listTakenOffers = ({ artifacts }: Pick<PipelineSpec, 'artifacts'>): TakenOffer[] =>
  Object.entries(artifacts).flatMap(([artifact, { finder, with: wanted }]) =>
    finder === OFFER ? [{ artifact, from: String(wanted['pipeline']), offer: String(wanted['offer']) }] : [],
  );

/** The wishes of an action, each with the parts that its configuration uses. */
export function listWishes({ actions, wishes = [] }: Deploys & Pick<PipelineSpec, 'wishes'>, name: string): Wish[] {
  const action = actions[name];
  if (action === undefined || !canWish(action)) return [];
  const parts = listWishedParts(getWishing(action)).flatMap((part) => ('broken' in part ? [] : [part]));
  return wishes
    .filter((wish) => isWishedFor(wish, name, action))
    .map(({ from, offer, version, schema, onWithdraw }) => ({
      ...{ from, offer },
      ...(version === undefined ? {} : { version }),
      ...(schema === undefined ? {} : { schema }),
      ...(onWithdraw === 'undeploy' ? { undeploys: true as const } : {}),
      paths: parts.filter((part) => part.from === from && part.offer === offer).map(({ path }) => path),
    }));
}

/** A release in the order of the releases of its pipeline. The place of a follow-on is that of the release whose units it updates. */
export function placeRelease({
  number,
  place,
  trigger,
  followOn,
}: Pick<ReleaseInput, 'number' | 'place' | 'trigger' | 'followOn'>): PlacedRelease {
  const its = followOn ? trigger.of : place;
  return { release: number, ...(its === undefined ? {} : { place: its }) };
}

/** A wish for the change of an offer that the deploy has among its inputs, if it has one: that version must not stand for another value. */
function withChange(spec: Pick<PipelineSpec, 'artifacts'>, wish: Wish, inputs: readonly Artifact[]): Wish {
  const taken = listTakenOffers(spec).find(({ from, offer }) => from === wish.from && offer === wish.offer);
  const input = taken && inputs.find(({ name }) => name === taken.artifact);
  return input ? { ...wish, change: input.version } : wish;
}

/** Whether a configuration has values that are known only once its deploy begins. */
export const usesWishes = ({ wishes }: Pick<PipelineSpec, 'wishes'>, config: unknown): boolean =>
  wishes !== undefined && listWishedParts(config).length > 0;

/** The end of an earlier attempt of the same release that has left units on its version; `unknown`: a revert does not know which. */
export type Remains = 'mixed' | 'unknown';

/**
 * Where the version of a deploy runs after its end. A follow-on updates a few units, and a deploy may have skipped some; `somewhere` also stands
 * for an unknown end.
 */
export function findRunning(
  result: DeployResult | undefined,
  isFollowOn: boolean,
  before?: Remains,
): UnpinMessage['runs'] {
  if (result?.outcome === 'succeeded')
    return isFollowOn || (result.skipped ?? []).length > 0 ? 'somewhere' : 'everywhere';
  if (result?.outcome === 'reverted') return before === 'unknown' ? 'somewhere' : 'nowhere';
  return result && result.leaves === undefined && before === undefined ? 'nowhere' : 'somewhere';
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
