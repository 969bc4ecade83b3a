import { RequestGate } from './gate';

/**
 * Temporal accepts ten updates of one workflow at a time, and keeps others waiting until their callers give up.
 * Deliveries and people get this many each, which leaves room for the command line.
 */
const UPDATES_AT_ONCE = 4;
const TURN_TIMEOUT_MS = 8_000;

/** Limits concurrent work for each key, with any number of keys. */
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
