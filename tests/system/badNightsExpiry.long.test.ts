import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { freePorts } from '../../cli/stack/ports';
import type { Me } from '../../client/operations/questions';
import { startFront, type Front } from './front';
import { CLIENT, Guard } from './guard';
import { containing, Night } from './night';
import { Processes } from './process';
import { startTemporal } from './server';
import { given } from './service';
import { Stack } from './stack';

/**
 * Tokens and certificates expire by real clocks: doctor first warns, and then names the expired one and blames nothing
 * else. This file has its own Temporal, since doctor sees the finders of all workers on a server.
 */
const processes = new Processes();
const folder = mkdtempSync(join(tmpdir(), 'conveyor-expiry-'));
const file = (name: string): string => join(folder, name);
const CERTIFICATE = file('client.pem');
/** The lifetime of the certificate: long enough that the stack is up by then on a busy machine. */
const LASTS_MS = 210_000;

let [guard, stack, front, night] = [] as unknown as [Guard, Stack, Front, Night];
let [issuer, token] = [] as unknown as [Server, (leftMs: number) => Promise<string>];
let pipeline = '';
let endsAtMs = 0;

beforeAll(async () => {
  const [port = 0] = await freePorts(1);
  await startTemporal(processes, { home: folder, port, data: 'memory' });
  const temporal = `127.0.0.1:${port}`;
  issueCertificates();
  [issuer, token] = await startIssuer();
  guard = await Guard.before(temporal, readFileSync(file('authority.pem')));
  const client = { TEMPORAL_TLS_CLIENT_CERT_PATH: CERTIFICATE, TEMPORAL_TLS_CLIENT_KEY_PATH: file('client.key') };
  stack = await Stack.open({
    temporal,
    config: { signIn: [{ issuer: addressOf(issuer), audience: 'conveyor' }] },
    env: { ...CLIENT, ...client, TEMPORAL_ADDRESS: guard.address },
  });
  pipeline = (await given(stack)).name;
  front = await startFront(stack);
  night = new Night(stack, () => front);
});
afterAll(async () => {
  await stack.close();
  guard.close();
  issuer.close();
  await processes.reap();
  rmSync(folder, { recursive: true, force: true });
});

const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });

/** A client certificate that expires soon, long after its creation, and the authority that issued it. */
function issueCertificates(): void {
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl('req', '-x509', ...key, '-subj', '/CN=authority', '-keyout', 'authority.key', '-out', 'authority.pem');
  openssl('req', ...key, '-subj', '/CN=conveyor', '-keyout', 'client.key', '-out', 'client.csr');
  writeFileSync(file('index.txt'), '');
  const policy = '[policy]\ncommonName = supplied\n';
  // Workers do not accept version 1 of X.509.
  const extensions = '[of_clients]\nbasicConstraints = CA:false\nextendedKeyUsage = clientAuth\n';
  const settings = `database = index.txt\nrand_serial = yes\nnew_certs_dir = .\ndefault_md = sha256\npolicy = policy\nx509_extensions = of_clients\n`;
  writeFileSync(file('ca.cnf'), `[ca]\ndefault_ca = own\n[own]\n${settings}${policy}${extensions}`);
  endsAtMs = Math.ceil((Date.now() + LASTS_MS) / 1000) * 1000;
  const asTime = (ms: number): string => new Date(ms).toISOString().replace(/[-:T]|\.\d+/g, '');
  const when = ['-startdate', asTime(endsAtMs - 86_400_000), '-enddate', asTime(endsAtMs)];
  const authority = ['-cert', 'authority.pem', '-keyfile', 'authority.key'];
  openssl(
    'ca',
    '-batch',
    '-notext',
    '-config',
    'ca.cnf',
    ...authority,
    ...when,
    '-in',
    'client.csr',
    '-out',
    'client.pem',
  );
}

const addressOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

