import {
  CancellationScope,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  getExternalWorkflowHandle,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import {
  freeFrom,
  canariesOf,
  isIdle,
  releaseMutex,
  request,
  withHeldSince,
  welcome,
  type Grants,
  type Canary,
  type LockRequest,
  type Mutex,
} from '../domain/mutex';
import { list, marked, NO_MARKDOWN, sections } from '../domain/markdown';
import type { Settings } from '../domain/settings';
import { formatTime } from '../domain/text';
import { onSignal } from './inbox';
import { lookers } from './proxies';

/** Signals, since whoever asks is a workflow or starts the lock with its request. */
const requestLockSignal = defineSignal<[LockRequest]>('request-lock');
export const releaseLockSignal = defineSignal<[string]>('release-lock');
/** A canary comes; it leaves with `release-lock`. Activities start the lock with it by name. */
const joinLockSignal = defineSignal<[Canary]>('join-lock');
/** Whose tasks are not to be touched. */
const canariesQuery = defineQuery<readonly Canary[]>('guests');
/** Who holds and who waits; also after it was ended from outside, for the lock that takes its place. */
const mutexQuery = defineQuery<Mutex>('mutex');
/** Sent to whoever holds, when a canary has left. */
export const canaryLeftSignal = defineSignal<[string]>('guest-left');
/** Sent to the requester once it holds; `waited`: somebody else held in the meantime, so the fleet as read before is stale. */
export const lockGrantedSignal = defineSignal<[LockGrant]>('lock-granted');

export interface LockGrant {
  readonly lock: string;
  readonly fence: number;
  readonly waited: boolean;
}

/**
 * Mutual exclusion across pipelines: one grant at a time, in the order of asking. It lives while somebody wants it, and
 * checks now and then that the holder still runs, since a terminated one can say nothing. A Temporal
 * cancel request does not end it: whoever holds would lose what it holds without knowing.
 */
export async function lock(settings: Settings, carried: Mutex | null = null): Promise<void> {
  let ignored = 0;
  const scope = CancellationScope.current();
  scope.cancelRequested.catch(() => void (ignored += 1));
  return CancellationScope.nonCancellable(() => keepLock(settings, carried ?? freeFrom(Date.now()), () => ignored));
}

async function keepLock(settings: Settings, carried: Mutex, ignored: () => number): Promise<void> {
  let mutex = carried;
  let shown = 0;
  const grants: (LockRequest & { waited: boolean })[] = [];
  const take = (next: Grants, waited: boolean): void => {
    mutex = withHeldSince(next.mutex, mutex, Date.now());
    grants.push(...next.granted.map((granted) => ({ ...granted, waited })));
  };
  onSignal(requestLockSignal, (wanted) => take(request(mutex, wanted), false));
  const left: string[] = [];
  const leave = (requester: string): void => {
    if (canariesOf(mutex).some((canary) => canary.requester === requester)) left.push(requester);
    take(releaseMutex(mutex, requester), true);
  };
  setHandler(canariesQuery, () => canariesOf(mutex));
  setHandler(mutexQuery, () => mutex);
  onSignal(joinLockSignal, (canary) => void (mutex = welcome(mutex, canary)));
  onSignal(releaseLockSignal, leave);
  do {
    for (let next = grants.shift(); next; next = grants.shift()) {
      if (!(await sendGrant(next.requester, mutex.fence, next.waited))) take(releaseMutex(mutex, next.requester), true);
    }
    for (let canary = left.shift(); canary !== undefined; canary = left.shift()) await notifyHolders(canary);
    shown = ignored();
    setCurrentDetails(describe(mutex, shown));
    if (workflowInfo().continueAsNewSuggested && grants.length + left.length === 0)
      await continueAsNew<typeof lock>(settings, mutex);
    const changed = await condition(
      () => grants.length + left.length > 0 || isIdle(mutex) || ignored() > shown,
      settings.reconcileIntervalMs,
      {
        summary: 'check that the holder still runs',
      },
    );
    if (!changed) await dropDead();
  } while (!isIdle(mutex) || grants.length + left.length > 0);

  async function dropDead(): Promise<void> {
    const known = [...(mutex.holder?.requesters ?? []), ...canariesOf(mutex).map(({ requester }) => requester)];
    const alive = await lookers.stillRunning(known, settings).catch(() => known);
    for (const requester of known) if (!alive.includes(requester)) leave(requester);
  }

  async function notifyHolders(canary: string): Promise<void> {
    const sent = (mutex.holder?.requesters ?? []).map((holder) =>
      getExternalWorkflowHandle(holder)
        .signal(canaryLeftSignal, canary)
        .catch(() => undefined),
    );
    await Promise.all(sent);
  }
}

/** @returns false when the requester is gone: signalling a closed workflow fails. */
async function sendGrant(requester: string, fence: number, waited: boolean): Promise<boolean> {
  const grant: LockGrant = { lock: workflowInfo().workflowId, fence, waited };
  return getExternalWorkflowHandle(requester)
    .signal(lockGrantedSignal, grant)
    .then(
      () => true,
      () => false,
    );
}

function describe(mutex: Mutex, ignored: number): string {
  const { holder, queue } = mutex;
  return sections(
    marked`Held by **${holder?.owner ?? 'nobody'}**${holder?.sinceMs === undefined ? '' : ` since ${formatTime(holder.sinceMs)}`}`,
    list(
      'Waiting:',
      queue.map(({ owner }) => marked`${owner}`),
    ),
    list(
      'Canaries beside it:',
      canariesOf(mutex).map(({ requester }) => marked`${requester}`),
    ),
    ignored > 0
      ? marked`A cancel request through Temporal was ignored: cancel the release that holds it instead.`
      : NO_MARKDOWN,
  );
}
