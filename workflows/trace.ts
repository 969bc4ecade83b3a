import { proxySinks, type Sinks } from '@temporalio/workflow';
import type { TraceSpan } from '../domain/trace';

/** Where spans go: to the worker, which sends them on (workers/tracing.ts). */
export interface TraceSinks extends Sinks {
  traces: { ended(spans: readonly TraceSpan[]): void };
}

const { traces } = proxySinks<TraceSinks>();

/** What has ended, once: nothing while a history is replayed. It is not a command, so that no history knows of it. */
export const traceEnded = (spans: readonly TraceSpan[]): void => traces.ended(spans);
