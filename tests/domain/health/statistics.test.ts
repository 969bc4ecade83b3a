import { letPass, pastRelease, revertedBy, through } from '../../builders/historyRows';
import { computeStatistics, type Past } from '../../../domain/health/statistics';
import type { HistoryRow } from '../../../domain/views';

const past = (history: readonly HistoryRow[], category?: string, pipeline = 'kvstore'): Past => ({
  pipeline,
  labels: category === undefined ? { team: 'storage' } : { category },
  history,
});

/** Per pipeline: false positives of deploys, false negatives of releases. */
const counted = (history: readonly HistoryRow[], sinceMs?: number): readonly string[] =>
  computeStatistics([past(history)], sinceMs).pipelines.map(
    ({ falsePositives, falseNegatives }) =>
      `${falsePositives.count} of ${falsePositives.of}, ${falseNegatives.count} of ${falseNegatives.of}`,
  );

const ROLLBACK = { kind: 'rollback', actor: 'user:ana', of: 1 } as const;
const EMERGENCY = { kind: 'emergency', actor: 'user:ana' } as const;
const both = (...more: ReturnType<typeof letPass>[]) => [
  through('13', { action: 'staging', ...more[0] }),
  through('13', { action: 'prod', ...more[1] }),
];

const rows: readonly (readonly [title: string, history: readonly HistoryRow[], expected: string])[] = [
  ['nothing of nothing', [], '0 of 0, 0 of 0'],
  ['a release that came through is one of both', [pastRelease(1, [through('13')])], '0 of 1, 0 of 1'],
  ['one with two deploys is two deploys and one release', [pastRelease(1, both())], '0 of 2, 0 of 1'],
  ['a deploy that a person let pass is a false positive', [pastRelease(1, both(letPass('cpu')))], '1 of 2, 0 of 1'],
  [
    'however many checks, and how often, it is one',
    [pastRelease(1, [revertedBy('health', '13', letPass('cpu')), through('13', letPass('cpu', 'errors'))])],
    '1 of 1, 0 of 0',
  ],
  ['what health reverted is neither', [pastRelease(1, [revertedBy('health', '13')])], '0 of 1, 0 of 0'],
  [
    'what a person let pass, and health reverted, is neither',
    [pastRelease(1, [revertedBy('health', '13', letPass('cpu'))])],
    '0 of 1, 0 of 0',
  ],
  [
    'a release that a person rolled back is a false negative; the rollback is none of either',
    [pastRelease(1, both()), pastRelease(2, [through('12')], ROLLBACK)],
    '0 of 2, 1 of 1',
  ],
  [
    'one that an emergency replaced is a false negative, and the emergency a deploy like others',
    [pastRelease(1, both()), pastRelease(2, [through('14', { action: 'prod' })], EMERGENCY)],
    '0 of 3, 1 of 2',
  ],
  [
    'one that was rolled back, and whose anomalies a person had let pass, health had found',
    [pastRelease(1, [through('13', letPass('cpu'))]), pastRelease(2, [through('12')], ROLLBACK)],
    '0 of 1, 0 of 1',
  ],
  [
    'a rollback as not bad is no mistake of health',
    [pastRelease(1, [through('13')]), pastRelease(2, [through('12')], { ...ROLLBACK, notBad: true })],
    '0 of 1, 0 of 1',
  ],
  [
    'a release that failed after its deploy came through is no success that hid a fault',
    [{ ...pastRelease(1, [through('13')]), state: 'failed' }, pastRelease(2, [through('12')], ROLLBACK)],
    '0 of 1, 0 of 0',
  ],
  [
    'releases that deployed nothing, or were cancelled, or are not over, count nowhere',
    [
      pastRelease(1, []),
      pastRelease(2, [through('13', { outcome: 'cancelled' })]),
      { ...pastRelease(3, [through('14')]), endedAt: null },
    ],
    '0 of 0, 0 of 0',
  ],
];

test.each(rows)('%s', (_, history, expected) => {
  expect(counted(history)).toEqual([expected]);
});

test('only releases that ended since a time are counted, with what became of them in all of the history', () => {
  const history = [
    pastRelease(1, [through('12')]),
    pastRelease(2, [through('13')]),
    pastRelease(3, [through('12')], { ...ROLLBACK, of: 2 }),
  ];
  expect(counted(history, Date.parse(history[1]!.endedAt!))).toEqual(['0 of 1, 1 of 1']);
  expect(counted(history, Date.parse(history[1]!.endedAt!) + 1)).toEqual(['0 of 0, 0 of 0']);
});

test('shares come with their bounds, and with what was counted', () => {
  const history = [
    pastRelease(1, [through('13', letPass('cpu'))]),
    pastRelease(2, [through('14')]),
    pastRelease(3, [through('13')], { ...ROLLBACK, of: 2 }),
  ];
  const [{ falsePositives, falseNegatives, suspects }] = computeStatistics([past(history)]).pipelines as [
    ReturnType<typeof computeStatistics>['pipelines'][number],
  ];
  expect([falsePositives.share, falseNegatives.share]).toEqual([0.5, 0.5]);
  expect(falsePositives.low).toBeCloseTo(0.095, 3);
  expect(falsePositives.high).toBeCloseTo(0.905, 3);
  expect(suspects).toEqual([
    { id: 'kvstore/1/deploy', kind: 'false-positive', why: 'succeeded after user:ana let cpu pass' },
    { id: 'kvstore/2', kind: 'false-negative', why: 'rolled back by user:ana in kvstore/3' },
  ]);
});

test('a category adds up the pipelines that have its label; those without one are together', () => {
  const one = [pastRelease(1, [through('13', letPass('cpu'))])];
  const { categories } = computeStatistics([
    past(one, 'large', 'a'),
    past([...one, pastRelease(2, [through('14')])], 'large', 'b'),
    past(one, undefined, 'c'),
  ]);
  expect(
    categories.map(({ category, pipelines, falsePositives: { count, of } }) => [category, pipelines, count, of]),
  ).toEqual([
    ['large', 2, 2, 3],
    ['uncategorised', 1, 1, 1],
  ]);
});
