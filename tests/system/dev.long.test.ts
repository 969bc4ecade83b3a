import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accepts } from '../../client/accepts';
import { describeWithEtcd, etcdProgram } from '../configerator/etcd';
import { cleanEnv, Processes, ROOT, type Env, type Running } from './process';
import { eventually } from './waiting';

interface Ready {
  readonly temporal: string;
  readonly webUi: string;
  readonly simulator: string;
  readonly server: string;
  readonly taskQueue: string;
  readonly pids: Readonly<Record<string, number>>;
}

const processes = new Processes();
const home = mkdtempSync(join(tmpdir(), 'conveyor-dev-'));
const readyFile = join(home, 'ready.json');
const seen = new Set<number>();

afterEach(async () => {
  await processes.reap();
  // Only processes that a broken `dev` leaves behind are still there.
  for (const pid of [...seen].filter(isAlive)) process.kill(pid, 'SIGKILL');
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

const env = (): Env => ({
  ...cleanEnv(home),
  CONVEYOR_ACTOR: 'user:alice',
  TEMPORAL_CLI: process.env['CONVEYOR_TEST_TEMPORAL_CLI'] ?? '',
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Asks as a page in a browser does whose own name resolves to this machine. */
const statusAs = (url: string, host: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const asked = request(`${url}/api/v1/namespaces`, { headers: { host } }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    asked.on('error', reject).end();
  });

async function readyOf(dev: Running): Promise<Ready> {
  const look = (): Ready | undefined =>
    existsSync(readyFile) ? (JSON.parse(readFileSync(readyFile, 'utf8')) as Ready) : undefined;
  const ready = await eventually('the stack is ready', () => Promise.resolve(look())).catch((error: Error) => {
    throw new Error(`${error.message}\n${dev.stderr()}`);
  });
  for (const pid of Object.values(ready.pids)) seen.add(pid);
  return ready;
}

/** Files that other users of the machine could read, write or have planted, unless a closed folder around them prevents it. */
function openTo(folder: string): readonly string[] {
  return readdirSync(folder).flatMap((name) => {
    const file = join(folder, name);
    const stat = lstatSync(file, { throwIfNoEntry: false });
    if (stat === undefined) return [];
    const isOpen = stat.uid !== process.getuid?.() || (stat.mode & 0o077) !== 0;
    return isOpen ? [file, ...(stat.isDirectory() ? openTo(file) : [])] : [];
  });
}

test('conveyor dev starts everything on free ports, and SIGTERM stops exactly what it started', async () => {
  const dev = processes.node('bin/conveyor.js', ['dev', '--ports', 'auto', '--ready-file', readyFile], env());
  const ready = await readyOf(dev);
  expect(Object.keys(ready).sort()).toEqual(['pids', 'server', 'simulator', 'taskQueue', 'temporal', 'webUi']);
  expect(Object.keys(ready.pids).sort()).toEqual(['server', 'simulator', 'temporal', 'worker']);
  expect(Object.values(ready.pids).filter(isAlive)).toHaveLength(4);
  for (const url of [`${ready.server}/readyz`, `${ready.simulator}/readyz`, ready.webUi])
    expect({ url, ok: (await fetch(url)).ok }).toEqual({ url, ok: true });
  expect([await statusAs(ready.webUi, 'evil.example'), await statusAs(ready.webUi, 'localhost')]).toEqual([403, 200]);
  const jobs = (await (await fetch(`${ready.simulator}/control/jobs`)).json()) as { name: string }[];
  expect(jobs.map(({ name }) => name)).toEqual(expect.arrayContaining(['kvstore-x', 'kvstore-y', 'fdo-x', 'hello']));

  const own = join(ROOT, '.conveyor', 'logs', String(dev.pid));
  expect(readdirSync(own)).toEqual(expect.arrayContaining(['temporal', 'server.log', 'worker.log']));
  expect(readdirSync(join(own, 'temporal'))).toContain('temporal.db');
  expect([statSync(own).mode & 0o077, openTo(own)]).toEqual([0, []]);
  expect(statSync(readyFile).mode & 0o777).toBe(0o600);

  // A second stack uses the existing Temporal server and simulator, and leaves them alone.
  const other = processes.node('bin/conveyor.js', ['dev', '-o', 'json'], {
    ...env(),
    TEMPORAL_ADDRESS: ready.temporal,
    CONVEYOR_WEB_UI: ready.webUi,
    CONVEYOR_SIMULATOR_URL: ready.simulator,
    CONVEYOR_SERVER_URL: ready.server,
    CONVEYOR_TASK_QUEUE: 'other',
  });
  await other.said(/^}/m);
  const { pids } = JSON.parse(other.stdout()) as Ready;
  for (const pid of Object.values(pids)) seen.add(pid);
  expect(Object.keys(pids)).toEqual(['worker']);
  other.kill('SIGTERM');
  expect(await other.ended).toMatchObject({ code: 0 });
  expect(isAlive(pids['worker']!)).toBe(false);
  expect(Object.values(ready.pids).filter(isAlive)).toHaveLength(4);

  dev.kill('SIGTERM');
  expect(await dev.ended).toMatchObject({ code: 0 });
  expect(Object.values(ready.pids).filter(isAlive)).toEqual([]);
  const [host = '', port] = ready.temporal.split(':');
  expect(await accepts(host, Number(port))).toBe(false);
  expect(existsSync(readyFile)).toBe(false);
});

test('conveyor dev starts a process again that was killed, says so, and stops the new one too', async () => {
  // As `npm run dev` does, which is not a wrapper around it either.
  const dev = processes.node('scripts/run.js', ['dev', '--ports', 'auto', '--ready-file', readyFile], env());
  const { pids, simulator } = await readyOf(dev);
  expect(readFileSync(`/proc/${pids['worker']}/stat`, 'utf8')).toMatch(new RegExp(`\\) [A-Z] ${dev.pid} `));
  for (const name of ['worker', 'simulator']) process.kill(pids[name]!, 'SIGKILL');
  const again = await eventually('both are there again', async () => {
    const ready = await readyOf(dev);
    return ready.pids['worker'] !== pids['worker'] && ready.pids['simulator'] !== pids['simulator'] && ready;
  });
  expect(again).toEqual({ ...again, simulator, pids: { ...pids, ...again.pids } });
  expect([again.pids['temporal'], again.pids['server']]).toEqual([pids['temporal'], pids['server']]);
  expect(Object.values(again.pids).filter(isAlive)).toHaveLength(4);
  for (const name of ['worker', 'simulator'])
    expect(dev.stderr()).toMatch(new RegExp(`^ {2}✖ ${name}: it was ended by SIGKILL; starting it again in `, 'm'));
  const jobs = (await (await fetch(`${simulator}/control/jobs`)).json()) as { name: string }[];
  expect(jobs.map(({ name }) => name)).toEqual(expect.arrayContaining(['kvstore-x', 'hello']));

  dev.kill('SIGTERM');
  expect(await dev.ended).toMatchObject({ code: 0 });
  expect(Object.values({ ...pids, ...again.pids }).filter(isAlive)).toEqual([]);
});

test('conveyor dev on free ports knows all pipelines after Temporal was killed, says that a simulated world begins anew, and keeps nothing when it ends', async () => {
  const dev = processes.node('bin/conveyor.js', ['dev', '--ports', 'auto', '--ready-file', readyFile], env());
  const { pids, temporal, taskQueue } = await readyOf(dev);
  const near = { ...env(), TEMPORAL_ADDRESS: temporal, CONVEYOR_TASK_QUEUE: taskQueue };
  const conveyor = (...args: string[]) => processes.node('bin/conveyor.js', args, near).ended;
  expect(await conveyor('apply', 'examples/kvstore/pipeline.yaml')).toMatchObject({ code: 0 });
  for (const name of ['temporal', 'simulator']) process.kill(pids[name]!, 'SIGKILL');
  await eventually('both are there again', async () => {
    const ready = await readyOf(dev);
    return ready.pids['temporal'] !== pids['temporal'] && ready.pids['simulator'] !== pids['simulator'];
  });
  expect(await conveyor('list', 'pipelines', '-o', 'name')).toMatchObject({ code: 0, stdout: 'kvstore\n' });
  expect(dev.stderr()).toMatch(/^ {4}its world starts afresh: .*conveyor simulate job/m);
  const logs = /^ {2}Logs +(.*)$/m.exec(dev.stdout())?.[1] ?? '';
  expect(readdirSync(logs).filter((file) => !file.endsWith('.log'))).toEqual(['temporal']);

  dev.kill('SIGTERM');
  expect(await dev.ended).toMatchObject({ code: 0 });
  expect(readdirSync(logs).filter((file) => !file.endsWith('.log'))).toEqual([]);
});

test('conveyor dev starts Temporal again that lost the race for a port, as its panic shows, and gives it up at the third time', async () => {
  const dev = (crashes: number): Running => {
    const crashing = join(home, `crashes-${crashes}.sh`);
    writeFileSync(
      crashing,
      `#!/bin/sh
if [ "$1" = server ]; then
  echo x >>"$0.starts"
  [ "$(wc -l <"$0.starts")" -gt ${crashes} ] || { echo 'panic: runtime error: invalid memory address' >&2; exit 2; }
fi
exec ${env()['TEMPORAL_CLI']} "$@"
`,
      { mode: 0o755 },
    );
    const args = ['dev', '--ports', 'auto', '--no-demo-data', '--ready-file', readyFile];
    return processes.node('bin/conveyor.js', args, { ...env(), TEMPORAL_CLI: crashing });
  };
  const again = dev(2);
  await readyOf(again);
  expect(again.stderr().match(/^ {2}✖ temporal: another process took a port .*; starting it again$/gm)).toHaveLength(2);
  again.kill('SIGTERM');
  expect(await again.ended).toMatchObject({ code: 0 });
  const { code, stderr } = await dev(3).ended;
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(/^error: process-failed: the Temporal /m),
  });
});

test('conveyor dev that is killed itself leaves nothing behind', async () => {
  const dev = processes.node('bin/conveyor.js', ['dev', '--ports', 'auto', '--ready-file', readyFile], env());
  const { pids } = await readyOf(dev);
  dev.kill('SIGKILL');
  await dev.ended;
  await eventually('all have ended', () => Promise.resolve(!Object.values(pids).some(isAlive)));
  rmSync(readyFile);
});

test('conveyor dev gives up a process that does not stay up, says why, stops the others and ends with an error', async () => {
  const config = join(home, 'conveyor.config.yaml');
  copyFileSync(join(ROOT, 'conveyor.config.yaml'), config);
  const dev = processes.node('bin/conveyor.js', ['dev', '--ports', 'auto', '--ready-file', readyFile], {
    ...env(),
    CONVEYOR_CONFIG: config,
  });
  const { pids } = await readyOf(dev);
  writeFileSync(config, 'extensions: 1');
  process.kill(pids['worker']!, 'SIGKILL');
  const { code, stderr } = await dev.ended;
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^error: process-failed: the worker /m) });
  expect(stderr.match(/✖ worker: .*; starting it again in /g)).toHaveLength(5);
  expect(stderr).toMatch(
    /it ended with exit code 2, for the 6th time within a minute\. Its last lines:\n[^]*config-invalid/,
  );
  expect(stderr).toMatch(
    /^hint: \S+worker\.log has its full output; .*; then start it again: conveyor dev --ports auto$/m,
  );
  expect(Object.values(pids).filter(isAlive)).toEqual([]);
});

