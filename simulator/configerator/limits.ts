/** Limits of the simulated distribution of configuration (docs/reference/fleet.md#configuration); more is refused. */
export const CONFIGERATOR_LIMITS = {
  hosts: 1_000_000,
  groups: 10_000,
  regions: 100,
  transactions: 100_000,
  changes: 10_000,
  behaviours: 1_000,
  faults: 1_000,
} as const;
