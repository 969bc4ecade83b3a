import { computeTraceId } from '../../domain/traceIds';
import { openTracing, spanOfCall } from '../../workers/tracing';

const context = {
  pipeline: 'kvstore',
  release: 12,
  deployId: 'deploy/kvstore/12/deploy/1',
  actor: 'user:a',
  config: {},
};
const trace = computeTraceId('kvstore', 12);
const call = { method: 'plan', code: '200', tookMs: 40, context, traceparent: `00-${trace}-00f067aa0ba902b7-01` };

test('without an address nothing is traced, and nothing fails', async () => {
  const tracing = await openTracing({});
  tracing.ended([]);
  tracing.called('twine', call);
  await tracing.close();
});

test('a call of an extension is the span that its traceparent names, and failed unless it was answered', () => {
  expect(spanOfCall('twine', call)).toMatchObject({ trace, id: '00f067aa0ba902b7', name: 'twine plan', failed: false });
  for (const code of ['503', 'none']) expect(spanOfCall('twine', { ...call, code })?.failed).toBe(true);
});

test('a call that is for no release is in no trace', () => {
  expect(spanOfCall('twine', { ...call, context: null })).toBeUndefined();
  expect(spanOfCall('twine', { ...call, context: { ...context, release: 0 } })).toBeUndefined();
});
