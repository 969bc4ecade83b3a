import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { wallClock } from '../../activities/clock';
import { createScriptActivities, type ScriptEnd } from '../../activities/script';
import type { ScriptRun } from '../../activities/scriptEnvironment';
import { probe, type Isolation } from '../../sandbox/probe';
import { createRunner } from '../../sandbox/runner';
import { parseRegistry } from '../../settings/registry';
import type { Scripts } from '../../settings/scripts';
import { everyUnit } from '../../domain/deploy/snapshot';
import { inlineSnapshots } from './inlineSnapshots';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'script-test-'));
  // The scripts of a root worker run as the user nobody.
  chmodSync(folder, 0o777);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const WORKER_ENV = { PATH: process.env['PATH'], TOKEN: 'let-through', SECRET: 'not-for-scripts' };
const WITHOUT_FACTS = { pipeline: 'kvstore', release: 'kvstore/12' };

/** An activity that keeps the failures that a test wants out of the log. */
const activity = (info: { attempt?: number } = {}): MockActivityEnvironment =>
  new MockActivityEnvironment(info, { logger: new DefaultLogger('ERROR') });

/** A script in the folder; bash, so that groups and signals can be played with. */
function script(text: string, name = 'run.sh'): string[] {
  writeFileSync(join(folder, name), `#!/usr/bin/env bash\n${text}\n`);
  chmodSync(join(folder, name), 0o755);
  return [`./${name}`];
}

/** A folder open to writes, so scripts can record the processes that they started. */
function scriptsWith(config: object): Scripts {
  const given = {
    enabled: true,
    isolation: 'best-effort',
    directory: folder,
    writable: [folder],
    env: ['TOKEN', 'ABSENT'],
  };
  return parseRegistry({ scripts: { ...given, stopGrace: '300ms', ...config } }, WORKER_ENV).scripts;
}

/** Tried once: it is the same for all of them. Guarantees that this machine lacks are tested in scriptIsolation.test.ts. */
let isolation: Promise<Isolation> | undefined;
const isolationHere = () => (isolation ??= probe(scriptsWith({})).then((found) => ({ ...found, missing: [] })));

interface Around {
  readonly env?: MockActivityEnvironment;
  readonly config?: object;
}

function run(given: Partial<ScriptRun> & Pick<ScriptRun, 'command'>, around: Around = {}): Promise<ScriptEnd> {
  const { env = activity(), config = {} } = around;
  const scripts = scriptsWith(config);
  const { runScript } = createScriptActivities({
    clock: wallClock,
    snapshots: inlineSnapshots,
    scripts,
    runner: createRunner(scripts, isolationHere),
  });
  const facts = WITHOUT_FACTS;
  const whole = { runId: 'r', action: 'load-test', env: [], facts, timeoutMs: null, heartbeatTimeoutMs: 90, ...given };
  return env.run(runScript, whole);
}

/** The number that a script wrote into a file, once it has. */
async function numberIn(file: string): Promise<number> {
  const path = join(folder, file);
  while (!existsSync(path) || readFileSync(path, 'utf8').trim() === '') await wait(10);
  return Number(readFileSync(path, 'utf8'));
}

/** Ended processes that are not reaped count as gone. */
function isAlive(pid: number): boolean {
  const file = `/proc/${pid}/stat`;
  return existsSync(file) && !/\) Z /.test(readFileSync(file, 'utf8'));
}

describe('the exit code decides', () => {
  test.each([
    ['0 is success', 'echo fine', true, './run.sh ended with exit code 0: fine'],
    [
      '1 is failure, and what it said last is the reason',
      'echo a; echo b >&2; exit 1',
      false,
      './run.sh ended with exit code 1: b',
    ],
    ['no other number is success', 'exit 127', false, './run.sh ended with exit code 127'],
    ['neither is a signal', 'kill -SEGV $$', false, './run.sh ended by SIGSEGV'],
    [
      'colours and progress bars stay out of the message',
      `printf '10%%\\r\\033[32m99%%\\033[0m\\r\\n'`,
      true,
      './run.sh ended with exit code 0: 99%',
    ],
  ])('%s', async (_title, text, succeeded, message) => {
    expect(await run({ command: script(text) })).toMatchObject({ succeeded, message, outputs: [] });
  });

  test('a long output keeps its beginning and its end, up to the limit in bytes', async () => {
    const { log } = await run({
      command: script('for i in $(seq 2000); do echo line $i; done; echo last >&2; exit 3'),
      logBytes: 4096,
    });
    expect(log.head).toMatch(/^line 1\nline 2\n/);
    expect(log.tail).toContain('line 2000\n');
    expect(log.head + log.tail).not.toContain('line 1000\n');
    expect(JSON.stringify(log).length).toBeLessThan(4096 + 50);
  });
});

