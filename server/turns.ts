import { RequestGate } from './gate';

/**
 * Temporal takes ten updates of one workflow at a time, and lets more of them wait until they are given up. Deliveries and people
 * have so many each, which leaves room for the command line.
 */
const UPDATES_AT_ONCE = 4;
const TURN_TIMEOUT_MS = 8_000;

/** Lets little happen to one thing at a time, however much happens to all of them. */
export class KeyedQueue {
  private readonly gates = new Map<string, RequestGate>();

  /** @throws ConveyorError `overloaded`, after some seconds without a turn */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const gate =
      this.gates.get(key) ??
      new RequestGate({ inFlight: UPDATES_AT_ONCE, waiting: Number.POSITIVE_INFINITY, waitMs: TURN_TIMEOUT_MS });
    this.gates.set(key, gate);
    try {
      return await gate.run(work);
    } finally {
      const { inFlight, waiting } = gate.counts();
      if (inFlight + waiting === 0 && this.gates.get(key) === gate) this.gates.delete(key);
    }
  }
}
