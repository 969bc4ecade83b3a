/**
 * The smallest part of a fleet that a deploy addresses: a group of tasks that is updated together, a job in Twine (Conveyor §5.2,
 * `fetchDeployUnits`).
 */
export interface Unit {
  readonly id: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The present number of tasks in the unit; 1 if a unit has no tasks inside. */
  readonly size: number;
  /** The version on which new tasks of the unit start; null if it never had one. */
  readonly version: string | null;
  /** True if its tasks run more than one version. */
  readonly mixed: boolean;
  readonly available: boolean;
}

/** The progress of one phase in one unit (`trackUpdates`). Counts are tasks. */
export interface UnitProgress {
  readonly id: string;
  readonly state: 'pending' | 'updating' | 'paused' | 'done' | 'failed';
  /** Tasks that this update wants on the version. */
  readonly targeted: number;
  readonly updated: number;
  /** Updated and passing their liveness check. */
  readonly live: number;
  readonly failed: number;
  readonly unreachable: number;
  /** Targeted tasks that no longer exist; they leave the denominator. */
  readonly gone: number;
  readonly reason?: string;
  /** The number of others that go first, if it waits for its turn. */
  readonly ahead?: number;
}

/** The reason why a unit that waits for its turn does not advance, and the number of others that go first. */
export type TurnWait = Required<Pick<UnitProgress, 'reason' | 'ahead'>>;
