import type { InjectedSinks } from '@temporalio/worker';
import type { ClockSinks } from '../workflows/serverTime';
import type { TraceSinks } from '../workflows/trace';
import type { ServerClock } from './serverClock';
import { NOT_TRACED, type TraceExporter } from './tracing';

/** Receives the output of workflows once, and nothing during a replay. */
export const createSinks = (
  { ended }: TraceExporter = NOT_TRACED,
  taskStarted: ServerClock['taskStarted'] = () => undefined,
): InjectedSinks<TraceSinks & ClockSinks> => ({
  traces: { ended: { fn: (_workflow, spans) => ended(spans), callDuringReplay: false } },
  serverClock: { taskStarted: { fn: (_workflow, startedMs) => taskStarted(startedMs), callDuringReplay: false } },
});
