import { MemoryStore } from '../../configerator/store/memory';
import type { World } from '../kernel/world';
import type { DueEvent } from '../events';
import type { ConfigEvent } from './events';
import type { ConfigeratorState } from './state';

/** The shared context of the parts that distribute configuration. */
export interface Configerator {
  readonly world: Pick<World<DueEvent>, 'now' | 'at' | 'after' | 'scaled' | 'random'>;
  readonly state: ConfigeratorState;
  readonly notify: (event: ConfigEvent) => void;
  /** The data of the leader and its followers. */
  readonly leader: MemoryStore;
  /** Callers that wait for changes to land, by repository and change: not part of the world. */
  readonly landers: Map<string, ((commit: string | null) => void)[]>;
  /** Whether the push type must step its services before time continues: not part of the world. */
  isStepDue: boolean;
}

/** A leader that has applied the log. It finishes every call at once, although its methods return promises. */
export function rebuildLeader({ log }: Pick<ConfigeratorState, 'log'>, now: () => number): MemoryStore {
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

/** Whether there is a leader; false while one is still to be elected. */
export const hasLeader = ({ state }: Configerator): boolean =>
  ![...state.faults.values()].some(({ kind }) => kind === 'leader');

/** Whether a region and the leader can reach each other. */
export const reachesLeader = (it: Configerator, region: string): boolean =>
  hasLeader(it) &&
  ![...it.state.faults.values()].some((fault) => fault.kind === 'partition' && fault.region === region);
