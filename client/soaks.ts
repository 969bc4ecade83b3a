import { workflowIds } from '../domain/ids';
import type { PipelineState } from '../domain/pipeline/state';
import type { ReleaseStatus, WaitView } from '../domain/views';
import type { Temporal } from './connection';

/** The status of a pipeline waits at most this long for its releases. */
const SOAK_QUERY_TIMEOUT_MS = 2_000;
/** The number of oldest running releases queried; people do not read more at once. */
const MAX_QUERIED = 20;

/**
 * The soaks in the releases of a pipeline, which only they know, if its file has any. A silent release is left out of
 * the answer.
 */
export async function soakWaits(
  { client }: Temporal,
  { spec, active }: Pick<PipelineState, 'spec' | 'active'>,
): Promise<WaitView[]> {
  if (!Object.values(spec.actions).some((action) => 'soak' in action && action.soak !== undefined)) return [];
  const begun = active.filter(({ state, gone }) => state === 'running' && !gone).slice(0, MAX_QUERIED);
  const ask = async (release: number): Promise<WaitView[]> => {
    const handle = client.workflow.getHandle(workflowIds.release(spec.pipeline, release));
    const { actions } = await client.withDeadline(Date.now() + SOAK_QUERY_TIMEOUT_MS, () =>
      handle.query<Pick<ReleaseStatus, 'actions'>>('status'),
    );
    return actions.flatMap(({ name, state, blockedBy, until }) =>
      state === 'blocked' && blockedBy?.startsWith('soaking') ? [{ release, action: name, why: blockedBy, until }] : [],
    );
  };
  return (await Promise.all(begun.map(({ number }) => ask(number).catch(() => [])))).flat();
}
