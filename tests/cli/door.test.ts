import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bypassServer } from '../../cli/door';
import { credentialsFile } from '../../cli/login/credentials';
import { run, type World } from '../builders/cliWorld';
import { appOf, FakePipelines, TOKEN } from '../builders/serverWorld';

const URL = 'http://localhost:4500';
const folder = mkdtempSync(join(tmpdir(), 'conveyor-door-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A person whose files begin empty, and a server that knows the token of `service:ci`. */
function world(over: Partial<World> = {}) {
  const pipelines = new FakePipelines();
  const app = appOf(pipelines, { groups: { storage: ['service:ci'] }, reads: 'authenticated' });
  const urls: string[] = [];
  const config = mkdtempSync(join(folder, 'home-'));
  const fetch: World['fetch'] = (url, init) => {
    urls.push(url as string);
    return Promise.resolve(app.request(url as string, init));
  };
  const env = { XDG_CONFIG_HOME: config, ...over.env };
  const file = credentialsFile(env) ?? '';
  const type = (line: string, more: Partial<World> = {}) =>
    run(line.split(' '), { fetch, ...over, ...more, env: { ...env, ...more.env } });
  return { pipelines, urls, file, type, login: () => type(`login ${URL} --token-stdin`, { input: `${TOKEN}\n` }) };
}

const direct = { client: { listPipelines: () => Promise.resolve([]) } };

describe('without a named server', () => {
  test('commands go to Temporal, as they always did', async () => {
    const { type, urls } = world(direct);
    expect(await type('list pipelines --address here:7233')).toMatchObject({
      ...{ code: 0, err: '' },
      connections: [{ address: 'here:7233' }],
    });
    expect(urls).toEqual([]);
  });

  test('whoami shows that the identity is not verified', async () => {
    expect((await world().type('whoami')).out).toBe(
      'user:alice, unverified: commands go to Temporal, which does not check identities\n',
    );
  });
});

describe('conveyor login', () => {
  test('keeps server and token where only its owner reads them, and commands go through the server from then on', async () => {
    const { login, type, file, pipelines } = world();
    const done = await login();
    expect([done.code, done.out]).toEqual([0, `✔ service:ci at ${URL}; conveyor logout removes ${file}\n`]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(file, '..')).mode & 0o777).toBe(0o700);
    expect(readdirSync(join(file, '..'))).toEqual(['credentials.json']);
    const held = await type('hold kvstore --reason later');
    expect([held.code, held.connections]).toEqual([0, []]);
    expect(pipelines.calls).toEqual([['command', 'kvstore', 'hold', { reason: 'later', actor: 'service:ci' }]]);
  });

  test('replaces what was there, and logout leaves nothing', async () => {
    const { login, type, file } = world(direct);
    await login();
    await login();
    expect((await type('logout')).out).toBe('logged out\n');
    expect(existsSync(file)).toBe(false);
    expect((await type('logout')).out).toBe('not logged in\n');
    expect((await type('list pipelines')).connections).toHaveLength(1);
  });

  test('takes CONVEYOR_TOKEN where no person is', async () => {
    const { type, file } = world();
    await type(`login ${URL}`, { env: { CONVEYOR_TOKEN: TOKEN } });
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ server: URL, token: TOKEN });
  });

  test.each<[what: string, line: string, more: Partial<World>, says: RegExp]>([
    ['a token that the server does not know', `login ${URL} --token-stdin`, { input: 'another-token' }, /unauthorized/],
    ['nothing that says who it is', `login ${URL}`, {}, /you have no token.*--token-stdin/s],
    ['no token at all', `login ${URL} --token-stdin`, { input: '\n' }, /there is no token in the standard input/],
    [
      'two words',
      `login ${URL} --token-stdin`,
      { input: 'another token' },
      /the standard input does not contain a token/,
    ],
    ['a server in the open', 'login http://conveyor.internal --token-stdin', { input: TOKEN }, /not encrypted/],
    ['no address', 'login conveyor --token-stdin', { input: TOKEN }, /that is not a server address/],
  ])('refuses %s, keeps nothing and repeats no token', async (_what, line, more, says) => {
    const { type, file } = world();
    const { code, out, err } = await type(line, more);
    expect([code > 0, `${out}${err}`]).toEqual([true, expect.stringMatching(says)]);
    expect(`${out}${err}`).not.toMatch(/another.token|the-token/);
    expect(existsSync(file)).toBe(false);
  });

  test('to a server in the open is remembered with what was said of it', async () => {
    const { type, urls } = world();
    await type('login http://conveyor.internal --token-stdin --insecure', { input: TOKEN });
    expect((await type('list pipelines')).code).toBe(0);
    expect(urls.at(-1)).toBe('http://conveyor.internal/v1/pipelines?limit=50');
  });
});

