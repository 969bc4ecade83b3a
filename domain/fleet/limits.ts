/** The maximum size of a fleet that one deploy updates, and the portions in which it is handled. */
export const FLEET_LIMITS = {
  units: 10_000,
  /** For a push type that does not return units in pages (protocol `fetchDeployUnits`). */
  unpagedUnits: 500,
  /** For a deploy in lockstep, which knows each unit by name. */
  lockstepUnits: 100,
  /** Phases of a plan, including the completion. */
  phases: 64,
  /** Units in one request to a push type. */
  chunk: 500,
  unitIdLength: 128,
  labels: 16,
  labelLength: 128,
  /** Ids of all units together, in characters: some requests contain all of them. */
  idsLength: 524_288,
  /** Units that one deploy may leave out because they are unavailable. */
  leftOut: 100,
  /** Groups that health may keep paused by themselves. */
  pausedGroups: 100,
} as const;

/** The number of unit rows that people see in a status, the worst first, in addition to the totals. */
export const SHOWN_UNITS = 50;
