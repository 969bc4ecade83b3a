import { formatTime } from '../text';
import type { Pause } from '../views';
import type { Control } from './control';
import { HEALTH_DATA } from './outcome';
import { type DeployRecord, change, note } from './state';

/** A pause by the system never replaces a pause by a person. */
export function pauseDeploy(
  record: DeployRecord,
  nowMs: number,
  by: Exclude<Pause['by'], 'operator'>,
  reason: string,
  more: Pick<Pause, 'on' | 'until'> = {},
): DeployRecord {
  if (record.control.paused) return note(record, nowMs, 'still-paused', reason);
  const paused: Pause = { by, actor: null, at: formatTime(nowMs), reason, ...more };
  const control = { ...record.control, paused, resuming: null };
  return note(change(record, nowMs, { control }), nowMs, 'paused', `paused: ${reason}`);
}

/** Ends a pause. A person's pause ends only if a person has resumed, and has not paused again since. */
export function endPause(record: DeployRecord, nowMs: number, text: string): DeployRecord {
  if (isPersons(record.control)) return note(record, nowMs, 'still-paused', text);
  const control = { ...record.control, paused: null, noRevert: false, resuming: null };
  return note(change(record, nowMs, { control }), nowMs, 'resumed', text);
}

/**
 * Ends a pause that has no purpose once a person has skipped the phase: a refusal, an outage or a step. Missing health data still
 * matter to the next phase, and a timeout is resumed with a verdict.
 */
export function endPauseOfPhase(record: DeployRecord, nowMs: number): DeployRecord {
  const { paused } = record.control;
  const isOfPhase = paused?.by === 'action' || (paused?.by === 'dependency' && paused.on !== HEALTH_DATA);
  return isOfPhase ? endPause(record, nowMs, 'the phase is skipped') : record;
}

/** A resume found no healthy verdict. From now on health pauses the deploy, so that the next resume bakes again. */
export function keepPaused(record: DeployRecord, nowMs: number, reason: string): DeployRecord {
  const text = `still paused: ${reason}`;
  if (isPersons(record.control)) return note(record, nowMs, 'still-paused', text);
  const paused: Pause = { by: 'health', actor: null, at: formatTime(nowMs), reason };
  const control = { ...record.control, paused, resuming: null };
  return note(change(record, nowMs, { control }), nowMs, 'still-paused', text);
}

const isPersons = ({ paused, resuming }: Control): boolean => paused?.by === 'operator' && resuming === null;
