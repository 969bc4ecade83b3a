import type { BroughtVersion } from './broughtVersions';
import { areTexts, isJsonObject, isText } from './json';

/**
 * Mutual exclusion as a value. The owner is a release, and it is re-entrant: several of its deploys may hold at once
 * (ARCHITECTURE.md#invariants). Requests are granted in order, urgent ones first; repeating a request changes nothing.
 */
export interface LockRequest {
  readonly owner: string;
  /** Id of the workflow that gets the grant. */
  readonly requester: string;
  /** It goes next, after earlier urgent requests; the present holder keeps the lock. */
  readonly urgent?: boolean;
}

export interface Mutex {
  readonly holder: LockHolder | null;
  readonly queue: readonly LockRequest[];
  /** Rises with every change of the owner, so that late messages from a former owner can be recognised. */
  readonly fence: number;
  /** Missing in locks that are older than canaries. */
  readonly guests?: readonly Canary[];
  /** For the lock of a service: the versions that run there. Left out if nothing is known. */
  readonly brought?: readonly BroughtVersion[];
}

export interface LockHolder {
  readonly owner: string;
  readonly requesters: readonly string[];
  /** Missing if the caller keeps no time, and in older locks. */
  readonly sinceMs?: number;
}

/** A canary: it uses the service at the same time as the holder of the lock, on tasks of its own. */
export interface Canary {
  readonly owner: string;
  /** Its workflow id. */
  readonly requester: string;
  /** The update ids of its tasks, which no other deploy updates. */
  readonly updates: readonly string[];
  /** Left out if there are many: then it counts as on all units. */
  readonly units?: readonly string[];
}

/**
 * A person can send a message to a lock by hand. A request without a requester would be first in the queue and never be
 * granted.
 */
export const isLockRequest = (value: unknown): value is LockRequest =>
  isJsonObject(value) && isText(value['owner']) && isText(value['requester']);

export const isCanary = (value: unknown): value is Canary =>
  isJsonObject(value) &&
  isLockRequest(value) &&
  areTexts(value['updates']) &&
  (value['units'] === undefined || areTexts(value['units']));

export const FREE_MUTEX: Mutex = { holder: null, queue: [], fence: 0 };

/**
 * The mutex with which a lock begins. A free one may have existed before: its fences begin at the present time (ms), which is above any
 * fence that the former one gave, because the owner changes less than once a millisecond. The time is the server's, never that of a
 * worker: fences of a slow clock would be refused, and those of a fast one would cause the next ones to be refused. A held one keeps the
 * fence of its holder.
 */
export const revive = (carried: Mutex | null, nowMs: number): Mutex =>
  carried?.holder ? carried : { ...FREE_MUTEX, ...carried, fence: nowMs };

/** The mutex after an event, and its present holders. */
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

/** A canary joins, or updates its list. It waits for no other request, and none waits for it. */
export const welcome = (mutex: Mutex, canary: Canary): Mutex => ({
  ...mutex,
  guests: [...listCanaries(mutex).filter(({ requester }) => requester !== canary.requester), canary],
});

/** The memo in which a lock keeps the number of its canaries. Older locks have none. */
export const CANARIES_MEMO = 'canaries';

/** Whether the holder or a canary keeps others waiting, so that the lock has to know whether these still run. */
export const isWaitedFor = (mutex: Mutex): boolean => mutex.queue.length > 0 || listCanaries(mutex).length > 0;

/** The memo in which a lock keeps the versions on its service; the next lock reads it. */
export const BROUGHT_MEMO = 'brought';

export const listCanaries = ({ guests }: Mutex): readonly Canary[] => guests ?? [];

/** Canaries on any of these units; all canaries, if either list of units is too long to name. */
export const canariesOn = (all: readonly Canary[], units: readonly string[] | undefined): Canary[] => {
  const wanted = units && new Set(units);
  return all.filter((canary) => !wanted || !canary.units || canary.units.some((unit) => wanted.has(unit)));
};

/** A requester releases the lock, stops waiting, or leaves as a canary. */
export function releaseMutex(mutex: Mutex, requester: string): Grants {
  const queue = mutex.queue.filter((waiting) => waiting.requester !== requester);
  const requesters = mutex.holder?.requesters.filter((holding) => holding !== requester) ?? [];
  const holder = mutex.holder && requesters.length > 0 ? { ...mutex.holder, requesters } : null;
  const left = mutex.guests?.filter((canary) => canary.requester !== requester);
  return grantNext({ ...mutex, holder, queue, ...(left ? { guests: left } : {}) });
}

/** The mutex with the time at which a new holder got it. */
export const withHeldSince = (mutex: Mutex, before: Mutex, nowMs: number): Mutex =>
  mutex.holder === null || mutex.fence === before.fence
    ? mutex
    : { ...mutex, holder: { ...mutex.holder, sinceMs: nowMs } };

export const isIdle = (mutex: Mutex): boolean =>
  mutex.holder === null && mutex.queue.length === 0 && listCanaries(mutex).length === 0;

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
