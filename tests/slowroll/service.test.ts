import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request as requestTls } from 'node:https';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { serve } from '@hono/node-server';
import { parse, stringify } from 'yaml';
import { parsePipeline } from '../../domain/spec/parse';
import { openSlowrollService, type SlowrollService } from '../../push-types/slowroll/server/slowrollService';
import { readSlowrollSettings } from '../../push-types/slowroll/server/slowrollSettings';
import { bringVersion } from '../builders/bringVersion';
import { nameToken } from '../builders/pollingHosts';
import { makeCertificates } from '../configerator/certificates';

const EXAMPLE = join(__dirname, '../../examples/daemon');
const folders: string[] = [];
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true })));

/** A folder with settings, a key, tokens and a package. */
function prepare(more: object = {}): { readonly folder: string; readonly settings: string } {
  const folder = mkdtempSync(join(tmpdir(), 'conveyor-slowroll-'));
  folders.push(folder);
  const { privateKey } = generateKeyPairSync('ed25519');
  writeFileSync(join(folder, 'key.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  writeFileSync(join(folder, 'tokens'), `web-1 ${nameToken('web-1')}\nweb-2 ${nameToken('web-2')}\n`, { mode: 0o600 });
  writeFileSync(join(folder, 'agentd-1.tar.gz'), 'bytes');
  const fields = {
    regions: ['eu'],
    packages: { agentd: { from: './agentd-{version}.tar.gz', commands: { restart: ['./restart'] } } },
    ...{ tokens: './tokens', signingKey: './key.pem', ...more },
  };
  const settings = join(folder, 'slowroll.yaml');
  writeFileSync(settings, stringify(fields));
  return { folder, settings };
}

const open = ({ folder, settings }: ReturnType<typeof prepare>, token?: string): Promise<SlowrollService> =>
  openSlowrollService({
    ...{ settings, home: join(folder, 'home'), prometheus: undefined, token, env: {}, log: () => undefined },
  });

const poll = ({ manifests }: SlowrollService, host: string) =>
  manifests.request(`/v1/hosts/${host}/manifest?labels=${encodeURIComponent('{"region":"eu"}')}`, {
    headers: { authorization: `Bearer ${nameToken(host)}` },
  });

describe('the settings of hosts that poll', () => {
  test('have, in the example, the units that its pipeline deploys in 43 phases', () => {
    const settings = readSlowrollSettings(join(EXAMPLE, 'slowroll.yaml'));
    const text = readFileSync(join(EXAMPLE, 'pipeline.yaml'), 'utf8');
    expect(parsePipeline(text).problems).toEqual([]);
    const { actions } = parse(text) as {
      actions: { deploy: { with: { config: { units: string[] }; phases: unknown[] } } };
    };
    const { config, phases } = actions.deploy.with;
    expect(settings.regions.map((region) => `agentd/${region}`)).toEqual(config.units);
    expect(phases.length + 1).toBe(43);
    expect(settings).toMatchObject({ pollAfter: 1800, silence: 7200, packages: { agentd: { failures: 0.01 } } });
  });

  test.each([
    [{ pollAfter: '2d' }, 'pollAfter: expected 1s to 1d'],
    [{ regions: [] }, 'regions: '],
    [{ packages: { Agent: { from: '{version}' } } }, 'packages.Agent: '],
    [{ packages: { agentd: { from: './agentd.tar' } } }, 'packages.agentd.from: expected {version} in it'],
    [{ colour: 'red' }, 'Unrecognized key: "colour"'],
    [{ tokens: undefined }, 'tokens: hosts need tokens, or certificates (tls.hosts)'],
  ])('with %j are refused with the place', (more, message) => {
    const { settings } = prepare(more);
    expect(() => readSlowrollSettings(settings)).toThrow(message);
  });
});

const expectedTrouble = {
  ...{ cause: 'disk-full', reason: 'no space' },
  since: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string,
};

describe('the process for hosts that poll', () => {
  test('serves manifests with the commands of a package, counts, and lists hosts by page', async () => {
    const service = await open(prepare());
    await poll(service, 'web-1');
    await poll(service, 'web-2');
    await bringVersion(service.pushType, { updateId: 'deploy/a/1/deploy/1/0/1', version: '1', units: ['agentd/eu'] });
    const manifest = await (await poll(service, 'web-1')).json();
    expect(manifest).toMatchObject({
      host: 'web-1',
      pollAfterSeconds: 1800,
      packages: [{ name: 'agentd', version: '1', size: 5, install: { restart: ['./restart'], timeoutSeconds: 120 } }],
    });
    const metrics = await (await service.pushType.request('/metrics')).text();
    expect(metrics).toMatch(/conveyor_slowroll_hosts\{task="agentd\/eu@\d+",unit="agentd\/eu",version="1"\} 1/);
    expect(metrics).toContain('conveyor_slowroll_hosts{task="agentd/eu@0",unit="agentd/eu",version=""} 1');
    expect(metrics).toContain('conveyor_slowroll_answers_total{kind="manifests"} 3');
    const page = await service.pushType.request('/hosts?unit=agentd/eu&limit=1');
    expect(await page.json()).toMatchObject({ hosts: [{ host: 'web-1', wanted: '1', version: null }], next: 1 });
    expect((await service.pushType.request('/hosts?unit=agentd/eu&limit=99999')).status).toBe(400);
    const trouble = { cause: 'disk-full', version: '1', reason: 'no space' } as const;
    service.fleet.report(0, [{ name: 'agentd', version: 'none', identifier: 'none', state: 'removed', trouble }], true);
    const troubled = await (await service.pushType.request('/hosts?unit=agentd/eu&troubled=1')).json();
    expect(troubled).toEqual({
      hosts: [expect.objectContaining({ host: 'web-1', trouble: expectedTrouble })],
      next: null,
    });
    const causes = await (await service.pushType.request('/metrics')).text();
    expect(causes).toMatch(
      /conveyor_slowroll_hosts_troubled\{task="agentd\/eu@\d+",unit="agentd\/eu",version="1",cause="disk-full"\} 1/,
    );
  });

  test('shows its hosts to callers with its token alone, once it has one', async () => {
    const service = await open(prepare(), 'secret');
    const status = async (path: string, headers = {}) => (await service.pushType.request(path, { headers })).status;
    for (const path of ['/metrics', '/hosts?unit=agentd/eu'])
      expect([await status(path), await status(path, { authorization: 'Bearer secret' })]).toEqual([401, 200]);
  });

  test('keeps its tokens while their file is empty: no host is gone', async () => {
    const prepared = prepare();
    const service = await open(prepared);
    await poll(service, 'web-1');
    writeFileSync(join(prepared.folder, 'tokens'), '');
    const ending = new AbortController();
    const running = service.run(ending.signal);
    await new Promise((resolve) => setTimeout(resolve, 50));
    ending.abort();
    await running;
    expect([service.fleet.hosts.table.gone[0], (await poll(service, 'web-1')).status]).toEqual([0, 200]);
  });

  test('reads its tokens again when the file changes, and counts the hosts that are left', async () => {
    const prepared = prepare();
    const service = await open(prepared);
    const count = async (): Promise<string | undefined> =>
      /conveyor_slowroll_hosts\{[^}]*\} (\d+)/.exec(await (await service.pushType.request('/metrics')).text())?.[1];
    await poll(service, 'web-1');
    await poll(service, 'web-2');
    expect(await count()).toBe('2');
    writeFileSync(join(prepared.folder, 'tokens'), `web-2 ${nameToken('web-2')}\n`);
    const ending = new AbortController();
    const running = service.run(ending.signal);
    await new Promise((resolve) => setTimeout(resolve, 50));
    ending.abort();
    await running;
    expect([await count(), (await poll(service, 'web-1')).status]).toEqual(['1', 401]);
  });

  test('refuses a key that others can read, and one of another kind', async () => {
    const prepared = prepare();
    const key = join(prepared.folder, 'key.pem');
    const other = generateKeyPairSync('x25519').privateKey.export({ type: 'pkcs8', format: 'pem' });
    writeFileSync(key, other, { mode: 0o600 });
    await expect(open(prepared)).rejects.toThrow('is a key of the type x25519');
    execFileSync('chmod', ['644', key]);
    await expect(open(prepared)).rejects.toThrow(`chmod 600 ${key}`);
  });
});

describe('hosts with certificates', () => {
  test('poll as the name in their certificate, and as no other', async () => {
    const { files } = makeCertificates();
    const place = dirname(files.ca);
    folders.push(place);
    const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: place, stdio: 'ignore' });
    const fresh = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    openssl('req', ...fresh, '-subj', '/CN=web-1', '-keyout', 'web.key', '-out', 'web.csr');
    const signing = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2'];
    openssl('x509', '-req', '-in', 'web.csr', ...signing, '-out', 'web.pem');
    const tls = { certificate: files.cert, key: files.key, hosts: files.ca };
    const service = await open(prepare({ tokens: undefined, tls }));
    const server = serve({
      ...{ fetch: service.manifests.fetch, port: 0, hostname: '127.0.0.1', createServer },
      serverOptions: service.tls ?? {},
    });
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as { port: number };
    const read = (name: string): Buffer => readFileSync(join(place, name));
    const ask = (host: string, certificate: object): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const path = `/v1/hosts/${host}/manifest?labels=${encodeURIComponent('{"region":"eu"}')}`;
        const options = { host: '127.0.0.1', port, path, ca: read('ca.pem'), agent: false, ...certificate };
        requestTls(options, (answer) => resolve(answer.resume().statusCode))
          .on('error', reject)
          .end();
      });
    const own = { cert: read('web.pem'), key: read('web.key') };
    expect(await ask('web-1', own)).toBe(200);
    expect(await ask('web-2', own)).toBe(403);
    await expect(ask('web-1', {})).rejects.toThrow();
    await new Promise((resolve) => server.close(resolve));
  });
});
