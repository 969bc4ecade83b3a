import { decideAccess } from '../../../domain/access/decide';
import { pathRights, whyNotPaths, type ProposedRepository } from '../../../domain/access/paths';
import type { PlatformPolicy } from '../../../domain/access/platform';

const groups = { feeds: ['user:alice'], ads: ['user:bob'] };
const admins: PlatformPolicy = {
  ...{ admins: ['user:root'], pipelines: [], services: [], uses: [], scripts: [], bugs: [], protection: [] },
};
const paths = [
  { names: ['feed/', 'models/feed'], by: ['group:feeds'] },
  { names: ['ads/*'], by: ['group:ads'] },
  { names: ['ads/shared-*'], by: ['user:alice'] },
];
const owned: ProposedRepository = { name: 'flags', owners: ['user:olga'], paths };
const open: ProposedRepository = { name: 'flags', paths };

const why = (
  who: string,
  path: string,
  { repository = owned, policy = null }: { repository?: ProposedRepository; policy?: PlatformPolicy | null } = {},
) => {
  const rights = pathRights({ policy, groups }, repository, who);
  return rights === null ? undefined : whyNotPaths(rights, [{ path, stem: path.replace(/\.config\.ts$/, '') }]);
};
const NOT_ADS = 'config.repositories.flags.paths.1 (ads/*) lets group:ads (user:bob)';

test.each([
  ['user:alice', 'feed/limits', 'all below a name with a slash'],
  ['user:alice', 'feed/deep/er/limits.config.ts', 'its sources'],
  ['user:alice', 'models/feed', 'a name as it is'],
  ['user:alice', 'models/feed.config.ts', 'the source of a name'],
  ['user:bob', 'ads/budget', 'a pattern'],
  ['user:alice', 'ads/shared-budget', 'any of several rules about a path'],
  ['user:olga', 'anything', 'an owner of the repository'],
])('%s may change %s: %s', (who, path) => {
  expect(why(who, path)).toBeUndefined();
});

test.each([
  ['user:alice', 'ads/budget', NOT_ADS],
  ['user:bob', 'feed/limits', 'config.repositories.flags.paths.0 (feed/, models/feed) lets group:feeds (user:alice)'],
  [
    'user:alice',
    'feedback',
    'no rule of config.repositories.flags.paths is about that path, so it is for config.repositories.flags.owners: user:olga',
  ],
  [
    'user:alice',
    'models/feed-2',
    'no rule of config.repositories.flags.paths is about that path, so it is for config.repositories.flags.owners: user:olga',
  ],
  ['group:ads', 'ads/budget', NOT_ADS],
])('%s may not change %s, and learns which right that takes', (who, path, right) => {
  expect(why(who, path)).toBe(`${who} may not change ${path}: ${right}`);
});

test('the first path of several that is not allowed is named', () => {
  const rights = pathRights({ policy: null, groups }, owned, 'user:alice');
  expect(rights && whyNotPaths(rights, [{ path: 'feed/a' }, { path: 'ads/b' }])).toBe(
    `user:alice may not change ads/b: ${NOT_ADS}`,
  );
});

test('a repository without owners leaves a path without a rule to all known principals, or with a platform section to admins', () => {
  expect(why('user:bob', 'other', { repository: open })).toBeUndefined();
  expect(why('user:bob', 'feed/a', { repository: open })).toContain('paths.0');
  expect(why('user:bob', 'other', { repository: open, policy: admins })).toContain(
    'it is for platform.admins: user:root',
  );
  expect(why('user:root', 'feed/a', { repository: open, policy: admins })).toBeUndefined();
});

test('a repository without rules of paths restricts no author by path', () => {
  expect(pathRights({ policy: null, groups }, { name: 'flags', owners: ['user:olga'] }, 'user:bob')).toBeNull();
});

test('an author who may change some path may propose, by that rule; others learn that no rule names them', () => {
  const asked = (principal: string, { owners, paths: rules = [] }: ProposedRepository, policy: PlatformPolicy | null) =>
    decideAccess(
      { policy, groups },
      {
        who: { principal, door: 'api' },
        verb: 'propose',
        what: { pipeline: '', owners: owners ?? null, repository: 'flags', paths: rules },
      },
    );
  expect(asked('user:bob', owned, admins)).toMatchObject({
    ...{ allowed: true, by: 'config.repositories.flags.paths.1.by', through: 'group:ads' },
  });
  expect(asked('user:eve', owned, null)).toMatchObject({
    allowed: false,
    why: 'user:eve is not an owner of the repository flags: config.repositories.flags.owners are user:olga, and no rule of config.repositories.flags.paths names them',
  });
  expect(asked('user:eve', open, admins).allowed).toBe(false);
  expect(asked('user:eve', open, null).allowed).toBe(true);
});
