/** How large a fleet may be that one deploy updates, and in which portions it is handled. */
export const FLEET_LIMITS = {
  units: 10_000,
  /** Of a push type that does not take units in pages (protocol `fetchDeployUnits`). */
  unpagedUnits: 500,
  /** Of a deploy in lockstep, which knows each by name. */
  lockstepUnits: 100,
  /** Phases of a plan, the completion included. */
  phases: 64,
  /** Units in one request to a push type. */
  chunk: 500,
  unitIdLength: 128,
  labels: 16,
  labelLength: 128,
  /** Ids of all units together, in characters: some requests name them all. */
  idsLength: 524_288,
  /** Units that one deploy may leave out because they are unavailable. */
  leftOut: 100,
  /** Groups that health may keep paused by themselves. */
  pausedGroups: 100,
} as const;

/** What people see: rows of units in a status, the worst first, beside the totals. */
export const SHOWN_UNITS = 50;
