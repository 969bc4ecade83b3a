import { ExtensionError } from '../server';
import { deployOf, unfinished } from './choose';
import type { State } from './memory';

/** Which deploy may change a unit, and how others are refused. */

/** The lock under which an update comes: the service as `fetchDeployUnits` names it, and `context.fence`. */
export interface LockHeld {
  readonly service: string;
  readonly fence: number | undefined;
}

/** A deploy that lost its service without knowing it may not change it; it may undo its own updates. */
export function passFence(state: State, { service, fence }: Partial<LockHeld> = {}): void {
  if (service === undefined || fence === undefined) return;
  const seen = state.fences?.[service];
  if (seen !== undefined && fence < seen) throw refusal('fenced', `a deploy with fence ${seen} was here since`);
  state.fences = { ...state.fences, [service]: fence };
}

/** Ends the unfinished updates of the same deploy in a unit where they are. */
export function supersede(state: State, unit: string, id: string): void {
  for (const earlier of unfinished(state, unit)) {
    const update = state.updates[earlier]?.units[unit];
    if (update && deployOf(earlier) === deployOf(id))
      Object.assign(update, { state: 'ended', reason: `superseded by ${id}` });
  }
}

/** @throws ExtensionError if the update was cancelled before it came, or names a unit twice */
export function refuseUpdate({ cancelled }: State, id: string, units: readonly string[]): void {
  if (cancelled.includes(id)) throw refusal('cancelled', `${id} was cancelled`);
  if (new Set(units).size < units.length) throw refusal('invalid-request', 'a unit is named twice', 400);
}

/** @throws ExtensionError for a unit that the memory lacks */
export function refuseUnknown({ units }: State, unit: string): void {
  if (!units[unit]) throw refusal('unknown-unit', `there is no unit ${unit}`, 404);
}

export const refusal = (code: string, message: string, status = 409): ExtensionError =>
  new ExtensionError(code, message, { status });
