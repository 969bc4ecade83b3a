/** The order in which pods change: each next one in the zone, and there on the node, with the fewest pods of the version. Pure. */

export interface SpreadPod {
  readonly index: number;
  readonly zone: string;
  readonly node: string;
  /** On the version, or on its way to it. */
  readonly isThere: boolean;
}

/** The rank of each pod that is not there yet, by index. Pods of the same rank do not occur; ties go by index. */
export function rankPods(pods: readonly SpreadPod[]): ReadonlyMap<number, number> {
  const zones = new Map<string, number>();
  const nodes = new Map<string, number>();
  const add = ({ zone, node }: SpreadPod): void => {
    zones.set(zone, (zones.get(zone) ?? 0) + 1);
    nodes.set(node, (nodes.get(node) ?? 0) + 1);
  };
  for (const pod of pods) if (pod.isThere) add(pod);
  const queues = groupPods(pods.filter(({ isThere }) => !isThere));
  const ranks = new Map<number, number>();
  for (let rank = 0; queues.size > 0; rank += 1) {
    const [zone, inZone] = pickLeast([...queues], ([name]) => zones.get(name) ?? 0);
    const [node, inNode] = pickLeast([...inZone], ([name]) => nodes.get(name) ?? 0);
    const next = inNode.shift();
    if (next === undefined) throw new Error('an empty queue was kept');
    ranks.set(next.index, rank);
    add(next);
    if (inNode.length === 0) inZone.delete(node);
    if (inZone.size === 0) queues.delete(zone);
  }
  return ranks;
}

/** By zone and node, in the order of their indexes. */
function groupPods(pods: readonly SpreadPod[]): Map<string, Map<string, SpreadPod[]>> {
  const zones = new Map<string, Map<string, SpreadPod[]>>();
  for (const pod of pods.toSorted((one, other) => one.index - other.index)) {
    const nodes = zones.get(pod.zone) ?? new Map<string, SpreadPod[]>();
    zones.set(pod.zone, nodes.set(pod.node, [...(nodes.get(pod.node) ?? []), pod]));
  }
  return zones;
}

function pickLeast<T>(rows: readonly T[], measure: (row: T) => number): T {
  const [first, ...rest] = rows;
  if (first === undefined) throw new Error('nothing to pick from');
  return rest.reduce((best, row) => (measure(row) < measure(best) ? row : best), first);
}
