import { ownedPaths, type OwnedPaths } from '../domain/config/ownership';
import type { PipelineIndex } from '../domain/pipeline/pipelineIndex';

/** The finder through which pipelines get changes of configuration. */
const CHANGES_FINDER = 'config-changes';
/** How long a proposal waits for it: a deploy asks again. */
const OWNERS_PATIENCE_MS = 3_000;

/** The paths of a repository that pipelines release, as far as they are known in a few seconds: git accepts changes while Temporal is away. */
export async function pathsOfPipelines(
  index: Pick<PipelineIndex, 'subscriptions'>,
  repository: string,
): Promise<readonly OwnedPaths[]> {
  const found: OwnedPaths[] = [];
  const read = async (): Promise<void> => {
    for await (const one of index.subscriptions(CHANGES_FINDER)) found.push(...ownedPaths(repository, one));
  };
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => (timer = setTimeout(resolve, OWNERS_PATIENCE_MS, 'late')));
  const all = await Promise.race([read().catch(() => 'late' as const), late]);
  clearTimeout(timer);
  // With only some of them, a pipeline could seem to own nothing.
  return all === 'late' ? [] : found;
}
