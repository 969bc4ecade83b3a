import { sum } from '../../domain/health/series';
import { hashText, noise } from '../kernel/random';

/** The cost of a version on a test machine, compared with a good one. */
export interface TestedVersion {
  readonly version: string;
  readonly cpuFactor: number;
  readonly latencyFactor: number;
  /** Share of the requests that fail, 0 to 1. */
  readonly errorRatio: number;
}

/** A difference between two versions, and its 95% confidence interval. */
export interface MeasuredChange {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}

export type Measure = 'cpu' | 'latency' | 'errors';

/** Recorded requests: the same for every replay of the recording of that name. */
export interface RequestRecording {
  readonly seed: number;
  readonly name: string;
  readonly requests: number;
}

/** Half the width of a 95% interval, in standard errors. */
const SIGMAS = 1.96;

/**
 * Plays the same requests against two versions. The changes of CPU and latency are relative to the old version (0.05 is 5 % more); that of errors is
 * a share of the requests (0.01 is one more in a hundred). Requests differ from each other far more than versions do, so each is compared with
 * itself: the change is the ratio of the sums, its error that of the residuals.
 */
export function replay(
  recording: RequestRecording,
  before: TestedVersion,
  after: TestedVersion,
): Record<Measure, MeasuredChange> {
  const requests = Array.from({ length: recording.requests }, (_, request) => request);
  const sizes = requests.map(requestSize(recording));
  const costs = (side: TestedVersion, measure: 'cpu' | 'latency', factor: number): number[] => {
    const chance = createChance(recording, side, measure);
    return sizes.map((size, request) => size * factor * (0.9 + 0.2 * chance(request)));
  };
  const failures = (side: TestedVersion): number => {
    const chance = createChance(recording, side, 'errors');
    return requests.filter((request) => chance(request) < USUAL_ERRORS + side.errorRatio).length;
  };
  return {
    cpu: relativeChange(costs(before, 'cpu', before.cpuFactor), costs(after, 'cpu', after.cpuFactor)),
    latency: relativeChange(
      costs(before, 'latency', before.latencyFactor),
      costs(after, 'latency', after.latencyFactor),
    ),
    errors: difference(failures(before), failures(after), recording.requests),
  };
}

const USUAL_ERRORS = 0.001;

/** Most requests are small and a few are large. */
function requestSize({ seed, name }: RequestRecording): (request: number) => number {
  const stream = hashText(name);
  return (request) => 0.2 - Math.log(1 - noise(seed, stream, request, 0));
}

function createChance(
  { seed, name }: RequestRecording,
  { version }: TestedVersion,
  measure: Measure,
): (request: number) => number {
  const [base, stream] = [seed ^ hashText(name), hashText(`${version} ${measure}`)];
  return (request) => noise(base, stream, request, 1);
}

function relativeChange(before: readonly number[], after: readonly number[]): MeasuredChange {
  const ratio = sum(after) / sum(before);
  const residuals = after.map((cost, request) => cost - ratio * (before[request] ?? 0));
  const spread = Math.sqrt(sum(residuals.map((residual) => residual ** 2)) / (residuals.length - 1));
  const error = spread / (Math.sqrt(residuals.length) * (sum(before) / before.length));
  return withInterval(ratio - 1, error);
}

function difference(before: number, after: number, requests: number): MeasuredChange {
  const variance = (failed: number): number => ((failed / requests) * (1 - failed / requests)) / requests;
  return withInterval((after - before) / requests, Math.sqrt(variance(before) + variance(after)));
}

const withInterval = (mean: number, error: number): MeasuredChange => ({
  mean,
  low: mean - SIGMAS * error,
  high: mean + SIGMAS * error,
});
