import { parseRegistry, loadRegistry } from '../../settings/registry';
import { ConveyorError } from '../../domain/errors';
import { REQUIRED } from '../../domain/isolation';

const twine = { name: 'twine', kind: 'push-type', url: '${SIM:-http://localhost:4400}/push-types/twine/' };

function errorOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof ConveyorError) return `${error.code}: ${error.message} | ${error.hint}`;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('the registry of extensions', () => {
  test('a URL takes variables from the environment, else their default', () => {
    expect(parseRegistry({ extensions: [twine] }, {}).find('push-type', 'twine')).toEqual({
      name: 'twine',
      kind: 'push-type',
      url: 'http://localhost:4400/push-types/twine',
      timeoutMs: 10_000,
    });
    expect(parseRegistry({ extensions: [twine] }, { SIM: 'http://fleet:1' }).find('push-type', 'twine').url).toBe(
      'http://fleet:1/push-types/twine',
    );
  });

  test('a finder that workers answer for themselves is never asked, and this is said', () => {
    const warningsOf = (kind: string, name: string) =>
      parseRegistry({ extensions: [{ name, kind, url: 'http://finders:1/offer' }] }, {}).warnings;
    const never = 'is never asked, because workers answer for that name themselves; rename it';
    expect(warningsOf('artifact-finder', 'offer')).toEqual([`extensions: the artifact-finder offer ${never}`]);
    expect(warningsOf('artifact-finder', 'pipeline-output')).toHaveLength(1);
    expect([warningsOf('artifact-finder', 'offers'), warningsOf('push-type', 'offer')]).toEqual([[], []]);
  });

  test('a default may hold a variable with a default of its own', () => {
    const url = '${FINDER:-${SIM:-http://localhost:4400}/finders/tags}';
    const urlIn = (env: Readonly<Record<string, string>>): string =>
      parseRegistry({ extensions: [{ name: 'tags', kind: 'artifact-finder', url }] }, env).find(
        'artifact-finder',
        'tags',
      ).url;
    expect([urlIn({}), urlIn({ SIM: 'http://sim:1' }), urlIn({ SIM: 'http://sim:1', FINDER: 'http://f:2' })]).toEqual([
      'http://localhost:4400/finders/tags',
      'http://sim:1/finders/tags',
      'http://f:2',
    ]);
    const unset = { name: 'tags', kind: 'artifact-finder', url: '${FINDER:-${SIM}/tags}' };
    expect(errorOf(() => parseRegistry({ extensions: [unset] }, {}))).toMatch(
      'the environment variable SIM is not set',
    );
    expect(parseRegistry({ extensions: [unset] }, { FINDER: 'http://f:2' }).extensions).toHaveLength(1);
  });

  test('the etcd of a repository of configuration may be a cluster, and has to be reached by http', () => {
    const etcdOf = (etcd: string) =>
      parseRegistry({ config: { repositories: { flags: { git: '/srv/flags.git', etcd } } } }, {}).configRepositories[0]
        ?.etcd;
    expect(etcdOf('http://a:2379,https://b:2379')).toBe('http://a:2379,https://b:2379');
    for (const etcd of ['ftp://a:2379', 'http://a:2379,b', 'a:2379', ''])
      expect(errorOf(() => etcdOf(etcd))).toMatch('config.repositories.flags.etcd: expected the URL of an etcd');
  });

  test('a repository of configuration lists who may propose which paths', () => {
    const pathsOf = (paths: unknown) =>
      parseRegistry({ config: { repositories: { flags: { git: '/srv/flags.git', paths } } } }, {}).configRepositories[0]
        ?.paths;
    const rule = { names: ['feed/', 'models/*', 'a.yaml'], by: ['group:feeds'] };
    expect(pathsOf([rule])).toEqual([rule]);
    expect(errorOf(() => pathsOf([{ ...rule, names: ['/feed'] }]))).toMatch(
      'config.repositories.flags.paths.0.names.0: expected a path such as feed/limits',
    );
    expect(errorOf(() => pathsOf([]))).toMatch('config.repositories.flags.paths: expected at least one rule');
    expect(errorOf(() => pathsOf([{ ...rule, by: [] }]))).toMatch('expected at least one principal');
  });

  describe('a store of configuration is entered', () => {
    const storeOf = (etcd: unknown, env = {}) => {
      const registry = parseRegistry(
        { config: { repositories: { flags: { git: '/srv/flags.git', etcd } } } },
        env,
        '/etc/conveyor.yaml',
      );
      return { ...registry.configRepositories[0], warnings: registry.warnings };
    };

    test('by a user whose password is in a variable, and with certificates beside the file', () => {
      const etcd = {
        url: 'https://a:2379',
        user: 'service',
        passwordEnv: 'P',
        ca: 'ca.pem',
        cert: 'c.pem',
        key: '/k.pem',
        signingKey: 'signing.pem',
        trusted: ['/old.pub', 'other.pub'],
      };
      expect(storeOf(etcd, { P: 'secret' })).toMatchObject({
        ...{ etcd: 'https://a:2379', warnings: [] },
        login: { user: 'service', passwordEnv: 'P', password: 'secret' },
        tls: { ca: '/etc/ca.pem', cert: '/etc/c.pem', key: '/k.pem' },
        signing: { key: '/etc/signing.pem', trusted: ['/old.pub', '/etc/other.pub'] },
      });
    });

    test.each([
      ['http://u:hunter2@a:2379', 'a URL holds no user and no password'],
      [{ url: 'https://hunter2@a:2379' }, 'a URL holds no user and no password'],
      [{ url: 'https://a:2379', user: 'service' }, 'user and passwordEnv go together'],
      [{ url: 'https://a:2379', cert: 'c.pem' }, 'cert and key go together'],
      [
        { url: 'http://a:2379', user: 'service', passwordEnv: 'P' },
        'a password goes over https, or stays on this machine',
      ],
    ])('and %j is refused by name', (etcd, why) => {
      const said = errorOf(() => storeOf(etcd));
      expect(said).toMatch(why);
      expect(said).not.toMatch('hunter2');
    });

    test('without one, a store on another machine is warned of, and one on this machine is not', () => {
      expect(storeOf('http://127.0.0.1:2379,http://localhost:2380').warnings).toEqual([]);
      expect(storeOf('http://127.0.0.1:2379,http://b:2379').warnings).toEqual([
        'config.repositories.flags.etcd: without a user, any process that reaches the store can change what hosts read (docs/guides/secure.md)',
        'config.repositories.flags.etcd: without a signingKey, hosts trust any content of the store (docs/guides/secure.md)',
      ]);
    });
  });

  test('a token comes from the variable that the file names, and timeouts are durations', () => {
    const value = { extensions: [{ ...twine, tokenEnv: 'T', timeout: '2s' }] };
    expect(parseRegistry(value, { T: 'secret' }).find('push-type', 'twine')).toMatchObject({
      token: 'secret',
      timeoutMs: 2000,
    });
  });

  test('an extension that is not configured is named together with those that are', () => {
    const registry = parseRegistry({ extensions: [twine] }, {});
    expect(errorOf(() => registry.find('push-type', 'hosts'))).toMatch(
      /^unknown-extension: no push-type called hosts.*lists twine/,
    );
  });

  test('scripts start in the folder of the file, and get the variables that it lists', () => {
    const given = { directory: 'scripts', env: ['TOKEN', 'ABSENT'], outputLimit: '64KiB', maxDuration: '2h' };
    const { scripts } = parseRegistry({ scripts: given }, { TOKEN: 't', PATH: '/bin' }, '/etc/conveyor/config.yaml');
    expect(scripts).toMatchObject({
      directory: '/etc/conveyor/scripts',
      variables: { TOKEN: 't', ABSENT: undefined },
      path: '/bin',
      outputLimitBytes: 65_536,
      maxDurationMs: 7_200_000,
      stopGraceMs: 10_000,
    });
    expect(parseRegistry({}, {}, '/etc/conveyor/config.yaml').scripts).toMatchObject({
      directory: '/etc/conveyor',
      variables: {},
      outputLimitBytes: 1_048_576,
    });
  });

  test('scripts are off, and once they are on, all that the runner guarantees has to hold unless the file says otherwise', () => {
    const scriptsOf = (scripts?: object) => parseRegistry({ scripts }, {}, '/etc/conveyor/config.yaml').scripts;
    expect(scriptsOf()).toMatchObject({
      ...{ enabled: false, required: REQUIRED, network: 'none', user: 'nobody', writable: [] },
      limits: {
        memoryBytes: 2_147_483_648,
        totalMemoryBytes: 4_294_967_296,
        processes: 2_048,
        cpus: null,
        cpuMs: 86_400_000,
        fileBytes: 1_073_741_824,
      },
    });
    expect(scriptsOf({ enabled: true, isolation: 'best-effort' })).toMatchObject({ enabled: true, required: [] });
    expect(scriptsOf({ isolation: ['files', 'network'], network: 'host' }).required).toEqual(['files']);
    expect(scriptsOf({ network: 'host' }).required).not.toContain('network');
    expect(scriptsOf({ writable: ['out'], user: 1234 })).toMatchObject({
      writable: ['/etc/conveyor/out'],
      user: '1234',
    });
  });

  test('a data source may be a Prometheus, which says what its labels are called', () => {
    const source = { name: 'prometheus', kind: 'data-source', type: 'prometheus', url: 'http://prometheus:9090' };
    const labelled = { ...source, name: 'mimir', taskLabel: 'pod', unitLabel: 'job' };
    const registry = parseRegistry({ extensions: [source, labelled] }, {});
    expect(registry.find('data-source', 'prometheus').prometheus).toEqual({});
    expect(registry.find('data-source', 'mimir').prometheus).toEqual({ taskLabel: 'pod', unitLabel: 'job' });
  });

  test.each([
    [
      'a webhook of something else',
      { extensions: [{ ...twine, type: 'webhook' }] },
      /only tickets are of the type webhook/,
    ],
    [
      'a service of tickets that is not there',
      { freshness: { tickets: 'tracker' } },
      /freshness.tickets: there is no extension tracker of kind tickets/,
    ],
    [
      'a manager who is nobody',
      { freshness: { managers: { storage: 'maria' } } },
      /freshness.managers.storage: expected a principal/,
    ],
    [
      'a type of something else',
      { extensions: [{ ...twine, type: 'prometheus' }] },
      /only a data-source is of the type prometheus/,
    ],
    [
      'SBOMs of something else',
      { extensions: [{ ...twine, type: 'sboms' }] },
      /only a dependency-graph is of the type sboms/,
    ],
    [
      'a label without a Prometheus',
      { extensions: [{ ...twine, kind: 'data-source', taskLabel: 'pod' }] },
      /extensions\.0\.taskLabel: only for type: prometheus/,
    ],
    ['a size without a unit', { scripts: { outputLimit: '1000' } }, /scripts\.outputLimit: expected a size/],
    ['an unknown key', { extensoins: [] }, /config-invalid: .*extensoins/],
    ['an unknown kind', { extensions: [{ ...twine, kind: 'pusher' }] }, /extensions\.0\.kind/],
    [
      'a bare number as timeout',
      { extensions: [{ ...twine, timeout: 10 }] },
      /extensions\.0\.timeout: expected a duration/,
    ],
    ['a variable that is not set', { extensions: [{ ...twine, url: '${NOPE}/x' }] }, /variable NOPE is not set/],
    [
      'a token that is not set',
      { extensions: [{ ...twine, tokenEnv: 'T' }] },
      /takes its token from T, which is not set/,
    ],
    ['a password in a URL', { extensions: [{ ...twine, url: 'http://a:b@twine' }] }, /extensions\.0\.url: .*tokenEnv/],
    [
      'a token in a URL',
      { extensions: [{ ...twine, url: 'http://twine/?token=x' }] },
      /extensions\.0\.url: .*tokenEnv/,
    ],
    [
      'an extension outside of the network',
      { extensions: [twine], egress: { allow: ['*.example.org'] } },
      /extension twine is at .*, which egress\.allow does not list/,
    ],
    ['a host that is none', { egress: { allow: ['https://x/'] } }, /egress\.allow\.0: expected a host/],
    ['one name twice', { extensions: [twine, twine] }, /two extensions twine of kind push-type/],
    [
      'a group member that is not a principal',
      { groups: { storage: ['alice'] } },
      /groups\.storage\.0: expected a principal/,
    ],
  ])('%s is reported where it is', (_title, value, expected) => {
    expect(errorOf(() => parseRegistry(value, {}))).toMatch(expected);
  });

  test('the file of this checkout is valid and knows the push type of the simulator', () => {
    expect(loadRegistry(undefined, {}).find('push-type', 'twine').url).toBe('http://localhost:4400/push-types/twine');
    expect(errorOf(() => loadRegistry('/nowhere.yaml', {}))).toMatch(/^config-invalid: \/nowhere\.yaml/);
  });
});
