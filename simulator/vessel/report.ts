import type { Host } from './host';
import type { SwarmReport } from './options';

/** The counts so far, for the report. */
export interface Tally {
  readonly sourceCounts: number[];
  readonly near: [number, number, number];
  lies: number;
  decisions: number;
}

export function buildSwarmReport(hosts: readonly Host[], tally: Tally, violations: readonly string[]): SwarmReport {
  const honest = hosts.filter(({ isLiar, goneAt }) => !isLiar && goneAt === Infinity);
  const times = honest.map(({ wholeAt }) => wholeAt).sort((a, b) => a - b);
  const quantile = (share: number): number => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  const { sourceCounts, near, lies, decisions } = tally;
  const sent = near.reduce((sum, one) => sum + one, 0) || 1;
  return {
    honest: honest.length,
    whole: times.filter((at) => at < Infinity).length,
    ...{ median: quantile(0.5), p99: quantile(0.99), last: times.at(-1) ?? 0 },
    sourceMean: sourceCounts.reduce((sum, one) => sum + one, 0) / sourceCounts.length,
    sourceMost: Math.max(...sourceCounts),
    near: [near[0] / sent, near[1] / sent, near[2] / sent],
    ...{ lies, decisions, violations },
  };
}
