import { hash } from '../../../domain/hash';
import { VESSEL_LIMITS } from '../../../domain/limits';
import type { Distance } from './choose';
import { scatter } from './scatter';

type Labels = Readonly<Record<string, string>>;

/** A host that serves pieces. */
export interface Candidate {
  readonly id: string;
  readonly labels?: Labels | undefined;
}

/** By the labels `rack` and `region`. Racks in different regions may have the same name. */
export function measureDistance(own: Labels = {}, other: Labels = {}): Distance {
  if (own['region'] !== other['region']) return 2;
  return own['rack'] !== undefined && own['rack'] === other['rack'] ? 0 : 1;
}

/** The number of peers at each distance: near ones carry most of the load, and no rack is isolated. */
const OF_EACH = [12, 10, 8] as const;

/**
 * The peers of a host, among all hosts that have or fetch the package: near ones first, and different ones for each
 * host.
 */
export function pickPeers<T extends Candidate>(candidates: readonly T[], own: Labels | undefined, seed: number): T[] {
  const order = new Map(candidates.map(({ id }) => [id, scatter(seed, hash(id))]));
  const sorted = candidates.toSorted((one, other) => (order.get(one.id) ?? 0) - (order.get(other.id) ?? 0));
  const near = ([0, 1, 2] as const).map((distance) =>
    sorted.filter(({ labels }) => measureDistance(own, labels) === distance),
  );
  const chosen = near.flatMap((peers, distance) => peers.slice(0, OF_EACH[distance]));
  const rest = near.flatMap((peers, distance) => peers.slice(OF_EACH[distance]));
  return [...chosen, ...rest].slice(0, VESSEL_LIMITS.peers.max);
}
