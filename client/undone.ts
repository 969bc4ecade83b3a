import { workflowIds } from '../domain/ids';
import type { PipelineState } from '../domain/pipeline/state';
import { findReplacer, listRunningVersions, undoneBy } from '../domain/pipeline/undone';
import { pipelineStatus } from '../domain/pipeline/view';
import type { DeployStatus, ReleaseStatus } from '../domain/views';
import type { Temporal } from './connection';
import { withReplacements } from './replacements';

/** If this takes longer, the status omits the part that only its pipeline knows. */
const PIPELINE_QUERY_TIMEOUT_MS = 2_000;

/**
 * An ended release with its rollback, or the release of another pipeline that replaced it: only its pipeline knows
 * these.
 */
export async function withRollback(temporal: Temporal, release: ReleaseStatus): Promise<ReleaseStatus> {
  if (release.endedAt === null) return release;
  return { ...release, ...(await findUndone(temporal, release)) };
}

/** The same for a successful deploy. */
export async function withDeployRollback(
  temporal: Temporal,
  release: Pick<ReleaseStatus, 'pipeline' | 'number'>,
  action: string,
  deploy: DeployStatus,
): Promise<DeployStatus> {
  if (deploy.outcome !== 'succeeded') return deploy;
  return { ...deploy, ...(await findUndone(temporal, release, action)) };
}

/**
 * @param action if given, the rollback must have deployed it: no rollback deploys a canary, and none deploys after a
 * later deploy of another pipeline
 */
async function findUndone(
  temporal: Temporal,
  release: Pick<ReleaseStatus, 'pipeline' | 'number'>,
  action?: string,
): Promise<Pick<ReleaseStatus, 'undone' | 'runsNow' | 'replacedBy'>> {
  const { client } = temporal;
  try {
    const handle = client.workflow.getHandle(workflowIds.pipeline(release.pipeline));
    const state = await client.withDeadline(Date.now() + PIPELINE_QUERY_TIMEOUT_MS, () =>
      handle.query<PipelineState | null>('pipeline'),
    );
    if (state === null) return {};
    const { releases, ...status } = pipelineStatus(state, Date.now());
    const lastGood = await withReplacements(temporal, state, status);
    const undone = undoneBy(release, [...state.history, ...releases.filter(({ endedAt }) => endedAt === null)]);
    if (undone === undefined) {
      const by = action === undefined ? findReplacer(release, lastGood) : undefined;
      return by === undefined ? {} : { replacedBy: by };
    }
    const rollback = state.history.find(({ id }) => id === undone.by);
    if (action !== undefined && !rollback?.deploys.some((deploy) => deploy.action === action)) return {};
    return undone.at === null ? { undone } : { undone, runsNow: listRunningVersions({ ...status, lastGood }, state) };
  } catch {
    return {};
  }
}
