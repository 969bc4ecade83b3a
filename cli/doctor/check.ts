/**
 * One thing that Conveyor needs. `missing` stops something from working now, because it is not there or is broken; `warning` does not, or it is
 * not known.
 */
export interface DoctorCheck {
  readonly name: string;
  readonly state: 'ok' | 'missing' | 'warning';
  /** The state found. */
  readonly found: string;
  /** How to get it or to fix it; null where nothing is to be done. */
  readonly how: string | null;
}

/** The door that commands go through. */
export const DOOR_CHECK = 'door';

/** A part behind a broken one, whose own state is unknown. */
export const notSeen = (name: string, why: string, how: string): DoctorCheck => ({
  ...{ name, state: 'warning', found: `not seen, nor what stands behind them: ${why}`, how },
});

export const SEE_TO_TEMPORAL = 'first see to Temporal: the check above says how';

/** As the alert on backlogs has it (operations/prometheus/alerts.yaml). */
export const WAITS_TOO_LONG_MS = 30_000;

/** Enough even on a busy machine: machines are often busy during an examination. */
export const ANSWERS_WITHIN_MS = 10_000;
