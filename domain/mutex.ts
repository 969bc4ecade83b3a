/**
 * Mutual exclusion as a value. The owner is a release, and it is re-entrant: several of its deploys may hold at once
 * (ARCHITECTURE.md#invariants). Requests are granted in order; asking again changes nothing.
 */
export interface LockRequest {
  readonly owner: string;
  /** Workflow id that is told of the grant. */
  readonly requester: string;
}

export interface Mutex {
  readonly holder: LockHolder | null;
  readonly queue: readonly LockRequest[];
  /** Rises with every change of the owner, so that a late message of an old one can be told apart. */
  readonly fence: number;
  /** Left out by a lock from before there were guests. */
  readonly guests?: readonly Guest[];
}

export interface LockHolder {
  readonly owner: string;
  readonly requesters: readonly string[];
  /** Left out by whoever keeps no time, and by locks from before they did. */
  readonly sinceMs?: number;
}

/** A canary: it uses the service beside whoever holds it, on tasks of its own. */
export interface Guest {
  readonly owner: string;
  /** Its workflow id. */
  readonly requester: string;
  /** The update ids of its tasks, which nobody else touches. */
  readonly updates: readonly string[];
  /** Left out where they are many: then on all. */
  readonly units?: readonly string[];
}

export const FREE: Mutex = { holder: null, queue: [], fence: 0 };

/**
 * A mutex that nobody holds and that may have had a life before: its fences begin at the present moment (ms), which is later than any
 * that the earlier one gave, since an owner changes less than once a millisecond.
 */
export const freeFrom = (nowMs: number): Mutex => ({ ...FREE, fence: nowMs });

/** The mutex after an event, and who is to be told that it holds now. */
export interface Granted {
  readonly mutex: Mutex;
  readonly granted: readonly LockRequest[];
}

export function request(mutex: Mutex, asked: LockRequest): Granted {
  const { holder } = mutex;
  if (holder?.requesters.includes(asked.requester)) return { mutex, granted: [asked] };
  if (mutex.queue.some(({ requester }) => requester === asked.requester)) return { mutex, granted: [] };
  return settle({ ...mutex, queue: [...mutex.queue, asked] });
}

/** A guest comes, or says anew which updates are its own. It waits for nobody, and nobody for it. */
export const welcome = (mutex: Mutex, guest: Guest): Mutex => ({
  ...mutex,
  guests: [...guestsOf(mutex).filter(({ requester }) => requester !== guest.requester), guest],
});

export const guestsOf = ({ guests }: Mutex): readonly Guest[] => guests ?? [];

/** Guests on some of these units; all of them, where these or those are too many to name. */
export const guestsOn = (guests: readonly Guest[], units: readonly string[] | undefined): Guest[] => {
  const wanted = units && new Set(units);
  return guests.filter((guest) => !wanted || !guest.units || guest.units.some((unit) => wanted.has(unit)));
};

/** A requester lets go, gives up waiting, or leaves as a guest. */
export function release(mutex: Mutex, requester: string): Granted {
  const queue = mutex.queue.filter((waiting) => waiting.requester !== requester);
  const requesters = mutex.holder?.requesters.filter((holding) => holding !== requester) ?? [];
  const holder = mutex.holder && requesters.length > 0 ? { ...mutex.holder, requesters } : null;
  const guests = mutex.guests?.filter((guest) => guest.requester !== requester);
  return settle({ ...mutex, holder, queue, ...(guests ? { guests } : {}) });
}

/** With the moment at which its holder came to hold, where that is another than before. */
export const timed = (mutex: Mutex, before: Mutex, nowMs: number): Mutex =>
  mutex.holder === null || mutex.fence === before.fence
    ? mutex
    : { ...mutex, holder: { ...mutex.holder, sinceMs: nowMs } };

export const isIdle = (mutex: Mutex): boolean =>
  mutex.holder === null && mutex.queue.length === 0 && guestsOf(mutex).length === 0;

function settle(mutex: Mutex): Granted {
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
