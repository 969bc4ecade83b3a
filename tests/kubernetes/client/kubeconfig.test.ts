import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { parseKubeconfig, readInClusterAccess, readKubeconfig } from '../../../push-types/kubernetes/client/kubeconfig';

const encode = (text: string): string => Buffer.from(text).toString('base64');

const cluster = (fields: object = {}) => ({ server: 'https://eu.example:6443', ...fields });

/** A kubeconfig with one context `eu`. */
const config = (user: object, fields: object = {}, context: object = {}): string =>
  stringify({
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'eu' },
    clusters: [{ name: 'c', cluster: cluster(fields) }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'eu', context: { cluster: 'c', user: 'u', ...context } }],
  });

const place = { place: 'kubeconfig', folder: '/etc/conveyor' };
const read = (user: object, fields?: object) => parseKubeconfig(config(user, fields), place);

describe('a kubeconfig that kubectl accepts', () => {
  test.each<[string, object, object]>([
    ['a token', { token: 't0ken' }, { kind: 'token', token: 't0ken' }],
    ['a file with a token, relative to it', { tokenFile: 'token' }, { kind: 'tokenFile', file: '/etc/conveyor/token' }],
    ['a file rather than a token, if it has both', { token: 'a', tokenFile: '/t' }, { kind: 'tokenFile', file: '/t' }],
    [
      'a client certificate in it',
      { 'client-certificate-data': encode('cert'), 'client-key-data': encode('key') },
      { kind: 'certificate', certificate: { text: 'cert' }, key: { text: 'key' } },
    ],
    [
      'a client certificate in files',
      { 'client-certificate': 'a.pem', 'client-key': '/keys/a.key' },
      { kind: 'certificate', certificate: { file: '/etc/conveyor/a.pem' }, key: { file: '/keys/a.key' } },
    ],
    ['no credentials', {}, { kind: 'none' }],
  ])('gives access by %s', (_, user, credentials) => {
    expect(read(user)).toMatchObject({ name: 'eu', namespace: 'default', credentials });
  });

  test('gives access by a plug-in, which is found beside it and gets its cluster if it wants it', () => {
    const exec = {
      ...{
        apiVersion: 'client.authentication.k8s.io/v1',
        command: './login',
        args: ['--eu'],
        provideClusterInfo: true,
      },
      ...{ env: [{ name: 'REGION', value: 'eu' }], installHint: 'install login', interactiveMode: 'Never' },
    };
    expect(read({ exec }, { 'certificate-authority-data': encode('ca') }).credentials).toEqual({
      kind: 'exec',
      plugin: {
        ...{ apiVersion: 'client.authentication.k8s.io/v1', command: '/etc/conveyor/login', args: ['--eu'] },
        ...{ env: { REGION: 'eu' }, installHint: 'install login' },
        cluster: expect.objectContaining({
          server: 'https://eu.example:6443',
          'certificate-authority-data': encode('ca'),
        }),
      },
    });
  });

  test('names the authority, the name in its certificate and the namespace', () => {
    const text = config({}, { 'certificate-authority': 'ca.pem', 'tls-server-name': 'api' }, { namespace: 'shop' });
    expect(parseKubeconfig(text, place)).toMatchObject({
      ...{ authority: { file: '/etc/conveyor/ca.pem' }, serverName: 'api', namespace: 'shop' },
    });
  });

  test('is read from its file, with the context that is named', () => {
    const folder = mkdtempSync(join(tmpdir(), 'conveyor-kubeconfig-'));
    const file = join(folder, 'config');
    writeFileSync(file, config({ token: 'secret' }), { mode: 0o600 });
    expect(readKubeconfig(file, 'eu').server.href).toBe('https://eu.example:6443/');
    expect(() => readKubeconfig(file, 'us')).toThrow(`${file}: no context us, only: eu`);
    rmSync(folder, { recursive: true });
  });
});

describe('a kubeconfig that would not work is refused with the place and the reason', () => {
  test.each<[string, object, object, RegExp]>([
    [
      'an unchecked server',
      {},
      { 'insecure-skip-tls-verify': true },
      /context eu: insecure-skip-tls-verify would give/,
    ],
    [
      'a token without TLS',
      {},
      { server: 'http://eu.example' },
      /has no TLS, which is permitted only for this machine/,
    ],
    ['a proxy', {}, { 'proxy-url': 'http://proxy:3128' }, /proxy-url is not supported/],
    ['a provider that Kubernetes removed', { 'auth-provider': { name: 'gcp' } }, {}, /auth-provider was removed/],
    ['a password', { username: 'admin', password: 'x' }, {}, /accepts a user name and a password/],
    [
      'a plug-in that needs a terminal',
      { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'login', interactiveMode: 'Always' } },
      ...([{}, /login wants a terminal/] as const),
    ],
    [
      'a plug-in of a version that is gone',
      { exec: { apiVersion: 'client.authentication.k8s.io/v1alpha1', command: 'login' } },
      ...([{}, /kubeconfig: users\.0\.user\.exec\.apiVersion: /] as const),
    ],
    ['an address that is none', {}, { server: 'eu.example' }, /clusters\.0\.cluster\.server: /],
  ])('%s', (_, user, fields, message) => {
    expect(() => read(user, fields)).toThrow(message);
  });

  test('a context without its cluster or its user, and a file without contexts', () => {
    expect(() => parseKubeconfig(config({}, {}, { cluster: 'x' }), place)).toThrow('context eu: there is no cluster x');
    expect(() => parseKubeconfig(config({}, {}, { user: 'x' }), place)).toThrow('context eu: there is no user x');
    expect(() => parseKubeconfig('', place)).toThrow('it has no current-context; name one of: none');
  });
});

describe('the account of a pod', () => {
  test('is that of its folder and its environment', () => {
    const folder = mkdtempSync(join(tmpdir(), 'conveyor-account-'));
    writeFileSync(join(folder, 'namespace'), 'conveyor\n');
    const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };
    expect(readInClusterAccess(env, folder)).toMatchObject({
      ...{ name: 'in-cluster', namespace: 'conveyor', authority: { file: join(folder, 'ca.crt') } },
      credentials: { kind: 'tokenFile', file: join(folder, 'token') },
    });
    expect(readInClusterAccess(env, folder).server.host).toBe('[fd00::1]');
    rmSync(folder, { recursive: true });
  });

  test('is missed outside of a cluster, with the remedy', () => {
    expect(() => readInClusterAccess({})).toThrow(/runs in no pod .*: name a kubeconfig/);
  });
});
