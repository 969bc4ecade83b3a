import { STANDARD_FINDERS, whyCannotFind } from '../../../domain/finder/standard';

test('there are the eight standard finders', () => {
  expect(Object.keys(STANDARD_FINDERS).sort()).toEqual([
    'commits',
    'config-changes',
    'latest-build',
    'manual',
    'model-versions',
    'offer',
    'pipeline-output',
    'tagged-executables',
  ]);
});

test.each<[string, string, object, string | undefined]>([
  ['all that it needs', 'commits', { repository: 'kv', branch: 'main' }, undefined],
  ['one of two ways', 'latest-build', { target: '//kv:server' }, undefined],
  ['the other of two ways', 'latest-build', { package: 'kv' }, undefined],
  [
    'both ways',
    'latest-build',
    { package: 'kv', target: '//kv' },
    'latest-build takes with: { target } or with: { package }, and was given { package, target }',
  ],
  [
    'too little',
    'commits',
    { repository: 'kv' },
    'commits takes with: { repository, branch }, and was given { repository }',
  ],
  ['nothing', 'model-versions', {}, 'model-versions takes with: { model }, and was given nothing'],
  [
    'something else',
    'config-changes',
    { file: 'x' },
    'config-changes takes with: { path } or with: { repository, paths }, and was given { file }',
  ],
  ['a list where it takes one', 'config-changes', { repository: 'flags', paths: ['feed/', 'ads/x'] }, undefined],
  ...[[], 'feed/', ['feed/', 7], [''], Array<string>(21).fill('a')].map((paths): [string, string, object, string] => [
    'something else than a list of texts',
    'config-changes',
    { repository: 'flags', paths },
    'with.paths is not a list of 1 to 20 texts; config-changes takes with: { path } or with: { repository, paths }',
  ]),
  ['a number', 'model-versions', { model: 7 }, 'with.model is not a text; model-versions takes with: { model }'],
  ['an empty text', 'model-versions', { model: '' }, 'with.model is not a text; model-versions takes with: { model }'],
  ['anything, when it looks for nothing', 'manual', { model: 'x' }, 'manual takes no with, and was given { model }'],
  ['anything, when it is not standard', 'own-finder', { anything: [1] }, undefined],
])('a finder that is given %s', (_, finder, given, expected) => {
  expect(whyCannotFind(finder, given as Record<string, unknown>)).toBe(expected);
});

test.each(['constructor', 'toString'])('a finder called %s is one of its own, and takes what it likes', (finder) => {
  expect(whyCannotFind(finder, {})).toBeUndefined();
});
