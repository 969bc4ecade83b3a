import type { PipelineSubscriptions } from '../pipeline/pipelineIndex';

/** What one sweep leaves to the next; Temporal carries it as the result of the last completed run. */
export interface SweepMemory {
  /** What the finder answered to the first call of the sweep, so that nothing between its pages is lost. */
  readonly cursor: string | null;
  /** When the sweep began; ms since the epoch. */
  readonly beganMs: number;
  /** Pipelines that did not get what there was for them; they are asked for the latest again. */
  readonly again: readonly string[];
}

/** A pipeline may take this long to show up in a listing after it was applied. */
const LISTING_LAG_MS = 10_000;
/** What the next sweep is asked to remember by name; the result of a workflow is no place for thirty thousand. */
const MAX_AGAIN = 1_000;

/**
 * Whether a pipeline is asked for the latest, whatever the cursor: it subscribed after the last sweep began to list, or
 * too shortly before to be sure that it was listed, or it did not get what there was.
 */
export function needsLatest({ pipeline, subscribedAtMs }: PipelineSubscriptions, memory: SweepMemory | null): boolean {
  if (memory === null || memory.cursor === null) return true;
  return subscribedAtMs >= memory.beganMs - LISTING_LAG_MS || memory.again.includes(pipeline);
}

/**
 * What the next sweep starts from. When too many pipelines did not get what there was, the next one starts from where
 * this one did: what others get twice is one release all the same.
 */
export function memoryAfter(
  before: SweepMemory | null,
  beganMs: number,
  { cursor, again }: { readonly cursor: string | null; readonly again: readonly string[] },
): SweepMemory {
  if (again.length <= MAX_AGAIN) return { cursor: cursor ?? before?.cursor ?? null, beganMs, again };
  return before ?? { cursor: null, beganMs, again: [] };
}
