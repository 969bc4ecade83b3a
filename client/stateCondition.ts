import { queryWords, type ListedKind } from './visibility';

/**
 * The visibility condition for a state. It may match a few more rows, which callers filter out (client/lists.ts). An
 * unknown state finds nothing.
 */
export function stateCondition(kind: ListedKind, state: string): string {
  const { tags, or = [] } = OF_STATES[kind](state);
  return `(${[`ConveyorState IN (${queryWords(tags)})`, ...or].join(' OR ')})`;
}

interface Condition {
  readonly tags: readonly string[];
  readonly or?: readonly string[];
}

/** A workflow that was ended from outside, or is older than the tag, does not have it. */
const ENDED_FROM_OUTSIDE = `ExecutionStatus IN ('Terminated', 'TimedOut', 'Failed', 'Canceled')`;
const WITHOUT_TAG = 'ConveyorState IS NULL';

const OF_STATES: Readonly<Record<ListedKind, (state: string) => Condition>> = {
  pipeline: (state) => ({ tags: [state], or: [WITHOUT_TAG] }),
  release: (state) => ({
    tags: state === 'paused' ? ['paused', 'running'] : [state],
    ...(state === 'failed' ? { or: [ENDED_FROM_OUTSIDE] } : {}),
  }),
  deploy: (state) => ({
    tags: [state, `paused (${state})`],
    ...(state === 'planning' ? { or: [WITHOUT_TAG] } : {}),
    ...(state === 'ended' ? { or: [ENDED_FROM_OUTSIDE] } : {}),
  }),
};
