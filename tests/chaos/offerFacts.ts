import { findInput } from '../../activities/readInput';
import type { DeployInput } from '../../domain/deploy/state';
import { workflowIds } from '../../domain/ids';
import type { Offer, OfferBoard, Use } from '../../domain/offers/board';
import type { ValueSchema } from '../../domain/offers/schema';
import type { ReleaseInput } from '../../domain/release/state';
import type { PipelineSpec } from '../../domain/spec/pipeline';
import type { VirtualWorld } from '../workflows/world';
import { doesFit as doesVersionFit, findAt, isSatisfied, isSame, listUses } from '../domain/offers/stories/oracle';

/** Facts about offers, and rules of their own to judge them by, so that a mistake of the product's is seen. */

export const releaseInputOf = async (
  world: VirtualWorld,
  pipeline: string,
  release: number,
): Promise<ReleaseInput | undefined> =>
  (await findInput(world.client, workflowIds.release(pipeline, release))) as ReleaseInput | undefined;

export const deployInputOf = async (
  world: VirtualWorld,
  pipeline: string,
  release: number,
  action: string,
): Promise<DeployInput | undefined> =>
  (await findInput(world.client, workflowIds.deploy(pipeline, release, action, 1))) as DeployInput | undefined;

/** Releases that wait for no offer. */
export const isUrgent = ({ trigger }: Pick<ReleaseInput, 'trigger'>): boolean =>
  ['rollback', 'emergency', 'follow-on'].includes(trigger.kind);

export interface ChaosWish extends Pick<Use, 'version' | 'schema' | 'paths'> {
  readonly from: string;
  readonly offer: string;
}

interface UsedPart {
  readonly from: string;
  readonly offer: string;
  readonly path: string;
  /** The variable of the tasks. */
  readonly key: string;
}

/** The parts of offers that the variables of a deploy's tasks name. */
export function listParts({ actions }: Pick<PipelineSpec, 'actions'>, name: string): UsedPart[] {
  const action = actions[name];
  if (action?.type !== 'deploy') return [];
  return Object.entries((action.with.config['env'] ?? {}) as Record<string, unknown>).flatMap(([key, text]) => {
    const [, from, offer, path] = /^\$\{wishes\.([^.]+)\.([^.]+)\.(.+)\}$/.exec(String(text)) ?? [];
    return from === undefined || offer === undefined || path === undefined ? [] : [{ from, offer, path, key }];
  });
}

export const listWished = (spec: Pick<PipelineSpec, 'actions' | 'wishes'>, name: string): ChaosWish[] =>
  (spec.wishes ?? [])
    .filter((wish) => wish.for === undefined || wish.for.includes(name))
    .map(({ from, offer, version, schema }) => ({
      ...{ from, offer },
      ...(version === undefined ? {} : { version }),
      ...(schema === undefined ? {} : { schema }),
      paths: listParts(spec, name).flatMap((part) => (part.from === from && part.offer === offer ? [part.path] : [])),
    }));

export const doesFit = (wish: Pick<Use, 'version' | 'schema' | 'paths'>, made: Pick<Offer, 'version' | 'value'>) =>
  doesVersionFit(wish, made) && (wish.schema === undefined || isOf(made.value, wish.schema));

const OF_TYPE: Readonly<Record<ValueSchema['type'], (value: unknown) => boolean>> = {
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  array: (value) => Array.isArray(value),
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
};

function isOf(value: unknown, { type, properties = {}, required = [], items }: ValueSchema): boolean {
  if (!OF_TYPE[type](value)) return false;
  if (Array.isArray(value)) return items === undefined || value.every((item) => isOf(item, items));
  const parts = value as Record<string, unknown>;
  const hasAll = required.every((key) => parts[key] !== undefined);
  return (
    hasAll && Object.entries(properties).every(([key, part]) => parts[key] === undefined || isOf(parts[key], part))
  );
}

/** Whether a deploy of a pipeline may begin with an offer of this board. */
export function isGranted(pipeline: string, wish: ChaosWish, board: OfferBoard | null): boolean {
  const offer = board?.offers.find(({ name }) => name === wish.offer);
  return offer !== undefined && isSatisfied(pipeline, wish, board) && doesFit(wish, offer);
}

/** Whether the offers that a deploy makes fit all users of the earlier ones. */
export function isUnfit({ actions, offers = [] }: PipelineSpec, action: string, board: OfferBoard | null): boolean {
  const [only = ''] = Object.keys(actions);
  const mine = offers.filter(({ after = only }) => after === action);
  return listUses(board ?? { users: [] }).some((use) => {
    const before = board?.offers.find(({ name }) => name === use.offer);
    const after = mine.find(({ name }) => name === use.offer);
    if (after) return !doesFit(use, after as Pick<Offer, 'version' | 'value'>);
    const isOwn = before?.action === action && before.notMadeBy === undefined;
    return isOwn && !offers.some(({ name }) => name === use.offer);
  });
}

export { findAt, isSame, listUses };
