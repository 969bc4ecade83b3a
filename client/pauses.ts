import type { Client } from '@temporalio/client';
import { continuesByItself } from '../domain/deploy/view';
import { releaseAhead } from '../domain/pipeline/ahead';
import { withReason } from '../domain/text';
import type { DeploySummary, Holder, ReleaseSummary } from '../domain/views';
import { runningOf } from './visibility';

/** Beside the point, and not waited for long. */
const PAUSES_TIMEOUT_MS = 2_000;

type Pausable = Pick<ReleaseSummary, 'id' | 'state' | 'endedAt' | 'pausedDeploy'>;

/** Releases with the first of their deploys that is paused, as visibility has it: no workflow is asked, and a release does not know. */
export async function withPauses<T extends Pausable>(client: Client, releases: readonly T[]): Promise<T[]> {
  const running = releases.filter(({ endedAt, state }) => endedAt === null && state !== 'queued').map(({ id }) => id);
  const paused = await client
    .withDeadline(Date.now() + PAUSES_TIMEOUT_MS, () => pausedDeploys(client, running))
    .catch(() => new Map<string, never>());
  return releases.map((release) => {
    const pausedDeploy = paused.get(release.id);
    return pausedDeploy === undefined ? { ...release } : { ...release, pausedDeploy };
  });
}

/** Why something waits for another release; if a deploy of that release is paused, also who paused it and what to type; if no worker works for it, which one is missing. */
export function behindPaused(
  why: string,
  releases: readonly Pick<ReleaseSummary, 'number' | 'pausedDeploy' | 'problem'>[],
): string {
  const number = releaseAhead(why);
  const { pausedDeploy: paused, problem } = releases.find((release) => release.number === number) ?? {};
  if (problem !== undefined) return `${why}, but ${problem}`;
  return paused === undefined ? why : `${why}, ${pausedWords(paused)}`;
}

const pausedWords = (paused: PausedDeploy): string => {
  const { id, by, actor, reason } = paused;
  return `${withReason(`paused by ${actor ?? by}`, reason)}: ${wayOn(paused)}, conveyor revert or cancel ${id} --reason "…" ends it`;
};

/** `resume` does not end a freeze, and a pause that ends by itself needs no `resume`. */
function wayOn(paused: PausedDeploy): string {
  const { id, by, on } = paused;
  if (by === 'freeze') return `conveyor unfreeze ${id.split('/')[0] ?? ''} --reason "…" lets it continue`;
  return continuesByItself(paused)
    ? `it continues once ${on ?? 'that'} answers`
    : `conveyor resume ${id} --reason "…" lets it continue`;
}

/** As `behindPaused`, for the release that holds a lock. */
export async function holderPaused(client: Client, { id }: Pick<Holder, 'id'>): Promise<string | undefined> {
  const [release] = await withPauses(client, [{ id, state: 'running', endedAt: null } as Pausable]);
  return release?.pausedDeploy && `${id} is ${pausedWords(release.pausedDeploy)}`;
}

type PausedDeploy = NonNullable<ReleaseSummary['pausedDeploy']>;

/** By the id of their release. */
async function pausedDeploys(client: Client, releases: readonly string[]): Promise<ReadonlyMap<string, PausedDeploy>> {
  const found = new Map<string, PausedDeploy>();
  for await (const { memo } of runningOf(client, 'deploy', releases)) {
    const { id, paused } = (memo?.['summary'] ?? { id: '', paused: null }) as Pick<DeploySummary, 'id' | 'paused'>;
    if (paused !== null) found.set(id.slice(0, id.lastIndexOf('/')), { id, ...paused });
  }
  return found;
}
