import { conveyorError } from '../domain/errors';

export interface GateLimits {
  /** Requests that run at the same time. */
  readonly inFlight: number;
  /** Requests in the queue; one more is refused at once. */
  readonly waiting: number;
  /** How long a request waits before it is refused, in ms. */
  readonly waitMs: number;
}

interface QueuedRequest {
  readonly enter: () => void;
  readonly leave: (why: Error) => void;
}

/**
 * Admits a limited number of requests, queues some more, oldest first, and rejects the others, so that memory stays bounded. Deliveries enter only
 * after their body has arrived and their signature was checked: a sender of mere headers takes no place.
 */
export class RequestGate {
  private readonly line = new Set<QueuedRequest>();
  private inside = 0;
  private turnedAway = 0;

  constructor(private readonly limits: GateLimits) {}

  /** @throws ConveyorError `overloaded`; or the reason of `gone`, if the client left while in the queue */
  async run<T>(work: () => Promise<T>, gone?: AbortSignal): Promise<T> {
    await this.enter(gone);
    try {
      return await work();
    } finally {
      this.leave();
    }
  }

  counts(): { readonly inFlight: number; readonly waiting: number; readonly rejected: number } {
    return { inFlight: this.inside, waiting: this.line.size, rejected: this.turnedAway };
  }

  private enter(gone: AbortSignal | undefined): Promise<void> {
    if (this.inside < this.limits.inFlight) {
      this.inside += 1;
      return Promise.resolve();
    }
    if (this.line.size >= this.limits.waiting) return Promise.reject(this.createOverloadError());
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        clearTimeout(patience);
        gone?.removeEventListener('abort', onGone);
        this.line.delete(waiter);
      };
      const waiter: QueuedRequest = {
        enter: () => (settle(), resolve()),
        leave: (why) => (settle(), reject(why)),
      };
      const onGone = (): void => waiter.leave(new Error('the client left'));
      const patience = setTimeout(() => waiter.leave(this.createOverloadError()), this.limits.waitMs);
      gone?.addEventListener('abort', onGone, { once: true });
      this.line.add(waiter);
    });
  }

  /** Passes the place to the longest waiting request without freeing it in between. */
  private leave(): void {
    const [next] = this.line;
    if (next === undefined) this.inside -= 1;
    else next.enter();
  }

  private createOverloadError(): Error {
    this.turnedAway += 1;
    return conveyorError('overloaded', { waiting: this.line.size });
  }
}
