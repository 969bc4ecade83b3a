import type { HealthCheck } from '../spec/health';
import { evaluateCheck } from './evaluate';
import { foldEvaluation, NO_HISTORY, type HealthFold } from './fold';
import { baselineFor, lookbackOf } from './lookback';
import type { Side, Window } from './series';
import type { Verdict } from './verdict';

/** What was measured around one deploy, or one phase of it: enough to judge it again with another check. */
export interface Recording {
  readonly fresh: Side;
  readonly control: Side;
  readonly before: Side;
  /** When the last task was updated; ms since the epoch, as all times here. */
  readonly updatedAt: number;
  /** Until when it baked. */
  readonly until: number;
  readonly baseline: Window;
}

/** One evaluation, as a deploy would have counted it. */
export interface Replayed {
  readonly at: number;
  readonly verdict: Verdict;
  readonly observed: number | null;
  readonly reference: number | null;
  readonly threshold: number | null;
  readonly reason: string;
}

/**
 * What a check would have said of a recording, every `intervalMs` from the update to the end of the bake, up to the first
 * unhealthy verdict that counts: a deploy reverts then. The evaluation and the fold are those of a deploy.
 */
export function replayCheck(check: HealthCheck, recording: Recording, intervalMs: number): Replayed[] {
  const replayed: Replayed[] = [];
  let fold: HealthFold = NO_HISTORY;
  for (let at = recording.updatedAt + intervalMs; at <= recording.until; at += intervalMs) {
    const evidence = evaluateAt(check, recording, at, intervalMs);
    const folded = foldEvaluation(fold, {
      checks: [{ ...check, scope: 'unit' }],
      skips: [],
      response: { units: [{ id: 'recorded', checks: [evidence] }], deploy: { checks: [] } },
      now: at,
      lastUpdateAt: recording.updatedAt,
      onUnhealthy: 'revert',
    });
    fold = folded.fold;
    const { observed, reference, threshold } = evidence;
    const reason = folded.rows[0]?.reason ?? '';
    replayed.push({ at, verdict: folded.verdict, observed, reference, threshold, reason });
    if (folded.verdict === 'unhealthy') break;
  }
  return replayed;
}

function evaluateAt(
  check: HealthCheck,
  { fresh, control, before, baseline }: Recording,
  at: number,
  intervalMs: number,
) {
  const lookback = lookbackOf(check, intervalMs);
  const window = { start: at - lookback, end: at };
  return evaluateCheck({ check, fresh, control, before, window, baseline: baselineFor(baseline, lookback) });
}
