import { waitsForOffers } from '../pipeline/admission';
import type { PipelineState, ReadyAction } from '../pipeline/state';
import { isUndeploy } from '../pipeline/undeploy';
import { ancestors, dependencies } from '../release/graph';
import { parseUser, type OfferBoard } from './board';
import { judgeWishes, whyUnfit, type Boards, type OfferPlan, type RangeTest, type Wish } from './judge';
import { findDeployOffers, findMaker } from './ofPipeline';

/** Deploys that wait for each other: each for an offer of the next, or for the next to stop using its own. `cycles.ts` finds circles in files. */

/** A deploy that waits. */
export interface WaitingDeploy {
  readonly pipeline: string;
  readonly action: string;
  readonly wishes: readonly Wish[];
  readonly plan: OfferPlan | null;
}

/** As much of a pipeline as matters here. */
type WaitingState = Pick<PipelineState, 'spec' | 'ready' | 'active' | 'history'>;

export const formatDeploy = ({ pipeline, action }: Pick<WaitingDeploy, 'pipeline' | 'action'>): string =>
  `${pipeline}/${action}`;

/** The actions of other pipelines on which a deploy waits directly. */
export function listHindrances(
  { pipeline, wishes, plan }: WaitingDeploy,
  own: OfferBoard | null,
  boards: Boards,
  isInRange: RangeTest,
): readonly Hindrance[] {
  const answer = judgeWishes(pipeline, wishes, boards, isInRange);
  const unmet = answer.kind === 'waiting' ? answer.unmet : [];
  const unfit = (own?.users ?? []).filter(
    (user) => own && plan && whyUnfit({ ...own, users: [user] }, plan, isInRange) !== undefined,
  );
  return [
    ...unmet.map(({ from, offer }) => ({ pipeline: from, offer })),
    ...unfit.flatMap(({ user }) => parseUser(user) ?? []),
  ];
}

/** An offer that another pipeline has to make, or an action that has to be deployed anew. */
type Hindrance = { readonly pipeline: string } & ({ readonly offer: string } | { readonly action: string });

/** The deploys of a pipeline that wait and keep it from that. */
export function listHolding(state: WaitingState, hindrance: Hindrance): readonly WaitingDeploy[] {
  const { spec, ready } = state;
  const offer = 'offer' in hindrance ? spec.offers?.find(({ name }) => name === hindrance.offer) : undefined;
  const action = 'action' in hindrance ? hindrance.action : offer && findMaker(spec, offer);
  if (action === undefined) return [];
  const edges = dependencies(spec.actions);
  const isBefore = (one: string, other: string): boolean => one === other || ancestors(edges, other).has(one);
  const holds = ({ release, action: waiting }: ReadyAction): boolean =>
    isUndeploy(state, release)
      ? // It makes no offer, and removes the last deploy of the file first.
        'action' in hindrance && isBefore(action, waiting)
      : isBefore(waiting, action);
  return ready.filter((one) => waitsForOffers(one) && holds(one)).map((one) => describeWaiting(state, one));
}

function describeWaiting(state: WaitingState, { release, action, artifacts }: ReadyAction): WaitingDeploy {
  const { spec } = state;
  const removes = isUndeploy(state, release);
  const trigger = { kind: removes ? ('undeploy' as const) : ('manual' as const) };
  const { wishes, plan } = findDeployOffers({ spec, trigger, offered: true }, action, artifacts);
  return { pipeline: spec.pipeline, action, wishes: removes ? [] : wishes, plan };
}

const CIRCLE = '; these deploys wait for each other: ';
const CHANGE_FILE =
  'change a wish or after: of one of them, then type conveyor apply FILE and conveyor release PIPELINE';

/**
 * The reason of a wait, with the deploys of its circle in order, of which the first is the last, and the commands that break it.
 * @param deploy `net/2/deploy`, if it waits for users of its own offers, so that a person may let it begin
 */
export function addCircle(reason: string, circle: readonly string[] | null, deploy: string | null): string {
  if (circle === null) return reason;
  const way = deploy ? `type conveyor override-offer ${deploy} --reason …` : CHANGE_FILE;
  return `${reason}${CIRCLE}${circle.join(' → ')}; to break it, ${way}`;
}

/** The reason as it was said before, with the same circle or none. */
export const keepCircle = (reason: string, before: string | null): string =>
  before?.startsWith(reason + CIRCLE) ? before : reason;
