import type { Landing, Strip } from '../configerator/domain/landing';
import { workflowIds } from '../domain/ids';
import type { PipelineState } from '../domain/pipeline/state';
import { deploysWithConfig } from '../domain/spec/deployActions';
import type { DeployStatus } from '../domain/views';
import type { Temporal } from './connection';

/** If this takes longer, the status omits it. */
const STRIP_QUERY_TIMEOUT_MS = 2_000;

/** A deploy of configuration that was cancelled or failed, with the commit of its change if that had landed before. Only the newest landings are known. */
export async function withLandedChange(
  { client }: Temporal,
  { pipeline, action }: { readonly pipeline: string; readonly action: string },
  deploy: DeployStatus,
): Promise<DeployStatus> {
  const [, number] = /^([1-9]\d*)@[0-9a-f]+$/.exec(deploy.version) ?? [];
  if (number === undefined || (deploy.outcome !== 'cancelled' && deploy.outcome !== 'failed')) return deploy;
  const query = <T>(workflowId: string, name: string): Promise<T> =>
    client.withDeadline(Date.now() + STRIP_QUERY_TIMEOUT_MS, () =>
      client.workflow.getHandle(workflowId).query<T>(name),
    );
  try {
    const { spec } = await query<PipelineState>(workflowIds.pipeline(pipeline), 'pipeline');
    const repository = deploysWithConfig(spec).find(([name]) => name === action)?.[1].config['repository'];
    if (typeof repository !== 'string') return deploy;
    const { landed } = await query<Strip>(workflowIds.landing(repository), 'strip');
    const isLanded = (one: Landing): one is Extract<Landing, { commit: string }> =>
      'commit' in one && one.change === Number(number);
    const found = landed.find(isLanded);
    return found === undefined ? deploy : { ...deploy, landed: { change: found.change, commit: found.commit } };
  } catch {
    return deploy;
  }
}
