import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../builders/cliWorld';
import { ROOT } from '../setup/sources';
import { cleanEnv, Processes, type Env } from './process';

const processes = new Processes();
const home = mkdtempSync(join(tmpdir(), 'conveyor-commands-'));
const taskQueue = `commands-${randomUUID()}`;

afterEach(async () => {
  await processes.reap();
  for (const pid of ours()) process.kill(pid, 'SIGKILL');
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** Each on a free port, without the simulated world or data source that it would need. */
const COMMANDS = [
  ['worker', ['worker'], /^conveyor worker ready/m],
  ['server', ['server', '--port', '0'], /^Conveyor server ready/m],
  ['simulator', ['simulator', '--port', '0'], /^simulator ready/m],
  ['hcs', ['hcs', '--port', '0'], /^Health Check Service ready/m],
  [
    'config-proxy',
    [
      'config-proxy',
      '--repository',
      'flags',
      '--cache',
      join(home, 'cache'),
      '--etcd',
      'http://127.0.0.1:1',
      '--port',
      '0',
    ],
    /^config-proxy ready/m,
  ],
  [
    'agent',
    [
      ...['agent', '--manifests', 'http://127.0.0.1:1', '--host', 'web-1', '--home', join(home, 'agent')],
      ...['--token-file', join(home, 'token'), '--keys', join(home, 'keys.pem')],
    ],
    /^agent ready/m,
  ],
] as const;

beforeAll(() => {
  writeFileSync(join(home, 'token'), 'token', { mode: 0o600 });
  const { publicKey } = generateKeyPairSync('ed25519');
  writeFileSync(join(home, 'keys.pem'), publicKey.export({ type: 'spki', format: 'pem' }), { mode: 0o600 });
});

const env = (): Env => ({
  ...cleanEnv(home),
  TEMPORAL_ADDRESS: process.env['CONVEYOR_TEST_TEMPORAL'] ?? '',
  CONVEYOR_TASK_QUEUE: taskQueue,
});

/** Every process with our environment, whatever started it. */
function ours(): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => environmentOf(pid).includes(`CONVEYOR_TASK_QUEUE=${taskQueue}`));
}

function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8');
  } catch {
    return ''; // it has ended, or belongs to another user
  }
}

test.each(COMMANDS)('conveyor %s is the process itself: kill −9 leaves nothing behind', async (_, args, ready) => {
  const command = processes.node('bin/conveyor.js', args, env());
  await command.said(ready);
  expect(ours()).toEqual([command.pid]);
  command.kill('SIGKILL');
  expect(await command.ended).toMatchObject({ signal: 'SIGKILL' });
  expect(ours()).toEqual([]);
});

test.each(COMMANDS)('conveyor %s says one line when it is ready, and drains on SIGTERM', async (_, args, ready) => {
  const command = processes.node('bin/conveyor.js', args, env());
  await command.said(ready);
  command.kill('SIGTERM');
  const { code, stdout } = await command.ended;
  expect({ code, lines: stdout.trimEnd().split('\n') }).toEqual({ code: 0, lines: [expect.stringMatching(ready)] });
});

test.each(['SIGINT', 'SIGHUP'] as const)('a worker drains on %s as well, as when its terminal goes', async (signal) => {
  const command = processes.node('bin/conveyor.js', ['worker'], env());
  await command.said(/^conveyor worker ready/m);
  command.kill(signal);
  expect(await command.ended).toMatchObject({ code: 0, signal: null });
});

test('a process that cannot start says why, and its exit code is that of the command', async () => {
  const refused = { ...env(), TEMPORAL_ADDRESS: '127.0.0.1:1' };
  const command = processes.node('bin/conveyor.js', ['worker', '--address', '127.0.0.1:2'], refused);
  expect(await command.ended).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^error: temporal-unreachable: .*127\.0\.0\.1:2/m),
  });
  const wrong = processes.node('bin/conveyor.js', ['simulator', '--port', 'rubbish'], env());
  expect(await wrong.ended).toMatchObject({ code: 2, stderr: expect.stringMatching(/^error: usage: --port rubbish/) });
});

test('a command line that was built offers whatever one that runs from its sources offers', async () => {
  for (const words of [[''], ['release', 'store', '--'], ['health', '']]) {
    const built = processes.node('bin/conveyor.js', ['__complete', '--', ...words], env());
    expect({ code: (await built.ended).code, out: built.stdout() }).toEqual({
      code: 0,
      out: (await run(['__complete', '--', ...words])).out,
    });
  }
  expect(existsSync(join(ROOT, 'dist/cli/completion/tree.json'))).toBe(true);
});

describe('who traces ends within seconds', () => {
  const traceTo = (address: string) =>
    processes.node('tests/system/tracesMuch.mjs', [], { ...env(), OTEL_EXPORTER_OTLP_ENDPOINT: address }).ended;

  test('where its collector is gone', async () => {
    expect(await traceTo('http://127.0.0.1:1')).toMatchObject({ code: 0, stderr: '' });
  });

  test('where its collector takes what is sent, and never answers', async () => {
    let asked = 0;
    const collector = createServer((socket) => void socket.once('data', () => (asked += 1)));
    const port = await new Promise<number>((resolve) =>
      collector.listen(0, '127.0.0.1', () => resolve((collector.address() as AddressInfo).port)),
    );
    expect(await traceTo(`http://127.0.0.1:${port}`)).toMatchObject({ code: 0, stderr: '' });
    expect(asked).toBeGreaterThan(0);
    collector.close();
  });
});
