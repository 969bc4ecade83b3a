import { log } from '@temporalio/activity';
import { WorkflowNotFoundError, type Client, type WorkflowHandle } from '@temporalio/client';
import { decideUse } from '../domain/access/usage';
import type { BroughtVersion } from '../domain/broughtVersions';
import { areBrought } from '../domain/broughtVersionShapes';
import {
  BROUGHT_MEMO,
  CANARIES_MEMO,
  listCanaries,
  FREE_MUTEX,
  type Canary,
  type LockRequest,
  type Mutex,
} from '../domain/mutex';
import { parseId } from '../domain/ids';
import { isOpenStatus } from '../domain/openStatus';
import type { ReleaseEnd } from '../domain/pipeline/reconcile';
import { hasNoSuchQuery } from '../domain/queryRefusals';
import type { Settings } from '../domain/settings';
import { formatSummary } from '../domain/markdown';
import { promptly, REVERT_PATIENCE_MS } from './clock';
import { requireAllowed, type Authority } from './authority';
import { asFailure } from './failure';
import type { ReadCanaries } from './canaryReader';
import type { CallPorts } from './pushCalls';
import { isOwnEnd, releaseEnd, stepsLeft, type StopPatience } from './remains';

export type HolderActivities = ReturnType<typeof createHolderActivities>;

type HolderParts = CallPorts & { readonly client: Client; readonly taskQueue: string; readonly canaries: ReadCanaries };

/**
 * The work that a workflow cannot do itself: start a lock with a request, and see whether other workflows still run.
 */
export function createHolderActivities({ taskQueue, ...parts }: HolderParts) {
  const { client, clock } = parts;
  const toLock = async (lockId: string, settings: Settings, signal: string, message: object): Promise<void> => {
    const last = await lastLock(client, lockId);
    if (last.runs && (await trySignal(client, { lockId, runId: last.runId }, signal, message))) return;
    // A lock that has ended since then knows the version that its last holder brought.
    const { mutex: lost, brought } = last.runs ? await lastLock(client, lockId) : last;
    const carried = brought ? { ...(lost ?? FREE_MUTEX), brought } : lost;
    await client.workflow.signalWithStart('lock', {
      workflowId: lockId,
      taskQueue,
      args: [settings, carried],
      memo: {
        [CANARIES_MEMO]: listCanaries(lost ?? FREE_MUTEX).length,
        ...(brought ? { [BROUGHT_MEMO]: brought } : {}),
      },
      signal,
      signalArgs: [message],
      staticSummary: formatSummary(`one release at a time on ${lockId.slice('lock/'.length)}`),
    });
  };
  return {
    /** A repeated request of the same requester has no further effect. */
    requestLock: async (lockId: string, wanted: LockRequest, settings: Settings, of?: Authority): Promise<void> => {
      await allowLock(parts, lockId, wanted, of ?? {});
      await toLock(lockId, settings, 'request-lock', wanted);
    },

    /**
     * A canary joins, or adds more of its updates; a repetition has no further effect.
     * @returns false if a revert would have to wait for the lock; without `atOnce` the call waits.
     */
    joinLock: async (
      lockId: string,
      canary: Canary,
      settings: Settings,
      { atOnce = false }: { readonly atOnce?: boolean } = {},
    ): Promise<boolean> => {
      const joining = toLock(lockId, settings, 'join-lock', canary).then(() => true);
      return atOnce ? (await promptly(clock, REVERT_PATIENCE_MS, joining)) === true : joining;
    },

    // Histories know it by this name.
    guestsOf: parts.canaries,

    /** The workflows that have not ended. A release that was ended from outside counts as running while its work continues. */
    stillRunning: async (workflowIds: readonly string[], patience: StopPatience): Promise<string[]> => {
      const states = await Promise.all(
        workflowIds.map(async (id) => ((await isStillHolding(parts, id, patience)) ? [id] : [])),
      );
      return states.flat();
    },

    /** The releases that have ended, with their ends. */
    releaseEnds: async (
      pipeline: string,
      numbers: readonly number[],
      patience: StopPatience,
    ): Promise<ReleaseEnd[]> => {
      const ends = await Promise.allSettled(numbers.map((number) => releaseEnd(parts, { pipeline, number }, patience)));
      const known = ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []));
      // A failure to read one end does not affect the others.
      const [unread] = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as Error] : []));
      if (known.length === 0 && unread) throw unread;
      if (unread) log.warn('the end of a release cannot be read', { pipeline, error: unread.message });
      return known.flatMap((end) => end ?? []);
    },
  };
}

