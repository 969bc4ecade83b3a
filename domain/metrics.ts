import type { DeployResult } from './deploy/state';
import type { Verdict } from './health/verdict';
import type { PipelineState } from './pipeline/state';
import type { SideQueue } from './taskQueues';
import type { ReleaseSummary, Spans } from './views';

/**
 * Metrics of workers, in addition to those of Temporal's SDK (docs/guides/operate.md#metrics). Labels come from the
 * code and the configuration, never from pipelines, so their number stays bounded.
 */
interface Metric {
  readonly kind: 'counter' | 'seconds';
  /** The SDK adds `_total` to a counter and `_seconds` to a time. */
  readonly name: string;
  readonly help: string;
}

export const WORKER_METRICS = {
  releases: { kind: 'counter', name: 'conveyor_releases_ended', help: 'Releases that ended.' },
  releaseTime: { kind: 'seconds', name: 'conveyor_release_duration', help: 'From the start of a release to its end.' },
  queueTime: { kind: 'seconds', name: 'conveyor_release_queue', help: 'From a release in the queue to its start.' },
  admissionTime: {
    kind: 'seconds',
    name: 'conveyor_admission_wait',
    help: 'How long an action waited until its pipeline let it begin.',
  },
  offerTime: {
    kind: 'seconds',
    name: 'conveyor_offer_wait',
    help: 'How long a deploy waited for offers of other pipelines, or for users of its own.',
  },
  deploys: { kind: 'counter', name: 'conveyor_deploys_ended', help: 'Deploys that ended.' },
  spanTime: { kind: 'seconds', name: 'conveyor_deploy_span', help: 'How ended deploys spent their time.' },
  verdicts: { kind: 'counter', name: 'conveyor_deploy_verdicts', help: 'Verdicts on the updated tasks of a deploy.' },
  reverts: { kind: 'counter', name: 'conveyor_deploy_reverts', help: 'Deploys that were reverted.' },
  calls: { kind: 'seconds', name: 'conveyor_extension_request', help: 'Requests to extensions until their answer.' },
  sweepTime: { kind: 'seconds', name: 'conveyor_sweep_duration', help: 'Sweeps of finders, until they had an answer.' },
} as const satisfies Record<string, Metric>;

/** A gauge of the worker itself. It may not be negative, and the SDK adds no unit to its name. */
export const CLOCK_SKEW_METRIC = {
  name: 'conveyor_worker_clock_skew_seconds',
  help: "How far the clock of this worker is from Temporal's, ahead or behind.",
} as const;

export interface MeasuredValue {
  readonly of: keyof typeof WORKER_METRICS;
  /** A number of events, or ms. */
  readonly value: number;
  readonly labels: Readonly<Record<string, string>>;
}

/** The number of workflows of a kind in a state; the state is empty for pipelines. */
export interface OpenCount {
  readonly kind: 'pipeline' | 'release' | 'deploy';
  readonly state: string;
  readonly count: number;
}

/** Work in a task queue that waits for a worker. */
export interface QueueBacklog {
  readonly queue: 'main' | SideQueue;
  readonly kind: 'workflow' | 'activity';
  /** The build of the workers that take it; empty for workers without a build. */
  readonly build: string;
  readonly tasks: number;
  /** The wait of the oldest item so far. */
  readonly ageMs: number;
}

const event = (of: MeasuredValue['of'], labels: MeasuredValue['labels']): MeasuredValue => ({ of, value: 1, labels });

/** Measures of an ended release: whether it started, and after how many ms. */
export const releaseMeasures = (
  { state, cause }: Pick<ReleaseSummary, 'state' | 'cause'>,
  tookMs: number | null,
): MeasuredValue[] => [
  event('releases', { state, cause: cause ?? '' }),
  ...(tookMs === null ? [] : [{ of: 'releaseTime', value: tookMs, labels: { state } } as const]),
];

/** Measures of releases that ended in the queue, without a workflow of their own. */
export function neverStartedMeasures(before: PipelineState['history'], now: PipelineState['history']): MeasuredValue[] {
  if (before === now) return [];
  const known = new Set(before.map(({ number }) => number));
  return now
    .filter(({ number, neverStarted }) => neverStarted && !known.has(number))
    .flatMap((row) => releaseMeasures(row, null));
}

const SPANS: Readonly<Record<keyof Spans, string>> = {
  lockWaitMs: 'lock-wait',
  windowWaitMs: 'window-wait',
  pausedMs: 'paused',
  dependencyWaitMs: 'dependency-wait',
  preMs: 'pre',
  updateMs: 'update',
  bakeMs: 'bake',
  postMs: 'post',
  revertMs: 'revert',
  overheadMs: 'overhead',
};

export const deployMeasures = ({
  outcome,
  classification,
  reverted,
  spans,
}: Pick<DeployResult, 'outcome' | 'classification' | 'reverted' | 'spans'>): MeasuredValue[] => [
  event('deploys', { outcome, classification: classification ?? '' }),
  ...(reverted === null ? [] : [event('reverts', { by: reverted.by === 'health' ? 'health' : 'person' })]),
  ...(Object.keys(SPANS) as (keyof Spans)[])
    .filter((span) => spans[span] > 0)
    .map((span): MeasuredValue => ({ of: 'spanTime', value: spans[span], labels: { span: SPANS[span] } })),
];

export const verdictMeasure = (verdict: Verdict): MeasuredValue => event('verdicts', { verdict });

export const queueMeasure = (waitedMs: number): MeasuredValue => ({ of: 'queueTime', value: waitedMs, labels: {} });

export const admissionMeasure = (kind: 'deploy' | 'exclusive' | 'pick', waitedMs: number): MeasuredValue => ({
  of: 'admissionTime',
  value: waitedMs,
  labels: { kind },
});

/** `begins`: it has all that it waited for. `left`: it gave up, or made way for another release. */
export const offerMeasure = (end: 'begins' | 'left', waitedMs: number): MeasuredValue => ({
  of: 'offerTime',
  value: waitedMs,
  labels: { end },
});

export const sweepMeasure = (finder: string, tookMs: number): MeasuredValue => ({
  of: 'sweepTime',
  value: tookMs,
  labels: { finder },
});

/** `code` is the status of the answer, or `none` without one. */
export const callMeasure = (extension: string, method: string, code: string, tookMs: number): MeasuredValue => ({
  of: 'calls',
  value: tookMs,
  labels: { extension, method, code },
});

/** The metric meter of Temporal's SDK, in a workflow, an activity or a worker. */
export interface Meter {
  createCounter(
    name: string,
    unit?: string,
    help?: string,
  ): { add(value: number, labels: Record<string, string>): void };
  createHistogram(
    name: string,
    type: 'float',
    unit?: string,
    help?: string,
  ): { record(value: number, labels: Record<string, string>): void };
}

export interface GaugeMeter {
  createGauge(name: string, type: 'float', unit?: string, help?: string): { set(value: number): void };
}

/** A clock that was set back must not make a duration negative. */
export function recordMeasures(meter: Meter, measures: readonly MeasuredValue[]): void {
  for (const { of, value, labels } of measures) {
    const { kind, name, help } = WORKER_METRICS[of];
    if (kind === 'counter') meter.createCounter(name, undefined, help).add(value, labels);
    else meter.createHistogram(name, 'float', 'seconds', help).record(Math.max(0, value) / 1000, labels);
  }
}
