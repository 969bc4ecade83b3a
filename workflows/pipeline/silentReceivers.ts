import { allHandlersFinished, condition } from '@temporalio/workflow';
import { MINUTE_MS } from '../../domain/milliseconds';
import type { PipelineRun } from './run';

/** The time for which one notice is retried. */
const PATIENCE_MS = 60 * MINUTE_MS;

/** A working receiver answers within seconds. */
const ANSWER_MS = 10_000;

/**
 * Whether a history may end despite notices on their way, which are then lost, because their receiver has been silent. Each notice is retried for an
 * hour. If releases expire more often than that, waiting would keep the history open until Temporal terminates it at 51,200 events.
 */
export async function outwaitReceivers(run: PipelineRun): Promise<boolean> {
  run.heldUpSinceMs ??= Date.now();
  if (Date.now() < run.heldUpSinceMs + PATIENCE_MS) return false;
  // Working receivers get the notices that have just begun.
  await condition(() => !run.isNotifying, ANSWER_MS, { summary: 'let receivers answer that do' });
  return allHandlersFinished();
}
