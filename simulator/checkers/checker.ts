import type { TwineFleet } from '../twine/fleet';
import type { FleetEvent } from '../events';

/** A broken invariant of ARCHITECTURE.md#invariants. */
export interface Violation {
  readonly at: number;
  /** Its number there. */
  readonly invariant: number;
  readonly text: string;
}

/**
 * Watches every event for one invariant. It keeps its own memory (plain data) instead of trusting the scheduler's, and
 * spends constant time on events of single tasks.
 */
export interface Checker<M> {
  readonly name: string;
  readonly invariant: number;
  readonly fresh: () => M;
  /** Updates the memory; returns the violation in one sentence, or null. */
  readonly see: (event: FleetEvent, memory: M, fleet: TwineFleet) => string | null;
}

/** A checker whose memory type is hidden from its callers. */
export interface AnyChecker {
  readonly name: string;
  readonly invariant: number;
  readonly see: (event: FleetEvent, memories: Map<string, unknown>, fleet: TwineFleet) => string | null;
}

export function checker<M>({ name, invariant, fresh, see }: Checker<M>): AnyChecker {
  return {
    name,
    invariant,
    see: (event, memories, fleet) => {
      if (!memories.has(name)) memories.set(name, fresh());
      return see(event, memories.get(name) as M, fleet);
    },
  };
}
