import { beginChange, nextChanges, pendingSlots, unfinished, unitOf } from '../../sdk/updates';
import {
  closeSlot,
  findClusterPath,
  isLanded,
  isRevert,
  listClusters,
  openSlot,
  type CommitState,
} from './commitState';

/** The fields that are to change: which of them may, and what the memory says of them. */

export interface StepWorld {
  readonly state: CommitState;
  readonly countAtOnce: (unit: string) => number;
  readonly now: () => number;
  readonly log: (line: string) => void;
}

/** The field of one cluster that is to change. */
export interface FieldStep {
  readonly unit: string;
  readonly index: number;
  readonly cluster: string;
  readonly path: string;
  readonly updateId: string;
  readonly version: string;
  readonly value: string;
  readonly isBegun: boolean;
}

/** All changes that may land now: those that have begun, all of reverts, and of forward updates as many clusters as change together. */
export function listSteps(place: StepWorld, units: readonly string[]): FieldStep[] {
  return units.flatMap((unit) => [...listBegunSteps(place.state, unit), ...listNewSteps(place, unit)]);
}

export function beginStep({ state, now }: StepWorld, { unit, index, updateId, version, isBegun }: FieldStep): void {
  const slot = unitOf(state, unit).slots[index];
  if (slot === undefined || isBegun) return;
  openSlot(state, unit, index);
  beginChange(unitOf(state, unit), { slot, index, update: { id: updateId, version } }, now());
}

/** The update fails in this unit, and the cluster keeps what it has: nothing of the change is in Git. */
export function abandonStep(
  { state, log }: StepWorld,
  { unit, index, cluster, updateId, isBegun }: FieldStep,
  reason: string,
): void {
  const slot = unitOf(state, unit).slots[index];
  if (isBegun || (slot?.state === 'updating' && slot.update === updateId)) closeSlot(state, unit, index);
  const update = state.updates[updateId]?.units[unit];
  if (update && update.state === 'active') Object.assign(update, { state: 'failed', reason });
  log(`${unit}/${cluster}: ${reason}`);
}

/** The reason why an update does not advance. */
export function noteReason(state: CommitState, unit: string, updateId: string, reason: string): void {
  const update = state.updates[updateId]?.units[unit];
  if (update?.state === 'active') update.reason = reason;
}

function listBegunSteps(state: CommitState, unit: string): FieldStep[] {
  return unitOf(state, unit).slots.flatMap((slot, index) => {
    if (slot.state !== 'updating' || slot.update === null || isLanded(state, unit, index)) return [];
    const { state: progress = 'ended' } = state.updates[slot.update]?.units[unit] ?? {};
    if (progress === 'active')
      return describeStep(state, unit, index, { updateId: slot.update, version: slot.version, isBegun: true });
    // A cancelled change that is not in Git never comes there.
    if (progress !== 'paused') closeSlot(state, unit, index);
    return [];
  });
}

function listNewSteps({ state, countAtOnce, now }: StepWorld, unit: string): FieldStep[] {
  const { slots } = unitOf(state, unit);
  const active = unfinished(state, unit).filter((id) => state.updates[id]?.units[unit]?.state === 'active');
  const reverts = active
    .filter((id) => isRevert(state, id))
    .flatMap((updateId) =>
      pendingSlots(state, unit, updateId)
        .filter((index) => slots[index]?.update !== updateId || slots[index].state !== 'updating')
        .flatMap((index) =>
          describeStep(state, unit, index, {
            updateId,
            version: state.updates[updateId]?.units[unit]?.version ?? '',
            isBegun: false,
          }),
        ),
    );
  const busy = slots.filter((slot) => slot.state === 'updating').length;
  const pace = { atOnce: Math.max(0, countAtOnce(unit) - busy), mostOut: 2 * slots.length, now: now() };
  const forward = nextChanges(state, unit, pace).flatMap(({ index, update }) =>
    update === undefined || isRevert(state, update.id)
      ? []
      : describeStep(state, unit, index, { updateId: update.id, version: update.version, isBegun: false }),
  );
  return [...reverts, ...forward.filter(({ index }) => !reverts.some((one) => one.index === index))];
}

function describeStep(
  state: CommitState,
  unit: string,
  index: number,
  change: Pick<FieldStep, 'updateId' | 'version' | 'isBegun'>,
): FieldStep[] {
  const path = findClusterPath(state, unit, index);
  const value = state.values?.[unit]?.[change.version];
  if (path === undefined || value === undefined) return [];
  return [{ unit, index, cluster: listClusters(state, unit)[index] ?? '', path, value, ...change }];
}
