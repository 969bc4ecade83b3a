import { aheadBetween, aheadByTasks, clocksOfWorkers, isClockWrong, withTask } from '../../domain/clocks';

test.each([
  ['two minutes ahead', 120_000, 120_000 - 900],
  ['two minutes behind', -120_000, -119_700],
  ['right, however long the answer took', 0, 0],
  ['off by less than the answer took', 400, 0],
])('a clock that is %s is off by what cannot be the time that the question took', (_how, offMs, seenMs) => {
  // Asked at 0, looked at at 300, answered at 900.
  expect(aheadBetween(300 + offMs, 0, 900) - seenMs).toBe(offMs > 900 ? 300 : 0);
});

describe('the clock of a worker beside the tasks that it takes up', () => {
  const taken = (...lateMs: number[]) =>
    aheadByTasks(lateMs.reduce<readonly number[]>((seen, late) => withTask(seen, 1_000, 1_000 + late), []));

  test('is not wrong while some of them are taken up late, since a busy worker takes up some at once', () => {
    expect(taken(9_000, 20, 12_000, 8_000)).toBe(20);
    expect(isClockWrong(taken(9_000, 20, 12_000, 8_000))).toBe(false);
  });

  test('is ahead where it shows too much for all of them, and behind where it shows a time before one began', () => {
    expect(taken(120_050, 120_010, 127_000)).toBe(120_010);
    expect(taken(10, -120_000)).toBe(-120_000);
  });

  test('is right again soon after it was set', () => {
    expect(taken(120_000, 120_000, 10)).toBe(10);
    expect(taken(-120_000, 10, 10, 10, 10, 10)).toBe(10);
  });

  test('is not known to be wrong before the first', () => expect(taken()).toBe(0));
});

test('the answer of a worker with the largest difference counts', () => {
  const one = { identity: '1@a', aheadMs: 0 };
  const two = { identity: '2@b', aheadMs: -9_000 };
  expect(clocksOfWorkers([one, two, { ...two, aheadMs: 0 }, { ...one, aheadMs: 100 }])).toEqual([
    { ...one, aheadMs: 100 },
    two,
  ]);
});
