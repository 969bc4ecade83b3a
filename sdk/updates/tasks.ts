import type { UnitTasks } from '../health';
import type { HealthTargets } from '../protocol/pushType';
import { reservedSlots, unitOf } from './choose';
import type { Slot, State } from './memory';

/** The identifier of the task that runs in a slot, `web-a/0@3`: different for every start. */
export const startName = (unit: string, index: number, start: number): string => `${unit}/${index}@${start}`;

/**
 * The tasks for a health check (moving targets): `fresh` were started by these updates, or later in a slot that they
 * touched; `control` are the other running tasks; `before` lists the identifiers of the `fresh` slots during the
 * baseline. A task that is down counts, so that its silence is noticed. Before the first update all are `fresh`.
 */
export function healthTasks(
  state: State,
  id: string,
  { updatedBy, exclude = [] }: HealthTargets,
  baseline: { readonly start: number; readonly end: number },
): UnitTasks {
  const reserved = reservedSlots(state, id, exclude);
  const isFresh = ({ update }: Slot): boolean => updatedBy.length === 0 || updatedBy.includes(update ?? '');
  const slots = unitOf(state, id).slots.map((slot, index) => ({ slot, index, task: nameTask(id, index, slot) }));
  const there = slots.filter(({ slot, index }) => slot.state !== 'updating' && !reserved(slot, index));
  const fresh = there.filter(({ slot }) => isFresh(slot) && !slot.isUnreachable);
  const before = fresh.flatMap(({ slot, index }) =>
    [...slot.past, { start: slot.start, update: slot.update, from: slot.startedAt, to: Infinity }]
      .filter(({ from, to }) => from < baseline.end && to > baseline.start)
      .filter(({ update }) => !updatedBy.includes(update ?? ''))
      .map((past) => nameTask(id, index, past)),
  );
  const control = there.filter(({ slot }) => !isFresh(slot) && slot.state === 'live');
  const updated = slots.filter(({ slot }) => updatedBy.includes(slot.update ?? '')).length;
  return { id, fresh: fresh.map(({ task }) => task), updated, control: control.map(({ task }) => task), before };
}

const nameTask = (unit: string, index: number, { task, start }: Pick<Slot, 'task' | 'start'>): string =>
  task ?? startName(unit, index, start);