describeWithEtcd('conveyor dev --config', () => {
  test('runs etcd, a repository, the service and a proxy, so that a proposal reaches this host, and starts again what dies', async () => {
    const dev = processes.node(
      'bin/conveyor.js',
      ['dev', '--config', '--ports', 'auto', '--no-demo-data', '--ready-file', readyFile],
      { ...env(), CONVEYOR_CACHE: join(home, 'cache'), CONVEYOR_ETCD: etcdProgram() },
    );
    const ready = (await readyOf(dev)) as Ready & ConfigReady;
    expect(Object.keys(ready.pids).sort()).toEqual(
      ['config-proxy', 'config-service', 'etcd', 'server', 'simulator', 'temporal', 'worker'], // prettier-ignore
    );
    const near: Env = {
      ...env(),
      ...exportedBy(await dev.said(/^ {2}export (.*)$/m)),
      CONVEYOR_CACHE: join(home, 'cache'),
    };
    const conveyor = async (...args: string[]): Promise<string> => {
      const { code, stdout, stderr } = await processes.node('bin/conveyor.js', args, near).ended;
      expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
      return stdout;
    };
    const limits = async (): Promise<{ value: string | null; commit: string | null }> =>
      (await (await fetch(`${ready.configProxy}/v1/config/feed/limits`)).json()) as { value: string; commit: string };
    expect((await limits()).value).toBeNull();
    // The pipeline judges an application's own measurements.
    await processes.node('dist/examples/config/app.js', [], near).said(/^following/m);
    await conveyor('apply', 'examples/config/pipeline.yaml');
    const own = join(ROOT, '.conveyor', 'logs', String(dev.pid));
    expect(readdirSync(join(own, 'config'))).toEqual(expect.arrayContaining(['etcd', 'flags.git', 'proxy']));
    expect([statSync(own).mode & 0o077, openTo(own)]).toEqual([0, []]);
    process.kill(ready.pids['config-service']!, 'SIGKILL');
    await conveyor('config', 'propose', 'examples/config/flags', '-m', 'Limit feeds');
    await eventually('the limit is committed on this host', async () => (await limits()).commit !== null);
    expect(JSON.parse((await limits()).value ?? '')).toEqual({ hard: 100, soft: 50 });
    expect(dev.stderr()).toMatch(/^ {2}✖ config-service: it was ended by SIGKILL; starting it again in /m);
    await readyOf(dev);
    dev.kill('SIGTERM');
    expect(await dev.ended).toMatchObject({ code: 0 });
    expect([...seen].filter(isAlive)).toEqual([]);
  });

  test('says how to get etcd where there is none, and leaves nothing behind', async () => {
    const dev = processes.node('bin/conveyor.js', ['dev', '--config', '--ports', 'auto'], {
      ...env(),
      CONVEYOR_ETCD: '/nowhere/etcd',
    });
    const { code, stderr } = await dev.ended;
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(
        /^error: process-failed: the etcd is not running: [^]*CONVEYOR_ETCD is \/nowhere\/etcd[^]*hint: install etcd/m,
      ),
    });
  });
});

interface ConfigReady {
  readonly configProxy: string;
  readonly configService: string;
}

const exportedBy = ([, text = '']: RegExpExecArray): Env =>
  Object.fromEntries(
    text.split(' ').map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  );
