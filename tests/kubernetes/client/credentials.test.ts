import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { connectCluster } from '../../../push-types/kubernetes/client/connection';
import type { CredentialSource, ExecPlugin, PemSource } from '../../../push-types/kubernetes/client/access';
import { makeCertificates } from '../../configerator/certificates';
import { accessTo } from '../fake/connect';
import { FakeApiServer, type FakeServerOptions } from '../fake/server';
import { FakeStore } from '../fake/store';

const folder = mkdtempSync(join(tmpdir(), 'conveyor-credentials-'));
afterAll(() => rmSync(folder, { recursive: true }));

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
});

const REF = { kind: 'Namespace', name: 'shop' } as const;

interface Opening extends Omit<FakeServerOptions, 'store'> {
  readonly authority?: PemSource;
  readonly now?: () => number;
  readonly env?: NodeJS.ProcessEnv;
}

async function open(credentials: CredentialSource, { authority, now, env, ...options }: Opening = {}) {
  const store = new FakeStore();
  store.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
  const server = await FakeApiServer.open({ ...options, store });
  const access = { ...accessTo(server.url, credentials), authority };
  const api = connectCluster(access, { ...(now && { now }), env: env ?? process.env });
  opened.push(api, server);
  return { api, server, tokens: () => server.seen.map(({ authorization }) => authorization) };
}

/** A plug-in that counts its runs in a file, and prints what a test wants. */
function plantPlugin(body: string): { readonly plugin: ExecPlugin; readonly countRuns: () => number } {
  const place = mkdtempSync(join(folder, 'plugin-'));
  const [command, runs] = [join(place, 'login'), join(place, 'runs')];
  writeFileSync(runs, '');
  writeFileSync(command, `#!/bin/sh\necho run >>${runs}\nN=$(wc -l <${runs})\n${body}\n`);
  chmodSync(command, 0o755);
  const plugin: ExecPlugin = {
    ...{ apiVersion: 'client.authentication.k8s.io/v1', command, args: ['eu'], env: { REGION: 'eu' } },
    ...{ installHint: 'install login from the platform', cluster: undefined },
  };
  return { plugin, countRuns: () => readFileSync(runs, 'utf8').split('\n').length - 1 };
}

const print = (status: string): string =>
  `printf '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":${status}}' "$N"`;

describe('a token', () => {
  test('is sent with each request', async () => {
    const { api, tokens } = await open({ kind: 'token', token: 't0ken' });
    await api.get(REF);
    expect(tokens()).toEqual(['Bearer t0ken']);
  });

  test('in a file is read again for each request, because its owner rotates it', async () => {
    const file = join(folder, 'token');
    writeFileSync(file, 'one\n', { mode: 0o600 });
    const { api, tokens } = await open({ kind: 'tokenFile', file });
    await api.get(REF);
    writeFileSync(file, 'two\n', { mode: 0o600 });
    await api.get(REF);
    expect(tokens()).toEqual(['Bearer one', 'Bearer two']);
  });
});

