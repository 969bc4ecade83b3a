import { applyRevert, type GivenCommand, type Overtaken } from './control';
import { unitsWithoutPast } from './planRevert';
import { change, note, phaseUnderWay, type DeployInput, type DeployRecord } from './state';
import { unitNames } from './unavailable';

/** The reasons why a deploy ends its phases early. */
export type Stop = { readonly kind: 'cancel' | Overtaken['why'] } | RevertStop;

/** `by` is `health`, or the person who asked for the revert. */
export interface RevertStop {
  readonly kind: 'revert';
  readonly by: string;
  readonly reason: string;
}

/**
 * The event that ends the phases early, if there is one: a person's revert, an unhealthy verdict, a cancel, or another release, in this
 * order.
 */
export function findStop(record: DeployRecord): Stop | null {
  const { revert, cancel, overtaken } = record.control;
  if (revert) return { kind: 'revert', by: revert.actor, reason: revert.reason };
  if (record.unhealthy !== undefined) return { kind: 'revert', by: 'health', reason: record.unhealthy };
  if (cancel) return { kind: 'cancel' };
  const makesWay = overtaken !== null && (overtaken.why === 'preempted' || phaseUnderWay(record) === null);
  return makesWay ? { kind: overtaken.why } : null;
}

/** The revert that goes before everything else, if there is one. */
export function findRevert(record: DeployRecord): RevertStop | null {
  const stop = findStop(record);
  return stop?.kind === 'revert' ? stop : null;
}

/** The command that ends a revert: only a person may give it, and only once its tasks have failed to come up. */
export const findRevertEnd = ({ revertStuck, control }: DeployRecord): GivenCommand | null =>
  revertStuck ? control.cancel : null;

/** An unhealthy verdict, or its equivalent: the action that it asks for, and one sentence. */
export interface Unhealthy {
  readonly action: 'revert' | 'pause' | 'none';
  readonly reason: string;
}

/** The result: `kept` gives the reason why there is no automatic revert. */
export type AutoRevert =
  { readonly kind: 'reverting'; readonly record: DeployRecord } | { readonly kind: 'kept'; readonly reason: string };

/**
 * Reverts if a verdict asks for it, with three exceptions: a person has forbidden it, no earlier version is known, or the deploy is a
 * rollback, whose revert would restore the version that it undoes (docs/design/deploy.md#revert).
 */
export function tryAutoRevert(
  record: DeployRecord,
  { canary, rollback }: Pick<DeployInput, 'canary' | 'rollback'>,
  { action, reason }: Unhealthy,
  nowMs: number,
): AutoRevert {
  if (action !== 'revert' || record.control.noRevert) return { kind: 'kept', reason };
  if (rollback) return { kind: 'kept', reason: `${reason}; a rollback is never reverted automatically` };
  // A canary goes back to the versions that its units run at that time.
  const lost = canary ? [] : unitsWithoutPast(record);
  if (lost.length > 0) {
    const why = `not reverted: the earlier version of ${unitNames(lost)} is unknown`;
    return { kind: 'kept', reason: `${reason}; ${why}` };
  }
  const control = applyRevert(record.control, record.control.revert);
  const reverted = change(record, nowMs, { unhealthy: reason, control });
  return { kind: 'reverting', record: note(reverted, nowMs, 'unhealthy', reason) };
}
