import type { Artifact } from '../../../../domain/artifact';
import { verbOfBug, isBugNotice } from '../../../../domain/release/bugNotice';
import { listBuiltTargets, hitAmong, formatBuiltKey, type AffectedBuild } from '../../../../features/bugs/domain/hits';

const artifact = (version: string, target?: string): Artifact => ({
  ...{ name: 'executable', kind: 'executable', version, metadata: {} },
  builtFrom: { repository: 'mono', revision: version, ...(target === undefined ? {} : { target }) },
});
const BUILT = { target: '//kv:server', revision: '3' };
const FOUND: AffectedBuild = { ...BUILT, depth: 1, path: ['//kv:server', '//lib:rpc'] };

test('artifacts are asked about by what they were built from, each once, and not where they do not say', () => {
  const all = [artifact('3', '//kv:server'), artifact('3', '//kv:server'), artifact('4'), artifact('4', '//kv:server')];
  expect(listBuiltTargets(all)).toEqual([BUILT, { ...BUILT, revision: '4' }]);
});

test('the artifact that contains the bug is named, with the chain of dependencies', () => {
  const affected = new Map([[formatBuiltKey(BUILT), FOUND]]);
  expect(hitAmong([artifact('4', '//kv:server'), artifact('3', '//kv:server')], affected)).toEqual({
    artifact: 'executable@3',
    path: '//kv:server > //lib:rpc',
  });
  expect(hitAmong([artifact('4', '//kv:server'), artifact('3')], affected)).toBeUndefined();
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
