import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { ManifestPackage } from '../../../push-types/slowroll/protocol';
import { bundleAgent } from '../../builders/agentBundle';
import { AgentHost } from '../../builders/agentHost';
import { packTar } from '../../builders/fakeHosts';
import { FakeManifestServer } from '../../builders/manifestServer';
import { cleanEnv, Processes, type Running } from '../../system/process';
import { eventually } from '../../system/waiting';

/** The agent as the one file that is shipped, in real processes. */

const NAME = 'conveyor-agent';
const folder = mkdtempSync(join(tmpdir(), 'conveyor-bundle-'));
const program = join(folder, `${NAME}.js`);
const processes = new Processes();
let server: FakeManifestServer;
let host: AgentHost;

beforeAll(() => bundleAgent(program));
beforeEach(async () => {
  server = new FakeManifestServer();
  await server.start();
  host = new AgentHost(server);
});
afterEach(async () => {
  await processes.reap();
  await server.stop();
  host.close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const start = (one = host, file = program): Running =>
  processes.start(process.execPath, [file, ...one.flags()], cleanEnv(one.folder));

/** A version of the agent as a package: the program, changed. */
const offerAgent = (version: string, generation: number, change: (text: string) => string): ManifestPackage =>
  server.offer(version, generation, {
    name: NAME,
    install: { timeoutSeconds: 5 },
    bytes: gzipSync(
      packTar([
        { path: 'VERSION', text: version },
        { path: `${NAME}.js`, text: change(readFileSync(program, 'utf8')) },
      ]),
    ),
  });
const same = (version: string) => (text: string) => `${text}\n// ${version}\n`;

const untilState = (name: string, expected: object): Promise<unknown> =>
  eventually(`${name} is ${JSON.stringify(expected)}`, () => {
    const state = server.state(name);
    return Promise.resolve(
      state !== undefined && Object.entries(expected).every(([key, value]) => state[key as never] === value),
    );
  });

describe('the agent', () => {
  test('replaces itself by a package, and the successor does the rest of the work', async () => {
    server.want([offerAgent('2', 1, same('2'))]);
    start();
    await untilState(NAME, { version: '2', state: 'installed' });
    expect(readlinkSync(join(host.home, `${NAME}.js`))).toBe(`packages/${NAME}/releases/2-1/${NAME}.js`);
    server.want([offerAgent('2', 1, same('2')), server.offer('1.0', 1, { install: host.service() })]);
    await untilState('shop', { version: '1.0', state: 'installed' });
    expect(host.serving()).toBe('1.0');
  });

  test.each([
    ['cannot start', () => 'throw new Error("broken");', 'the installation was interrupted 5 times'],
    ['never reports', () => 'setInterval(() => undefined, 1000);', 'it did not report within 5000 ms'],
    ['hangs in a loop', () => 'for (;;);', 'it did not report within 5000 ms'],
  ])('returns if its successor %s, and does not try that generation again', async (_, change, reason) => {
    server.want([offerAgent('2', 1, same('2'))]);
    start();
    await untilState(NAME, { version: '2', state: 'installed' });
    server.want([offerAgent('3', 2, change)]);
    await untilState(NAME, { version: '2', state: 'rolled-back', failedVersion: '3', reason });
    const fetched = server.count('package');
    server.want([offerAgent('3', 2, change), server.offer('1.0', 1)]);
    await untilState('shop', { version: '1.0', state: 'installed' });
    expect(server.count('package')).toBe(fetched + 1);
    expect(readlinkSync(join(host.home, `${NAME}.js`))).toContain('/2-1/');
  });

  test('without a package of before returns to the program that was installed by hand', async () => {
    server.want([offerAgent('3', 1, () => 'process.exit(3);')]);
    start();
    await untilState(NAME, { version: 'none', state: 'rolled-back', failedVersion: '3' });
    expect(existsSync(join(host.home, 'packages', NAME, 'current'))).toBe(false);
  });

  test('that is killed while its successor is on trial ends with the successor', async () => {
    server.want([offerAgent('2', 1, same('2'))]);
    server.manifestFault = () => existsSync(join(host.home, 'packages', NAME, 'current'));
    const first = start();
    await eventually('the successor is in place', () =>
      Promise.resolve(existsSync(join(host.home, 'packages', NAME, 'current'))),
    );
    first.kill('SIGKILL');
    await first.ended;
    server.manifestFault = undefined;
    start();
    await untilState(NAME, { version: '2', state: 'installed' });
  });

  test('runs once on a folder: a second one names the first, and the folder is free after kill −9', async () => {
    server.want([server.offer('1.0', 1)]);
    const first = start();
    await untilState('shop', { version: '1.0', state: 'installed' });
    const second = await start().ended;
    expect(second).toMatchObject({ code: 1, stderr: expect.stringContaining('another agent uses') as string });
    first.kill('SIGKILL');
    await first.ended;
    await start().said(/^agent ready: web-1 polls/m);
  });

  test('ends at once when it is asked to, with the command that it runs', async () => {
    const install = ['sh', '-c', `echo $$ > ${join(host.folder, 'pid')}; sleep 600`];
    server.want([server.offer('1.0', 1, { install: { install, timeoutSeconds: 600 } })]);
    const running = start();
    const pid = await eventually('the command runs', () =>
      Promise.resolve(existsSync(join(host.folder, 'pid')) && Number(readFileSync(join(host.folder, 'pid'), 'utf8'))),
    );
    running.kill('SIGTERM');
    expect(await running.ended).toMatchObject({ code: 0 });
    await eventually('the command has ended', () => Promise.resolve(!existsSync(`/proc/${pid}`)));
  });

  test.each<[string, () => void, string]>([
    ['whose token others can read', () => host.write('token', 'x', 0o644), 'so others can read it: chmod 600'],
    ['whose keys others can write', () => host.write('keys.pem', server.publicKey, 0o666), 'others can write it'],
    ['without a key', () => host.write('keys.pem', 'none'), 'it has no PUBLIC KEY in PEM'],
  ])('%s does not start', async (_, arrange, reason) => {
    arrange();
    if (reason.includes('write it')) spawnSync('chmod', ['666', host.file('keys.pem')]);
    expect(await start().ended).toMatchObject({ code: 1, stderr: expect.stringContaining(reason) as string });
  });
});

test('twenty agents take a good version in two phases, and return from a bad one by themselves', async () => {
  const hosts = Array.from({ length: 20 }, (_, n) => new AgentHost(server, `web-${n + 1}`));
  const offer =
    (version: string, generation: number, files: { path: string }[] = []) =>
    (one: AgentHost) =>
      server.offer(version, generation, { install: one.service(), files });
  const want = (some: readonly AgentHost[], make: (one: AgentHost) => ManifestPackage): void => {
    for (const one of some) server.want([make(one)], one.name);
  };
  const untilAll = (version: string, state: string, some = hosts): Promise<unknown> =>
    eventually(`${some.length} hosts are ${state} with ${version}`, () =>
      Promise.resolve(
        some.every((one) => {
          const seen = server.state('shop', one.name);
          return seen?.version === version && seen.state === state && one.serving() === version;
        }),
      ),
    );
  const [few, rest] = [hosts.slice(0, 5), hosts.slice(5)];
  try {
    want(hosts, offer('1.0', 1));
    const running = hosts.map((one) => start(one));
    await untilAll('1.0', 'installed');
    want(few, offer('2.0', 2));
    await untilAll('2.0', 'installed', few);
    expect(rest.map((one) => one.serving())).toEqual(rest.map(() => '1.0'));
    want(rest, offer('2.0', 2));
    await untilAll('2.0', 'installed');
    want(few, offer('3.0', 3, [{ path: 'bad' }]));
    await untilAll('2.0', 'rolled-back', few);
    want(hosts, (one) => ({ ...offer('2.0', 4)(one), revert: true }));
    await untilAll('2.0', 'installed', rest);
    expect(rest.map((one) => one.releases())).toEqual(rest.map(() => ['1.0-1', '2.0-2']));
    const megabytes = running.map(
      ({ pid }) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024,
    );
    process.stderr.write(`memory of an agent: ${Math.round(Math.max(...megabytes))} MB at most\n`);
    expect(Math.max(...megabytes)).toBeLessThan(200);
  } finally {
    await processes.reap();
    for (const one of hosts) one.close();
  }
});
