import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { whileStopped } from '../../../cli/backup/freeze';
import { buildEntryArgs } from '../../../configerator/entry';
import { eventually } from '../../system/waiting';

const folder = mkdtempSync(join(tmpdir(), 'conveyor-freeze-'));
const file = join(folder, 'written');
let writer: ChildProcess;
const children: ChildProcess[] = [];

const start = (command: string, args: readonly string[]): ChildProcess => {
  const child = spawn(command, [...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  return child;
};
const size = (): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
const grows = (than: number) => eventually('it writes', () => Promise.resolve(size() > than));

beforeAll(async () => {
  writer = start('sh', ['-c', 'while :; do echo more >>"$0"; done', file]);
  await grows(0);
});
afterAll(async () => {
  for (const child of children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)) {
    child.kill('SIGKILL');
    await once(child, 'close');
  }
  rmSync(folder, { recursive: true, force: true });
});

test('the files of a process hold still for as long as a copy takes, and then it continues', async () => {
  const { result, pausedMs } = await whileStopped([writer.pid!], async () => {
    const before = size();
    await wait(50);
    return [before, size()];
  });
  expect(result[0]).toBe(result[1]);
  expect(pausedMs).toBeGreaterThanOrEqual(50);
  await grows(result[1]!);
});

test('a process continues also when its copy fails', async () => {
  await expect(whileStopped([writer.pid!], () => Promise.reject(new Error('the disk is full')))).rejects.toThrow(
    'full',
  );
  await grows(size());
});

test('a process continues by itself when a backup is killed that has stopped it', async () => {
  const freezer = start(process.execPath, [...buildEntryArgs(join(__dirname, 'freezer'), true), String(writer.pid)]);
  await once(freezer.stdout!, 'data');
  const before = size();
  await wait(50);
  expect(size()).toBe(before);
  freezer.kill('SIGKILL');
  await grows(before);
});

/** The process that stands by to let the writer continue. */
function signalGuards(signal: NodeJS.Signals): number {
  const guards = readdirSync('/proc').filter(
    (pid) => /^\d+$/.test(pid) && commandOf(pid).endsWith(`guard ${writer.pid}`),
  );
  for (const pid of guards) process.kill(Number(pid), signal);
  return guards.length;
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').join(' ').trim();
  } catch {
    return '';
  }
}

const onLinux = process.platform === 'linux' ? test : test.skip;

onLinux.each(['SIGTERM', 'SIGKILL'] as const)(
  'a process continues, and the copy ends, also where a service manager sends %s to what should let it continue',
  async (signal) => {
    const { result } = await whileStopped([writer.pid!], async () => {
      expect(signalGuards(signal)).toBeGreaterThan(0);
      await wait(50);
      return size();
    });
    await grows(result);
  },
);

test('a process that has ended is no process that stood still', async () => {
  const gone = start('true', []);
  await once(gone, 'close');
  await expect(whileStopped([gone.pid!], () => Promise.resolve())).rejects.toThrow(/cannot be stopped/);
});

test('a copy of what was let continue meanwhile does not count', async () => {
  const copying = whileStopped([writer.pid!], async () => {
    writer.kill('SIGCONT');
    await wait(20);
  });
  await expect(copying).rejects.toThrow('did not stay paused');
});
