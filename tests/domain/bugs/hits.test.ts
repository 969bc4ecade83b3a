import type { Artifact } from '../../../domain/artifact';
import { verbOfBug, isBugNotice } from '../../../domain/bugs/consequence';
import { builtFrom, hitAmong, keyOf, whyNotTrue, type Affected } from '../../../domain/bugs/hits';

const artifact = (version: string, target?: string): Artifact => ({
  ...{ name: 'executable', kind: 'executable', version, metadata: {} },
  builtFrom: { repository: 'mono', revision: version, ...(target === undefined ? {} : { target }) },
});
const BUILT = { target: '//kv:server', revision: '3' };
const FOUND: Affected = { ...BUILT, depth: 1, path: ['//kv:server', '//lib:rpc'] };
const ASKED = { target: '//lib:rpc', depth: 14, among: [BUILT] };

test('artifacts are asked about by what they were built from, each once, and not where they do not say', () => {
  const all = [artifact('3', '//kv:server'), artifact('3', '//kv:server'), artifact('4'), artifact('4', '//kv:server')];
  expect(builtFrom(all)).toEqual([BUILT, { ...BUILT, revision: '4' }]);
});

test('the artifact that contains the bug is named, with the chain of dependencies', () => {
  const affected = new Map([[keyOf(BUILT), FOUND]]);
  expect(hitAmong([artifact('4', '//kv:server'), artifact('3', '//kv:server')], affected)).toEqual({
    artifact: 'executable@3',
    path: '//kv:server > //lib:rpc',
  });
  expect(hitAmong([artifact('4', '//kv:server'), artifact('3')], affected)).toBeUndefined();
});

test('an answer that is true to its question is believed', () => {
  expect(whyNotTrue(ASKED, [FOUND])).toBeUndefined();
  expect(whyNotTrue(ASKED, [])).toBeUndefined();
});

test.each([
  [
    'a target that nobody asked about',
    { target: '//other', path: ['//other', '//lib:rpc'] },
    /\/\/other at 3 was not asked about/,
  ],
  ['another revision', { revision: '4' }, /\/\/kv:server at 4 was not asked about/],
  ['what is too deep', { depth: 15 }, /15 dependencies away, and 14 were asked for/],
  ['a path from elsewhere', { path: ['//x', '//lib:rpc'] }, /does not lead to/],
  ['a path to elsewhere', { path: ['//kv:server', '//x'] }, /does not lead to \/\/lib:rpc/],
  ['a path that is longer than its depth', { depth: 0 }, /does not lead to/],
])('a graph that names %s is not believed', (_, lie, why) => {
  expect(whyNotTrue(ASKED, [{ ...FOUND, ...lie }])).toMatch(why);
});

const actions = (deploying: boolean, state: 'running' | 'succeeded') => ({ actions: { deploy: { deploying, state } } }) as never; // prettier-ignore
const notice = (onRunning: 'pause' | 'revert' | 'ignore') => ({ id: 'bug/1', why: 'bad', onRunning });

test.each([
  ['what has not begun to deploy is cancelled', false, 'running', 'manual', 'ignore', 'cancel'],
  ['what has deployed and continues is cancelled', true, 'succeeded', 'finder', 'pause', 'cancel'],
  ['a running deploy pauses', true, 'running', 'manual', 'pause', 'pause'],
  ['or is reverted', true, 'running', 'manual', 'revert', 'revert'],
  ['or continues', true, 'running', 'manual', 'ignore', undefined],
  ['a rollback continues before it deploys', false, 'running', 'rollback', 'revert', undefined],
  ['what a rollout left out continues', false, 'running', 'follow-on', 'pause', undefined],
  ['a rollback continues as it deploys', true, 'running', 'rollback', 'revert', undefined],
] as const)('%s', (_, deploying, state, kind, onRunning, verb) => {
  expect(verbOfBug(actions(deploying, state), { kind }, notice(onRunning))).toBe(verb);
});

test('anything else is not a notice', () => {
  expect(isBugNotice(notice('pause'))).toBe(true);
  for (const sent of [
    {},
    { id: 'bug/1' },
    { ...notice('pause'), onRunning: 'explode' },
    { ...notice('pause'), why: 1 },
  ])
    expect(isBugNotice(sent as never)).toBe(false);
});
