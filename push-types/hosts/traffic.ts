import type { Slot } from '../../sdk/updates';

/** The highest weight of haproxy. */
const FULL_WEIGHT = 256;

/** The share of the requests of a unit for the hosts on a version. */
export interface TrafficShare {
  readonly version: string;
  readonly percent: number;
  /** The deploy that shifts. */
  readonly deploy: string;
  /** Another deploy has begun since, which does not shift. */
  readonly isOver?: true;
}

/** Whether all requests go to one version, and all hosts run it: then all weights are equal again. */
export const isShifted = (slots: readonly Slot[], { version, percent }: TrafficShare): boolean =>
  percent === 100 && slots.every((slot) => slot.gone || slot.version === version);

/** Equal weights for all hosts. */
export const levelHosts = (places: readonly string[]): ReadonlyMap<string, number> =>
  new Map(places.map((host) => [host, FULL_WEIGHT]));

/**
 * The weights by which `percent` of the requests reach the hosts on a version, and the rest the others. The larger share gets the full weight, and a share
 * above 0 a weight of 1 at least. If only one of both versions has live hosts, these get all requests. Pure.
 */
export function weighHosts(
  slots: readonly Slot[],
  places: readonly string[],
  { version, percent }: TrafficShare,
): ReadonlyMap<string, number> {
  const there = slots.flatMap((slot, index) =>
    slot.gone || places[index] === undefined ? [] : [{ slot, host: places[index] }],
  );
  const isOn = ({ slot }: { slot: Slot }): boolean => slot.version === version;
  const on = there.filter((one) => isOn(one) && one.slot.state === 'live').length;
  const off = there.filter((one) => !isOn(one) && one.slot.state === 'live').length;
  const share = off === 0 ? 100 : on === 0 ? 0 : percent;
  const each = { on: on === 0 ? 0 : share / on, off: off === 0 ? 0 : (100 - share) / off };
  const most = Math.max(each.on, each.off);
  const scale = (part: number): number =>
    part === 0 || most === 0 ? 0 : Math.max(1, Math.round((part / most) * FULL_WEIGHT));
  return new Map(there.map((one) => [one.host, scale(isOn(one) ? each.on : each.off)]));
}
