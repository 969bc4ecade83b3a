import type { WorkflowHandle } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { toCounts } from '../domain/deploy/counts';
import type { UnitProgress } from '../domain/fleet/unit';
import type { ActionView, DeployStatus, HealthRow } from '../domain/views';

/** What a running activity said in its last heartbeat, and what its last attempt failed with. */
export interface Pending {
  readonly activity: string;
  readonly heartbeat: unknown;
  readonly failure: string | null;
  readonly attempt: number;
}

/** The activities of a workflow that are under way; none when it has ended. */
export async function pendingOf(handle: WorkflowHandle): Promise<Pending[]> {
  const { raw } = await handle.describe();
  return (raw.pendingActivities ?? []).map(({ activityType, heartbeatDetails, lastFailure, attempt }) => {
    const payload = heartbeatDetails?.payloads?.[0];
    return {
      activity: activityType?.name ?? '',
      heartbeat: payload ? defaultPayloadConverter.fromPayload(payload) : undefined,
      failure: lastFailure?.message ?? null,
      attempt: attempt ?? 1,
    };
  });
}

type Deploy = Omit<DeployStatus, 'webUi'>;

/** A deploy's status with what its activities see right now: counts while updating, verdicts while baking, an outage. */
export function mergeDeploy(status: Deploy, pending: readonly Pending[]): Deploy {
  return pending.reduce((merged, { activity, heartbeat, failure, attempt }) => {
    const seen = heartbeat as { units?: readonly UnitProgress[]; rows?: readonly HealthRow[] } | undefined;
    const shown = activity === 'followUpdates' && seen?.units ? withUnits(merged, seen.units) : merged;
    const judged = activity === 'watchHealth' && seen?.rows ? { ...shown, health: seen.rows } : shown;
    return failure === null
      ? judged
      : { ...judged, summary: `${judged.summary}; attempt ${attempt} of ${activity}: ${failure}` };
  }, status);
}

function withUnits(status: Deploy, units: readonly UnitProgress[]): Deploy {
  if (status.state === 'reverting' && status.revert) {
    const reverting = status.revert.units.map((unit) => {
      const seen = units.find(({ id }) => id === unit.id);
      return seen ? { ...toCounts(seen), toVersion: unit.toVersion } : unit;
    });
    return { ...status, revert: { ...status.revert, units: reverting } };
  }
  return {
    ...status,
    phases: status.phases.map((phase) =>
      phase.state === 'running' ? { ...phase, units: units.map(toCounts) } : phase,
    ),
  };
}

/** An action's view with the progress that its service reported last. */
export function mergeAction(view: ActionView, pending: readonly Pending[]): ActionView {
  const mine = pending.find(({ heartbeat }) => (heartbeat as { action?: string } | undefined)?.action === view.name);
  if (view.state !== 'running' || mine === undefined) return view;
  const {
    progress = null,
    message = null,
    url = null,
  } = mine.heartbeat as Partial<Pick<ActionView, 'progress' | 'message' | 'url'>>;
  return { ...view, progress, message: mine.failure ?? message, url };
}
