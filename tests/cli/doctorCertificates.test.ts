import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:tls';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  certificateChecks,
  checkServerCertificate,
  checkStoreCertificates,
  checkTemporalCertificates,
} from '../../cli/doctor/certificates';
import { checkDoor } from '../../cli/doctor/door';
import { certificatesForStores } from '../../settings/certificates';
import { appOf, FakePipelines } from '../builders/serverWorld';

const DAY_MS = 86_400_000;
const folder = mkdtempSync(join(tmpdir(), 'conveyor-certificates-'));
const file = (name: string): string => join(folder, name);
const servers: Server[] = [];
afterAll(() => {
  servers.forEach((server) => server.close());
  rmSync(folder, { recursive: true });
});

const story = spawnSync('openssl', ['version']).status === 0 ? test : test.skip;

/** A certificate of this minute that ends in so many days, and its key; with a negative number it has ended. */
function certificate(name: string, days: number): string {
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', `${name}.key`];
  openssl('req', ...key, '-subj', '/CN=localhost', '-out', `${name}.csr`);
  openssl(
    'x509',
    '-req',
    '-in',
    `${name}.csr`,
    '-signkey',
    `${name}.key`,
    '-days',
    String(days),
    '-out',
    `${name}.pem`,
  );
  return file(`${name}.pem`);
}

