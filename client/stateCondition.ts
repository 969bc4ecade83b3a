import { queryWords, type Listed } from './visibility';

/**
 * The condition under which visibility finds what is in a state, and hardly more: callers compare the rows with the state once
 * more (client/lists.ts). An unknown state finds nothing.
 */
export function stateCondition(kind: Listed, state: string): string {
  const { tags, or = [] } = OF_STATES[kind](state);
  return `(${[`ConveyorState IN (${queryWords(tags)})`, ...or].join(' OR ')})`;
}

interface Condition {
  readonly tags: readonly string[];
  readonly or?: readonly string[];
}

/** One that was ended from outside, or is of a time before it said so, has no such tag. */
const ENDED_FROM_OUTSIDE = `ExecutionStatus IN ('Terminated', 'TimedOut', 'Failed', 'Canceled')`;
const WITHOUT_TAG = 'ConveyorState IS NULL';

const OF_STATES: Readonly<Record<Listed, (state: string) => Condition>> = {
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
