import type { PipelineSource } from '../../domain/spec/pipeline';
import type { ReleaseStatus } from '../../domain/views';
import { kvstore } from './pipelines';
import { HOUR, MINUTE, type VirtualWorld } from './world';

/** Pipelines with more than a deploy, and helpers for their tests. */

type Action = PipelineSource['actions'][string];
export type Actions = Record<string, Action>;
type Deploy = Extract<Action, { type: 'deploy' }>;

/** A deploy of both regions at once, with the given bake and health interval. */
export const deployAction = (
  bake = '10m',
  more: Partial<Omit<Deploy, 'type'>> = {},
  healthInterval = '60s',
): Action => ({
  ...(kvstore({ phases: [], completion: { bake }, healthInterval }).actions['deploy'] as Deploy),
  ...more,
});

/** An action that takes this many minutes. */
export const slowAction = (minutes: number, more: Partial<Omit<Action, 'type' | 'with'>> = {}): Action => ({
  type: 'custom',
  with: { service: 'slow', takesMs: minutes * MINUTE },
  ...more,
});

/** Polls progress less often than usual: for stories that last hours. */
export const CALM = { progressIntervalMs: MINUTE, trackIntervalMs: MINUTE } as const;

export const flow = (actions: Record<string, Action>, more: Partial<PipelineSource> = {}): PipelineSource => ({
  ...kvstore({}, more),
  actions,
});

/** `succeeded`, `cancelled (superseded)` …, by number. */
export const endsOf = (world: VirtualWorld, numbers: readonly number[], pipeline = 'kvstore'): Promise<string[]> =>
  Promise.all(
    numbers.map(async (number) => {
      const { state, cause } = await world.releaseStatus(pipeline, number);
      return cause ? `${state} (${cause})` : state;
    }),
  );

export const actionOf = ({ actions }: ReleaseStatus, name: string) => actions.find((action) => action.name === name);

/** Lets time pass until an action of a release is as described. */
export async function untilAction(
  world: VirtualWorld,
  release: number,
  name: string,
  holds: (action: NonNullable<ReturnType<typeof actionOf>>) => boolean,
  { pipeline = 'kvstore', withinMs = 12 * HOUR, stepMs = MINUTE } = {},
): Promise<void> {
  await world.until(
    `${name} of release ${release} got there`,
    async () => {
      const action = actionOf(await world.releaseStatus(pipeline, release), name);
      return action !== undefined && holds(action);
    },
    { stepMs, withinMs },
  );
}

export const isAtPick = ({ pickBy }: { readonly pickBy: readonly string[] | null }): boolean => pickBy !== null;

/** The held groups, with their holders and times; ms since the epoch. */
export interface Span {
  readonly release: string;
  readonly fromMs: number;
  readonly toMs: number;
}

/** Pairs of spans of different releases that overlap. */
export function overlaps(spans: readonly Span[]): string[] {
  const sorted = [...spans].sort((a, b) => a.fromMs - b.fromMs);
  return sorted.flatMap((span, index) =>
    sorted
      .slice(index + 1)
      .filter((later) => later.release !== span.release && later.fromMs < span.toMs)
      .map((later) => `${span.release} and ${later.release} at ${new Date(later.fromMs).toISOString()}`),
  );
}

/** When the deploy workflow of a release ran. */
export async function deploySpan(world: VirtualWorld, release: number, pipeline = 'kvstore'): Promise<Span> {
  const { startedAt, endedAt } = await world.deployStatus(pipeline, release);
  return { release: `${pipeline}/${release}`, fromMs: Date.parse(startedAt ?? ''), toMs: Date.parse(endedAt ?? '') };
}
