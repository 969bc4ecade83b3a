import { chmodSync, copyFileSync, readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { AGENT_LIMITS } from '../../../push-types/slowroll/agent/limits';
import { parseSettings, readAgentSecrets } from '../../../push-types/slowroll/agent/settings';
import { AgentHost } from '../../builders/agentHost';
import { FakeManifestServer } from '../../builders/manifestServer';
import { makeCertificates } from '../../configerator/certificates';

/** The flags and files of an agent. */

const NEEDED = ['--manifests', 'https://slowroll.example.com', '--token-file', 'token', '--keys', 'keys.pem'];

describe('the flags', () => {
  test('have defaults for everything but the server and its files', () => {
    const { server, home, labels, spreadMs, allowsHttp } = parseSettings(NEEDED);
    expect([server.href, home, labels, spreadMs, allowsHttp]).toEqual([
      ...['https://slowroll.example.com/', '/var/lib/conveyor-agent', {}, 10_000, false],
    ]);
  });

  test.each<[string, readonly string[], unknown]>([
    [
      'a server below a path',
      ['--manifests', 'https://example.com/agents'],
      { server: new URL('https://example.com/agents/') },
    ],
    [
      'plain http on this machine',
      ['--manifests', 'http://127.0.0.1:4651'],
      { server: new URL('http://127.0.0.1:4651/') },
    ],
    ['plain http in a trusted network', ['--manifests', 'http://10.0.0.1', '--allow-http'], { allowsHttp: true }],
    ['labels', ['--label', 'region=eu', '--label', 'a=b=c'], { labels: { region: 'eu', a: 'b=c' } }],
    ['another folder and pace', ['--home', '/srv/agent', '--spread', '0.5'], { home: '/srv/agent', spreadMs: 500 }],
  ])('take %s', (_, flags, expected) => expect(parseSettings([...NEEDED, ...flags])).toMatchObject(expected as object));

  test.each<[string, readonly string[], string]>([
    ['no keys', ['--keys', ''], '--keys is missing'],
    ['a server that is no URL', ['--manifests', 'slowroll'], '--manifests slowroll: expected a URL'],
    [
      'plain http to another machine',
      ['--manifests', 'http://10.0.0.1'],
      'is not encrypted: use https, or --allow-http',
    ],
    ['another protocol', ['--manifests', 'ftp://10.0.0.1'], 'ftp is neither https nor http'],
    ['a name that is no host', ['--host', '../x'], '--host ../x: expected letters'],
    ['a label without a value', ['--label', 'region'], '--label region: expected a pair'],
    ['a certificate without its key', ['--cert', 'x'], '--cert and --key are needed together'],
    ['a pace that is no number', ['--spread', 'soon'], '--spread soon: expected a number'],
    ['a flag that does not exist', ['--servers', 'x'], "Unknown option '--servers'"],
  ])('refuse %s', (_, flags, reason) => expect(() => parseSettings([...NEEDED, ...flags])).toThrow(reason));
});

test('a token is needed, unless a certificate stands for the host', () => {
  const withoutToken = NEEDED.filter((_, index) => index < 2 || index > 3);
  expect(() => parseSettings(withoutToken)).toThrow(
    '--token-file is missing: the server knows this host by a token, or',
  );
  const { files } = parseSettings([...withoutToken, '--cert', 'host.pem', '--key', 'host.key']);
  expect(files).toMatchObject({ cert: 'host.pem', key: 'host.key' });
  expect(files.token).toBeUndefined();
});

describe('a server with TLS', () => {
  const fake = new FakeManifestServer();
  let host: AgentHost;
  let files: ReturnType<typeof makeCertificates>;
  let tls: ReturnType<typeof createServer>;
  let url = '';

  beforeAll(async () => {
    files = makeCertificates();
    host = new AgentHost(fake);
    const read = (name: 'ca' | 'cert' | 'key'): Buffer => readFileSync(files.files[name]);
    tls = createServer(
      { ca: read('ca'), cert: read('cert'), key: read('key'), requestCert: true, rejectUnauthorized: true },
      (request, response) => void fake.answer(request, response),
    );
    await fake.start();
    await new Promise<void>((resolve) => tls.listen(0, '127.0.0.1', resolve));
    url = `https://127.0.0.1:${(tls.address() as AddressInfo).port}/`;
    copyFileSync(files.client.key, host.file('client.key'));
    chmodSync(host.file('client.key'), 0o600);
    fake.want([fake.offer('1.0', 1)]);
  });
  afterAll(async () => {
    tls.closeAllConnections();
    tls.close();
    await fake.stop();
    host.close();
  });

  const round = async (change: { ca?: string; cert?: string; key?: string }): Promise<string> => {
    const secrets = { token: host.file('token'), keys: host.file('keys.pem'), ...change };
    host.lines.length = 0;
    await host.agent({ server: new URL(url), readSecrets: () => readAgentSecrets(secrets) }).round();
    return host.lines.join('\n');
  };

  test('is trusted by its authority alone, and gets the certificate of the host', async () => {
    const client = { cert: files.client.cert, key: host.file('client.key') };
    expect(await round(client)).toMatch(/self-signed|unable to (get|verify)/);
    expect(await round({ ca: files.files.ca })).toMatch(/certificate required|socket hang up|ECONNRESET/i);
    expect(host.current()).toBe('');
    expect(await round({ ca: files.files.ca, ...client })).toContain('shop: 1.0 runs');
    expect(host.current()).toBe('1.0');
  });

  test('gets no certificate whose key others can read', async () => {
    chmodSync(host.file('client.key'), 0o644);
    const client = { cert: files.client.cert, key: host.file('client.key') };
    expect(await round({ ca: files.files.ca, ...client })).toContain(
      'client.key has the mode 644, so others can read it',
    );
  });
});

test('docs/reference/agent.md has every limit, and every flag', () => {
  const page = readFileSync(join(__dirname, '../../../docs/reference/agent.md'), 'utf8');
  const units: readonly (readonly [size: number, name: string])[] = [
    [1024 ** 3, 'GB'],
    [1024 ** 2, 'MB'],
    [1024, 'kB'],
  ];
  const write = (name: string, value: number): string => {
    const [size, unit] = units.find(([one]) => value >= one) ?? [1, ''];
    if (name.endsWith('Bytes')) return `${value / size} ${unit}`;
    return `${value.toLocaleString('en')}${name.endsWith('Characters') ? ' characters' : ''}`;
  };
  const [, table = ''] = page.split('## Limits of an agent');
  const values = [...table.matchAll(/\| ([^|]+) \|$/gm)].map(([, value = '']) => value).slice(1);
  expect(values).toEqual(Object.entries(AGENT_LIMITS).map(([name, value]) => write(name, value)));
  const flags = NEEDED.concat('--host', '--home', '--label', '--ca', '--cert', '--key', '--allow-http', '--spread');
  for (const flag of flags.filter((one) => one.startsWith('--'))) expect(page).toContain(`\`${flag}`);
});
