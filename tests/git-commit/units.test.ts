import { readDeployUnits } from '../../push-types/git-commit/units';
import type { GitCommitSettings } from '../../push-types/git-commit/settings';
import { findFieldValue, findValueVersion } from '../../push-types/git-commit/fieldValue';

const environment = (labels: Record<string, string>, clusters?: string[]) => ({
  ...{ labels, clusters, atOnce: 1 },
  wait: { program: ['true'], settle: 0, timeout: 0, answer: 0 },
});
const SETTINGS: GitCommitSettings = {
  repositories: {
    deployments: {
      ...{ url: 'file:///none', branch: 'main', knownHosts: '', user: 'git', timeout: 1 },
      ...{ committer: { name: 'c', email: 'c@example.com' }, paths: ['clusters/*/{pipeline}/*', 'shared/**'] },
    },
  },
  environments: {
    eu: environment({ tier: 'prod', region: 'eu' }, ['eu-1', 'eu-2']),
    us: environment({ tier: 'prod', region: 'us' }),
    staging: environment({ tier: 'test' }),
  },
  ...{ interval: 0, idle: 0 },
};
const CONFIG = {
  ...{ service: 'web', repository: 'deployments', path: 'clusters/{cluster}/web/kustomization.yaml' },
  ...{ field: { kustomize: 'web' }, environments: ['eu', 'us'] },
};
const read = (change: object, pipeline = 'web') => readDeployUnits(SETTINGS, { ...CONFIG, ...change }, pipeline);

describe('the config of a deploy', () => {
  test('makes a unit of each environment, and a task of each of its clusters', () => {
    const { units, service, problems } = read({});
    expect([service, problems]).toEqual(['web', []]);
    expect([...units].map(([id, { paths }]) => [id, Object.values(paths)])).toEqual([
      ['web-eu', ['clusters/eu-1/web/kustomization.yaml', 'clusters/eu-2/web/kustomization.yaml']],
      ['web-us', ['clusters/us/web/kustomization.yaml']],
    ]);
  });

  test('chooses environments by their labels', () => {
    expect([...read({ environments: { labels: { tier: 'prod' } } }).units.keys()]).toEqual(['web-eu', 'web-us']);
    expect([...read({ environments: { labels: { tier: 'test' } } }).units.keys()]).toEqual(['web-staging']);
  });

  test.each([
    [
      'an unknown environment',
      { environments: ['eu', 'mars'] },
      'config.environments',
      'there is no environment mars in the settings; there are eu, us, staging',
    ],
    [
      'labels that no environment has',
      { environments: { labels: { tier: 'gold' } } },
      'config.environments',
      'no environment of the settings has these labels',
    ],
    [
      'an unknown repository',
      { repository: 'other' },
      'config.repository',
      'there is no repository other in the settings; there are deployments',
    ],
    [
      'clusters that would share a file',
      { path: 'shared/web.yaml' },
      'config.path',
      'clusters of eu would share a file: write {cluster} into the path',
    ],
    ['a field that is none', { field: { imag: 'web' } }, 'config.field', 'expected kustomize, container, helm or key'],
    ['a value without a version', { value: 'latest' }, 'config.value', 'expected {version} or {digest} in it'],
  ])('has a problem with its place: %s', (_, change, path, message) => {
    expect(read(change).problems).toContainEqual({
      path: expect.stringContaining(path) as string,
      message: expect.stringContaining(message) as string,
    });
  });

  test('a pipeline changes only the files that the platform lets it change', () => {
    expect(read({}, 'other').problems[0]?.message).toBe(
      'the settings let other change clusters/*/{pipeline}/*, shared/** in deployments, and not clusters/eu-1/web/kustomization.yaml',
    );
    expect(read({ path: 'shared/a/{cluster}.yaml' }).problems).toEqual([]);
    for (const path of [
      '../x.yaml',
      '/etc/x.yaml',
      'clusters/{cluster}/web/../../x.yaml',
      '.github/workflows/x.yaml',
      'shared/.git/x.yaml',
      '-x.yaml',
      'shared/x.sh',
      'shared//x.yaml',
      'shared/x\n.yaml',
    ])
      expect(read({ path }).problems).toContainEqual({
        path: 'config.path',
        message: expect.stringContaining('expected a path') as string,
      });
  });
});

describe('the value of a version', () => {
  const digest = `sha256:${'a'.repeat(64)}`;
  const artifact = { name: 'web', kind: 'image', version: '1.4', digest, metadata: {} };

  test.each([
    ['{version}', '1.4', '1.4'],
    ['v{version}', '1.4', 'v1.4'],
    ['{digest}', '1.4', digest],
  ])('fills %s, and is found again', (value, version, text) => {
    const definition = { value, field: { key: ['tag'] } };
    expect(findFieldValue(definition, { version, artifacts: [artifact] })).toBe(text);
    expect(findValueVersion(definition, text, { [version]: text })).toBe(version);
  });

  test('is the remembered one in a revert, which brings no artifacts', () => {
    const definition = { value: '{digest}', field: { key: ['digest'] } };
    expect(findFieldValue(definition, { version: '1.4', artifacts: [] }, { '1.4': digest })).toBe(digest);
    expect(findFieldValue(definition, { version: digest, artifacts: [] })).toBe(digest);
    expect(() => findFieldValue(definition, { version: '1.4', artifacts: [] })).toThrow('1.4 has no digest');
  });

  test.each(['a b', 'a\nb: c', '', ' a', 'a/b', 'x'.repeat(200)])('is refused as a tag: %j', (version) => {
    const definition = { value: '{version}', field: { kustomize: 'web', pin: 'tag' as const } };
    expect(() => findFieldValue(definition, { version, artifacts: [] })).toThrow('is no tag of an image');
  });
});
