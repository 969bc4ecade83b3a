/** One thing that Conveyor needs. `missing` stops something from working, `warning` may. */
export interface DoctorCheck {
  readonly name: string;
  readonly state: 'ok' | 'missing' | 'warning';
  /** What is there. */
  readonly found: string;
  /** How to get it or to fix it; null where nothing is to be done. */
  readonly how: string | null;
}
