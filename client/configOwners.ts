import { listOwnedPaths, type OwnedPaths } from '../configerator/domain/ownership';
import type { PipelineIndex } from '../domain/pipeline/pipelineIndex';
import { connectTemporal, type ConnectionOptions } from './connection';
import { answerInTime } from './inTime';
import { frontIndex } from './pipelineIndex';

/** The finder through which pipelines get changes of configuration. */
const CHANGES_FINDER = 'config-changes';
/** How long a proposal waits for the paths: its deploy checks them again. */
const OWNERS_PATIENCE_MS = 3_000;

/**
 * The paths of a repository that pipelines release, if known within a few seconds: git accepts changes while Temporal
 * is down.
 */
export async function pathsOfPipelines(
  index: Pick<PipelineIndex, 'subscriptions'>,
  repository: string,
): Promise<readonly OwnedPaths[]> {
  const found: OwnedPaths[] = [];
  const read = async (): Promise<true> => {
    for await (const one of index.subscriptions(CHANGES_FINDER)) found.push(...listOwnedPaths(repository, one));
    return true;
  };
  // With a partial list, a pipeline could seem to own nothing.
  return (await answerInTime(read(), OWNERS_PATIENCE_MS)) === undefined ? [] : found;
}

/** The same, for a program without a connection. */
export async function pathsKnownToTemporal(
  options: ConnectionOptions,
  repository: string,
): Promise<readonly OwnedPaths[]> {
  const connecting = connectTemporal(options);
  const close = () => connecting.then(({ connection }) => connection.close()).catch(() => undefined);
  const temporal = await answerInTime(connecting, OWNERS_PATIENCE_MS);
  try {
    return temporal === undefined ? [] : await pathsOfPipelines(frontIndex(temporal), repository);
  } finally {
    void close();
  }
}
