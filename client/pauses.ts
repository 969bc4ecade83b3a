import type { Client } from '@temporalio/client';
import { continuesByItself } from '../domain/deploy/view';
import { releaseAhead } from '../domain/pipeline/ahead';
import { withReason } from '../domain/text';
import type { DeploySummary, Holder, Pause, ReleaseStatus, ReleaseSummary } from '../domain/views';
import { listRunningWorkflows } from './visibility';

/** An optional detail, so the wait for it is short. */
const PAUSES_TIMEOUT_MS = 2_000;

type Pausable = Pick<ReleaseSummary, 'id' | 'state' | 'endedAt' | 'pausedDeploy' | 'paused'>;

/**
 * Releases with their own pause, which their pipeline does not know, and with their first paused deploy, from
 * visibility.
 */
export async function withPauses<T extends Pausable>(client: Client, releases: readonly T[]): Promise<T[]> {
  const running = releases.filter(({ endedAt, state }) => endedAt === null && state !== 'queued').map(({ id }) => id);
  // Lists have the state of the release itself; its pipeline only knows that it runs.
  const asRunning = releases.filter(({ state }) => state === 'running').map(({ id }) => id);
  const within = <V>(find: () => Promise<ReadonlyMap<string, V>>): Promise<ReadonlyMap<string, V>> =>
    client.withDeadline(Date.now() + PAUSES_TIMEOUT_MS, find).catch(() => new Map<string, V>());
  const [deploys, own] = await Promise.all([
    within(() => findPausedDeploys(client, running)),
    within(() => findPausedReleases(client, asRunning)),
  ]);
  return releases.map((release) => {
    const pausedDeploy = deploys.get(release.id);
    const paused = own.get(release.id);
    return {
      ...release,
      ...(paused === undefined ? {} : { paused, state: 'paused' as const }),
      ...(pausedDeploy === undefined ? {} : { pausedDeploy }),
    };
  });
}

/**
 * Why something waits for another release; if that release or its deploy is paused, also who paused it and the command
 * to type; if it has no worker, which one is missing.
 */
export function behindPaused(
  why: string,
  releases: readonly Pick<ReleaseSummary, 'id' | 'number' | 'paused' | 'pausedDeploy' | 'problem'>[],
): string {
  const number = releaseAhead(why);
  const ahead = releases.find((release) => release.number === number);
  if (ahead?.problem !== undefined) return `${why}, but ${ahead.problem}`;
  const paused = ahead && pickPause(ahead);
  return paused === undefined ? why : `${why}, ${describePausedDeploy(paused)}`;
}

/** A resume of the release reaches its deploys, too. */
const pickPause = ({ id, paused, pausedDeploy }: Pick<ReleaseSummary, 'id' | 'paused' | 'pausedDeploy'>) =>
  paused === undefined ? pausedDeploy : { ...paused, id };

const describePausedDeploy = (paused: PausedDeploy): string => {
  const { id, by, actor, reason } = paused;
  return `${withReason(`paused by ${actor ?? by}`, reason)}: ${wayOn(paused)}; conveyor revert or cancel ${id} --reason "…" ends it`;
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
  const paused = release && pickPause(release);
  return paused && `${id} is ${describePausedDeploy(paused)}`;
}

type PausedDeploy = NonNullable<ReleaseSummary['pausedDeploy']>;

/** By the id of their release. */
async function findPausedDeploys(
  client: Client,
  releases: readonly string[],
): Promise<ReadonlyMap<string, PausedDeploy>> {
  const found = new Map<string, PausedDeploy>();
  for await (const { memo } of listRunningWorkflows(client, 'deploy', releases)) {
    const { id, paused } = (memo?.['summary'] ?? { id: '', paused: null }) as Pick<DeploySummary, 'id' | 'paused'>;
    if (paused !== null) found.set(id.slice(0, id.lastIndexOf('/')), { id, ...paused });
  }
  return found;
}

/** By id. A release that does not answer in time still counts as paused by a person. */
async function findPausedReleases(client: Client, releases: readonly string[]): Promise<ReadonlyMap<string, Pause>> {
  const paused: ReleaseSummary[] = [];
  for await (const { memo } of listRunningWorkflows(client, 'release', releases)) {
    const summary = memo?.['summary'] as ReleaseSummary | undefined;
    if (summary?.state === 'paused') paused.push(summary);
  }
  return new Map(
    await Promise.all(paused.map(async (release) => [release.id, await pauseGiven(client, release)] as const)),
  );
}

async function pauseGiven(client: Client, { id, startedAt }: ReleaseSummary): Promise<Pause> {
  const { commands } = await client.workflow
    .getHandle(`release/${id}`)
    .query<Pick<ReleaseStatus, 'commands'>>('status')
    .catch(() => ({ commands: [] }));
  const given = commands.filter(({ verb, accepted }) => verb === 'pause' && accepted).at(-1);
  const { actor, at, reason } = given ?? { actor: null, at: startedAt, reason: '' };
  return { by: 'operator', actor, at, reason };
}
