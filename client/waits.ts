import type { WorkflowHandle } from '@temporalio/client';
import { continuesByItself } from '../domain/deploy/view';
import { releaseId, workflowIds } from '../domain/ids';
import type { Mutex } from '../domain/mutex';
import { releaseAhead } from '../domain/pipeline/ahead';
import { formatTime } from '../domain/text';
import type { ActionView, DeployStatus, Holder, Pause, ReleaseStatus } from '../domain/views';
import type { Temporal } from './connection';
import { serverView, withNow } from './live';
import { behindPaused, holderPaused, withPauses } from './pauses';
import { withProblems } from './problems';

/** The time limit for asking a running deploy or a lock about a wait: these details are optional. */
const HOLDER_QUERY_TIMEOUT_MS = 2_000;

/** Adds the waits of its running deploys, which only they know, and the holder of each awaited lock, asked once. */
export async function withWaits(temporal: Temporal, release: ReleaseStatus): Promise<ReleaseStatus> {
  const { id, pipeline, number } = release;
  const asked = new Map<string, Promise<Holder | undefined>>();
  const holderOf = (lock: string): Promise<Holder | undefined> => {
    const answer = asked.get(lock) ?? findHolder(temporal, lock, id);
    asked.set(lock, answer);
    return answer;
  };
  const actions = release.actions.map(async (action) => {
    const waiting = await withWait(temporal, pipeline, number, action);
    const heldBy = waiting.lock == null ? undefined : await holderOf(waiting.lock);
    const why = await whyBehind(temporal, pipeline, waiting, heldBy);
    return { ...waiting, ...(why === null ? {} : { blockedBy: why }), ...(heldBy === undefined ? {} : { heldBy }) };
  });
  return { ...release, actions: await Promise.all(actions) };
}

/** If the holder is paused, the wait does not end by itself. */
async function whyBehind(
  temporal: Temporal,
  pipeline: string,
  { blockedBy }: ActionView,
  heldBy: Holder | undefined,
): Promise<string | null> {
  if (blockedBy === null) return null;
  const { client } = temporal;
  const paused = heldBy && (await holderPaused(client, heldBy));
  if (paused !== undefined) return `${blockedBy}; ${paused}`;
  const number = releaseAhead(blockedBy);
  if (number === undefined) return blockedBy;
  const other = { id: releaseId(pipeline, number), number, state: 'running', endedAt: null } as const;
  return behindPaused(blockedBy, await withProblems(temporal, await withPauses(client, [other])));
}

/** Adds the holder of the awaited lock, the next thing for the user to look at. */
export async function withHolder(
  temporal: Temporal,
  pipeline: string,
  number: number,
  deploy: DeployStatus,
): Promise<DeployStatus> {
  const heldBy = deploy.lock == null ? undefined : await findHolder(temporal, deploy.lock, releaseId(pipeline, number));
  return heldBy === undefined ? deploy : { ...deploy, heldBy, next: [`conveyor status ${heldBy.id}`, ...deploy.next] };
}

/** A deploy that runs may still wait, for its window or its lock, or be paused. */
async function withWait(
  { client }: Temporal,
  pipeline: string,
  number: number,
  action: ActionView,
): Promise<ActionView> {
  const { name, attempt, deploy, state } = action;
  if (deploy === null || state !== 'running') return action;
  const handle = client.workflow.getHandle(workflowIds.deploy(pipeline, number, name, attempt));
  try {
    const {
      blockedBy = null,
      until = null,
      lock,
      paused = null,
    } = await client.withDeadline(Date.now() + HOLDER_QUERY_TIMEOUT_MS, () =>
      handle.query<Pick<DeployStatus, 'blockedBy' | 'until' | 'lock' | 'paused'>>('status'),
    );
    const known = paused === null ? action : { ...action, paused: await withDependency(handle, paused) };
    return blockedBy === null ? known : { ...known, blockedBy, until, ...(lock == null ? {} : { lock }) };
  } catch {
    // A silent deploy is left out of the release's answer.
    return action;
  }
}

/** A pause that ends by itself, with the present state of its dependency. */
const withDependency = async (handle: WorkflowHandle, paused: Pause): Promise<Pause> =>
  continuesByItself(paused) ? withNow(paused, (await serverView(handle)).pending) : paused;

/** Undefined if the lock is free now, silent or gone. */
async function findHolder({ client }: Temporal, lock: string, waiting: string): Promise<Holder | undefined> {
  try {
    const handle = client.workflow.getHandle(lock);
    const { holder } = await client.withDeadline(Date.now() + HOLDER_QUERY_TIMEOUT_MS, () =>
      handle.query<Mutex>('mutex'),
    );
    if (holder === null || holder.owner === waiting) return undefined;
    // A lock on an older worker does not know the time.
    return { id: holder.owner, since: holder.sinceMs === undefined ? null : formatTime(holder.sinceMs) };
  } catch {
    return undefined;
  }
}
