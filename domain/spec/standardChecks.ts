import type { HealthCheckFields } from './healthFields';

/**
 * Ready checks for `uses: standard/<name>`: a start for most services, sized for one point a minute. They use the metrics of the
 * simulated fleet; a fleet with other names overrides `metric`.
 */
export const STANDARD_CHECKS: Readonly<Record<string, HealthCheckFields>> = {
  /** More than five requests in a hundred fail. */
  'rpc-errors': {
    metric: 'rpc.error_ratio',
    transform: [{ average: '3m' }],
    threshold: { above: 0.05 },
    minSamples: 3,
  },
  /** The slow requests take longer than in the tasks that are not updated. */
  'rpc-latency': {
    metric: 'rpc.latency',
    transform: [{ percentile: { q: 99, over: '5m' } }],
    reduce: 'p90',
    compare: 'control',
    threshold: { increase: '15%' },
    minSamples: 5,
  },
  /** Clients do not find the updated tasks, or lose their connections. */
  connections: {
    metric: 'rpc.connections',
    transform: [{ average: '3m' }],
    compare: 'control',
    threshold: { decrease: '20%' },
    minSamples: 3,
  },
  /** The updated tasks log errors much faster than the others, as old code does with an unknown value. */
  'log-errors': {
    metric: 'log.error_rate',
    transform: [{ average: '3m' }],
    compare: 'control',
    threshold: { increase: '300%' },
    minSamples: 3,
  },
  /**
   * Requests take longer than before the deploy. This finds load that appears only once all tasks are updated, when no others are
   * left for a comparison.
   */
  'rpc-latency-before': {
    metric: 'rpc.latency',
    transform: [{ average: '5m' }],
    compare: 'before',
    threshold: { increase: '30%' },
    minSamples: 5,
  },
  cpu: {
    metric: 'system.cpu',
    transform: [{ average: '3m' }],
    compare: 'control',
    threshold: { increase: '20%' },
    minSamples: 3,
  },
  memory: {
    metric: 'system.memory',
    transform: [{ average: '3m' }],
    compare: 'control',
    threshold: { increase: '20%' },
    minSamples: 3,
  },
  /** More than one crash per ten updated tasks in five minutes, for any number of tasks. */
  crashes: {
    metric: 'system.crashes',
    transform: [{ fill: 'zero' }, 'sum'],
    scope: 'deploy',
    lookback: '5m',
    threshold: { above: 0.1 },
    minSamples: 1,
  },
  /** For any number that users produce. It also has other causes, so a person decides. */
  engagement: {
    metric: 'app.engagement',
    lookback: '5m',
    compare: 'before',
    threshold: { decrease: '5%' },
    minSamples: 5,
    onUnhealthy: 'pause',
  },
};
