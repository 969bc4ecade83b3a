// Creates more traces than are kept for a collector, and ends: `node tracesMuch.mjs`, with OTEL_EXPORTER_OTLP_ENDPOINT.
import { openTracing } from '../../dist/workers/tracing.js';

const context = { pipeline: 'kvstore', release: 12, deployId: 'kvstore/12/deploy', actor: 'user:alice', config: {} };
const traceparent = `00-${'a'.repeat(32)}-00f067aa0ba902b7-01`;
const tracing = await openTracing(process.env);
for (let nth = 0; nth < 10_000; nth += 1)
  tracing.called('twine', { method: 'fetchDeployUnits', code: '200', tookMs: 40, context, traceparent });
await tracing.close();
process.exit();
