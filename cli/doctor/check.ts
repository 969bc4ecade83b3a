/**
 * One thing that Conveyor needs. `missing` stops something from working now, because it is not there or is broken; `warning` does not, or it is
 * not known.
 */
export interface DoctorCheck {
  readonly name: string;
  readonly state: 'ok' | 'missing' | 'warning';
  /** What is there. */
  readonly found: string;
  /** How to get it or to fix it; null where nothing is to be done. */
  readonly how: string | null;
}

/** Enough even on a busy machine: machines are often busy when somebody examines them. */
export const ANSWERS_WITHIN_MS = 10_000;
