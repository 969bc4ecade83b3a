import { CONFIG_LIMITS } from '../../domain/limits';
import { unfinished, unitOf } from '../../sdk/updates/choose';
import type { ConfigState, Service } from './memory';

const { max } = CONFIG_LIMITS.leftHosts;

/**
 * Hosts that left keep their slots, since most of them come back; where there are too many, half of them make room. Those that an update
 * under way means stay. Updates know slots by their numbers, which change with it.
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
