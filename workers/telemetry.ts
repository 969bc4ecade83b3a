import { isIP } from 'node:net';
import type { RuntimeOptions } from '@temporalio/worker';
import { conveyorError } from '../domain/errors';
import { WORKER_METRICS } from '../domain/metrics';

/** The address at which a worker serves `/metrics`: `host:port`, with the host as an IP address. */
export const METRICS_ADDRESS = 'CONVEYOR_METRICS';

/** Bakes take hours, and a wait for a person may take a week. */
const LONG_BUCKETS = [1, 10, 60, 600, 3_600, 21_600, 86_400, 604_800];
const QUICK_BUCKETS = [0.005, 0.025, 0.1, 0.5, 2.5, 10, 30];
const QUICK_METRICS: readonly string[] = [WORKER_METRICS.calls.name, WORKER_METRICS.sweepTime.name];

/**
 * The metrics of a worker and of Temporal's SDK, in the conventions of Prometheus; without an address there are none.
 * @throws ConveyorError `usage`
 */
export function buildTelemetryOptions(address: string | undefined): Pick<RuntimeOptions, 'telemetryOptions'> {
  if (address === undefined || address === '') return {};
  if (!isBindAddress(address))
    throw conveyorError('usage', {
      text: `${METRICS_ADDRESS} ${address} is not an address and port`,
      hint: `write it as 127.0.0.1:9464, 0.0.0.0:9464 or [::1]:9464`,
    });
  const times = Object.values(WORKER_METRICS).filter(({ kind }) => kind === 'seconds');
  const buckets = times.map(({ name }) => [name, QUICK_METRICS.includes(name) ? QUICK_BUCKETS : LONG_BUCKETS]);
  const prometheus = {
    bindAddress: address,
    countersTotalSuffix: true,
    unitSuffix: true,
    useSecondsForDurations: true,
    histogramBucketOverrides: Object.fromEntries(buckets) as Record<string, number[]>,
  };
  return { telemetryOptions: { metrics: { prometheus, attachServiceName: false } } };
}

function isBindAddress(text: string): boolean {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? [];
  return isIP(bracketed ?? plain ?? '') === (bracketed === undefined ? 4 : 6) && Number(port) <= 65_535;
}

/** @throws ConveyorError `port-in-use` for the SDK's error when it cannot listen there */
export function explainListening<T>(address: string | undefined, install: () => T): T {
  try {
    return install();
  } catch (error) {
    if (address === undefined || !String(error).includes('in use')) throw error;
    throw conveyorError('port-in-use', { port: Number(address.split(':').at(-1)), process: 'the metrics of a worker' });
  }
}
