import { concurrencyGate, type ConcurrencyGate } from '../../../sdk';

export interface RequestPace {
  /** Waits for the next turn by rate alone. */
  takeTurn(): Promise<void>;
  /** Runs a request in a slot, after its turn. */
  run: ConcurrencyGate;
}

interface PaceClock {
  now(): number;
  sleep(ms: number): Promise<void>;
}

/** At most `perSecond` requests begin in any second, and at most `inFlight` run at once; turns are first come, first served. */
export function createPace(perSecond: number, inFlight: number, { now, sleep }: PaceClock): RequestPace {
  const gate = concurrencyGate(inFlight);
  const starts: number[] = [];
  const takeTurn = async (): Promise<void> => {
    // The place in the row is taken before the wait, so that later callers queue behind it.
    const at = Math.max(now(), starts.length < perSecond ? 0 : (starts[0] ?? 0) + 1000);
    starts.push(at);
    if (starts.length > perSecond) starts.shift();
    const waitMs = at - now();
    if (waitMs > 0) await sleep(waitMs);
  };
  const run: ConcurrencyGate = (work) =>
    gate(async () => {
      await takeTurn();
      return work();
    });
  return { takeTurn, run };
}
