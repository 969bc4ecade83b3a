import { isLost, isStuck, type Pending, type Seen } from '../workflows/lostTasks';

const [SCHEDULED, STARTED, CANCEL_REQUESTED] = [1, 2, 3];
const pending = (more: Partial<Pending>): Pending => ({
  ...{ runId: 'run', activityId: '7', type: 'watchHealth', taskQueue: 'queue', state: STARTED },
  ...more,
});
const seen = (received: boolean, more: Partial<Seen> = {}): Seen => ({
  ...{ taskQueue: 'queue', isFree: true, received: () => received, runs: () => false },
  ...more,
});

test.each<[string, Pending, Seen, boolean]>([
  ['was handed out to nobody', pending({}), seen(false), true],
  ['waits and was never handed out', pending({ state: SCHEDULED }), seen(false), true],
  ['runs, or waits for its next attempt', pending({}), seen(true), false],
  ['came once, and waits again', pending({ state: SCHEDULED }), seen(true), false],
  ['waits for an attempt that was due ten minutes ago', pending({ dueForMs: 600_000 }), seen(true), false],
  ['waits for an attempt that was due longer ago', pending({ dueForMs: 600_001 }), seen(true), true],
  ['runs for long', pending({ dueForMs: 600_001 }), seen(true, { runs: () => true }), false],
  ['is to be cancelled', pending({ state: CANCEL_REQUESTED }), seen(true, { runs: () => true }), false],
  ['is to be cancelled, and is at nobody', pending({ state: CANCEL_REQUESTED }), seen(true), true],
  ['waits for a worker that has no slot', pending({ state: SCHEDULED }), seen(false, { isFree: false }), false],
  ['waits in a queue that nobody polls', pending({ state: SCHEDULED, taskQueue: 'other' }), seen(false), false],
])('an activity that %s: lost by the server or not', (_, activity, worker, expected) => {
  expect(isLost(activity, worker)).toBe(expected);
});

test.each<[string, number, number, boolean]>([
  ['began longer ago than the server gives it time', 6, 20_001, true],
  ['began just now', 6, 20_000, false],
  ['ended', 7, 60_000, false],
])('a workflow task that %s: lost by the server or not', (_, lastEventType, ageMs, expected) => {
  expect(isStuck(lastEventType, ageMs)).toBe(expected);
});
