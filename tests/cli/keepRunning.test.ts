import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startChild, type ChildSpec } from '../../cli/stack/child';
import { keepRunning } from '../../cli/stack/keepRunning';
import type { Io } from '../../cli/io';
import type { StackPart } from '../../cli/stack/parts';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'conveyor-keep-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('a process that is given up is named with how it died, the last that any of it wrote, its log, and the command that starts it again', async () => {
  const logFile = join(folder, 'worker.log');
  const spec: ChildSpec = {
    ...{ name: 'worker', command: process.execPath, env: process.env, logFile, startedBy: 'conveyor dev --config' },
    // It says why only once: after that it ends before it has written anything.
    args: [
      '-e',
      `if (require("fs").readFileSync(${JSON.stringify(logFile)}, "utf8") === "") console.error("no room on the disk"); process.exit(9)`,
    ],
    isReady: () => false,
  };
  const part = { name: 'worker', address: 'conveyor', child: spec, timeoutMs: 5_000 } as StackPart;
  const notes: string[] = [];
  const io = {
    ...{ now: () => 0, sleep: () => new Promise((resolve) => setTimeout(resolve, 1)) },
    ...{ stderr: { write: (text: string) => notes.push(text) }, env: {} },
  } as unknown as Io;
  const keeper = { io, stop: new AbortController().signal, onStarted: () => Promise.resolve() };
  const error = await keepRunning(keeper, { part, child: startChild(spec) });
  expect(error.message).toBe(
    'the worker is not running: it ended with exit code 9, for the 6th time within a minute. Its last lines:\n  | no room on the disk',
  );
  expect(error.hint).toContain(`${logFile} has its full output`);
  expect(error.hint).toMatch(/; then start it again: conveyor dev --config$/);
  expect(notes.join('')).toContain('worker: it ended with exit code 9; starting it again in 0.2 s');
});
