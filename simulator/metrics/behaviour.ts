import { z } from 'zod';

/** How a version differs from a good one (`POST /control/versions`). */
export const behaviourSchema = z.strictObject({
  crashOnStart: z.boolean().optional(),
  /** Added to the share of requests that fail, 0 to 1. */
  errorRatio: z.number().min(0).max(1).optional(),
  cpuFactor: z.number().positive().optional(),
  memoryLeakMbPerMinute: z.number().optional(),
  latencyFactor: z.number().positive().optional(),
  connectionsFactor: z.number().nonnegative().optional(),
  engagementFactor: z.number().nonnegative().optional(),
  /** Only from this many simulated ms after a task started. */
  afterMs: z.number().nonnegative().optional(),
  onlyRegion: z.string().optional(),
  /** Only while at least this share (0 to 1) of the job's running tasks runs the version. */
  atShare: z.number().gt(0).max(1).optional(),
  /** A source or executable version that does not build, and one that fails its tests. */
  failBuild: z.boolean().optional(),
  failTests: z.boolean().optional(),
});

export type BehaviourSpec = z.infer<typeof behaviourSchema>;

/** A behaviour and the time from which it applies. */
export interface Behaviour {
  readonly since: number;
  readonly spec: BehaviourSpec;
}

/** The behaviour of a version at a time; a version that was never described behaves well. */
export function behaviourAt(
  behaviours: ReadonlyMap<string, readonly Behaviour[]>,
  version: string,
  at: number,
): BehaviourSpec {
  return behaviours.get(version)?.findLast(({ since }) => since <= at)?.spec ?? {};
}
