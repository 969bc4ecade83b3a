import { popDue, pushDue, type Due } from './heap';
import { draw, openStream, type StreamState } from './random';

/** The whole state of the kernel, as plain data. */
export interface KernelState<E> {
  readonly seed: number;
  /** Divides every simulated duration. */
  readonly speed: number;
  now: number;
  seq: number;
  readonly due: Due<E>[];
  readonly streams: Map<string, StreamState>;
}

export const freshKernel = <E>(seed: number, speed: number, now: number): KernelState<E> => ({
  seed,
  speed,
  now,
  seq: 0,
  due: [],
  streams: new Map(),
});

/**
 * A seeded discrete-event world. Time is ms since the epoch and advances only on calls of `advanceTo`: nothing happens
 * between two calls, and nothing at all if no event is due. The same seed and the same calls give the same world.
 */
export class World<E> {
  constructor(
    public kernel: KernelState<E>,
    private readonly handle: (event: E) => void,
  ) {}

  get now(): number {
    return this.kernel.now;
  }

  /**
   * Runs the events due until `now`, in order; a time in the past changes nothing. Stops early, at the time of the
   * event after which `mustStop` holds; returns true if it reached `now`.
   */
  advanceTo(now: number, mustStop: () => boolean = () => false): boolean {
    const { kernel } = this;
    for (let next = kernel.due[0]; next !== undefined && next.at <= now; next = kernel.due[0]) {
      if (mustStop()) return false;
      popDue(kernel.due);
      kernel.now = Math.max(kernel.now, next.at);
      this.handle(next.event);
    }
    if (mustStop()) return false;
    kernel.now = Math.max(kernel.now, now);
    return true;
  }

  /** Schedules an event `delayMs` of simulated time from now. */
  after(delayMs: number, event: E): void {
    this.at(this.kernel.now + this.scaled(delayMs), event);
  }

  at(atMs: number, event: E): void {
    this.kernel.seq += 1;
    pushDue(this.kernel.due, { at: atMs, seq: this.kernel.seq, event });
  }

  /** Converts a simulated duration to ms of the world's clock. */
  scaled(durationMs: number): number {
    return Math.round(durationMs / this.kernel.speed);
  }

  /** The next number in [0, 1) of a named stream. */
  random(stream: string): number {
    let state = this.kernel.streams.get(stream);
    if (state === undefined) this.kernel.streams.set(stream, (state = openStream(this.kernel.seed, stream)));
    return draw(state);
  }
}
