import fc from 'fast-check';
import { formatIdentity, matchesIdentity, combineVersions } from '../../domain/artifact';
import { deployId, NAME, parseId, releaseId, updateId, workflowIds, type Id } from '../../domain/ids';
import { mayCommand, PRINCIPAL } from '../../domain/principals';
import { formatDuration, formatTime, plural, withReason } from '../../domain/text';
import { artifact } from '../builders/pipelineWorld';

describe('an id that a person types', () => {
  test.each<[string, Id | undefined]>([
    ['kvstore', { kind: 'pipeline', pipeline: 'kvstore' }],
    ['kvstore/12', { kind: 'release', pipeline: 'kvstore', number: 12 }],
    ['kvstore/12/deploy', { kind: 'action', pipeline: 'kvstore', number: 12, action: 'deploy' }],
    ['', undefined],
    ['KV', undefined],
    ['-kv', undefined],
    ['kvstore/', undefined],
    ['kvstore/0', undefined],
    ['kvstore/012', undefined],
    ['kvstore/1.5', undefined],
    ['kvstore/twelve', undefined],
    ['kvstore/12/', undefined],
    ['kvstore/12/deploy/1', undefined],
    ['release/kvstore/12', undefined],
    [`${'a'.repeat(64)}`, undefined],
  ])('%s', (text, id) => expect(parseId(text)).toEqual(id));

  const aName = fc.stringMatching(NAME);
  test('reads back as it was written', () => {
    fc.assert(
      fc.property(aName, fc.integer({ min: 1, max: 9_999_999_999 }), aName, (pipeline, number, action) => {
        expect(parseId(pipeline)).toEqual({ kind: 'pipeline', pipeline });
        expect(parseId(releaseId(pipeline, number))).toEqual({ kind: 'release', pipeline, number });
        expect(parseId(deployId(pipeline, number, action))).toEqual({ kind: 'action', pipeline, number, action });
      }),
    );
  });

  test('names one workflow and one update each', () => {
    const deploy = workflowIds.deploy('kvstore', 12, 'deploy', 1);
    expect([
      workflowIds.pipeline('kvstore'),
      workflowIds.release('kvstore', 12),
      deploy,
      workflowIds.serviceLock('twine', 'kvstore'),
      updateId(deploy, 0, 1),
      updateId(deploy, 'revert', 2),
    ]).toEqual([
      'pipeline/kvstore',
      'release/kvstore/12',
      'deploy/kvstore/12/deploy/1',
      'lock/twine/kvstore',
      'deploy/kvstore/12/deploy/1/0/1',
      'deploy/kvstore/12/deploy/1/revert/2',
    ]);
  });
});

describe('an artifact', () => {
  const digested = { ...artifact('kv:12'), digest: 'sha256:1' };
  test('is known by its name, version and digest', () =>
    expect([formatIdentity(artifact('kv:12')), formatIdentity(digested)]).toEqual([
      'executable@kv:12',
      'executable@kv:12#sha256:1',
    ]));

  test.each<[string, string, boolean]>([
    ['executable@kv:12', 'executable@kv:12', true],
    ['executable@kv:12#sha256:1', 'executable@kv:12', true],
    ['executable@kv:123', 'executable@kv:12', false],
    ['executable@kv:12', 'executable@kv:12#sha256:1', false],
  ])('%s is %s: %s', (identity, typed, same) => expect(matchesIdentity(identity, typed)).toBe(same));

  test('alone gives its version to what is deployed; several give the same string in every order', () => {
    const config = artifact('c1', 'config');
    expect(combineVersions([artifact('kv:12')])).toBe('kv:12');
    expect(combineVersions([artifact('kv:12'), config])).toBe('config@c1+executable@kv:12');
    expect(combineVersions([config, artifact('kv:12')])).toBe('config@c1+executable@kv:12');
  });
});

describe('a principal', () => {
  const policy = {
    owners: ['user:alice', 'group:storage', 'group:constructor', 'group:nobody'],
    groups: { storage: ['user:sam', 'service:ci'], other: ['user:eve'], alice: ['user:mallory'] },
  };
  test.each<[string, boolean]>([
    ['user:alice', true],
    ['user:sam', true],
    ['service:ci', true],
    ['user:eve', false],
    ['user:mallory', false],
    ['group:storage', true],
    ['user:unknown', false],
    ['', false],
  ])('%s may command: %s', (actor, may) => expect(mayCommand(policy, actor)).toBe(may));

  test('an object without an owner has none', () =>
    expect(mayCommand({ owners: [], groups: {} }, 'user:alice')).toBe(false));

  test.each(['alice', 'user:', 'team:storage', 'user:a b', ' user:alice'])('%j is none', (text) =>
    expect(PRINCIPAL.test(text)).toBe(false),
  );
});

describe('the wording', () => {
  test.each<[number, string]>([
    [-5, '0ms'],
    [0, '0ms'],
    [250, '250ms'],
    [999.7, '1s'],
    [45_000, '45s'],
    [59_999, '1m'],
    [90_000, '1m 30s'],
    [5_400_000, '1h 30m'],
    [3_605_000, '1h'],
    [86_400_000 * 8, '8d'],
    [93_599_600, '1d 2h'],
  ])('%d ms is written %s', (ms, text) => expect(formatDuration(ms)).toBe(text));

  test('counts, gives reasons and shows the time', () => {
    expect([plural(0, 'task'), plural(1, 'task'), plural(2, 'task')]).toEqual(['0 tasks', '1 task', '2 tasks']);
    expect([withReason('paused', 'lunch'), withReason('paused', '')]).toEqual(['paused: lunch', 'paused']);
    expect(formatTime(0)).toBe('1970-01-01T00:00:00.000Z');
  });
});
