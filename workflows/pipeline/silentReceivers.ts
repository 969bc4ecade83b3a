import { allHandlersFinished, condition, patched } from '@temporalio/workflow';
import { MINUTE_MS } from '../../domain/milliseconds';
import type { PipelineRun } from './run';

/** As long as one notice is retried. */
const PATIENCE_MS = 60 * MINUTE_MS;

/** A receiver that is there answers within seconds. */
const ANSWER_MS = 10_000;

/**
 * Whether a history may end in spite of notices on their way, which are lost then: their receiver has been silent. Each is retried for an hour,
 * so that releases which expire more often than that would keep it from ending until Temporal terminates it, at 51,200 events.
 */
export async function outwaited(run: PipelineRun): Promise<boolean> {
  run.heldUpSinceMs ??= Date.now();
  if (Date.now() < run.heldUpSinceMs + PATIENCE_MS) return false;
  // Histories that came here before 0.3 waited for a moment without notices.
  if (!patched('a silent receiver keeps no history from ending')) return false;
  // Receivers that are well get what has just begun.
  await condition(() => !run.isNotifying, ANSWER_MS, { summary: 'let receivers answer that do' });
  return allHandlersFinished();
}
