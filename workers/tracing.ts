import { setTimeout as wait } from 'node:timers/promises';
import { SpanKind, SpanStatusCode, TraceFlags, type HrTime } from '@opentelemetry/api';
import type { ReadableSpan, SpanProcessor } from '@opentelemetry/sdk-trace';
import { parentOfCall, type TraceSpan } from '../domain/trace';
import type { ObservedCall } from '../sdk/client';

/** The variables with the address for traces, by OTLP over HTTP. */
const TRACES_ADDRESSES = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'] as const;

/** Exports ended spans in the background. If the collector is gone or slow, they are dropped and delay nothing. */
export interface TraceExporter {
  readonly ended: (spans: readonly TraceSpan[]) => void;
  readonly called: (extension: string, call: ObservedCall) => void;
  /** Sends the remaining spans. */
  readonly close: () => Promise<void>;
}

export const NOT_TRACED: TraceExporter = {
  ended: () => undefined,
  called: () => undefined,
  close: () => Promise.resolve(),
};

/**
 * Configured by the variables of OpenTelemetry (`OTEL_EXPORTER_OTLP_…`, `OTEL_BSP_…`, `OTEL_SERVICE_NAME`); without an
 * address nothing is traced, and its SDK is not loaded.
 */
export async function openTracing(env: Readonly<Record<string, string | undefined>>): Promise<TraceExporter> {
  if (!TRACES_ADDRESSES.some((name) => env[name])) return NOT_TRACED;
  const { BatchSpanProcessor } = await import('@opentelemetry/sdk-trace');
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http');
  const { resourceFromAttributes } = await import('@opentelemetry/resources');
  const resource = resourceFromAttributes({ 'service.name': env['OTEL_SERVICE_NAME'] ?? 'conveyor' });
  return createTracing(new BatchSpanProcessor({ exporter: new OTLPTraceExporter() }), resource);
}

/** A silent collector must not keep a worker from ending. */
const LAST_WORDS_MS = 5_000;

function createTracing(processor: SpanProcessor, resource: ReadableSpan['resource']): TraceExporter {
  return {
    ended: (spans) => {
      for (const span of spans) processor.onEnd(readable(span, resource, SpanKind.INTERNAL));
    },
    called: (extension, call) => {
      const span = spanOfCall(extension, call);
      if (span !== undefined) processor.onEnd(readable(span, resource, SpanKind.CLIENT));
    },
    close: () =>
      Promise.race([processor.shutdown().catch(() => undefined), wait(LAST_WORDS_MS, undefined, { ref: false })]),
  };
}

/** Undefined for a call without a release, which has no trace. */
export function spanOfCall(extension: string, call: ObservedCall): TraceSpan | undefined {
  const { context, traceparent, method, code, tookMs } = call;
  const [, trace, id] = traceparent.split('-');
  if (context === null || context.release === 0 || trace === undefined || id === undefined) return undefined;
  const endMs = Date.now();
  const status: TraceSpan['attributes'] = code === 'none' ? {} : { 'http.response.status_code': Number(code) };
  const attributes = { 'conveyor.extension': extension, 'rpc.method': method, ...status };
  const failed = !code.startsWith('2');
  const parent = parentOfCall(context);
  return { trace, id, parent, name: `${extension} ${method}`, startMs: endMs - tookMs, endMs, failed, attributes };
}

const NOTHING_BESIDES = {
  ...{ events: [], links: [], ended: true },
  ...{ droppedAttributesCount: 0, droppedEventsCount: 0, droppedLinksCount: 0 },
};

/** Converts a span to the form of OpenTelemetry's SDK. */
function readable(span: TraceSpan, resource: ReadableSpan['resource'], kind: SpanKind): ReadableSpan {
  const context = (spanId: string) => ({ traceId: span.trace, spanId, traceFlags: TraceFlags.SAMPLED });
  return {
    ...NOTHING_BESIDES,
    name: span.name,
    kind: span.parent === null ? SpanKind.SERVER : kind,
    spanContext: () => context(span.id),
    ...(span.parent === null ? {} : { parentSpanContext: context(span.parent) }),
    startTime: hrTime(span.startMs),
    endTime: hrTime(span.endMs),
    // A clock that was set back must not make a duration negative.
    duration: hrTime(Math.max(0, span.endMs - span.startMs)),
    status: { code: span.failed ? SpanStatusCode.ERROR : SpanStatusCode.UNSET },
    attributes: span.attributes,
    resource,
    instrumentationScope: { name: 'conveyor' },
  };
}

/** Seconds and nanoseconds. */
function hrTime(ms: number): HrTime {
  const micros = Math.round(ms * 1_000);
  return [Math.floor(micros / 1_000_000), (micros % 1_000_000) * 1_000];
}