/**
 * A service lock needs no check here, since the right to deploy was checked before. @throws ApplicationFailure
 * `not-permitted`
 */
const allowLock = ({ platform }: CallPorts, lockId: string, { owner }: LockRequest, of: Authority): Promise<void> =>
  asFailure(() => {
    const [, name = '', service] = lockId.split('/');
    const use = { kind: 'mutex', name } as const;
    if (service === undefined)
      requireAllowed(platform, of, owner.split('/')[0] ?? owner, (facts, owners) => decideUse(facts, owners, use));
    return Promise.resolve();
  });

/** The newest state of the lock on the server. */
interface LastLock {
  readonly runs: boolean;
  readonly runId: string;
  /**
   * The state at its termination, so that its successor does not grant a lock that is still held. Null if it runs, or if it ended
   * by itself without a holder.
   */
  readonly mutex: Mutex | null;
  /** The versions that run on its service. */
  readonly brought?: readonly BroughtVersion[];
}

async function lastLock(client: Client, lockId: string): Promise<LastLock> {
  const handle = client.workflow.getHandle(lockId);
  try {
    const { status, runId, memo } = await handle.describe();
    const brought = memo?.[BROUGHT_MEMO];
    const known = { runs: isOpenStatus(status.name), runId, ...(areBrought(brought) ? { brought } : {}) };
    return isOwnEnd(status.name) ? { ...known, mutex: null } : { ...known, mutex: await queryMutex(handle) };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return { runs: false, runId: '', mutex: null };
    throw error;
  }
}

async function queryMutex(handle: WorkflowHandle): Promise<Mutex | null> {
  try {
    return await handle.query<Mutex>('mutex');
  } catch (error) {
    if (error instanceof WorkflowNotFoundError || hasNoSuchQuery(error)) return null;
    throw error;
  }
}

/** @returns false if that run has ended meanwhile. */
async function trySignal(
  client: Client,
  { lockId, runId }: { readonly lockId: string; readonly runId: string },
  signal: string,
  message: object,
): Promise<boolean> {
  try {
    await client.workflow.getHandle(lockId, runId).signal(signal, message);
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

async function isStillHolding(
  parts: CallPorts & { client: Client },
  workflowId: string,
  patience: StopPatience,
): Promise<boolean> {
  const [kind, ...path] = workflowId.split('/');
  // A requester that waits for the service looks at this interval, and emergencies wait too: a service has the time of
  // two looks to answer.
  const { reconcileIntervalMs, dependencyGraceMs } = patience;
  if (kind === 'deploy' && !(await isWorkflowOpen(parts.client, workflowId)))
    return (await stepsLeft(parts, workflowId, reconcileIntervalMs + dependencyGraceMs)).length > 0;
  const id = kind === 'release' ? parseId(path.join('/')) : undefined;
  if (id?.kind !== 'release') return isWorkflowOpen(parts.client, workflowId);
  const end = await releaseEnd(parts, id, patience);
  return end === undefined || (end.kind === 'gone' && end.open.length > 0);
}

async function isWorkflowOpen(client: Client, workflowId: string): Promise<boolean> {
  try {
    const { status } = await client.workflow.getHandle(workflowId).describe();
    return isOpenStatus(status.name);
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
