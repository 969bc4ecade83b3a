import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StepName } from '../../../push-types/slowroll/agent/installer';
import { AgentHost } from '../../builders/agentHost';
import { bundleAgent } from '../../builders/agentBundle';
import { FakeManifestServer } from '../../builders/manifestServer';
import { cleanEnv, Processes, type Running } from '../../system/process';
import { eventually } from '../../system/waiting';

/** Real agents that die by kill −9, each just before one step, and begin again. */

const folder = mkdtempSync(join(tmpdir(), 'conveyor-dying-'));
const program = join(folder, 'agent.js');
const processes = new Processes();
let server: FakeManifestServer;
let host: AgentHost;

beforeAll(() => bundleAgent(program, 'tests/builders/dyingAgent.ts'));
beforeEach(async () => {
  server = new FakeManifestServer();
  await server.start();
  host = new AgentHost(server);
  server.want([server.offer('1.0', 1, { install: host.service() })]);
  await host.agent().round();
  expect(host.serving()).toBe('1.0');
});
afterEach(async () => {
  await processes.reap();
  await server.stop();
  host.close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const start = (dieAt = ''): Running =>
  processes.start(process.execPath, [program, ...host.flags()], { ...cleanEnv(host.folder), DIE_AT: dieAt });

/** Looks all the time at the version to which `current` leads, and at the one that the service runs. */
function watch(): { readonly seen: Set<string>; stop(): void } {
  const seen = new Set<string>();
  const look = (): void => {
    seen.add(host.current());
    seen.add(host.serving());
  };
  const timer = setInterval(look, 2);
  return { seen, stop: () => clearInterval(timer) };
}

/** Kills an agent before a step, starts it again, and waits for the end of its work. */
async function killAt(step: StepName, expected: object): Promise<ReadonlySet<string>> {
  const watching = watch();
  expect(await start(step).ended).toMatchObject({ signal: 'SIGKILL' });
  start();
  await eventually(`the agent that died before ${step} reports`, () => {
    const { version, state, failedVersion } = server.state() ?? {};
    return Promise.resolve(JSON.stringify({ version, state, failedVersion }) === JSON.stringify(expected));
  });
  watching.stop();
  return watching.seen;
}

const onDisk = () => JSON.parse(readFileSync(join(host.home, 'state.json'), 'utf8')) as { packages: object };

const GOOD: readonly StepName[] = [
  ...(['download', 'unpack', 'begin', 'install', 'switch', 'restart', 'health', 'record', 'prune'] as const),
];
test.each(GOOD)(
  'killed before %s, a good version is in place in the end, and a version is served all the time',
  async (step) => {
    server.want([server.offer('2.0', 2, { install: { ...host.service(), install: ['test', '-e', 'VERSION'] } })]);
    const seen = await killAt(step, { version: '2.0', state: 'installed' });
    expect([...seen].sort()).toEqual(['1.0', '2.0']);
    expect([host.current(), host.serving()]).toEqual(['2.0', '2.0']);
    expect(host.releases()).toEqual(['1.0-1', '2.0-2']);
    expect(host.downloads()).toEqual([]);
    expect(onDisk().packages).toMatchObject({ shop: { runs: { version: '2.0' }, superseded: ['1.0'] } });
  },
);

const BAD: readonly StepName[] = [
  ...(['restart', 'health', 'give-up', 'restore', 'restart-old', 'record-failure', 'prune'] as const),
];
test.each(BAD)(
  'killed before %s, a bad version is rolled back in the end, and a version is served all the time',
  async (step) => {
    server.want([server.offer('2.0', 2, { install: host.service(), files: [{ path: 'bad' }] })]);
    const seen = await killAt(step, { version: '1.0', state: 'rolled-back', failedVersion: '2.0' });
    expect([...seen].sort()).toEqual(['1.0', '2.0']);
    expect([host.current(), host.serving()]).toEqual(['1.0', '1.0']);
    expect(host.releases()).toEqual(['1.0-1']);
  },
);

const REMOVAL: readonly StepName[] = ['begin-removal', 'stop', 'unlink', 'delete', 'record-removal'];
test.each(REMOVAL)('killed before %s, an agent removes the package in the end', async (step) => {
  const stop = ['rm', '-f', join(host.folder, 'serving')];
  server.want([server.offer('2.0', 2, { install: { ...host.service(), stop } })]);
  await host.agent().round();
  server.want([{ name: 'shop', generation: 3, remove: true }]);
  await killAt(step, { version: 'none', state: 'removed' });
  expect([host.current(), host.serving()]).toEqual(['', '']);
  expect(existsSync(join(host.home, 'packages', 'shop'))).toBe(false);
  expect(onDisk().packages).toMatchObject({ shop: { generation: 3, removal: 'done' } });
});

test('killed in the middle of a download, it resumes there', async () => {
  const wanted = server.offer('2.0', 2, { install: host.service() });
  const half = Math.floor(wanted.size / 2);
  server.want([wanted]);
  let running: Running | undefined;
  server.packageFault = (_, response) => {
    response.writeHead(200, { 'content-length': wanted.size });
    response.write(server.bytes(wanted.digest).subarray(0, half));
    return true;
  };
  running = start();
  await eventually('half of it is on the disk', () =>
    Promise.resolve(host.downloads().some((name) => readFileSync(join(host.home, 'downloads', name)).length === half)),
  );
  running.kill('SIGKILL');
  await running.ended;
  server.packageFault = undefined;
  running = start();
  await eventually('the new version runs', () => Promise.resolve(host.serving() === '2.0'));
  expect(server.seen.filter(({ kind }) => kind === 'package').at(-1)?.headers.range).toBe(`bytes=${half}-`);
});

test('a command of an agent that was killed is ended before it runs again', async () => {
  const log = join(host.folder, 'log');
  const install = ['sh', '-c', `echo begin >> ${log}; test -e ${log}.go || sleep 60; echo end >> ${log}`];
  server.want([server.offer('2.0', 2, { install: { install, timeoutSeconds: 120 } })]);
  const running = start();
  await eventually('the command runs', () => Promise.resolve(readOr(log) === 'begin\n'));
  running.kill('SIGKILL');
  await running.ended;
  processes.start('touch', [`${log}.go`], cleanEnv(host.folder));
  start();
  await eventually('the new version is in place', () => Promise.resolve(host.current() === '2.0'));
  expect(readOr(log)).toBe('begin\nbegin\nend\n');
});

function readOr(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