describe('a file of credentials', () => {
  test.each<[what: string, spoil: (file: string) => void, says: RegExp]>([
    ['that others may read', (file) => chmodSync(file, 0o640), /others may read it \(mode 640\)/],
    ['that is none', (file) => writeFileSync(file, '{"server": 1}'), /conveyor login did not write it/],
    ['that is not JSON', (file) => writeFileSync(file, TOKEN), /conveyor login did not write it/],
  ])('%s is not used, nor is Temporal instead; logout removes it', async (_what, spoil, says) => {
    const { login, type, file, urls } = world(direct);
    await login();
    spoil(file);
    urls.length = 0;
    const { code, err, connections } = await type('list pipelines');
    expect([code, connections, urls]).toEqual([2, [], []]);
    expect(err).toMatch(says);
    expect(err).not.toContain(TOKEN);
    expect((await type('logout')).code).toBe(0);
    expect((await type('list pipelines')).code).toBe(0);
  });
});

describe('the server and the identity there', () => {
  test('--server comes before CONVEYOR_SERVER, and that before login; a token goes to the server it was kept for alone', async () => {
    const { login, type, urls } = world();
    await login();
    const other = await type('list pipelines', { env: { CONVEYOR_SERVER: 'https://b.example' } });
    expect([other.code, other.err]).toEqual([4, expect.stringContaining('there is no bearer token')]);
    await type('list pipelines --server https://a.example', { env: { CONVEYOR_SERVER: 'https://b.example' } });
    expect(urls.slice(1).map((url) => url.slice(0, 17))).toEqual(['https://b.example', 'https://a.example']);
    expect((await type(`list pipelines --server ${URL}/`)).code).toBe(0);
  });

  test('CONVEYOR_TOKEN comes before the token of login', async () => {
    const { login, type } = world();
    await login();
    expect((await type('whoami', { env: { CONVEYOR_TOKEN: 'another' } })).err).toContain('unauthorized');
    const env = { CONVEYOR_SERVER: URL, CONVEYOR_TOKEN: TOKEN };
    expect((await world({ env }).type('whoami')).out).toBe(`service:ci at ${URL}, by token\nmember of group:storage\n`);
  });

  test('CONVEYOR_ACTOR counts for nothing, which is said', async () => {
    const { type, pipelines } = world({
      env: { CONVEYOR_SERVER: URL, CONVEYOR_TOKEN: TOKEN, CONVEYOR_ACTOR: 'user:bob' },
    });
    const { err } = await type('release kvstore -a source=12');
    expect(err.match(/CONVEYOR_ACTOR/g)).toHaveLength(1);
    expect((await type('hold kvstore --reason r', { env: { CONVEYOR_ACTOR: 'no principal' } })).code).toBe(0);
    const [, , , trigger] = pipelines.calls[0] ?? [];
    expect(trigger).toMatchObject({ kind: 'manual', actor: 'service:ci' });
  });

  test('an invalid token stops the command before any request, and is not repeated', async () => {
    const { type, urls } = world({ env: { CONVEYOR_SERVER: URL, CONVEYOR_TOKEN: 'two words' } });
    const { code, err } = await type('list pipelines');
    expect([code, err, urls]).toEqual([2, expect.not.stringContaining('two words'), []]);
  });
});

test('the owner of a first pipeline is the identity on the server, and a server that is gone prevents no writing', async () => {
  const { login, type, file } = world();
  await login();
  const path = join(file, '../a.yaml');
  expect((await type(`init a --file ${path}`)).out).toContain('owned by service:ci');
  const gone = await type(`init b --file ${join(file, '../b.yaml')}`, { env: { CONVEYOR_TOKEN: 'another' } });
  expect([gone.code, gone.out, gone.err]).toEqual([
    0,
    expect.stringContaining('owned by user:alice'),
    expect.stringContaining('correct owners in the file'),
  ]);
});

describe('going past a server', () => {
  const env = { CONVEYOR_SERVER: URL, CONVEYOR_TOKEN: TOKEN };

  test.each(['--address here:7233', '--namespace other', '--task-queue mine'])(
    '%s does not, and says how to',
    async (flag) => {
      const { type } = world({ env, ...direct });
      const { code, err, connections } = await type(`list pipelines ${flag}`);
      expect([code, connections]).toEqual([2, []]);
      expect(err).toMatch(/is for Temporal itself.*localhost:4500 \(CONVEYOR_SERVER\).*--break-glass/s);
    },
  );

  test('takes a reason, and is said', async () => {
    const { type, urls } = world({ env, ...direct });
    const flag = await type('list pipelines --break-glass gone --address here:7233');
    expect([flag.code, flag.connections]).toEqual([0, [{ address: 'here:7233' }]]);
    expect(flag.err).toBe('note: break-glass: this command goes to Temporal directly, bypassing the server: gone\n');
    const variable = await type('list pipelines', { env: { CONVEYOR_BREAK_GLASS: 'it is gone' } });
    expect([variable.connections, variable.err]).toEqual([
      [{}],
      expect.stringContaining('bypassing the server: it is gone'),
    ]);
    expect((await run(['list', 'pipelines', '--break-glass', ' '], { env })).code).toBe(2);
    expect(urls).toEqual([]);
  });

  test('is what a development stack prints to do, where a server was named', () => {
    expect([bypassServer({}), bypassServer(env)]).toEqual([{}, { CONVEYOR_BREAK_GLASS: 'development' }]);
  });
});
