/**
 * Mutual exclusion as a value. The owner is a release, and it is re-entrant: several of its deploys may hold at once
 * (DESIGN §6.6). Requests are granted in order; asking again changes nothing.
 */
export interface LockRequest {
  readonly owner: string;
  /** Workflow id that is told of the grant. */
  readonly requester: string;
}

export interface Mutex {
  readonly holder: { readonly owner: string; readonly requesters: readonly string[] } | null;
  readonly queue: readonly LockRequest[];
  /** Rises with every change of the owner, so that a late message of an old one can be told apart. */
  readonly fence: number;
}

export const FREE: Mutex = { holder: null, queue: [], fence: 0 };

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

/** A requester lets go, or gives up waiting. */
export function release(mutex: Mutex, requester: string): Granted {
  const queue = mutex.queue.filter((waiting) => waiting.requester !== requester);
  const requesters = mutex.holder?.requesters.filter((holding) => holding !== requester) ?? [];
  const holder = mutex.holder && requesters.length > 0 ? { ...mutex.holder, requesters } : null;
  return settle({ ...mutex, holder, queue });
}

export const isIdle = (mutex: Mutex): boolean => mutex.holder === null && mutex.queue.length === 0;

function settle(mutex: Mutex): Granted {
  const owner = mutex.holder?.owner ?? mutex.queue[0]?.owner;
  const granted = mutex.queue.filter((waiting) => waiting.owner === owner);
  if (owner === undefined || granted.length === 0) return { mutex, granted: [] };
  const requesters = [...(mutex.holder?.requesters ?? []), ...granted.map(({ requester }) => requester)];
  return {
    mutex: {
      holder: { owner, requesters },
      queue: mutex.queue.filter((waiting) => waiting.owner !== owner),
      fence: mutex.holder ? mutex.fence : mutex.fence + 1,
    },
    granted,
  };
}
