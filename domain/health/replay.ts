import type { HealthCheck } from '../spec/health';
import { evaluateCheck } from './evaluate';
import { foldEvaluation, NO_HISTORY, type FoldInput, type FoldResult, type HealthFold } from './fold';
import { baselineFor, computeLookback } from './lookback';
import type { Side, TimeRange } from './series';
import type { CheckEvidence, Verdict } from './verdict';

/** Measurements around one deploy, or one of its phases: enough to judge it again with another check. */
export interface Recording {
  readonly fresh: Side;
  readonly control: Side;
  readonly before: Side;
  /** The time when the last task was updated; ms since the epoch, like all times here. */
  readonly updatedAt: number;
  /** The end of the bake. */
  readonly until: number;
  readonly baseline: TimeRange;
}

/** The actual or hypothetical answer of `runHealthChecks` at one moment of a bake. */
export interface Tick {
  readonly at: number;
  /** The time when the last update before it was done. */
  readonly updatedAt: number;
  readonly response: FoldInput['response'];
}

/** One evaluation, as a deploy would have counted it; the numbers are those of the deciding unit. */
export interface ReplayedEvaluation {
  readonly at: number;
  readonly verdict: Verdict;
  readonly observed: number | null;
  readonly reference: number | null;
  readonly threshold: number | null;
  readonly reason: string;
}

/**
 * The verdicts of a check on a recording, every `intervalMs` from the update to the end of the bake, up to the first unhealthy verdict
 * that counts, at which a deploy reverts. It uses the evaluation and the fold of a deploy.
 */
export function replayCheck(check: HealthCheck, recording: Recording, intervalMs: number): ReplayedEvaluation[] {
  const replayed: ReplayedEvaluation[] = [];
  for (const one of replayTicks(check, evaluateRecording(check, recording, intervalMs))) {
    replayed.push(one);
    if (one.verdict === 'unhealthy') break;
  }
  return replayed;
}

/** The evaluations of a recording, one after the other, computed on demand. */
export function* evaluateRecording(check: HealthCheck, recording: Recording, intervalMs: number): Generator<Tick> {
  const { fresh, control, before, updatedAt, until } = recording;
  const lookback = computeLookback(check, intervalMs);
  const baseline = baselineFor(recording.baseline, lookback);
  const every = everyMs(recording, intervalMs);
  for (let at = updatedAt + every; at <= until; at += every) {
    const window = { start: at - lookback, end: at };
    const evidence = evaluateCheck({ check, fresh, control, before, window, baseline });
    yield { at, updatedAt, response: toTickResponse(check, evidence) };
  }
}

const MOST_EVALUATIONS = 1_000;

/**
 * The interval of looks at a bake: the given one, but a bake that was paused for days gets at most a thousand looks.
 */
export const everyMs = (
  { updatedAt, until }: { readonly updatedAt: number; readonly until: number },
  intervalMs: number,
): number => Math.max(intervalMs, (until - updatedAt) / MOST_EVALUATIONS);

const toTickResponse = ({ scope }: HealthCheck, evidence: CheckEvidence): Tick['response'] =>
  scope === 'deploy'
    ? { units: [], deploy: { checks: [evidence] } }
    : { units: [{ id: 'recorded', checks: [evidence] }], deploy: { checks: [] } };

/**
 * Folds evaluations of this check alone (`ownTicks`) as a deploy does. Each bake starts from the beginning, as if there had been a
 * revert. Verdicts after a revert are reported too.
 */
export function* replayTicks(check: HealthCheck, ticks: Iterable<Tick>): Generator<ReplayedEvaluation> {
  const checks = [{ ...check, onUnhealthy: 'revert' as const }];
  let fold: HealthFold = NO_HISTORY;
  let bake: number | undefined;
  for (const { at, updatedAt, response } of ticks) {
    if (updatedAt !== bake) [fold, bake] = [NO_HISTORY, updatedAt];
    const rest = { skips: [], now: at, lastUpdateAt: updatedAt, onUnhealthy: 'revert' } as const;
    const folded = foldEvaluation(fold, { checks, response, ...rest });
    fold = folded.fold;
    yield toReplayed(at, folded);
  }
}

/** The same ticks without the evidence of other checks. */
export const ownTicks = ({ name }: HealthCheck, ticks: readonly Tick[]): Tick[] =>
  ticks.map(({ response: { units, deploy }, ...tick }) => {
    const own = (checks: readonly CheckEvidence[]): CheckEvidence[] =>
      checks.filter((evidence) => evidence.name === name);
    const response = {
      units: units.map(({ id, checks }) => ({ id, checks: own(checks) })),
      deploy: { checks: own(deploy.checks) },
    };
    return { ...tick, response };
  });

/** The evidence of all units and of the whole deploy. */
export const evidenceIn = ({ units, deploy }: Tick['response']): readonly CheckEvidence[] => [
  ...units.flatMap(({ checks }) => checks),
  ...deploy.checks,
];

function toReplayed(at: number, { verdict, rows }: FoldResult): ReplayedEvaluation {
  const row = rows.find((each) => each.verdict === verdict);
  const { observed = null, reference = null, threshold = null, reason = '' } = row ?? {};
  return { at, verdict, observed, reference, threshold, reason };
}
