import type { PipelineSubscriptions } from '../pipeline/pipelineIndex';

/** The memory of one sweep for the next; Temporal carries it as the result of the last completed run. */
export interface SweepMemory {
  /** The cursor from the first call of the sweep, so that no version that appears between its pages is lost. */
  readonly cursor: string | null;
  /** The time when the sweep began; ms since the epoch. */
  readonly beganMs: number;
  /** Pipelines that did not receive their versions; the next sweep asks for their latest again. */
  readonly again: readonly string[];
}

/** A pipeline may take this long to appear in a listing after it was applied. */
const LISTING_LAG_MS = 10_000;
/**
 * The number of pipelines that the next sweep remembers by name; the result of a workflow has no room for thirty
 * thousand.
 */
const MAX_AGAIN = 1_000;

/**
 * Whether to ask for a pipeline's latest version, regardless of the cursor: if it subscribed after the last sweep began
 * to list or only shortly before, so that it may not have been listed, or if it did not receive its versions.
 */
export function needsLatest({ pipeline, subscribedAtMs }: PipelineSubscriptions, memory: SweepMemory | null): boolean {
  if (memory === null || memory.cursor === null) return true;
  return subscribedAtMs >= memory.beganMs - LISTING_LAG_MS || memory.again.includes(pipeline);
}

/**
 * The state from which the next sweep starts. If too many pipelines did not receive their versions, the next sweep
 * starts from the same state as this one. Repeated submissions to the others still make only one release.
 */
export function memoryAfter(
  before: SweepMemory | null,
  beganMs: number,
  { cursor, again }: { readonly cursor: string | null; readonly again: readonly string[] },
): SweepMemory {
  if (again.length <= MAX_AGAIN) return { cursor: cursor ?? before?.cursor ?? null, beganMs, again };
  return before ?? { cursor: null, beganMs, again: [] };
}
