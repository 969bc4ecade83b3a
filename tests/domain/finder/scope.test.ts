import fc from 'fast-check';
import type { FinderEvent } from '../../../domain/finder/match';
import { repositoryNames, outOfScope, type WebhookScope } from '../../../domain/finder/scope';
import { matches } from '../../../domain/pattern';

const event = (finder: string, about: FinderEvent['about'], repository?: string): FinderEvent => ({
  finder,
  about,
  artifact: {
    ...{ kind: 'source', version: '1', metadata: {} },
    ...(repository === undefined ? {} : { builtFrom: { repository, revision: '1' } }),
  },
});
const none: WebhookScope = { finders: [], pipelines: [] };
const builds: WebhookScope = { ...none, finders: ['latest-build', 'our-*'], with: { target: ['//kv:*', '//web'] } };
const acme: WebhookScope = { ...none, finders: ['commits'], repositories: ['acme/kvstore', 'acme/web-*'] };

describe('the scope of a source of webhooks', () => {
  test.each<[said: FinderEvent, scope: WebhookScope | null, refused: RegExp | null]>([
    [event('manual', {}), null, /for the finder manual/],
    [event('pipeline-output', { pipeline: 'base', artifact: 'image' }), null, /for the finder pipeline-output/],
    [event('manual', { a: 'b' }), { ...none, finders: ['*'] }, /for the finder manual/],
    [event('commits', { repository: 'any/one' }), null, null],
    [event('latest-build', { target: '//kv:server' }), builds, null],
    [event('our-images', { target: ['//web', '//kv:x'] }), builds, null],
    [event('latest-build', { target: ['//kv:server', '//other'] }), builds, /has "target" "\/\/other" in its with/],
    [event('latest-build', {}), builds, /publish what has nothing in its with/],
    [event('latest-build', { target: [] }), builds, /publish what has nothing in its with/],
    [event('latest-build', {}), { ...none, finders: ['latest-build'] }, null],
    [event('latest-build', { package: 'kv' }), builds, /has "package" "kv"/],
    [event('latest-build', { constructor: 'kv' }), builds, /has "constructor"/],
    [event('commits', { repository: 'acme/kvstore' }), builds, /for the finder "commits"/],
    [event('commits', { repository: 'acme/kvstore', branch: 'main' }, 'acme/kvstore'), acme, null],
    [event('commits', { repository: 'ACME/KVstore' }, 'ACME/KVstore'), acme, null],
    [event('commits', { repository: 'attacker/kvstore' }), acme, /speak of the repository "attacker\/kvstore"/],
    [event('commits', { repository: 'kvstore' }), acme, /speak of the repository "kvstore"/],
    [event('commits', { repository: 'acme/kvstore' }, 'attacker/kvstore'), acme, /"attacker\/kvstore"/],
    [event('commits', { repository: 'x\u001b[2J/\u0085' }), acme, /"x\\u001b\[2J\/\\u0085"/],
  ])('%#: %j in %j: %s', (said, scope, refused) => {
    expect(outOfScope(scope, said)?.what ?? 'nothing').toMatch(refused ?? /^nothing$/);
  });

  test('to one pipeline is for sources that list it', () => {
    const said = { pipeline: 'kv-eu', artifacts: [] };
    expect(outOfScope({ ...none, pipelines: ['kv-*'] }, said)).toBeUndefined();
    expect(outOfScope(builds, said)?.what).toBe('address the pipeline "kv-eu"');
    expect(outOfScope(null, said)).toBeUndefined();
  });

  test('names the sources that may, if none has published', () => {
    expect(outOfScope(null, event('manual', {}))?.instead).toContain('conveyor release');
  });
});

describe('a repository may be called by its name alone', () => {
  test.each<[scopes: readonly (readonly string[] | null)[], names: readonly string[]]>([
    [[['acme/*']], ['kvstore', 'acme/kvstore']],
    [[['acme/kvstore', 'other/web']], ['kvstore', 'acme/kvstore']],
    [[['acme/kvstore'], ['other/kvstore']], ['acme/kvstore']],
    [[['acme/*'], ['other/*']], ['acme/kvstore']],
    [[['*/kvstore']], ['acme/kvstore']],
    [[['other/*']], ['acme/kvstore']],
    [[null], ['acme/kvstore']],
  ])('where one owner is left: %j gives %j', (scopes, names) => {
    const all = scopes.map((repositories) => (repositories === null ? null : { ...none, repositories }));
    expect(repositoryNames('acme/kvstore', all)).toEqual(names);
  });
});

test('a pattern fits what a shell would let it fit', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', '*', '/') });
  fc.assert(
    fc.property(letters, fc.string({ unit: fc.constantFrom('a', 'b', '/') }), (pattern, text) => {
      const wanted = new RegExp(`^${pattern.replaceAll('*', '.*')}$`);
      expect(matches(pattern, text)).toBe(wanted.test(text));
    }),
  );
});
