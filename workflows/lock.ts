import {
  condition,
  continueAsNew,
  defineSignal,
  getExternalWorkflowHandle,
  setCurrentDetails,
  workflowInfo,
} from '@temporalio/workflow';
import { FREE, isIdle, release, request, type Granted, type LockRequest, type Mutex } from '../domain/mutex';
import type { Settings } from '../domain/settings';
import { onSignal } from './inbox';
import { holders } from './proxies';

/** Signals, since whoever asks is a workflow or starts the lock with its request. */
const requestLockSignal = defineSignal<[LockRequest]>('request-lock');
export const releaseLockSignal = defineSignal<[string]>('release-lock');
/** Sent to the requester once it holds; `waited`: somebody else held in the meantime, so what was read before is stale. */
export const lockGrantedSignal = defineSignal<[LockGrant]>('lock-granted');

export interface LockGrant {
  readonly lock: string;
  readonly fence: number;
  readonly waited: boolean;
}

/**
 * Mutual exclusion across pipelines: one grant at a time, in the order of asking. It lives while somebody wants it, and
 * checks now and then that the holder still runs, since a terminated one can say nothing (guides/patterns.md 3).
 */
export async function lock(settings: Settings, carried: Mutex = FREE): Promise<void> {
  let mutex = carried;
  const grants: (LockRequest & { waited: boolean })[] = [];
  const take = (next: Granted, waited: boolean): void => {
    mutex = next.mutex;
    grants.push(...next.granted.map((granted) => ({ ...granted, waited })));
  };
  onSignal(requestLockSignal, (asked) => take(request(mutex, asked), false));
  onSignal(releaseLockSignal, (requester) => take(release(mutex, requester), true));
  do {
    for (let next = grants.shift(); next; next = grants.shift()) {
      if (!(await tell(next.requester, mutex.fence, next.waited))) take(release(mutex, next.requester), true);
    }
    setCurrentDetails(describe(mutex));
    if (workflowInfo().continueAsNewSuggested && grants.length === 0) await continueAsNew<typeof lock>(settings, mutex);
    const changed = await condition(() => grants.length > 0 || isIdle(mutex), settings.reconcileIntervalMs, {
      summary: 'check that the holder still runs',
    });
    if (!changed) await dropDead();
  } while (!isIdle(mutex) || grants.length > 0);

  async function dropDead(): Promise<void> {
    const known = mutex.holder?.requesters ?? [];
    const alive = await holders.stillRunning([...known]);
    for (const requester of known) if (!alive.includes(requester)) take(release(mutex, requester), true);
  }
}

/** @returns false when the requester is gone: signalling a closed workflow fails. */
async function tell(requester: string, fence: number, waited: boolean): Promise<boolean> {
  const grant: LockGrant = { lock: workflowInfo().workflowId, fence, waited };
  return getExternalWorkflowHandle(requester)
    .signal(lockGrantedSignal, grant)
    .then(
      () => true,
      () => false,
    );
}

function describe({ holder, queue }: Mutex): string {
  const waiting = queue.map(({ owner }) => `- ${owner}`).join('\n');
  return `Held by **${holder?.owner ?? 'nobody'}**${waiting ? `\n\nWaiting:\n${waiting}` : ''}`;
}
