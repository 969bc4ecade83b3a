import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { killLeftCommand, runCommand } from '../../../push-types/slowroll/agent/commands';
import { eventually } from '../../system/waiting';

/** The commands of packages. */

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'conveyor-command-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const run = (argv: readonly string[], timeoutMs = 20_000) =>
  runCommand(argv, {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '' },
    timeoutMs,
    record: join(folder, 'record'),
  });
const isAlive = (file: string): boolean => existsSync(`/proc/${readFileSync(join(folder, file), 'utf8').trim()}`);

describe('a command', () => {
  test('gets its arguments unchanged, without a shell', async () => {
    await run(['sh', '-c', 'printf "<%s>" "$@" > out', 'sh', '$(id); "x"', '', '*']);
    expect(readFileSync(join(folder, 'out'), 'utf8')).toBe('<$(id); "x"><><*>');
  });

  test('that prints without end fills no memory, and the end of its output is its reason', async () => {
    const end = await run(['sh', '-c', 'yes | head -c 20000000; echo; echo the last line; exit 3']);
    expect(end).toMatchObject({
      isGood: false,
      why: expect.stringMatching(/ended with 3: [^]*the last line$/) as string,
    });
    expect(JSON.stringify(end).length).toBeLessThan(3_000);
  });

  test('is killed at its time limit, with all that it started', async () => {
    const end = await run(['sh', '-c', 'sleep 600 & echo $! > child; wait'], 500);
    expect(end).toMatchObject({ isGood: false, why: expect.stringContaining('did not end within 500 ms') as string });
    await eventually('its child is gone', () => Promise.resolve(!isAlive('child')));
  });

  test('may leave a program in the background, and ends without it', async () => {
    const began = performance.now();
    expect(await run(['sh', '-c', 'sleep 600 & echo $! > child'])).toEqual({ isGood: true });
    expect(performance.now() - began).toBeLessThan(10_000);
    expect(isAlive('child')).toBe(true);
    process.kill(Number(readFileSync(join(folder, 'child'), 'utf8')), 'SIGKILL');
  });

  test('that ended long ago is not confused with a process of the same number', async () => {
    const record = join(folder, 'record');
    writeFileSync(record, JSON.stringify({ pid: process.pid, start: '1' }));
    killLeftCommand(record);
    expect(existsSync(record)).toBe(false);
  });
});
