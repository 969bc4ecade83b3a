import { formatTime } from '../text';
import type { PhaseState } from '../views';
import { phaseOver } from './control';
import { computeTotals } from './counts';
import type { PhasePlan } from './plan';
import { change, note, withPhase, type DeployRecord } from './state';
import { findStop } from './stop';
import { CURRENT, UNITS_AWAY, whyNoneMet } from './unavailable';

/** The record of a deploy after a phase begins. */

export function startPhase(record: DeployRecord, { key, name }: PhasePlan, nowMs: number): DeployRecord {
  const running = withPhase(record, Number(key), { state: 'running', startedAt: formatTime(nowMs) });
  return note(running, nowMs, 'phase-started', `phase ${name} begins`);
}

/**
 * How a phase came to its end. `away`: all of its units have been left out meanwhile; `current`: all tasks already run the version;
 * `empty`: it has no unit; `interrupted`: a person skipped it, or the deploy stopped.
 */
export type PhaseEnd = 'updated' | 'away' | 'current' | 'empty' | 'interrupted';

/** Settles the state of a phase and drops the commands for it alone. */
export function endPhase(record: DeployRecord, phase: PhasePlan, end: PhaseEnd, nowMs: number): DeployRecord {
  if (end !== 'current' && end !== 'empty') return closePhase(record, phase, end === 'away', nowMs);
  const isAway = end === 'empty' && record.skipped.length > 0;
  const skipped = isAway ? UNITS_AWAY : CURRENT;
  const text = isAway ? `${phase.name}: ${skipped}` : `${phase.name} is already current`;
  const passed = note(withPhase(record, Number(phase.key), { skipped }), nowMs, 'phase-current', text);
  return closePhase(passed, phase, isAway, nowMs);
}

function closePhase(record: DeployRecord, { key }: PhasePlan, isAway: boolean, nowMs: number): DeployRecord {
  const { skipPhase } = record.control;
  const isStopped = findStop(record) !== null;
  const view = record.phases[Number(key)];
  const lost = isStopped || !view ? null : whyNoneMet(computeTotals(view), isAway);
  const why = skipPhase ? `phase by ${skipPhase.actor}: ${skipPhase.reason}` : lost;
  const state: PhaseState = isStopped ? 'failed' : why === null ? 'succeeded' : 'skipped';
  const skipped = why === null ? {} : { skipped: why };
  const closed = withPhase(record, Number(key), { state, bakeUntil: null, ...skipped });
  return change(closed, nowMs, { control: phaseOver(record.control) });
}
