import type { Pattern } from '../../domain/deploy/pattern';
import type { DeployWith, Job } from '../chaos/scenario';
import { MINUTE } from '../workflows/world';
import type { SPAN_NAMES } from './paper';

/** The duration of all parts of a deploy together, ms. */
export type Lengths = Readonly<Record<(typeof SPAN_NAMES)[number], number>>;

interface Shape {
  /** For each job; one or two of them, in regions of their own. */
  readonly jobs: readonly ['x'] | readonly ['x', 'y'];
  readonly tasks: number;
  /** Before the completion, which takes the rest. */
  readonly phases: NonNullable<DeployWith['phases']>;
  /** How often a task of the slowest job waits for those before it, with half of the tasks away at most, itself included. */
  readonly waves: number;
}

const shares = (...amounts: number[]): Shape['phases'] =>
  amounts.map((amount) => ({ scope: '*', amount: `${amount}%` }));

const SHAPES: Readonly<Record<Pattern, Shape>> = {
  single: { jobs: ['x'], tasks: 10, phases: [], waves: 2 },
  'single parallel': { jobs: ['x', 'y'], tasks: 6, phases: [], waves: 2 },
  'region-by-region': { jobs: ['x', 'y'], tasks: 6, phases: [{ scope: 'region:x', amount: '100%' }], waves: 4 },
  linear: { jobs: ['x'], tasks: 12, phases: shares(25, 50, 75), waves: 4 },
  'super-linear': { jobs: ['x'], tasks: 10, phases: shares(10, 30), waves: 4 },
  misc: { jobs: ['x'], tasks: 10, phases: shares(40, 50), waves: 3 },
};

/** Any limit that good versions keep, and that a version of `behaviourOf` goes beyond at once. */
const CHECKS: NonNullable<DeployWith['healthChecks']> = [
  { name: 'cpu', metric: 'system.cpu', lookback: '1m', threshold: { above: 0.95 } },
  { name: 'memory', metric: 'system.memory', lookback: '1m', threshold: { above: 1_300 } },
  { name: 'errors', metric: 'rpc.error_ratio', lookback: '1m', threshold: { above: 0.05 } },
  { name: 'engagement', metric: 'app.engagement', lookback: '1m', threshold: { below: 85 } },
];

/** Updates as good as nothing else may take, so that a phase ends when its tasks are through. */
const TIMINGS = { fetchMs: 1_000, stopMs: 1_000 };

export function jobsOf(pipeline: string, pattern: Pattern, lengths: Lengths): Job[] {
  const { jobs, tasks } = SHAPES[pattern];
  const timings = { ...TIMINGS, startMs: taskMs(pattern, lengths) };
  return jobs.map((region) => ({
    ...{ name: `${pipeline}-${region}`, region, tasks },
    more: { service: pipeline, version: `${pipeline}:0`, timings },
  }));
}

/** How long each task takes to start. */
export function taskMs(pattern: Pattern, lengths: Lengths): number {
  return Math.max(1_000, Math.round(lengths['task update'] / SHAPES[pattern].waves) - 2_000);
}

export function deployWith(
  pipeline: string,
  pattern: Pattern,
  lengths: Lengths,
  onUnhealthy: 'revert' | 'pause',
): DeployWith {
  const { jobs, phases } = SHAPES[pattern];
  const pacing = pacingOf(lengths, phases.length + 1);
  return {
    pushType: 'twine',
    config: { jobs: jobs.map((region) => `${pipeline}-${region}`) },
    phases: phases.map((phase) => ({ ...phase, ...pacing })),
    completion: pacing,
    healthChecks: CHECKS,
    healthInterval: seconds(Math.min(30 * MINUTE, Math.max(MINUTE, lengths.bake / (phases.length + 1) / 3))),
    onUnhealthy,
  };
}

/** The checks of a canary, and their place. */
export const canaryWith = (pipeline: string) => ({
  ...{ pushType: 'twine', config: { jobs: [`${pipeline}-x`] }, amount: 1, bake: '10m' },
  ...{ healthChecks: CHECKS, healthInterval: '5m' },
});

/** Each phase takes an equal part of all but the updates; what takes less than a minute is not worth a step. */
function pacingOf(lengths: Lengths, phases: number): NonNullable<DeployWith['completion']> {
  const steps = (ms: number) =>
    ms / phases < MINUTE ? [] : [{ service: 'slow', with: { takesMs: Math.round(ms / phases) } }];
  return {
    bake: seconds(lengths.bake / phases),
    updateTimeout: seconds(lengths['task update'] * 4 + 60 * MINUTE),
    pre: steps(lengths.preprocessing),
    post: steps(lengths.postprocessing),
  };
}

const seconds = (ms: number): string => `${Math.max(1, Math.round(ms / 1_000))}s`;