/** A server on this machine that shows a certificate; its port. */
async function shows(name: string, days: number): Promise<number> {
  const cert = readFileSync(certificate(name, days));
  const server = createServer({ cert, key: readFileSync(file(`${name}.key`)), ALPNProtocols: ['h2'] });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

const storeChecks = (tls: { readonly cert?: string; readonly ca?: string }, nowMs = Date.now()) =>
  certificateChecks(certificatesForStores([{ name: 'flags', tls }]), nowMs).map(({ name, state, found }) => ({
    ...{ name, state, found },
  }));

story(
  'a certificate is in order, a warning from 14 days and a third of its life on, and broken once it has ended, with its file and the day',
  () => {
    const cert = certificate('long', 60);
    const until = expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string;
    const name = 'client certificate for the store of flags';
    const [valid] = storeChecks({ cert });
    expect(valid).toMatchObject({ name, state: 'ok' });
    const [, end = ''] = /^valid until (\S+)$/.exec(valid?.found ?? '') ?? [];
    expect(end).toEqual(until);
    const endMs = Date.parse(end);
    expect(storeChecks({ cert }, endMs - 14 * DAY_MS)).toMatchObject([{ state: 'ok' }]);
    expect(storeChecks({ cert }, endMs - 14 * DAY_MS + 1)).toEqual([
      { name, state: 'warning', found: `${cert} expires in 14d, at ${end}` },
    ]);
    const short = certificate('short', 1);
    expect(storeChecks({ cert: short })).toMatchObject([{ state: 'ok' }]);
    expect(storeChecks({ cert: short }, Date.now() + 0.7 * DAY_MS)).toMatchObject([{ state: 'warning' }]);
    expect(storeChecks({ cert }, endMs + DAY_MS)).toEqual([
      { name, state: 'missing', found: `${cert} expired 1d ago, at ${end}: connections are refused` },
    ]);
    expect(storeChecks({ cert }, Date.now() - DAY_MS)).toMatchObject([
      { state: 'missing', found: expect.stringContaining('is valid only from') as string },
    ]);
  },
);

story('a chain ends with its first certificate, and authorities with their last', () => {
  const both = file('both.pem');
  writeFileSync(
    both,
    `${readFileSync(certificate('soon', 2), 'utf8')}${readFileSync(certificate('later', 30), 'utf8')}`,
  );
  const nowMs = Date.now() + 1.5 * DAY_MS;
  expect(storeChecks({ cert: both }, nowMs)).toMatchObject([{ state: 'warning' }]);
  expect(storeChecks({ ca: both }, nowMs)).toMatchObject([{ name: 'authority of the store of flags', state: 'ok' }]);
});

test('a file that is away or holds no certificate is broken', () => {
  writeFileSync(file('empty.pem'), 'nothing');
  expect(
    storeChecks({ cert: file('nowhere.pem'), ca: file('empty.pem') }).map(({ state, found }) => [state, found]),
  ).toEqual([
    ['missing', expect.stringMatching(/nowhere\.pem cannot be read: ENOENT/)],
    ['missing', expect.stringMatching(/empty\.pem cannot be read: there is no certificate in it/)],
  ]);
});

test('a certificate of a store that this machine does not have is a warning, since other machines may use it', () => {
  const config = file('conveyor.config.yaml');
  const etcd = {
    url: 'https://127.0.0.1:1',
    user: 'tailer',
    passwordEnv: 'NONE',
    cert: file('no.pem'),
    key: file('no.key'),
  };
  const repositories = { flags: { git: folder, etcd } };
  writeFileSync(config, JSON.stringify({ extensions: [], config: { repositories } }));
  expect(checkStoreCertificates({ CONVEYOR_CONFIG: config })).toMatchObject([
    { name: 'client certificate for the store of flags', state: 'warning' },
  ]);
});

story('a client certificate for Temporal that has ended is broken, and not Temporal', async () => {
  const port = await shows('temporal', 60);
  const env = {
    TEMPORAL_ADDRESS: `127.0.0.1:${port}`,
    TEMPORAL_TLS_CLIENT_CERT_PATH: certificate('ended', -1),
    TEMPORAL_TLS_CLIENT_KEY_PATH: file('ended.key'),
    TEMPORAL_CONFIG_FILE: file('none.toml'),
  };
  const checks = await checkDoor(
    env,
    {},
    { askServer: () => Promise.reject(new Error('asked')), sleep: () => Promise.resolve() },
  );
  expect(checks.map(({ name, state }) => [name, state])).toEqual([
    ['door', 'ok'],
    ['client certificate for Temporal', 'missing'],
    ['Temporal', 'warning'],
  ]);
});

story("a server's certificate is examined, even if it has expired or is not trusted", async () => {
  const [ended, valid] = [await shows('shown', -1), await shows('shownByTemporal', 3)];
  expect(await checkServerCertificate(`https://127.0.0.1:${ended}`)).toMatchObject([
    { name: 'certificate of the server', state: 'missing' },
  ]);
  const tls = { TEMPORAL_TLS: 'true', TEMPORAL_CONFIG_FILE: file('none.toml') };
  expect(await checkTemporalCertificates(tls, `localhost:${valid}`)).toMatchObject([
    { name: 'certificate of Temporal', state: 'ok' },
  ]);
});

story("a server's certificate is examined even if the server refuses the token", async () => {
  const app = appOf(new FakePipelines(), { reads: 'authenticated' });
  const server = `https://127.0.0.1:${await shows('shown', -1)}`;
  const checks = await checkDoor(
    { CONVEYOR_SERVER: server, CONVEYOR_TOKEN: 'guessed' },
    {},
    { askServer: async (url, request) => app.request(url, request), sleep: () => Promise.resolve() },
  );
  expect(checks.map(({ name, state }) => `${name}: ${state}`).slice(0, 2)).toEqual([
    ...['door: missing', 'certificate of the server: missing'],
  ]);
});

test('settings for Temporal that cannot be read are named, and end nothing', async () => {
  writeFileSync(file('broken.toml'), '[profile.default\n');
  expect(await checkTemporalCertificates({ TEMPORAL_CONFIG_FILE: file('broken.toml') }, '127.0.0.1:1')).toMatchObject([
    { name: 'settings for Temporal', state: 'missing' },
  ]);
});

test('without TLS there is nothing to look at', async () => {
  expect(await checkServerCertificate('http://127.0.0.1:1')).toEqual([]);
  expect(await checkTemporalCertificates({ TEMPORAL_CONFIG_FILE: file('none.toml') }, '127.0.0.1:1')).toBeUndefined();
});

story('a certificate that Temporal shows and that has ended hides nothing of Temporal', async () => {
  const port = await shows('shownEnded', -1);
  const env = {
    ...{ TEMPORAL_TLS: 'true', TEMPORAL_TLS_SERVER_NAME: 'temporal.internal' },
    ...{ TEMPORAL_ADDRESS: `127.0.0.1:${port}`, TEMPORAL_CONFIG_FILE: file('none.toml') },
  };
  const checks = await checkDoor(
    env,
    {},
    { askServer: () => Promise.reject(new Error('asked')), sleep: () => Promise.resolve() },
  );
  expect(checks.map(({ name, state }) => [name, state])).toEqual(
    expect.arrayContaining([
      ['certificate of Temporal', 'missing'],
      ['Temporal', 'missing'],
    ]),
  );
});
