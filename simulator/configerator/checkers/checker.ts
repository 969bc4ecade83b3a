import type { ConfigEvent } from '../events';

/** As `Checker` of the fleet, for events of configuration. Constant time for each event, except for `settled`. */
interface ConfigChecker<M> {
  readonly name: string;
  /** Its number in ARCHITECTURE.md#invariants. */
  readonly invariant: number;
  readonly fresh: () => M;
  readonly see: (event: ConfigEvent, memory: M) => string | null;
}

export interface AnyConfigChecker {
  readonly name: string;
  readonly invariant: number;
  readonly see: (event: ConfigEvent, memories: Map<string, unknown>) => string | null;
}

export const configChecker = <M>({ name, invariant, fresh, see }: ConfigChecker<M>): AnyConfigChecker => ({
  name,
  invariant,
  see: (event, memories) => {
    if (!memories.has(name)) memories.set(name, fresh());
    return see(event, memories.get(name) as M);
  },
});

/** `flags:feed/limits`: the key of a path in the memory of every checker. */
export const placeName = (repository: string, path: string): string => `${repository}:${path}`;
