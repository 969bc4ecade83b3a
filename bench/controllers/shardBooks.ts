import type { Placement } from '../../sdk';

/** The state of a task, as the count of shards needs it. */
export interface TaskLook {
  readonly name: string;
  readonly state: 'running' | 'updating' | 'down';
  readonly isOutdated: boolean;
}

/** The state of the tasks at one moment. */
export interface Standing {
  readonly updating: readonly string[];
  readonly pending: number;
  /** Tasks whose switch board is down. */
  readonly failed: number;
  /** Tasks that a batch could contain: those that are being updated, and those that wait and are not close to a failure. */
  readonly able: readonly string[];
  readonly oneDown: number;
  readonly twoDown: number;
  /** Shards that lost a second replica to an update since the moment before, while their others were in order. */
  readonly lostByUpdates: number;
}

/** Counts shards by replicas down, from moment to moment. */
export class ShardBooks {
  private before = new Map<string, TaskLook['state']>();

  constructor(private readonly placement: Placement) {}

  see(tasks: readonly TaskLook[]): Standing {
    const updating = tasks.filter(({ state }) => state === 'updating').map(({ name }) => name);
    const failed = tasks.filter(({ state }) => state === 'down').map(({ name }) => name);
    const [byUpdate, byFailure] = [this.replicasOn(updating), this.replicasOn(failed)];
    const waiting = tasks.filter(({ state, isOutdated }) => isOutdated && state === 'running').map(({ name }) => name);
    const isNearFailure = (task: string): boolean => this.shardsOf(task).some((shard) => byFailure.has(shard));
    const begun = updating.filter((task) => this.before.get(task) !== 'updating');
    const second = new Set(begun.flatMap((task) => this.shardsOf(task)));
    const downs = [...new Set([...byUpdate.keys(), ...byFailure.keys()])].map((shard) => ({
      shard,
      count: (byUpdate.get(shard) ?? 0) + (byFailure.get(shard) ?? 0),
    }));
    this.before = new Map(tasks.map(({ name, state }) => [name, state]));
    return {
      updating,
      pending: waiting.length,
      failed: failed.length,
      able: [...updating, ...waiting.filter((task) => !isNearFailure(task))],
      oneDown: downs.filter(({ count }) => count === 1).length,
      twoDown: downs.filter(({ count }) => count > 1).length,
      lostByUpdates: downs.filter(({ shard, count }) => count > 1 && second.has(shard)).length,
    };
  }

  private shardsOf(task: string): readonly string[] {
    return this.placement.get(task) ?? [];
  }

  private replicasOn(tasks: readonly string[]): Map<string, number> {
    const counts = new Map<string, number>();
    for (const task of tasks) for (const shard of this.shardsOf(task)) counts.set(shard, (counts.get(shard) ?? 0) + 1);
    return counts;
  }
}
