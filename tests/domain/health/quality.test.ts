import { caseOf } from '../../../bench/health-quality/cases';
import { judge, METHODS, type Method } from '../../../bench/health-quality/methods';
import { measureQuality, share } from '../../../domain/health/quality';
import { replayCheck } from '../../../domain/health/replay';

const MINUTE = 60_000;

const plain = METHODS['plain threshold'][0]!;

test('a replay is what a deploy would have seen: young at first, and over with the first unhealthy verdict', () => {
  const { recording } = caseOf(1, 0);
  const bad = { ...recording, fresh: { tasks: 1, series: constant(recording.updatedAt, recording.until, 9) } };
  const said = replayCheck(plain, { ...bad, control: { tasks: 1, series: constant(0, recording.until, 3) } }, MINUTE);
  expect(said.map(({ verdict }) => verdict)).toEqual(['inconclusive', 'inconclusive', 'unhealthy']);
  expect(said.at(-1)).toMatchObject({
    observed: 9,
    reference: 3,
    threshold: 3.75,
    at: recording.updatedAt + 3 * MINUTE,
  });
});

/** A point each minute of the last hour before `until`, after `from`. */
const constant = (from: number, until: number, value: number) => [
  {
    labels: {},
    points: Array.from({ length: 60 }, (_, nth): [number, number] => [until - (59 - nth) * MINUTE, value]).filter(
      ([at]) => at > from,
    ),
  },
];

test('quality counts what was found and what was not, and how long it took', () => {
  const of = (isBad: boolean, minutes: number | null) => ({
    isBad,
    foundAfterMs: minutes === null ? null : minutes * MINUTE,
  });
  const quality = measureQuality([
    of(true, 2),
    of(true, 4),
    of(true, null),
    of(false, 1),
    ...new Array<ReturnType<typeof of>>(4).fill(of(false, null)),
  ]);
  expect(quality).toMatchObject({ truePositives: 2, falsePositives: 1, trueNegatives: 4, falseNegatives: 1 });
  expect([quality.precision.share, quality.recall.share, quality.falseAlarms.share]).toEqual([2 / 3, 2 / 3, 1 / 5]);
  expect(quality.delayMs).toEqual({ median: 3 * MINUTE, p90: 3.8 * MINUTE });
  expect(measureQuality([]).precision).toMatchObject({ share: null, low: 0, high: 1 });
});

// The numbers are those of prop.test(count, of, correct = FALSE)$conf.int in R.
test.each([
  [0, 10, 0, 0.2775328],
  [10, 10, 0.7224672, 1],
  [1, 3, 0.06149194, 0.79234],
  [50, 100, 0.4038315, 0.5961685],
])('%i of %i is bounded as Wilson does', (count, of, low, high) => {
  expect(share(count, of).low).toBeCloseTo(low, 5);
  expect(share(count, of).high).toBeCloseTo(high, 5);
});

test('on labelled recordings, ranks and a coarse threshold find every gross fault with at most half of the false alarms of a plain threshold', () => {
  const cases = Array.from({ length: 100 }, (_, nth) => caseOf(7, nth));
  const quality = (method: Method, sizes?: string) =>
    measureQuality(cases.filter(({ size }) => sizes === undefined || size === sizes).map((one) => judge(method, one)));
  const both = 'mann-whitney and a coarse threshold';
  const [before, after] = [quality('plain threshold'), quality(both)];
  expect(quality(both, 'gross').recall.share).toBe(1);
  expect(after.precision.share).toBeGreaterThanOrEqual(0.95);
  expect(before.falsePositives).toBeGreaterThan(0);
  expect(after.falsePositives).toBeLessThanOrEqual(before.falsePositives / 2);
});
