/** A part of the children, managed by one workflow, because a history is limited. */
export interface ShardPlan {
  readonly names: readonly string[];
  /** How many of them may run at once. */
  readonly share: number;
}

/**
 * The most children of one shard; each costs its history three to fifteen events, fewer if many are due at the same
 * time.
 */
const MAX_CHILDREN = 500;
/** Children of one shard that run at once; their ends may all come at the same moment, and a task takes 100 events. */
const MAX_SHARE = 50;

/**
 * Splits children into shards of nearly equal size. Their shares add up to `maxConcurrent` at most. If there are more
 * shards than that, each has a share of one and they take turns (`pickFittingShards`).
 */
export function planShards(names: readonly string[], maxConcurrent: number): ShardPlan[] {
  const count = Math.max(
    Math.ceil(names.length / MAX_CHILDREN),
    Math.ceil(Math.min(names.length, maxConcurrent) / MAX_SHARE),
  );
  return Array.from({ length: count }, (_, index) => {
    const [from, to] = [index, index + 1].map((part) => Math.floor((part * names.length) / count));
    const share = Math.floor(maxConcurrent / count) + (index < maxConcurrent % count ? 1 : 0);
    return { names: names.slice(from, to), share: Math.min(Math.max(1, share), MAX_SHARE) };
  });
}

/** The waiting shards, in order, whose shares fit next to the running ones. */
export function pickFittingShards<T extends Pick<ShardPlan, 'share'>>(
  waiting: readonly T[],
  running: readonly T[],
  maxConcurrent: number,
): T[] {
  let used = running.reduce((sum, { share }) => sum + share, 0);
  const fit: T[] = [];
  for (const shard of waiting) {
    if (used + shard.share > maxConcurrent) break;
    used += shard.share;
    fit.push(shard);
  }
  return fit;
}
