import { listOutOfService, newSlot, nextChanges, type Slot, type State } from '../../../sdk/updates';

/** The budget of a push type that works in rounds. */

const makeState = (changes: readonly Partial<Slot>[]): State => ({
  units: {
    web: {
      ...{ version: 'new', update: null, starts: [] },
      slots: changes.map((change) => ({ ...newSlot('new'), ...change })),
    },
  },
  ...{ updates: {}, cancelled: [], calls: {} },
});
const indexes = (state: State, isServing?: (index: number) => boolean): number[] =>
  nextChanges(state, 'web', { atOnce: 2, now: 0, ...(isServing && { isServing }) }).map(({ index }) => index);

test('tasks that are down start together, whatever the budget is', () => {
  expect(indexes(makeState([{}, {}, {}, {}]))).toEqual([0, 1, 2, 3]);
});

test('tasks that serve another version than their slot has are taken out of service only within the budget', () => {
  const state = makeState([{}, {}, {}, {}]);
  expect(indexes(state, () => true)).toEqual([0, 1]);
  expect(indexes(state, (index) => index > 0)).toEqual([1, 0]);
  expect(indexes(state, (index) => index > 1)).toEqual([0, 1]);
});

test('an unreachable task counts as out of service, whatever it served before', () => {
  const { slots } = makeState([{ isUnreachable: true }, { state: 'live' }, {}]).units['web'] ?? { slots: [] };
  expect(listOutOfService(slots, { isServing: () => true })).toEqual([0]);
  expect(listOutOfService(slots, { isServing: () => true, isOut: (index) => index === 1 })).toEqual([0, 1]);
});

test('a retry that was planned before the clock was set back by a day does not wait for a day', () => {
  expect(indexes(makeState([{ retryAt: 30_000 }, { retryAt: 24 * 60 * 60_000 }]))).toEqual([1]);
});
