import fc from 'fast-check';
import { findConcernedPipelines, matchesWanted, type FinderEvent } from '../../../domain/finder/match';
import { STANDARD_FINDERS } from '../../../domain/finder/standard';

const PUSH: FinderEvent = {
  finder: 'commits',
  about: { repository: ['kvstore', 'acme/kvstore'], branch: 'main' },
  artifact: { kind: 'source', version: 'c0ffee', metadata: {} },
};

describe('an event matches a subscription', () => {
  test.each<[wanted: Record<string, unknown>, about: FinderEvent['about'], is: boolean]>([
    [{ repository: 'kvstore', branch: 'main' }, PUSH.about, true],
    [{ repository: 'acme/kvstore', branch: 'main' }, PUSH.about, true],
    [{ repository: 'kvstore', branch: 'release' }, PUSH.about, false],
    [{ repository: 'store', branch: 'main' }, PUSH.about, false],
    [{ repository: 'kvstore', branch: 'main', path: 'server/' }, PUSH.about, false],
    [{ repository: 'kvstore', branch: ['main'] }, PUSH.about, false],
    [{ target: '//kv:server' }, { target: '//kv:server', package: 'kv' }, true],
    [{ package: 'kv' }, { target: '//kv:server', package: 'kv' }, true],
    [{ package: 'kv', target: '//web' }, { target: '//kv:server', package: 'kv' }, false],
    [{ constructor: 'kv' }, { package: 'kv' }, false],
    [{}, PUSH.about, false],
    [{}, {}, false],
  ])('%j of %j: %s', (wanted, about, is) => expect(matchesWanted({ about }, wanted)).toBe(is));

  test('a forge takes no notice of case in the name of a repository, and does in that of a branch', () => {
    const push = { ...PUSH, ignoresCase: ['repository'] };
    expect(matchesWanted(push, { repository: 'Acme/KVstore', branch: 'main' })).toBe(true);
    expect(matchesWanted(push, { repository: 'acme/kvstore', branch: 'Main' })).toBe(false);
    expect(matchesWanted(PUSH, { repository: 'Acme/KVstore', branch: 'main' })).toBe(false);
  });

  test('a subscription that a standard finder takes is met by an event in the same words, and by no event without one of them', () => {
    const choices = Object.values(STANDARD_FINDERS).flatMap((sets) => sets.filter((keys) => keys.length > 0));
    fc.assert(
      fc.property(fc.constantFrom(...choices), fc.nat(), fc.string({ minLength: 1 }), (keys, at, value) => {
        const wanted = Object.fromEntries(keys.map((key) => [key, value]));
        const { [keys[at % keys.length]!]: _, ...fewer } = wanted;
        expect([matchesWanted({ about: wanted }, wanted), matchesWanted({ about: fewer }, wanted)]).toEqual([
          true,
          false,
        ]);
      }),
    );
  });

  test('a pipeline that follows it under two names gets both at once, and one that follows something else nothing', () => {
    const wanted = { repository: 'kvstore', branch: 'main' };
    const subscribers = [
      {
        pipeline: 'kvstore',
        subscribedAtMs: 0,
        subscriptions: [
          { artifact: 'source', with: wanted },
          { artifact: 'tests', with: wanted },
        ],
      },
      {
        pipeline: 'web',
        subscribedAtMs: 0,
        subscriptions: [{ artifact: 'source', with: { ...wanted, repository: 'web' } }],
      },
    ];
    expect(findConcernedPipelines(PUSH, subscribers)).toEqual([
      {
        pipeline: 'kvstore',
        artifacts: [
          { ...PUSH.artifact, name: 'source' },
          { ...PUSH.artifact, name: 'tests' },
        ],
      },
    ]);
  });
});
