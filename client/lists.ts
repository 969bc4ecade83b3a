import { conveyorError } from '../domain/errors';
import type { DeploySummary, PipelineSummary, ReleaseSummary } from '../domain/views';
import type { ListQuery } from './api';
import { index } from './pipelineIndex';
import type { Workflows } from './workflows';

/** Lists come newest first. What visibility knows late or not at all is asked of each workflow. */
export const listPipelines = (workflows: Workflows, query: ListQuery): Promise<PipelineSummary[]> =>
  collect(workflows, 'pipeline', query, ([name = '']) => workflows.pipeline(name));

export const listReleases = (workflows: Workflows, query: ListQuery): Promise<ReleaseSummary[]> =>
  collect(workflows, 'release', query, ([pipeline = '', number]) => workflows.release(pipeline, Number(number)));

export const listDeploys = (workflows: Workflows, query: ListQuery): Promise<DeploySummary[]> =>
  collect(workflows, 'deploy', query, ([pipeline = '', number, action = '']) =>
    workflows.deploy(pipeline, Number(number), action),
  );

async function collect<T extends { readonly state: string }>(
  workflows: Workflows,
  kind: 'pipeline' | 'release' | 'deploy',
  { pipeline, state, limit }: ListQuery,
  describe: (path: readonly string[]) => Promise<T>,
): Promise<T[]> {
  const found: T[] = [];
  const listing = index(workflows.temporal.client, kind, pipeline);
  await workflows.asking(
    `list ${kind}s`,
    async () => {
      for await (const workflowId of listing) {
        const status = await describe(workflowId.split('/').slice(1));
        if (state === undefined || status.state === state) found.push(status);
        if (found.length >= limit) return;
      }
    },
    { notFound: () => conveyorError('internal', { detail: `a ${kind} vanished while it was listed` }) },
  );
  return found;
}
