import type { Client } from '@temporalio/client';

/**
 * Finds workflows through Temporal's visibility, newest first; the only place that lists any (DESIGN §4 rule 9). A later
 * attempt of a deploy stands for the earlier ones.
 */
export async function* index(
  client: Client,
  kind: 'pipeline' | 'release' | 'deploy',
  pipeline: string | undefined,
): AsyncGenerator<string> {
  const ofPipeline = pipeline === undefined ? '' : ` AND ConveyorPipeline = '${pipeline.replace(/'/g, '')}'`;
  const seen = new Set<string>();
  for await (const { workflowId } of client.workflow.list({ query: `WorkflowType = '${kind}'${ofPipeline}` })) {
    const key = kind === 'deploy' ? workflowId.slice(0, workflowId.lastIndexOf('/')) : workflowId;
    if (seen.has(key)) continue;
    seen.add(key);
    yield workflowId;
  }
}
