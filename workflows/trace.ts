import { proxySinks, type Sinks } from '@temporalio/workflow';
import type { TraceSpan } from '../domain/trace';

/** The receiver of spans: the worker, which sends them on (workers/tracing.ts). */
export interface TraceSinks extends Sinks {
  traces: { ended(spans: readonly TraceSpan[]): void };
}

const { traces } = proxySinks<TraceSinks>();

/** Records ended spans once: nothing during a replay. It is not a command, so histories do not contain it. */
export const traceEnded = (spans: readonly TraceSpan[]): void => traces.ended(spans);
