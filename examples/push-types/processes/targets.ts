import { renameSync, writeFileSync } from 'node:fs';
import type { HealthTargets, UnitTasks } from '../../../sdk';
import { reservedSlots, unitOf } from '../../../sdk/updates/choose';
import type { Slot, State } from '../../../sdk/updates/memory';

/** The identifier of the task that runs in a slot; every start has another one. */
export const taskOf = (unit: string, index: number, start: number): string => `${unit}/${index}@${start}`;

/**
 * Tells Prometheus what to scrape (`file_sd_configs`): every copy that is there, under the identifier of its task, so that its metrics
 * can be told from those of the start before. A file that is half written would hide half of the copies, so it is exchanged as a whole.
 */
export function writeTargets(file: string, state: State, address: (task: string) => string | undefined): void {
  const groups = Object.entries(state.units).flatMap(([unit, { slots }]) =>
    slots.flatMap(({ state: now, version, start }, index) => {
      const task = taskOf(unit, index, start);
      const place = now === 'updating' ? undefined : address(task);
      return place === undefined ? [] : [{ targets: [place], labels: { task, unit, version } }];
    }),
  );
  writeFileSync(`${file}.new`, `${JSON.stringify(groups, null, 2)}\n`);
  renameSync(`${file}.new`, file);
}

/**
 * The tasks that a health check is about (moving targets): `fresh` were started by these updates, or since in a slot that they
 * touched; `control` are the others that run; `before` is what the slots of `fresh` were called during the baseline. A copy that is down counts, so
 * that its silence is noticed. Before the first update all are `fresh`.
 */
export function healthTasks(
  state: State,
  id: string,
  { updatedBy, exclude = [] }: HealthTargets,
  baseline: { readonly start: number; readonly end: number },
): UnitTasks {
  const reserved = reservedSlots(state, id, exclude);
  const isFresh = ({ update }: Slot): boolean => updatedBy.length === 0 || updatedBy.includes(update ?? '');
  const slots = unitOf(state, id).slots.map((slot, index) => ({ slot, index, task: taskOf(id, index, slot.start) }));
  const there = slots.filter(({ slot, index }) => slot.state !== 'updating' && !reserved(slot, index));
  const fresh = there.filter(({ slot }) => isFresh(slot));
  const before = fresh.flatMap(({ slot, index }) =>
    [...slot.past, { start: slot.start, update: slot.update, from: slot.startedAt, to: Infinity }]
      .filter(({ from, to }) => from < baseline.end && to > baseline.start)
      .filter(({ update }) => !updatedBy.includes(update ?? ''))
      .map(({ start }) => taskOf(id, index, start)),
  );
  const control = there.filter(({ slot }) => !isFresh(slot) && slot.state === 'live');
  const updated = slots.filter(({ slot }) => updatedBy.includes(slot.update ?? '')).length;
  return { id, fresh: fresh.map(({ task }) => task), updated, control: control.map(({ task }) => task), before };
}
