import type { HealthCheckFields } from './healthFields';

/**
 * Ready checks, for `uses: standard/<name>`: what most services begin with, sized for one point a minute. The metrics are
 * those that the simulated fleet reports; a fleet that calls them otherwise says `metric`.
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
  /** Clients do not find the updated tasks, or do not stay. */
  connections: {
    metric: 'rpc.connections',
    transform: [{ average: '3m' }],
    compare: 'control',
    threshold: { decrease: '20%' },
    minSamples: 3,
  },
  /** The updated tasks log errors much faster than the others: what old code does with a value that it does not know. */
  'log-errors': {
    metric: 'log.error_rate',
    transform: [{ average: '3m' }],
    compare: 'control',
    threshold: { increase: '300%' },
    minSamples: 3,
  },
  /** It takes longer than before the deploy: load that shows once everybody has it, and nobody is left to compare with. */
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
  /** More than one crash for ten updated tasks in five minutes, however many there are. */
  crashes: {
    metric: 'system.crashes',
    transform: [{ fill: 'zero' }, 'sum'],
    scope: 'deploy',
    lookback: '5m',
    threshold: { above: 0.1 },
    minSamples: 1,
  },
  /** Of any number that users make; it has other causes as well, so a person decides. */
  engagement: {
    metric: 'app.engagement',
    lookback: '5m',
    compare: 'before',
    threshold: { decrease: '5%' },
    minSamples: 5,
    onUnhealthy: 'pause',
  },
};
