import { WORKER_METRICS } from '../../domain/metrics';
import { explainListening, buildTelemetryOptions } from '../../workers/telemetry';

interface Exporter {
  readonly prometheus: { readonly bindAddress: string; readonly histogramBucketOverrides: Record<string, number[]> };
}

test('without an address there are no metrics', () => {
  expect([buildTelemetryOptions(undefined), buildTelemetryOptions('')]).toEqual([{}, {}]);
});

test.each(['127.0.0.1:9464', '0.0.0.0:9464', '[::1]:9464'])('a worker answers /metrics at %s', (address) => {
  const { prometheus } = buildTelemetryOptions(address).telemetryOptions?.metrics as unknown as Exporter;
  expect(prometheus.bindAddress).toBe(address);
  const times = Object.values(WORKER_METRICS).filter(({ kind }) => kind === 'seconds');
  expect(Object.keys(prometheus.histogramBucketOverrides)).toEqual(times.map(({ name }) => name));
});

test.each(['9464', 'localhost:9464', '::1:9464', '[127.0.0.1]:9464', '127.0.0.1:94640', 'http://127.0.0.1:9464'])(
  '%s is refused, with an example',
  (address) => {
    expect(() => buildTelemetryOptions(address)).toThrow(`CONVEYOR_METRICS ${address} is not an address and port`);
  },
);

test('a port that is taken is named, and any other trouble stays what it is', () => {
  const failing = (message: string) => () =>
    explainListening('127.0.0.1:9464', () => {
      throw new Error(message);
    });
  expect(failing('Failed to start: Address already in use (os error 98)')).toThrow(
    'port 9464 is taken, so the metrics of a worker cannot listen on it',
  );
  expect(failing('Permission denied')).toThrow('Permission denied');
  expect(explainListening('127.0.0.1:9464', () => 7)).toBe(7);
});
