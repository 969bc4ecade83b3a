/** What a deploy addresses: a group of tasks that is updated together, a job in Twine (Conveyor §5.2, `fetchDeployUnits`). */
export interface Unit {
  readonly id: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Tasks in the unit now; 1 where a unit has no tasks inside. */
  readonly size: number;
  /** The version that new tasks of the unit start on; null when it never had one. */
  readonly version: string | null;
  /** True when its tasks run more than one version. */
  readonly mixed: boolean;
  readonly available: boolean;
}

/** What one phase did to one unit so far (`trackUpdates`). Counts are tasks. */
export interface UnitProgress {
  readonly id: string;
  readonly state: 'pending' | 'updating' | 'paused' | 'done' | 'failed';
  /** Tasks this update wants on the version. */
  readonly targeted: number;
  readonly updated: number;
  /** Updated and passing their liveness check. */
  readonly live: number;
  readonly failed: number;
  readonly unreachable: number;
  /** Targeted tasks that no longer exist; they leave the denominator. */
  readonly gone: number;
  readonly reason?: string;
  /** How many others go first, where it waits for its turn. */
  readonly ahead?: number;
}

/** Why a unit does not advance that waits for its turn, and how many others go first. */
export type TurnWait = Required<Pick<UnitProgress, 'reason' | 'ahead'>>;