const unit = (id: string) => ({ ...{ id, labels: {}, size: 1, version: '12', mixed: false, available: true } });

describe('a script knows what it is about and nothing else', () => {
  test('its environment is exactly PATH, what was asked for and listed, and facts', async () => {
    const facts = {
      ...WITHOUT_FACTS,
      deploy: 'kvstore/12/deploy',
      phase: 'half',
      version: '13',
      selection: everyUnit({ units: ['kvstore-x', 'kvstore-y'].map(unit) }, []),
      lastGood: '11',
    };
    const program =
      'const { CONVEYOR_UNITS: f } = process.env; console.log(JSON.stringify({ env: process.env, units: require("fs").readFileSync(f, "utf8") }))';
    const { log } = await run({ command: [process.execPath, '-e', program], env: ['TOKEN', 'ABSENT'], facts });
    const { env, units } = JSON.parse(log.head) as { env: Record<string, string>; units: string };
    expect(env).toEqual({
      PATH: WORKER_ENV.PATH,
      // With the permissions of any user.
      TOKEN: '***',
      CONVEYOR_RUN: 'r',
      CONVEYOR_PIPELINE: 'kvstore',
      CONVEYOR_RELEASE: 'kvstore/12',
      CONVEYOR_DEPLOY: 'kvstore/12/deploy',
      CONVEYOR_PHASE: 'half',
      CONVEYOR_VERSION: '13',
      CONVEYOR_PREVIOUS_VERSION: '12',
      CONVEYOR_UNITS: expect.any(String),
      TMPDIR: expect.any(String),
    });
    expect(units).toBe('kvstore-x\nkvstore-y\n');
    expect(existsSync(env['CONVEYOR_UNITS']!)).toBe(false);
  });

  test('a script gets no variable that is unknown, and none that it did not ask for', async () => {
    const { log } = await run({ command: [process.execPath, '-p', 'Object.keys(process.env).sort().join()'] });
    expect(log.head.trim()).toBe('CONVEYOR_PIPELINE,CONVEYOR_RELEASE,CONVEYOR_RUN,PATH,TMPDIR');
  });

  test('arguments reach it as they are written, whatever a shell would make of them', async () => {
    const { log } = await run({ command: [...script('printf "%s|" "$@"'), '$HOME', '; exit 1', '*', 'a b'] });
    expect(log.head).toBe('$HOME|; exit 1|*|a b|');
  });
});

describe('a script that cannot be run fails at once, for good, with the reason', () => {
  test.each<[string, () => Promise<unknown>, RegExp]>([
    [
      'a command that does not exist',
      () => run({ command: ['no-such-program'] }),
      /script no-such-program cannot be run: it was not found, neither on PATH/,
    ],
    ['a file that is not there', () => run({ command: ['./missing.sh'] }), /neither on PATH nor from .*script-test/],
    [
      'a file that is not executable',
      () => {
        writeFileSync(join(folder, 'plain'), 'x');
        return run({ command: ['./plain'] });
      },
      /it may not be executed/,
    ],
    [
      'a folder that is not there',
      () => run({ command: ['true'] }, { config: { directory: '/nowhere' } }),
      /\/nowhere, does not exist/,
    ],
    [
      'a variable that the platform does not list',
      () => run({ command: ['true'], env: ['TOKEN', 'SECRET'] }),
      /it asks for SECRET, which scripts\.env/,
    ],
  ])('%s', async (_title, start, message) => {
    await expect(start()).rejects.toMatchObject({
      type: 'script-not-runnable',
      nonRetryable: true,
      message: expect.stringMatching(message) as string,
    });
  });
});

/** A script with a child that ignores SIGTERM. The numbers in these files may be those of a namespace. */
const FAMILY = `bash -c 'trap "" TERM; echo $$ > child; while :; do sleep 0.05; done' "$1" &
echo $$ > parent
while [ ! -s child ]; do sleep 0.01; done
echo running`;

/** A script whose processes are known by an argument. */
const family = (text: string): string[] => [...script(text), basename(folder)];

/** Processes of this test that still run, as the machine sees them. */
const familyAlive = (): string[] =>
  execFileSync('ps', ['-axo', 'stat=,args='], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => !line.startsWith('Z') && line.endsWith(` ${basename(folder)}`));

