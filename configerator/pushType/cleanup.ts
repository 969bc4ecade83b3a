import { CONFIG_LIMITS } from '../../domain/limits';
import { unfinished, unitOf } from '../../sdk/updates/choose';
import type { UnitState } from '../../sdk/updates/memory';
import type { ConfigState, Service } from './memory';

const { max } = CONFIG_LIMITS.leftHosts;

/** How long a unit remains after all its hosts have left. */
export const EMPTY_MS = 24 * 3_600_000;

/**
 * Hosts that left keep their slots, because most of them return; if there are too many, half of them are dropped, but
 * none in a running update. Updates refer to slots by number, so these numbers change, too.
 */
export function forgetLeft(service: Service, state: ConfigState, id: string): void {
  const unit = unitOf(state, id);
  const left = unit.slots.flatMap(({ gone }, index) => (gone ? [index] : []));
  if (left.length <= max) return;
  const meant = new Set(unfinished(state, id).flatMap((update) => state.updates[update]?.units[id]?.slots ?? []));
  const forgotten = new Set(left.filter((index) => !meant.has(index)).slice(0, left.length - max / 2));
  if (forgotten.size === 0) return;
  const stays = (_: unknown, index: number): boolean => !forgotten.has(index);
  const places = new Map([...unit.slots.keys()].filter((index) => stays(null, index)).map((index, at) => [index, at]));
  state.units[id] = { ...unit, slots: unit.slots.filter(stays) };
  service.hosts[id] = (service.hosts[id] ?? []).filter(stays);
  for (const { units } of Object.values(state.updates)) {
    const update = units[id];
    if (update) units[id] = { ...update, slots: update.slots.flatMap((index) => places.get(index) ?? []) };
  }
}

export const isEmpty = ({ slots }: UnitState): boolean => slots.every(({ gone }) => gone);

/**
 * Forgets units whose hosts have all been gone for a day, unless a running update includes them, or none would remain.
 */
export function forgetEmpty(service: Service, state: ConfigState, nowMs: number): void {
  const since: Record<string, number> = {};
  for (const id of Object.keys(service.hosts))
    if (isEmpty(unitOf(state, id))) since[id] = service.emptySince?.[id] ?? nowMs;
  const isOver = (id: string): boolean =>
    nowMs - (since[id] ?? nowMs) >= EMPTY_MS && unfinished(state, id).length === 0;
  const over = service.landing === undefined ? Object.keys(since).filter(isOver) : [];
  for (const id of over.slice(0, Object.keys(service.hosts).length - 1)) {
    delete service.hosts[id];
    delete state.units[id];
    delete since[id];
    service.former = [...(service.former ?? []).filter((one) => one !== id), id].slice(-CONFIG_LIMITS.formerUnits.max);
    for (const { units } of Object.values(state.updates)) {
      const update = units[id];
      if (update) units[id] = { ...update, slots: [] };
    }
  }
  service.emptySince = since;
}
