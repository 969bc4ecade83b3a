import fc from 'fast-check';
import { CHANGE_WEIGHTS, type ChangeKind, type DraftSeed } from './drafts';

/** What may happen in a story, and how often. */
const EVENT_WEIGHTS = {
  ...{ go: 8, 'all goes well': 1, release: 7, 'end deploy': 12, 'update a unit': 2, apply: 6 },
  ...{ 'roll back': 4, emergency: 2, rerun: 1, cancel: 1, retry: 1, retire: 1, 'end use': 1, 'units return': 2 },
  ...{ 'terminate a release': 1, 'terminate offers': 2, silence: 1, late: 2, lose: 1, double: 1, 'look again': 1 },
} as const;
export type EventKind = keyof typeof EVENT_WEIGHTS;

/** The numbers decide what an event is about. */
export interface Event {
  readonly kind: EventKind;
  readonly at: number;
  /** For `apply`. */
  readonly change: ChangeKind;
}

export interface Story {
  readonly seeds: readonly DraftSeed[];
  /** Wishes may make circles. */
  readonly isTwisted: boolean;
  /** All pipelines are released first, and nothing disturbs that. */
  readonly isWarm: boolean;
  readonly events: readonly Event[];
}

const oneOf = <K extends string>(weights: Readonly<Record<K, number>>): fc.Arbitrary<K> =>
  fc.oneof(
    ...(Object.entries(weights) as [K, number][]).map(([kind, weight]) => ({ weight, arbitrary: fc.constant(kind) })),
  );

const draft: fc.Arbitrary<DraftSeed> = fc.record({
  deploys: fc.integer({ min: 1, max: 3 }),
  chained: fc.boolean(),
  offers: fc.array(fc.nat(127), { minLength: 1, maxLength: 3 }),
  wishes: fc.array(fc.nat(511), { maxLength: 4 }),
});

const event: fc.Arbitrary<Event> = fc.record({
  kind: oneOf(EVENT_WEIGHTS),
  at: fc.nat(1_000_000),
  change: oneOf(CHANGE_WEIGHTS),
});

export const stories: fc.Arbitrary<Story> = fc.record({
  seeds: fc.oneof(
    { weight: 3, arbitrary: fc.array(draft, { minLength: 2, maxLength: 4 }) },
    { weight: 1, arbitrary: fc.array(draft, { minLength: 5, maxLength: 12 }) },
  ),
  isTwisted: fc.oneof({ weight: 7, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
  isWarm: fc.boolean(),
  events: fc.array(event, { minLength: 10, maxLength: 90, size: 'max' }),
});
