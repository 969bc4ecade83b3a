/**
 * One requirement of Conveyor. `missing` means that something cannot work now because this is absent or broken;
 * `warning` means that it still works, or that this is unknown.
 */
export interface DoctorCheck {
  readonly name: string;
  readonly state: 'ok' | 'missing' | 'warning';
  /** The state found. */
  readonly found: string;
  /** How to get or fix it; null if there is nothing to do. */
  readonly how: string | null;
}

/** The access through which commands go. */
export const DOOR_CHECK = 'door';

/** A part behind a broken one, whose own state is unknown. */
export const notSeen = (name: string, why: string, how: string): DoctorCheck => ({
  ...{ name, state: 'warning', found: `not checked, nor the services behind them: ${why}`, how },
});

export const SEE_TO_TEMPORAL = 'repair Temporal first: see the check above';

/** The limit of the alert on backlogs (operations/prometheus/alerts.yaml). */
export const WAITS_TOO_LONG_MS = 30_000;

/** Enough even on a busy machine: machines are often busy during an examination. */
export const ANSWERS_WITHIN_MS = 10_000;
