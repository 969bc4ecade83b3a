import { ConveyorError, conveyorError } from '../domain/errors';
import type { OfferBoard } from '../domain/offers/board';
import { cutUnfit, judgeWishes, listOffering, listUnfit, type Wish } from '../domain/offers/judge';
import { fillWishes, listWishes, planUnfilled, usesWishes } from '../domain/offers/ofPipeline';
import { toBoard, viewPresent } from '../domain/offers/view';
import type { NamedDeploy } from '../domain/spec/deployActions';
import type { PipelineSpec } from '../domain/spec/pipeline';
import { conjugate, joinWords } from '../domain/text';
import type { PlanView } from '../domain/views';
import { isInRange } from '../sdk/versions';
import { withClient } from './door';
import type { ConnectOptions, Io } from './io';

/** The wishes of a deploy as they are at present, and the users of its own offers that would make it wait. */
interface PresentWishes extends Pick<PlanView, 'wishes' | 'unfit' | 'warnings'> {
  /** The deploy; if all its wishes are satisfied, with the values that it would have. */
  readonly deploy: NamedDeploy;
}

/** Asks the pipelines for whose offers a deploy wishes, and its own if it makes offers. If they do not answer, the plan leaves their offers out, with a note. @throws plan-impossible */
export async function findPresentWishes(
  io: Io,
  connect: ConnectOptions,
  spec: PipelineSpec,
  deploy: NamedDeploy,
): Promise<PresentWishes> {
  const wishes = listWishes(spec, deploy[0]);
  const plan = planUnfilled(spec, deploy[0]);
  const asked = [...listOffering(wishes), ...(plan.made.length > 0 ? [spec.pipeline] : [])];
  if (asked.length === 0) return { deploy, warnings: [] };
  const boards = await readBoards(io, connect, asked);
  const known = wishes.filter(({ from }) => boards.has(from));
  const unread = asked.filter((from) => !boards.has(from));
  const unfit = listUnfit(boards.get(spec.pipeline) ?? null, plan, isInRange);
  return {
    ...(known.length === 0 ? {} : { wishes: viewPresent(spec.pipeline, known, boards, isInRange) }),
    ...(unfit.length === 0 ? {} : { unfit: cutUnfit(unfit) }),
    deploy: wishes.every(({ from }) => boards.has(from)) ? fillDeploy(spec, deploy, wishes, boards) : deploy,
    warnings: unread.length === 0 ? [] : [unreadWarning(unread)],
  };
}

/** Refuses to ask a push type with a config whose values a pipeline does not offer. @throws plan-impossible */
export function requireValues(
  spec: PipelineSpec,
  [name, { with: given }]: NamedDeploy,
  wishes: PlanView['wishes'],
): void {
  const waits = wishes?.find(({ why }) => why !== null);
  if (waits && usesWishes(spec, given.config))
    throw conveyorError('plan-impossible', { why: `the config of ${name} uses values of offers, and ${waits.why}` });
}

type PresentBoards = ReadonlyMap<string, OfferBoard | null>;

/** The boards of these pipelines; null for one that there is not, and nothing for one that does not answer. */
async function readBoards(io: Io, connect: ConnectOptions, pipelines: readonly string[]): Promise<PresentBoards> {
  try {
    return await withClient(io, connect, async (client) => {
      const read = pipelines.map(async (name): Promise<[string, OfferBoard | null][]> => {
        try {
          return [[name, toBoard(await client.offers(name))]];
        } catch (error) {
          return error instanceof ConveyorError && error.code === 'unknown-pipeline' ? [[name, null]] : [];
        }
      });
      return new Map((await Promise.all(read)).flat());
    });
  } catch {
    return new Map();
  }
}

function fillDeploy(
  spec: PipelineSpec,
  [name, action]: NamedDeploy,
  wishes: readonly Wish[],
  boards: PresentBoards,
): NamedDeploy {
  const answer = judgeWishes(spec.pipeline, wishes, boards, isInRange);
  if (answer.kind === 'waiting') return [name, action];
  const filled = fillWishes(action.with.config, wishes, answer.granted);
  if ('refusal' in filled) throw conveyorError('plan-impossible', { why: filled.refusal });
  return [name, { ...action, with: { ...action.with, config: filled.config } }];
}

const unreadWarning = (pipelines: readonly string[]): PlanView['warnings'][number] => ({
  code: 'unread-offers',
  message: `Conveyor did not say what ${joinWords(pipelines, 'and')} ${conjugate(pipelines.length, 'offer')}: the plan does not show whether the deploy waits for that`,
});
