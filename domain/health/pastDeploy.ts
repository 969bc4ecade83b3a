import { workflowIds } from '../ids';
import type { DeploySpec } from '../spec/deploy';
import type { DeployStatus, HistoryRow, PhaseView } from '../views';
import type { Truth } from './truth';

/**
 * A deploy that has ended, with the data that a push type needs to judge it again (docs/reference/protocols.md#runhealthchecks).
 */
export interface PastDeploy {
  /** `kvstore/12/deploy` */
  readonly id: string;
  readonly pushType: string;
  readonly context: {
    readonly pipeline: string;
    readonly release: number;
    readonly deployId: string;
    readonly actor: string;
    readonly config: Record<string, unknown>;
  };
  readonly units: readonly string[];
  readonly updatedBy: readonly string[];
  readonly bakes: readonly PastBake[];
  /** The time of its first update, ms since the epoch: the time before is its baseline. */
  readonly begunAt: number;
  readonly intervalMs: number;
  readonly truth: Truth;
  /** Its health checks reverted it, so a check without a verdict by then might have had one later. */
  readonly cutShort: boolean;
}

/** The time from the end of a phase's updates until the next phase began, or a revert; ms since the epoch. */
interface PastBake {
  readonly updatedAt: number;
  readonly until: number;
}

/**
 * The deploy `action` of a release, from its `status`. The config, which `status` does not have, comes from the given spec. Null if no phase
 * completed its updates, so that there is nothing to judge.
 */
export function toPastDeploy(
  { pipeline, number, trigger }: HistoryRow,
  action: string,
  { config, healthInterval }: DeploySpec,
  status: Pick<DeployStatus, 'id' | 'pushType' | 'attempt' | 'phases' | 'updates' | 'revert' | 'endedAt'>,
  truth: Truth,
): PastDeploy | null {
  const endedAt = at(status.revert?.startedAt ?? status.endedAt);
  const reached = status.phases.filter(({ units }) => units.some(({ targeted }) => targeted > 0));
  const bakes = reached.flatMap((phase, nth) => toPastBakes(phase, at(reached[nth + 1]?.startedAt ?? null) ?? endedAt));
  const begunAt = at(reached[0]?.startedAt ?? null);
  const { updates = [] } = status;
  if (bakes.length === 0 || begunAt === undefined || updates.length === 0) return null;
  return {
    id: status.id,
    pushType: status.pushType,
    context: {
      pipeline,
      release: number,
      deployId: workflowIds.deploy(pipeline, number, action, status.attempt),
      actor: trigger.actor,
      config,
    },
    units: [...new Set(reached.flatMap(({ units }) => units.map(({ id }) => id)))],
    updatedBy: updates,
    bakes,
    begunAt,
    intervalMs: healthInterval,
    truth,
    cutShort: status.revert?.by === 'health',
  };
}

/** A phase without a bake of its own is observed until `leftAt`. */
function toPastBakes(phase: PhaseView, leftAt: number | undefined): PastBake[] {
  const updatedAt = at(phase.updatedAt);
  const until = at(phase.bakedAt) ?? leftAt;
  return updatedAt === undefined || until === undefined || until <= updatedAt ? [] : [{ updatedAt, until }];
}

const at = (time: string | null): number | undefined => (time === null ? undefined : Date.parse(time));
