import { workflowIds } from '../ids';
import type { DeploySpec } from '../spec/deploy';
import type { DeployStatus, HistoryRow, PhaseView } from '../views';
import type { Truth } from './truth';

/** A deploy that is over, with what a push type needs to judge it again (docs/reference/protocols.md#runhealthchecks). */
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
  /** When its first update went out, ms since the epoch: the time before is its baseline. */
  readonly begunAt: number;
  readonly intervalMs: number;
  readonly truth: Truth;
  /** Its health checks reverted it: a check that had said nothing by then may have done so later. */
  readonly cutShort: boolean;
}

/** From when the updates of a phase were done until the next phase began, or a revert; ms since the epoch. */
interface PastBake {
  readonly updatedAt: number;
  readonly until: number;
}

/**
 * The deploy `action` of a release, by what `status` says of it; the config, which `status` does not have, is that of the spec at hand.
 * Null when no phase of it came to the end of its updates, so that nothing can be judged.
 */
export function pastDeployOf(
  { pipeline, number, trigger }: HistoryRow,
  action: string,
  { config, healthInterval }: DeploySpec,
  status: Pick<DeployStatus, 'id' | 'pushType' | 'attempt' | 'phases' | 'updates' | 'revert' | 'endedAt'>,
  truth: Truth,
): PastDeploy | null {
  const endedAt = at(status.revert?.startedAt ?? status.endedAt);
  const reached = status.phases.filter(({ units }) => units.some(({ targeted }) => targeted > 0));
  const bakes = reached.flatMap((phase, nth) => bakeOf(phase, at(reached[nth + 1]?.startedAt ?? null) ?? endedAt));
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

/** A phase without a bake of its own is seen until `leftAt`. */
function bakeOf(phase: PhaseView, leftAt: number | undefined): PastBake[] {
  const updatedAt = at(phase.updatedAt);
  const until = at(phase.bakedAt) ?? leftAt;
  return updatedAt === undefined || until === undefined || until <= updatedAt ? [] : [{ updatedAt, until }];
}

const at = (time: string | null): number | undefined => (time === null ? undefined : Date.parse(time));
