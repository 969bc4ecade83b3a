import { MemoryStore } from '../../config/store/memory';
import type { World } from '../kernel/world';
import type { DueEvent } from '../events';
import type { ConfigEvent } from './events';
import type { ConfigeratorState } from './state';

/** What the parts of the distribution of configuration work with. */
export interface Configerator {
  readonly world: Pick<World<DueEvent>, 'now' | 'at' | 'after' | 'scaled' | 'random'>;
  readonly state: ConfigeratorState;
  readonly notify: (event: ConfigEvent) => void;
  /** What the leader and its followers have. */
  readonly leader: MemoryStore;
  /** Who waits for changes to land, by repository and change: no part of the world. */
  readonly landers: Map<string, ((commit: string | null) => void)[]>;
  /** Whether the push type is to step its services before time continues: no part of the world. */
  isStepDue: boolean;
}

/** A leader that has taken on what is in the log: what it does is done at once, whatever its methods promise. */
export function leaderOf({ log }: Pick<ConfigeratorState, 'log'>, now: () => number): MemoryStore {
  const leader = new MemoryStore(now);
  for (const transaction of log) {
    const { repository } = transaction;
    if (transaction.kind === 'commit') void leader.apply(repository, transaction.commit);
    if (transaction.kind === 'put') void leader.putOverrides(repository, transaction.overrides);
    if (transaction.kind === 'remove')
      void leader.removeOverrides(repository, transaction.id, transaction.paths ?? undefined);
  }
  return leader;
}

/** Whether there is a leader, or one is still to be elected. */
export const hasLeader = ({ state }: Configerator): boolean =>
  ![...state.faults.values()].some(({ kind }) => kind === 'leader');

/** Whether what a region has to say comes to the leader, and the other way round. */
export const reachesLeader = (it: Configerator, region: string): boolean =>
  hasLeader(it) &&
  ![...it.state.faults.values()].some((fault) => fault.kind === 'partition' && fault.region === region);