describe('nothing that a script started outlives it', () => {
  const expectFamilyGone = async (): Promise<void> => {
    await numberIn('child');
    expect(familyAlive()).toEqual([]);
  };

  test('not when it ends and leaves a child behind', async () => {
    expect(await run({ command: family(FAMILY) })).toMatchObject({ succeeded: true });
    await expectFamilyGone();
  });

  test('not when it runs longer than its own limit', async () => {
    const end = await run({ command: family(`${FAMILY}\nwait`), timeoutMs: 500 });
    expect(end).toMatchObject({ succeeded: false, message: './run.sh was stopped: it ran for 500ms, its limit' });
    expect(end.log.head).toBe('running\n');
    await expectFamilyGone();
  });

  test('not when it runs longer than the platform allows', async () => {
    const end = await run({ command: ['sleep', '60'], timeoutMs: 3_600_000 }, { config: { maxDuration: '200ms' } });
    expect(end.message).toBe('sleep was stopped: it ran for 200ms, its limit');
  });

  test('not when it writes without end', async () => {
    const command = family(`${FAMILY}\nyes flood`);
    const end = await run({ command }, { config: { outputLimit: '64KiB' } });
    expect(end).toMatchObject({ succeeded: false, message: './run.sh was stopped: it wrote more than 65536 bytes' });
    expect(JSON.stringify(end.log).length).toBeLessThanOrEqual(4150);
    await expectFamilyGone();
  });

  test('not when the action is cancelled, which is confirmed only when all is gone', async () => {
    const env = activity();
    const running = run({ command: family(`${FAMILY}\necho 1 > said\nwait`) }, { env });
    await numberIn('said');
    expect(familyAlive()).not.toEqual([]);
    env.cancel();
    // Its output is not lost.
    const details = [{ log: { head: 'running\n' } }];
    await expect(running).rejects.toMatchObject({ name: 'CancelledFailure', details });
    await expectFamilyGone();
  });

  test('but it may clean up after itself when it is asked to stop', async () => {
    const command = script(`trap 'echo cleaned; exit 0' TERM\necho $$ > parent\nwhile :; do sleep 0.05; done`);
    const end = await run({ command, timeoutMs: 300 }, { config: { stopGrace: '5s' } });
    expect(end.succeeded).toBe(false);
    expect(end.log.head).toMatch(/cleaned\n$/);
  });
});

test('while it runs, its log and what it said last are heartbeaten for people to see', async () => {
  const env = activity();
  const seen: unknown[] = [];
  env.on('heartbeat', (details: unknown) => seen.push(details));
  await run({ command: script('echo one; sleep 0.3; echo two; sleep 0.3') }, { env });
  const said = (message: string, head: string) =>
    expect(seen).toContainEqual({
      action: 'load-test',
      run: 'r',
      progress: null,
      message,
      log: { head, cut: 0, tail: '' },
    });
  said('one', 'one\n');
  said('two', 'one\ntwo\n');
});

// Processes of a killed worker are found by their environment, in /proc.
(existsSync('/proc/self/environ') ? describe : describe.skip)('when the worker before was killed', () => {
  const leftover = (command: readonly string[], runId: string): number => {
    const [file = '', ...args] = command;
    const env = { PATH: process.env['PATH'], CONVEYOR_RUN: runId };
    const child = spawn(file, args, { cwd: folder, env, detached: true, stdio: 'ignore' });
    child.unref();
    return child.pid!;
  };

  test('the script that it left running is stopped, and runs again', async () => {
    mkdirSync(join(folder, 'before'));
    const left = leftover(script(`${FAMILY}\nwait`, 'before.sh'), 'release/kvstore/12/load-test/1');
    const child = await numberIn('child');
    const env = activity({ attempt: 2 });
    const end = await run({ command: script('echo again'), runId: 'release/kvstore/12/load-test/1' }, { env });
    expect(end).toMatchObject({ succeeded: true, log: { head: 'again\n' } });
    expect([left, child].map(isAlive)).toEqual([false, false]);
  });

  test('so are processes whose script has ended already', async () => {
    leftover(script(FAMILY), 'r');
    const [parent, child] = [await numberIn('parent'), await numberIn('child')];
    while (isAlive(parent)) await wait(10);
    expect(isAlive(child)).toBe(true);
    await run({ command: ['true'] }, { env: activity({ attempt: 2 }) });
    expect(isAlive(child)).toBe(false);
  });

  test('but the runs of others are left alone', async () => {
    const other = leftover(['sleep', '60'], 'r-of-somebody-else');
    await wait(50);
    await run({ command: ['true'] }, { env: activity({ attempt: 2 }) });
    expect(isAlive(other)).toBe(true);
    process.kill(-other, 'SIGKILL');
  });
});
