import { spawn, type ChildProcess } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { callExtension } from '../../sdk/client';
import { actionServiceProtocol } from '../../sdk/protocol/actionService';

const ROOT = join(__dirname, '../..');
const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

interface Started {
  readonly child: ChildProcess;
  /** The first line on stdout. */
  readonly ready: Promise<string>;
  readonly ended: Promise<{ code: number | null; stdout: string; stderr: string }>;
}

const simulator = (...args: string[]): Started => simulatorWith({}, args);

function simulatorWith(env: NodeJS.ProcessEnv, args: readonly string[]): Started {
  const child = spawn(
    process.execPath,
    [join(ROOT, 'node_modules/jiti/lib/jiti-cli.mjs'), 'simulator/main.ts', ...args],
    { cwd: ROOT, env: { ...process.env, CONVEYOR_SIMULATOR_URL: '', ...env } },
  );
  children.push(child);
  let [stdout, stderr] = ['', ''];
  const ready = new Promise<string>((resolve) => {
    child.stdout.on('data', (text: Buffer) => {
      stdout += text.toString();
      if (stdout.includes('\n')) resolve(stdout.split('\n')[0] ?? '');
    });
  });
  child.stderr.on('data', (text: Buffer) => void (stderr += text.toString()));
  const ended = new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
  return { child, ready, ended };
}

test('the process says where it listens in one line, serves, and ends with 0 when it is asked to stop', async () => {
  const { child, ready, ended } = simulator('--port', '0', '--seed', '7', '--speed', '60');
  const line = await ready;
  const [, url = ''] = /^simulator ready on (http:\S+) \(seed 7, speed 60\)$/.exec(line) ?? [];
  expect(await (await fetch(`${url}/control/jobs`)).json()).toEqual([]);
  child.kill('SIGTERM');
  expect(await ended).toEqual({ code: 0, stdout: `${line}\n`, stderr: '' });
});

test('a lost reply breaks the connection, and the process lives on', async () => {
  const { ready } = simulator('--port', '0');
  const url = /http:\S+/.exec(await ready)?.[0] ?? '';
  const fault = { kind: 'http', service: 'build', mode: 'lose-reply', count: 1 };
  const headers = { 'content-type': 'application/json' };
  await fetch(`${url}/control/faults`, { method: 'POST', headers, body: JSON.stringify(fault) });
  const start = () =>
    callExtension({
      service: { name: 'build', url: `${url}/actions/build`, timeoutMs: 5000 },
      protocol: actionServiceProtocol,
      method: 'startRun',
      request: { runId: 'r', pipeline: 'p', release: 1, action: 'build', attempt: 1, inputs: [], with: {} },
      context: { pipeline: 'p', release: 1, deployId: 'd', actor: 'user:alice', config: {} },
      key: 'r',
    });
  await expect(start()).rejects.toMatchObject({ code: 'extension-unavailable' });
  expect(await start()).toEqual({ runId: 'r' });
  const ledger = (await (await fetch(`${url}/control/ledger`)).json()) as { effect: boolean }[];
  expect(ledger.map(({ effect }) => effect)).toEqual([true, false]);
});

test('a port that is taken is a clear error and exit code 1', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const { port } = other.address() as AddressInfo;
  const { code, stdout, stderr } = await simulator('--port', String(port)).ended;
  other.close();
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^error: port-in-use: port \d+ is taken, so the simulator cannot listen on it\nhint: /);
});

test('without --port it listens where CONVEYOR_SIMULATOR_URL leads the others', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const { port } = other.address() as AddressInfo;
  await new Promise((resolve) => other.close(resolve));
  const { ready, ended } = simulatorWith({ CONVEYOR_SIMULATOR_URL: `http://localhost:${port}` }, []);
  expect(await Promise.race([ready, ended])).toBe(`simulator ready on http://127.0.0.1:${port} (seed 1, speed 1)`);
});

test('an address that is none is a usage error that names the variable', async () => {
  const { code, stderr } = await simulatorWith({ CONVEYOR_SIMULATOR_URL: 'localhost' }, []).ended;
  expect(code).toBe(2);
  expect(stderr).toMatch(/^error: usage: CONVEYOR_SIMULATOR_URL localhost is not a URL\nhint: /);
});

test.each([
  ['--speed', '0'],
  ['--colour', 'red'],
])('%s %s is a usage error and exit code 2', async (...args) => {
  const { code, stderr } = await simulator(...args).ended;
  expect(code).toBe(2);
  expect(stderr).toMatch(/^error: usage: .*\nhint: /);
  expect(stderr).not.toContain('    at ');
});
