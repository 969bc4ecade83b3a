import type { RequestOf } from '../protocol/common';
import type { PushTypeProtocol, Target } from '../protocol/pushType';
import { ExtensionError } from '../server';
import { progressOf, slotsOf, unitOf } from './choose';
import type { State } from './memory';

/** Answers that follow from the memory alone, and are alike in all push types that keep one. */

/** The answer of `needsPush` for one target: the tasks of its unit, those that lack the version, and those that have it and are down. */
export function countLacking(state: State, target: Target) {
  const { slots } = unitOf(state, target.unit);
  const lacking = slotsOf(state, target).map((index) => slots[index]);
  const down = lacking.filter((slot) => slot?.version === target.version && slot.state !== 'live');
  const size = slots.filter(({ gone }) => !gone).length;
  return { id: target.unit, size, outdated: lacking.length, down: down.length };
}

type Progress = ReturnType<typeof progressOf>;

/**
 * The answer of `trackUpdates`; `describe` may add to the progress of a unit.
 * @throws ExtensionError 404 `unknown-update`
 */
export function trackUpdate(
  state: State,
  { updateId, units: only }: RequestOf<PushTypeProtocol['trackUpdates']>,
  describe: (unit: string) => Progress = (unit) => progressOf(state, unit, updateId),
): { readonly units: Progress[] } {
  const update = state.updates[updateId];
  if (!update) throw new ExtensionError('unknown-update', `there is no update ${updateId}`, { status: 404 });
  const units = Object.keys(update.units).filter((unit) => only?.includes(unit) ?? true);
  return { units: units.map(describe) };
}
