import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Io } from '../../cli/io';
import { stackText } from '../../cli/stack/stackText';
import {
  stackEnvironment,
  freeAddresses,
  parseHost,
  isLocal,
  parsePort,
  usualAddresses,
} from '../../cli/stack/addresses';
import { startChild, awaitReady, type ChildSpec } from '../../cli/stack/child';
import { accepts } from '../../client/accepts';
import { freePorts, respondsOk } from '../../cli/stack/ports';
import { toReady } from '../../cli/stack/readyFile';
import type { Stack } from '../../cli/stack/stack';

const folder = mkdtempSync(join(tmpdir(), 'conveyor-stack-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const io = { now: () => Date.now(), sleep: (ms: number) => delay(ms) } as unknown as Io;
const never = new AbortController().signal;

const program = (name: string, source: string): ChildSpec => ({
  name,
  command: process.execPath,
  args: ['-e', source],
  env: process.env,
  logFile: join(folder, 'logs', `${name}.log`),
  startedBy: 'conveyor dev --speed 600',
  isReady: (log) => log.includes('ready'),
});

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('a process of the stack', () => {
  test('is waited for until it says that it is ready, and is gone once it was stopped', async () => {
    const spec = program('worker', 'setTimeout(() => console.log("ready"), 50); setInterval(() => {}, 1000)');
    const child = startChild(spec);
    await awaitReady(io, child, spec, 5000, never);
    expect(readFileSync(spec.logFile, 'utf8')).toBe('ready\n');
    expect(isAlive(child.pid)).toBe(true);
    await child.stop();
    expect(isAlive(child.pid)).toBe(false);
  });

  test('that ends before it is ready is reported with how it ended and what it last said', async () => {
    const spec = program('server', 'for (let i = 1; i <= 30; i++) console.error("line " + i); process.exit(7)');
    const waiting = awaitReady(io, startChild(spec), spec, 5000, never);
    await expect(waiting).rejects.toMatchObject({
      code: 'process-failed',
      hint: `${spec.logFile} has its full output; conveyor doctor checks this machine; then start it again: conveyor dev --speed 600`,
    });
    const message = await waiting.catch((error: Error) => error.message);
    expect(message).toMatch(
      /^the server is not running: it ended with exit code 7\. Its last lines:\n {2}\| line 19\n/,
    );
    expect(message).toMatch(/\| line 30$/);
  });

  test('that is never ready is given up, and still there to be stopped', async () => {
    const spec = program('slow', 'setInterval(() => {}, 1000)');
    const child = startChild(spec);
    await expect(awaitReady(io, child, spec, 300, never)).rejects.toThrow(
      'the slow is not running: it was not ready within',
    );
    await child.stop();
    expect(isAlive(child.pid)).toBe(false);
  });

  test('that cannot be started at all is reported too', async () => {
    const spec = { ...program('ghost', ''), command: '/nowhere/ghost' };
    await expect(awaitReady(io, startChild(spec), spec, 5000, never)).rejects.toThrow(
      /the ghost is not running: .*ENOENT/,
    );
  });

  test('takes along what it started itself when it is stopped', async () => {
    const ended = join(folder, 'grandchild-ended');
    const grandchild = `process.on("SIGTERM", () => { require("fs").writeFileSync(${JSON.stringify(ended)}, ""); process.exit(); });
      console.log("ready"); setInterval(() => {}, 1000)`;
    const spec = program(
      'parent',
      `require("child_process").spawn(process.execPath, ["-e", ${JSON.stringify(grandchild)}], { stdio: "inherit" }); setInterval(() => {}, 1000)`,
    );
    const child = startChild(spec);
    await awaitReady(io, child, spec, 5000, never);
    await child.stop();
    for (let tries = 0; tries < 50 && !existsSync(ended); tries += 1) await delay(20);
    expect(existsSync(ended)).toBe(true);
  });
});

test('the text of a stack has the processes that were started, as the ready file has', () => {
  const shown = (pids: ReturnType<Stack['pids']>): string => {
    const stack = { addresses: usualAddresses({}, {}), logFolder: 'logs', pids: () => pids } as unknown as Stack;
    return stackText(toReady(stack), stack, 'default', {}, { width: 110, color: false, now: 0 });
  };
  expect(shown({ simulator: 12, worker: 13 })).toMatch(/^ {2}Processes +simulator 12, worker 13$/m);
  expect(shown({})).not.toContain('Processes');
});

describe('addresses', () => {
  test('are the usual ones, unless the environment or a flag says otherwise', () => {
    expect(usualAddresses({}, {})).toEqual({
      temporal: 'localhost:7233',
      webUi: 'http://localhost:8233',
      simulator: 'http://localhost:4400',
      server: 'http://localhost:4500',
      taskQueue: 'conveyor',
    });
    const env = { TEMPORAL_ADDRESS: 'localhost:9000', CONVEYOR_SIMULATOR_URL: 'http://localhost:1' };
    expect(usualAddresses(env, {})).toMatchObject({
      temporal: 'localhost:9000',
      webUi: 'http://localhost:10000',
      simulator: 'http://localhost:1',
    });
    expect(usualAddresses(env, { address: 'localhost:9001' }).temporal).toBe('localhost:9001');
  });

  test('that are free differ from each other, and reach the processes through their environment', async () => {
    const addresses = await freeAddresses({});
    const ports = [addresses.temporal, addresses.webUi, addresses.simulator, addresses.server].map(parsePort);
    expect(new Set(ports).size).toBe(4);
    expect(stackEnvironment({ addresses })).toMatchObject({
      TEMPORAL_ADDRESS: addresses.temporal,
      CONVEYOR_SIMULATOR_URL: addresses.simulator,
    });
  });

  test.each([
    ['localhost:7233', 'localhost', 7233, true],
    ['http://127.0.0.1:4400', '127.0.0.1', 4400, true],
    ['http://127.0.0.2:4400', '127.0.0.2', 4400, true],
    ['[::1]:7233', '::1', 7233, true],
    ['https://temporal.example', 'temporal.example', 443, false],
  ])('%s has a host, a port, and is on this machine or not', (address, host, port, local) => {
    expect([parseHost(address), parsePort(address), isLocal(address)]).toEqual([host, port, local]);
  });

  test('that are free are not among those that systems give to outgoing connections, which could take one meanwhile', async () => {
    const ports = await freePorts(50);
    expect(new Set(ports).size).toBe(50);
    expect(ports.filter((port) => port < 1024 || port >= 32_768)).toEqual([]);
  });

  test('a server that listens accepts and answers, one that does not does neither', async () => {
    const server = createServer((request, response) => response.writeHead(request.url === '/livez' ? 200 : 404).end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    expect(await accepts('127.0.0.1', port)).toBe(true);
    expect(await respondsOk(`http://127.0.0.1:${port}/livez`)).toBe(true);
    expect(await respondsOk(`http://127.0.0.1:${port}/other`)).toBe(false);
    await new Promise((resolve) => server.close(resolve));
    expect(await accepts('127.0.0.1', port)).toBe(false);
    expect(await respondsOk(`http://127.0.0.1:${port}/livez`)).toBe(false);
  });
});
