import { judgeEach, trafficOf } from '../../domain/deploy/lockstep';
import { judgeProgress } from '../../domain/deploy/progress';
import type { PhaseAmount } from '../../domain/fleet/amount';
import type { Unit, UnitProgress } from '../../domain/fleet/unit';

const unit = (size: number): Unit => ({
  ...{ id: `of ${size}`, labels: {}, size, version: 'v1', mixed: false, available: true },
});

test.each<[string, PhaseAmount, number[], number]>([
  ['a percentage as it is written', { percent: 5 }, [10, 1_000], 5],
  ['of a count what the largest unit reaches', { count: 2 }, [10, 20], 10],
  ['rounded down', { count: 1 }, [3], 33],
  ['all', { all: true }, [10, 20], 100],
  ['all where units are smaller than the count', { count: 5 }, [2, 3], 100],
  ['what units without tasks say does not count', { count: 1 }, [0, 4], 25],
])('the traffic gets %s', (_title, amount, sizes, expected) => {
  expect(trafficOf({ amount }, sizes.map(unit))).toBe(expected);
});

const progress = (live: number, state: UnitProgress['state'] = 'updating', failed = 0): UnitProgress => ({
  ...{ id: `u${live}`, state, targeted: 10, updated: live, live, failed, unreachable: 0, gone: 0 },
});

test.each<[string, UnitProgress[], string, string]>([
  ['all reached it', [progress(9), progress(10)], 'met', 'met'],
  ['one lags, and together they have enough', [progress(4), progress(10), progress(10)], 'going', 'met'],
  ['one came up dead', [progress(4, 'failed', 6), progress(10), progress(10)], 'not-live', 'met'],
  ['one was given up', [progress(4, 'failed'), progress(2)], 'stuck', 'stuck'],
])('each unit has to meet the criterion: %s', (_title, units, inStep, together) => {
  const success = { percent: 80 };
  expect([judgeEach(units, success).kind, judgeProgress(units, success).kind]).toEqual([inStep, together]);
});
