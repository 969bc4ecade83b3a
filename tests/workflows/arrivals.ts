import type { Artifact } from '../../domain/artifact';
import type { HistoryRow } from '../../domain/views';
import type { PipelineState } from '../../domain/pipeline/state';
import { MINUTE, type VirtualWorld } from './world';

/** Commits that arrive at random, from a seed: the same seed gives the same week. */
export class Arrivals {
  constructor(private state: number) {}

  /** In [0, 1); mulberry32. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  between(from: number, to: number): number {
    return from + this.next() * (to - from);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** Time until the next event, by the mean interval, in whole minutes but at least one; ms. */
  waitMs(meanMs: number): number {
    return Math.max(1, Math.round((-Math.log(1 - this.next()) * meanMs) / MINUTE)) * MINUTE;
  }
}

/** A commit as a source, with the duration of each action, in ms. */
export const commit = (n: number, takes: Readonly<Record<string, number>>, fails: readonly string[]): Artifact => ({
  name: 'source',
  kind: 'source',
  version: `kv:${n}`,
  metadata: {
    ...Object.fromEntries(Object.entries(takes).map(([action, ms]) => [action, String(Math.round(ms))])),
    fails: fails.join(','),
  },
});

export const stateOf = (world: VirtualWorld, pipeline = 'kvstore'): Promise<PipelineState> =>
  world.pipeline(pipeline).query<PipelineState>('pipeline');

/** The ends of all releases, oldest first, once none runs any more; calls `tend` at intervals. */
export async function allEnded(
  world: VirtualWorld,
  withinMs: number,
  tend: () => Promise<void> = () => Promise.resolve(),
): Promise<readonly HistoryRow[]> {
  const isOver = async (): Promise<boolean> => {
    await tend();
    return (await stateOf(world)).active.length === 0;
  };
  await world.until('nothing is under way', isOver, { stepMs: 30 * MINUTE, withinMs });
  return (await stateOf(world)).history.toSorted((a, b) => a.number - b.number);
}

export const seedsFrom = (...usual: number[]): number[] => {
  const given = process.env['CONVEYOR_SEED'];
  return given === undefined ? usual : [Number(given)];
};
