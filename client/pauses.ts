import type { Client } from '@temporalio/client';
import type { DeploySummary, ReleaseSummary } from '../domain/views';
import { runningDeploys } from './visibility';

/** Beside the point, and not waited for long. */
const PAUSES_TIMEOUT_MS = 2_000;

/** Releases with the first of their deploys that is paused, as visibility has it: no workflow is asked, and a release does not know. */
export async function withPauses<T extends ReleaseSummary>(client: Client, releases: readonly T[]): Promise<T[]> {
  const running = releases.filter(({ endedAt, state }) => endedAt === null && state !== 'queued').map(({ id }) => id);
  const paused = await client
    .withDeadline(Date.now() + PAUSES_TIMEOUT_MS, () => pausedDeploys(client, running))
    .catch(() => new Map<string, never>());
  return releases.map((release) => {
    const pausedDeploy = paused.get(release.id);
    return pausedDeploy === undefined ? { ...release } : { ...release, pausedDeploy };
  });
}

type PausedDeploy = NonNullable<ReleaseSummary['pausedDeploy']>;

/** By the id of their release. */
async function pausedDeploys(client: Client, releases: readonly string[]): Promise<ReadonlyMap<string, PausedDeploy>> {
  const found = new Map<string, PausedDeploy>();
  for await (const { memo } of runningDeploys(client, releases)) {
    const { id, paused } = (memo?.['summary'] ?? { id: '', paused: null }) as Pick<DeploySummary, 'id' | 'paused'>;
    if (paused !== null) found.set(id.slice(0, id.lastIndexOf('/')), { id, ...paused });
  }
  return found;
}
