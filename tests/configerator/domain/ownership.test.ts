import { listOwnedPaths, refuseUnreleasable, type OwnedPaths } from '../../../configerator/domain/ownership';

const FEED: OwnedPaths = { pipeline: 'feed', paths: ['feed/'] };
const ADS: OwnedPaths = { pipeline: 'ads', paths: ['ads/budget', 'ads/limits'] };
const ALL: OwnedPaths = { pipeline: 'all', paths: [''] };

test.each<[string, readonly string[], readonly OwnedPaths[]]>([
  ['of one pipeline', ['feed/limits', 'feed/a/b'], [FEED, ADS]],
  ['of several, one of which owns all', ['feed/limits', 'ads/budget'], [FEED, ADS, ALL]],
  ['that no pipeline owns yet', ['other/limits'], [FEED, ADS]],
  ['where no pipeline is known', ['feed/limits', 'ads/budget'], []],
])('a change %s is taken', (_, paths, pipelines) => {
  expect(() => refuseUnreleasable(paths, pipelines)).not.toThrow();
});

test.each<[string, readonly string[], string]>([
  ['of two pipelines', ['feed/limits', 'ads/budget'], 'it changes feed/limits (feed), ads/budget (ads)'],
  ['of one pipeline and of none', ['feed/limits', 'other/x'], 'it changes feed/limits (feed), other/x (no pipeline)'],
  [
    'of a path that only begins like an own one',
    ['ads/budget', 'ads/budget2'],
    'ads/budget (ads), ads/budget2 (no pipeline)',
  ],
])('a change %s is refused, by the names of paths and pipelines', (_, paths, words) => {
  expect(() => refuseUnreleasable(paths, [FEED, ADS])).toThrow(words);
});

test('only subscriptions of a pipeline to the repository count, by a path or a list of them', () => {
  const subscriptions = [
    { with: { repository: 'flags', paths: ['feed/', 'a'] } },
    { with: { path: 'b' } },
    { with: { repository: 'other', paths: ['c'] } },
    { with: { repository: 'flags', paths: [7] } },
  ];
  expect(listOwnedPaths('flags', { pipeline: 'feed', subscriptions })).toEqual([
    { pipeline: 'feed', paths: ['feed/', 'a', 'b'] },
  ]);
});
