import type { Brought } from './brought';
import { areTexts, isJsonObject, isText } from './json';

/**
 * Mutual exclusion as a value. The owner is a release, and it is re-entrant: several of its deploys may hold at once
 * (ARCHITECTURE.md#invariants). Requests are granted in order, what is urgent before all others; asking again changes nothing.
 */
export interface LockRequest {
  readonly owner: string;
  /** Id of the workflow that the grant is sent to. */
  readonly requester: string;
  /** It is next, after what is urgent too and asked before; the holder keeps what it holds. */
  readonly urgent?: boolean;
}

export interface Mutex {
  readonly holder: LockHolder | null;
  readonly queue: readonly LockRequest[];
  /** Rises with every change of the owner, so that a late message of an old one is recognised. */
  readonly fence: number;
  /** Left out by a lock from before there were canaries. */
  readonly guests?: readonly Canary[];
  /** For the lock of a service: what runs there. Left out if nothing is known. */
  readonly brought?: readonly Brought[];
}

export interface LockHolder {
  readonly owner: string;
  readonly requesters: readonly string[];
  /** Left out by whoever keeps no time, and by locks from before they did. */
  readonly sinceMs?: number;
}

/** A canary: it uses the service beside whoever holds it, on tasks of its own. */
export interface Canary {
  readonly owner: string;
  /** Its workflow id. */
  readonly requester: string;
  /** The update ids of its tasks, which nobody else touches. */
  readonly updates: readonly string[];
  /** Left out where they are many: then on all. */
  readonly units?: readonly string[];
}

/** Anybody can send a lock a message by hand: a request that names nobody would be first in the queue, and never granted. */
export const isLockRequest = (value: unknown): value is LockRequest =>
  isJsonObject(value) && isText(value['owner']) && isText(value['requester']);

export const isCanary = (value: unknown): value is Canary =>
  isJsonObject(value) &&
  isLockRequest(value) &&
  areTexts(value['updates']) &&
  (value['units'] === undefined || areTexts(value['units']));

export const FREE_MUTEX: Mutex = { holder: null, queue: [], fence: 0 };

/**
 * A mutex that nobody holds and that may have had a life before: its fences begin at the present moment (ms), which is later than any
 * that the earlier one gave, since an owner changes less than once a millisecond.
 */
export const freeFrom = (nowMs: number): Mutex => ({ ...FREE_MUTEX, fence: nowMs });

/**
 * The mutex with which a lock begins. A free one takes its fences from the time of the server, whatever the clock of the worker says that
 * carried it over: fences of a clock that is behind would be refused, and those of one that is ahead would have the next ones refused. One that is
 * held keeps the fence that its holder has.
 */
export const revive = (carried: Mutex | null, nowMs: number): Mutex =>
  carried?.holder ? carried : { ...FREE_MUTEX, ...carried, fence: nowMs };

/** The mutex after an event, and who holds it now. */
export interface Grants {
  readonly mutex: Mutex;
  readonly granted: readonly LockRequest[];
}

export function request(mutex: Mutex, wanted: LockRequest): Grants {
  const { holder } = mutex;
  if (holder?.requesters.includes(wanted.requester)) return { mutex, granted: [wanted] };
  if (mutex.queue.some(({ requester }) => requester === wanted.requester)) return { mutex, granted: [] };
  const isBefore = ({ urgent }: LockRequest): boolean => wanted.urgent !== true || urgent === true;
  const after = mutex.queue.filter((waiting) => !isBefore(waiting));
  return grantNext({ ...mutex, queue: [...mutex.queue.filter(isBefore), wanted, ...after] });
}

/** A canary joins, or lists its updates anew. It waits for nobody, and nobody for it. */
export const welcome = (mutex: Mutex, canary: Canary): Mutex => ({
  ...mutex,
  guests: [...canariesOf(mutex).filter(({ requester }) => requester !== canary.requester), canary],
});

/** Where a lock keeps the number of its canaries, as a memo. Locks that began before have none. */
export const CANARIES_MEMO = 'canaries';

/** Somebody is kept waiting by whoever holds, or keeps tasks for a canary: both need to know that those still run. */
export const isWaitedFor = (mutex: Mutex): boolean => mutex.queue.length > 0 || canariesOf(mutex).length > 0;

/** The memo in which a lock keeps what runs on its service; the next lock reads it. */
export const BROUGHT_MEMO = 'brought';

export const canariesOf = ({ guests }: Mutex): readonly Canary[] => guests ?? [];

/** Canaries on some of these units; all of them, where these or those are too many to name. */
export const canariesOn = (all: readonly Canary[], units: readonly string[] | undefined): Canary[] => {
  const wanted = units && new Set(units);
  return all.filter((canary) => !wanted || !canary.units || canary.units.some((unit) => wanted.has(unit)));
};

/** A requester lets go, gives up waiting, or, as a canary, leaves. */
export function releaseMutex(mutex: Mutex, requester: string): Grants {
  const queue = mutex.queue.filter((waiting) => waiting.requester !== requester);
  const requesters = mutex.holder?.requesters.filter((holding) => holding !== requester) ?? [];
  const holder = mutex.holder && requesters.length > 0 ? { ...mutex.holder, requesters } : null;
  const left = mutex.guests?.filter((canary) => canary.requester !== requester);
  return grantNext({ ...mutex, holder, queue, ...(left ? { guests: left } : {}) });
}

/** With the moment at which its holder came to hold, where that is another than before. */
export const withHeldSince = (mutex: Mutex, before: Mutex, nowMs: number): Mutex =>
  mutex.holder === null || mutex.fence === before.fence
    ? mutex
    : { ...mutex, holder: { ...mutex.holder, sinceMs: nowMs } };

export const isIdle = (mutex: Mutex): boolean =>
  mutex.holder === null && mutex.queue.length === 0 && canariesOf(mutex).length === 0;

function grantNext(mutex: Mutex): Grants {
  const owner = mutex.holder?.owner ?? mutex.queue[0]?.owner;
  const granted = mutex.queue.filter((waiting) => waiting.owner === owner);
  if (owner === undefined || granted.length === 0) return { mutex, granted: [] };
  const requesters = [...(mutex.holder?.requesters ?? []), ...granted.map(({ requester }) => requester)];
  return {
    mutex: {
      ...mutex,
      holder: { ...mutex.holder, owner, requesters },
      queue: mutex.queue.filter((waiting) => waiting.owner !== owner),
      fence: mutex.holder ? mutex.fence : mutex.fence + 1,
    },
    granted,
  };
}
