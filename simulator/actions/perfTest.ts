import type { Hono } from 'hono';
import { z } from 'zod';
import { parseAmount } from '../../domain/fleet/amount';
import { behaviourAt } from '../metrics/behaviour';
import type { Simulation } from '../simulation';
import { countVersions } from '../twine/jobs';
import { replay, type MeasuredChange, type Measure, type TestedVersion } from './replay';
import { runService, runOptions, type RunOutcome } from './runs';
import { whyBroken } from './tests';

const limit = z.string().transform((text, context): number => {
  const amount = parseAmount(text);
  if (amount !== undefined && 'percent' in amount) return amount.percent / 100;
  context.addIssue({ code: 'custom', message: 'expected a percentage such as 5%' });
  return z.NEVER;
});

/** `with` of a perf-test; it may hold further fields for other test runners. */
const perfTestSchema = z.looseObject({
  /** The version to compare with; by default the one in production. */
  baseline: z.string().min(1).optional(),
  /** The service whose jobs are production; by default the one with the pipeline's name. */
  service: z.string().min(1).optional(),
  /** The name of the recording to play. */
  traffic: z.string().min(1).default('production'),
  /** The worst change allowed: CPU and latency relative to the old version, errors as a share of all requests. */
  threshold: z
    .strictObject({ cpu: limit.default(0.05), latency: limit.default(0.05), errors: limit.default(0.01) })
    .default({ cpu: 0.05, latency: 0.05, errors: 0.01 }),
});
type PerfTestInput = z.output<typeof perfTestSchema>;

/** More requests narrow the intervals. The test tries these counts in turn until a result is clear. */
const REQUESTS = [2000, 8000, 32_000];

/**
 * The performance test: plays recorded traffic against the version under test and the version in production. It fails if the new version needs more
 * CPU, is slower or fails more often than the threshold allows. A difference counts once its whole confidence interval is on one side of the
 * threshold. A difference that stays unclear fails the test, as does `failTests`.
 */
export const perfTest = (simulation: Simulation): Hono =>
  runService(simulation, 'perf-test', (request): RunOutcome => {
    const options = runOptions(perfTestSchema, request);
    const tested = request.inputs.find(({ kind }) => kind === 'executable') ?? request.inputs[0];
    if (tested === undefined) return { outputs: [], failure: 'there is nothing to test: the action has no inputs' };
    const broken = whyBroken(simulation, request);
    if (broken !== null) return { outputs: [], failure: broken };
    const baseline = options.baseline ?? productionVersion(simulation, options.service ?? request.pipeline);
    if (baseline === undefined)
      return {
        outputs: [],
        failure: null,
        said: `nothing runs in production that ${tested.version} could be worse than`,
      };
    const steps = [baseline, tested.version].map((version) => `playing ${options.traffic} traffic against ${version}`);
    return { outputs: [], steps, ...comparePerformance(simulation, options, baseline, tested.version) };
  });

/** The version that most tasks of a service run. */
function productionVersion(simulation: Simulation, service: string): string | undefined {
  const counts = new Map<string, number>();
  for (const job of simulation.fleet.jobs.values())
    if (job.service === service)
      for (const [version, tasks] of countVersions(simulation, job))
        counts.set(version, (counts.get(version) ?? 0) + tasks);
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0];
}

function comparePerformance(
  simulation: Simulation,
  { threshold, traffic }: PerfTestInput,
  baseline: string,
  tested: string,
): Pick<RunOutcome, 'failure' | 'said'> {
  const [before, after] = [getTestedVersion(simulation, baseline), getTestedVersion(simulation, tested)];
  const { seed } = simulation.world.kernel;
  let results: MeasureResult[] = [];
  let requests = 0;
  for (requests of REQUESTS) {
    const changes = replay({ seed, name: traffic, requests }, before, after);
    results = MEASURES.map((measure) => judgeMeasure(measure, changes[measure], threshold[measure]));
    if (results.every(({ verdict }) => verdict !== 'unclear')) break;
  }
  const findings = results.map(({ text }) => text).join('; ');
  const what = `${tested} against ${baseline}, ${requests} requests of ${traffic} traffic`;
  const [worse] = results.filter(({ verdict }) => verdict === 'worse');
  const [unclear] = results.filter(({ verdict }) => verdict === 'unclear');
  if (worse !== undefined) return { failure: `more ${worse.measure} than allowed: ${findings} (${what})` };
  if (unclear !== undefined)
    return { failure: `cannot tell whether ${unclear.measure} is within its limit: ${findings} (${what})` };
  return { failure: null, said: `${findings} (${what})` };
}

const MEASURES: readonly Measure[] = ['cpu', 'latency', 'errors'];

interface MeasureResult {
  readonly measure: Measure;
  readonly verdict: 'fine' | 'worse' | 'unclear';
  readonly text: string;
}

function judgeMeasure(measure: Measure, change: MeasuredChange, allowed: number): MeasureResult {
  const verdict = change.low > allowed ? 'worse' : change.high <= allowed ? 'fine' : 'unclear';
  const interval = `95% CI ${formatSignedPercent(change.low)} to ${formatSignedPercent(change.high)}%`;
  return {
    measure,
    verdict,
    text: `${measure} ${formatSignedPercent(change.mean)}% (${interval}), limit ${percentText(allowed)}%`,
  };
}

/** Ignores behaviours that are limited to a region or appear only after a while: a test machine has no region, and a test is short. */
function getTestedVersion(simulation: Simulation, version: string): TestedVersion {
  const behaviour = behaviourAt(simulation.state.behaviours, version, simulation.world.now);
  const { cpuFactor = 1, latencyFactor = 1, errorRatio = 0, onlyRegion, afterMs = 0 } = behaviour;
  const isHidden = onlyRegion !== undefined || afterMs > 0;
  return isHidden
    ? { version, cpuFactor: 1, latencyFactor: 1, errorRatio: 0 }
    : { version, cpuFactor, latencyFactor, errorRatio };
}

const percentText = (share: number): string => String(Number((share * 100).toFixed(2)));
const formatSignedPercent = (share: number): string => `${share < 0 ? '-' : '+'}${(Math.abs(share) * 100).toFixed(1)}`;