/** An identity provider, and its tokens for alice. */
async function startIssuer(): Promise<[Server, typeof token]> {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const key = { ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256', use: 'sig' };
  const server = createServer((request, response) => {
    const isDiscovery = request.url?.startsWith('/.well-known');
    const about = { issuer: addressOf(server), jwks_uri: `${addressOf(server)}/keys` };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(isDiscovery ? about : { keys: [key] }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const sign = (leftMs: number): Promise<string> => {
    const exp = Math.floor((Date.now() + leftMs) / 1000);
    return new SignJWT({ iss: addressOf(server), aud: 'conveyor', sub: 'alice', exp })
      .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
      .sign(privateKey);
  };
  return [server, sign];
}

const ENDING = 'conveyor_certificate_ending{certificate="client certificate for Temporal"}';

const withToken = async (leftMs: number) => ({ CONVEYOR_SERVER: front.url, CONVEYOR_TOKEN: await token(leftMs) });

test('a certificate that ends soon is a warning on both sides, and all works', async () => {
  const end = new Date(endsAtMs).toISOString();
  const [here, behind] = await Promise.all([night.doctor(), night.throughServer()]);
  expect([here.code, here.broken, behind.code, behind.broken]).toEqual([0, {}, 0, {}]);
  const found = expect.stringMatching(`^${CERTIFICATE} expires in .*, at ${end}$`) as string;
  const how = expect.stringContaining('put a new one there') as string;
  expect(here.all['client certificate for Temporal']).toMatchObject({ state: 'warning', found, how });
  expect(behind.all['client certificate for Temporal of the server']).toMatchObject({ state: 'warning', found, how });
  await night.isReady();
  expect(await night.metric(ENDING)).toBe(1);
  expect(await night.status(pipeline)).toMatchObject({ code: 0, error: '', shown: containing(pipeline) });
});

test('a sign-in that ends soon is a warning, a token of a service has no end, and both work', async () => {
  const mine = await withToken(300_000);
  const { all } = await night.doctor(mine);
  expect(all['door']?.state).toBe('ok');
  expect(all['token']).toMatchObject({
    ...{ state: 'warning', found: expect.stringMatching(/^expires in (4m|5m).*, at 20/) as string },
    how: `conveyor login ${front.url}, or another CONVEYOR_TOKEN`,
  });
  expect(await night.status(pipeline, mine)).toMatchObject({ code: 0, error: '', shown: containing(pipeline) });
  expect(await stack.json<Me>(['whoami'], mine)).toMatchObject({ principal: 'user:alice', door: 'oidc' });
  expect(Object.keys((await night.throughServer()).all)).not.toContain('token');
});

test('a sign-in that has just ended is said to have ended while servers still take it', async () => {
  const { all } = await night.doctor(await withToken(-5_000));
  expect(all['door']?.state).toBe('ok');
  expect(all['token']?.found).toMatch(/^expired \d+s ago, at .*: servers accept it/);
});

test('a sign-in that has ended is the door that is broken, and the server stays ready', async () => {
  const mine = await withToken(-120_000);
  const { code, broken, all } = await night.doctor(mine);
  expect([code, Object.keys(broken)]).toEqual([1, ['door']]);
  expect(broken['door']).toMatchObject({
    found: expect.stringContaining('the token has expired') as string,
    how: `conveyor login ${front.url}`,
  });
  expect(all['extensions']?.state).toBe('warning');
  expect(await night.hold(pipeline, mine)).toEqual({
    ...{ code: 4, shown: '', hint: containing('conveyor login') },
    error: expect.stringMatching(/unauthorized.*expired/) as string,
  });
  await night.isReady();
});

test('a certificate that has ended is named on both sides, and Temporal is not called frozen', async () => {
  await wait(Math.max(0, endsAtMs + 2_000 - Date.now()));
  // An open connection may stay open for long; the next one is refused.
  guard.drop();
  const unready = await night.isUnready();
  expect([Object.keys(unready.lacks), unready.metric]).toEqual([...[['temporal', 'worker']], ['temporal', 'worker']]);
  const ended = `; client certificate for Temporal expired at ${new Date(endsAtMs).toISOString()}`;
  expect(unready.lacks['temporal']).toContain(ended);
  expect(await night.metric(ENDING)).toBe(1);
  const asked = [night.hold(pipeline), night.status(pipeline)] as const;
  const [here, behind, ...answers] = await Promise.all([night.doctor(), night.throughServer(), ...asked] as const);
  expect([behind.code, Object.keys(behind.broken)]).toEqual([1, ['temporal of the server']]);
  expect(behind.broken['temporal of the server']?.found).toContain(ended);
  expect([here.code, Object.keys(here.broken)]).toEqual([1, ['client certificate for Temporal']]);
  expect(here.broken['client certificate for Temporal']?.found).toMatch(
    /expired \d+.* ago, at .*: connections are refused$/,
  );
  expect(here.all['Temporal']).toMatchObject({ state: 'warning', how: 'repair the certificate first' });
  for (const answer of answers) expect(answer).toMatchObject({ code: 1, hint: containing('a certificate is refused') });
});
