import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { livePushType } from '../../sdk/conform/live/pushType';
import { conform } from '../../sdk/conform/run';

/** The push type of examples/push-types/python as a process, tested as its author tests it: over HTTP. */

const HERE = join(__dirname, '../../examples/push-types/python');
const UNITS = ['web-a', 'web-b'] as [string, string];

const hasPython = spawnSync('python3', ['--version']).status === 0;
const withPython = hasPython ? test : test.skip;
if (!hasPython)
  console.warn('python3 is not on this machine: the push type of examples/push-types/python is not tested');

const homes: string[] = [];
let home = '';
let running: ChildProcess | undefined;

/** Starts it, or starts it again after a crash; its URL. */
async function started(): Promise<string> {
  const args = [join(HERE, 'push_type.py'), '--port', '0', '--home', home, '--size', '8', '--step-ms', '10'];
  const child = spawn('python3', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  running = child;
  for await (const line of createInterface({ input: child.stdout })) return line.replace('ready on ', '');
  throw new Error('it ended before it was ready');
}

async function killed(): Promise<void> {
  const child = running;
  running = undefined;
  if (child === undefined || child.exitCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'conveyor-python-'));
  homes.push(home);
});
afterEach(killed);
afterAll(() => homes.forEach((each) => rmSync(each, { recursive: true, force: true })));

const execute = async (url: string, key: string): Promise<unknown> => {
  const context = {
    pipeline: 'p',
    release: 1,
    deployId: 'deploy/p/1/d/1',
    actor: 'user:alice',
    config: { units: UNITS },
  };
  const targets = UNITS.map((unit) => ({ unit, version: '2.0', artifacts: [], amount: { count: 5 } }));
  const body = { context, updateId: 'deploy/p/1/d/1/0/1', targets, wholeUnit: false, urgency: 'normal' };
  const headers = { 'idempotency-key': key };
  return (await fetch(`${url}/executeUpdates`, { method: 'POST', headers, body: JSON.stringify(body) })).json();
};

/** How many tasks each unit has on the new version, on the disk. */
const there = (): number[] =>
  UNITS.map((unit) => {
    const tasks = join(home, 'tasks', unit);
    return readdirSync(tasks).filter((slot) => realpathSync(join(tasks, slot, 'current')).endsWith('/2.0')).length;
  });

withPython(
  'continues after a crash in the middle of an update, and gives the first answer to a call that is repeated',
  async () => {
    const first = await execute(await started(), 'k');
    await killed();
    expect(there()).not.toEqual([5, 5]);
    const url = await started();
    expect(await execute(url, 'k')).toEqual(first);
    const deadline = Date.now() + 30_000;
    while (there().some((count) => count < 5) && Date.now() < deadline) await delay(10);
    expect(there()).toEqual([5, 5]);
  },
);

withPython('keeps the protocol of a push type, and is left as it was found', async () => {
  const url = await started();
  const addTask = (unit: string) =>
    promisify(execFile)(join(HERE, 'add_task.py'), [unit], { env: { ...process.env, PUSH_TYPE_URL: url } });
  const report = await conform(
    livePushType({
      ...{ url, fetch: (request) => fetch(request), config: { units: UNITS }, units: UNITS, nonce: 'python' },
      ...{ newVersions: ['2.0', '2.1'], deadVersion: 'broken', settleMs: 60_000 },
      ...{ now: Date.now, sleep: (ms) => delay(ms / 10), grow: async (unit) => void (await addTask(unit)) },
    }),
  );
  const wrong = report.checks.filter(({ state }) => state === 'failed' || state === 'not-run');
  expect(wrong.map(({ title, reason }) => `${title}: ${reason}`)).toEqual([]);
  const skipped = report.checks.flatMap(({ lacks }) => lacks ?? []);
  expect(new Set(skipped)).toEqual(new Set(['pages', 'shiftTraffic', 'removeUnits']));
});