describe('a plug-in', () => {
  test('runs once for requests that come together, and again shortly before its credentials expire', async () => {
    const { plugin, countRuns } = plantPlugin(print('{"token":"t%s","expirationTimestamp":"2030-01-01T00:10:00Z"}'));
    let nowMs = Date.parse('2030-01-01T00:00:00Z');
    const { api, tokens } = await open({ kind: 'exec', plugin }, { now: () => nowMs });
    await Promise.all([api.get(REF), api.get(REF)]);
    nowMs += 9 * 60_000;
    await api.get(REF);
    expect([countRuns(), new Set(tokens())]).toEqual([1, new Set(['Bearer t1'])]);
    nowMs += 51_000;
    await api.get(REF);
    expect([countRuns(), tokens().at(-1)]).toEqual([2, 'Bearer t2']);
  });

  test('runs again once if the server refuses its credentials, and no more than that', async () => {
    const { plugin, countRuns } = plantPlugin(print('{"token":"t%s"}'));
    const { api } = await open(
      { kind: 'exec', plugin },
      { accepts: ({ headers }) => headers.authorization === 'Bearer t2' },
    );
    expect((await api.get(REF))?.metadata.name).toBe('shop');
    const other = await open({ kind: 'exec', plugin }, { accepts: () => false });
    await expect(other.api.get(REF)).rejects.toMatchObject({ kind: 'Unauthorized' });
    expect(countRuns()).toBe(4);
  });

  test('gets its arguments, its environment and the question in the form of the protocol', async () => {
    const { plugin } = plantPlugin(
      `I=$(printf '%s' "$KUBERNETES_EXEC_INFO" | base64 -w0)\nprintf '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"%s.%s.%s"}}' "$1" "$REGION" "$I"`,
    );
    const { api, tokens } = await open({ kind: 'exec', plugin: { ...plugin, cluster: { server: 'https://eu' } } });
    await api.get(REF);
    const [argument, region, info = ''] = (tokens()[0] ?? '').replace('Bearer ', '').split('.');
    expect([argument, region]).toEqual(['eu', 'eu']);
    expect(JSON.parse(Buffer.from(info, 'base64').toString())).toEqual({
      ...{ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential' },
      spec: { interactive: false, cluster: { server: 'https://eu' } },
    });
  });

  test.each<[string, string, RegExp]>([
    [
      'fails',
      'echo "log in first" >&2; exit 3',
      /login, which prints the credentials of the cluster, ended with code 3: log in first/,
    ],
    ['prints something else', 'echo hello', /printed no ExecCredential: the output: /],
    [
      'prints no credentials',
      print('{}'),
      /printed no ExecCredential: status: expected a token, or a client certificate/,
    ],
    [
      'speaks another version',
      `echo '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1","status":{"token":"x"}}'`,
      /printed client\.authentication\.k8s\.io\/v1beta1, and the kubeconfig names client\.authentication\.k8s\.io\/v1/,
    ],
  ])('that %s is named with the reason, and nothing is sent', async (_, body, message) => {
    const { api, server } = await open({ kind: 'exec', plugin: plantPlugin(body).plugin });
    await expect(api.get(REF)).rejects.toThrow(message);
    expect(server.seen).toEqual([]);
  });

  test('that is not installed is named with the hint of the kubeconfig', async () => {
    const { plugin } = plantPlugin('');
    const { api } = await open({ kind: 'exec', plugin: { ...plugin, command: join(folder, 'missing') } });
    await expect(api.get(REF)).rejects.toThrow(/cannot be started: .*; install login from the platform/);
  });
});

describe('a server with TLS', () => {
  const made = makeCertificates();
  const [cert, key] = [readFileSync(made.files.cert, 'utf8'), readFileSync(made.files.key, 'utf8')];

  test('is trusted by the authority of the kubeconfig alone', async () => {
    const trusted = await open({ kind: 'none' }, { tls: { cert, key }, authority: { text: made.certificates.ca } });
    expect((await trusted.api.get(REF))?.metadata.name).toBe('shop');
    const stranger = await open({ kind: 'token', token: 't0ken' }, { tls: { cert, key } });
    await expect(stranger.api.get(REF)).rejects.toThrow(/certificate|issuer/);
    expect(stranger.server.seen).toEqual([]);
  });

  test('knows us by a certificate, from its file as it is now', async () => {
    const [certificate, clientKey] = [join(folder, 'client.pem'), join(folder, 'client.key')];
    writeFileSync(certificate, made.certificates.cert);
    writeFileSync(clientKey, made.certificates.key, { mode: 0o600 });
    const seen: boolean[] = [];
    const { api } = await open(
      { kind: 'certificate', certificate: { file: certificate }, key: { file: clientKey } },
      {
        ...{ tls: { cert, key, ca: made.certificates.ca, requestCert: true, rejectUnauthorized: false } },
        ...{ authority: { file: made.files.ca } },
        accepts: ({ socket }) => seen.push((socket as TLSSocket).authorized) > 0,
      },
    );
    await api.get(REF);
    // Another authority's certificate: the next request uses it, on a connection of its own.
    const other = makeCertificates();
    writeFileSync(certificate, other.certificates.cert);
    writeFileSync(clientKey, other.certificates.key, { mode: 0o600 });
    await api.get(REF);
    expect(seen).toEqual([true, false]);
  });
});
