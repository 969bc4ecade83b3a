import { FAILURE, runFigure14, SHARDS, type Figure14 } from '../../bench/controllers/figure14';

/** Twine §5.1: 15,000 shards with three replicas on 1,000 tasks; 50 of them fail while all are updated. */
const lostByUpdates = ({ moments }: Figure14): number => moments.reduce((sum, moment) => sum + moment.lostByUpdates, 0);

describe('an update of a sharded store while a main switch board fails', () => {
  let run: Figure14;
  beforeAll(async () => {
    run = await runFigure14('x-msb1');
  });

  test('has a thousand tasks, of which one board takes fifty down', () => {
    const [first] = run.moments;
    expect(first!.updating.length + first!.pending).toBe(1000);
    const during = run.moments.filter(({ at }) => at >= FAILURE.from && at < FAILURE.until);
    expect(new Set(during.map(({ failed }) => failed))).toEqual(new Set([50]));
    expect(run.moments.filter(({ at, failed }) => at < FAILURE.from && failed > 0)).toEqual([]);
  });

  test('goes in batches of nine tenths of what is possible at all, or more', () => {
    expect(run.waves.length).toBeGreaterThan(2);
    for (const { size, bound } of run.waves) {
      expect(size).toBeLessThanOrEqual(bound);
      expect(size).toBeGreaterThanOrEqual(0.9 * bound);
    }
  });

  test('costs no shard a second replica, neither before nor after the failure, and never by an update', () => {
    const [first] = run.moments;
    expect(first!.updating.length).toBeGreaterThan(300);
    expect(first!.oneDown).toBeGreaterThan(0.9 * SHARDS);
    const outside = run.moments.filter(({ at }) => at < FAILURE.from || at > FAILURE.until);
    expect(outside.filter(({ twoDown }) => twoDown > 0)).toEqual([]);
    expect(lostByUpdates(run)).toBe(0);
  });

  test('hurts shards of the first batch while both last, and the second batch begins during the failure without any', () => {
    expect(Math.max(...run.moments.map(({ twoDown }) => twoDown))).toBeGreaterThan(1000);
    const [, second] = run.waves;
    expect(second!.at).toBeGreaterThan(FAILURE.from);
    expect(second!.at).toBeLessThan(FAILURE.until);
    expect(run.moments.filter(({ at, twoDown }) => at >= second!.at && twoDown > 0)).toEqual([]);
  });

  test('comes to its end, and breaks no invariant', () => {
    expect(run.moments.at(-1)).toMatchObject({ pending: 0, oneDown: 0, twoDown: 0 });
    expect(run.moments.at(-1)!.at).toBeLessThan(1000);
    expect(run.violations).toEqual([]);
  });
});

test('a failure within the batch that is being updated costs no shard a second replica at all', async () => {
  const run = await runFigure14('x-msb0');
  expect(run.moments.filter(({ twoDown }) => twoDown > 0)).toEqual([]);
  expect(run.moments.at(-1)).toMatchObject({ pending: 0, oneDown: 0 });
  expect(run.violations).toEqual([]);
});
