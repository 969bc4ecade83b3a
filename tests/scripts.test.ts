import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { freePorts } from '../cli/stack/ports';
import { ROOT } from './setup/sources';

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numRuntimeErrorTestSuites: number;
}
/* eslint-disable @typescript-eslint/no-require-imports -- the scripts are plain JavaScript without types */
const { count } = require('../scripts/count-tests') as {
  count: (report: Report | undefined, code: number) => { passed: number; failed: number };
};
const { mayRepeat } = require('../scripts/repeats') as { mayRepeat: (messages: string[], lost: string[]) => boolean };
const { older } = require('../scripts/dependencies') as { older: (version: string, wanted: string) => boolean };
const { chooseDefects, plantDefect, readDefects } = require('../scripts/planted') as {
  chooseDefects: (only: string) => Defect[];
  plantDefect: (defect: Defect, read?: (file: string) => string) => string;
  readDefects: () => Defect[];
};
const { listFindings, firstSeed, planPortions } = require('../scripts/nightly') as {
  listFindings: (portion: Portion, played: { failed: readonly string[]; isWhole: boolean }) => string[];
  firstSeed: (nowMs: number) => number;
  planPortions: (seeds: number, from: number) => Portion[];
};
const { parseFailures } = require('../scripts/stories') as { parseFailures: (output: string) => string[] };
/* eslint-enable @typescript-eslint/no-require-imports */

interface Portion {
  readonly from: number;
  readonly seeds: number;
  readonly kind?: string;
  readonly past?: boolean;
}

interface Defect {
  readonly name: string;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

describe('the count of .ci/run', () => {
  const report = (passed: number, failed: number, broken: number): Report => ({
    numPassedTests: passed,
    numFailedTests: failed,
    numRuntimeErrorTestSuites: broken,
  });
  test.each<[string, Report | undefined, number, number, number]>([
    ['is what jest says', report(7, 0, 0), 0, 7, 0],
    ['includes the failed', report(7, 2, 0), 1, 7, 2],
    ['counts a file that did not run as a failure', report(7, 0, 1), 1, 7, 1],
    ['has a failure when lint or set-up failed before any test', undefined, 1, 0, 1],
    ['has a failure when nothing was tested', undefined, 0, 0, 1],
    ['has a failure when the command failed after its tests passed', report(7, 0, 0), 137, 7, 1],
  ])('%s', (_, given, code, passed, failed) => {
    expect(count(given, code)).toEqual({ passed, failed });
  });
});

describe('a test in virtual time that failed', () => {
  const waited = 'waited 43200 s of virtual time until release 2 ended';
  const stood = 'virtual time stands still: {}';
  const timeout = 'Exceeded timeout of 180000 ms for a test.';
  test.each<[string, string[], string[], boolean]>([
    ['runs again when the server has lost a task', [waited], ['watchHealth'], true],
    ['runs again however it waited', [stood, timeout], ['watchHealth'], true],
    ['has failed when the product stalls and nothing is lost', [waited], [], false],
    ['has failed when it timed out and nothing is lost', [timeout], [], false],
    ['has failed when something else was wrong as well', [waited, 'expect(received).toEqual'], ['watchHealth'], false],
  ])('%s', (_, messages, lost, expected) => {
    expect(mayRepeat(messages, lost)).toBe(expected);
  });
});

test.each([
  ['both lanes passed', [{ passed: 7 }, { passed: 5 }], [0, 0], '12 passed, 0 failed', 0],
  ['the short one failed', [{ passed: 7, failed: 2 }, { passed: 5 }], [1, 0], '12 passed, 2 failed', 1],
  ['the long one did not run', [{ passed: 7 }, null], [0, 1], '7 passed, 1 failed', 1],
])('the last lines of .ci/run count both lanes, and the repeated: %s', (_, lanes, codes, expected, exit) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'conveyor-count-'));
  const repeats = path.join(folder, 'repeats');
  writeFileSync(repeats, 'a story\nanother story\n');
  const given = lanes.flatMap((lane, nth) => {
    const file = path.join(folder, `report-${nth}`);
    const { passed, failed = 0 } = { passed: 0, failed: 0, ...lane };
    const report = { numPassedTests: passed, numFailedTests: failed, numRuntimeErrorTestSuites: 0 };
    if (lane !== null) writeFileSync(file, JSON.stringify(report));
    return [file, String(codes[nth])];
  });
  const args = ['scripts/count-tests.js', repeats, ...given];
  const { stdout, status } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' });
  expect({ stdout, status }).toEqual({ stdout: `2 repeated\n${expected}\n`, status: exit });
  rmSync(folder, { recursive: true });
});

test('a long job is said to be at so many of about as many as it should have, and past that never beyond all of them', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'conveyor-follow-'));
  // Each second of waiting is fifteen, and does two more things.
  const script = `
    . scripts/common.sh
    log=${folder}/log over=${folder}/over
    sleep() {
      SECONDS=$((SECONDS + 15))
      printf 'did one\\ndid another\\n' >>"$log"
      [ "$(wc -l <"$log")" -lt 8 ] || { touch "$over" && command sleep 0.1; }
    }
    : >"$log"
    bash -c 'until [ -e "$0" ]; do sleep 0.05; done; exit 7' "$over" &
    follow "$log" $! compiling 5`;
  const { status, stdout, stderr } = spawnSync('bash', ['-c', script], { cwd: ROOT, encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  const said = stderr
    .trimEnd()
    .split('\n')
    .map((line) => /^ {2}compiling: \d+ s, (.*) packages$/.exec(line)?.[1]);
  expect({ status, stdout, said: said.slice(0, 4) }).toEqual({
    ...{ status: 7, stdout: '' },
    said: ['2 of about 5', '4 of about 5', '6', '8'],
  });
  expect(said.every((count, nth) => nth < 2 || count === String(2 * (nth + 1)))).toBe(true);
});

test.each([
  ['20.18.9', '20.19', true],
  ['18.99.0', '20.19', true],
  ['20.19.0', '20.19', false],
  ['22.1.0', '20.19', false],
])('Node %s is older than %s: %s', (version, wanted, expected) => {
  expect(older(version, wanted)).toBe(expected);
});

describe('temporal-dev.sh', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'conveyor-temporal-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  const archive = path.join(folder, 'archive.tar.gz');
  const binary = program('temporal', 'echo "temporal version 9.9.9"');
  spawnSync('tar', ['-czf', archive, '-C', folder, 'temporal']);
  const digest = createHash('sha256').update(readFileSync(archive)).digest('hex');

  /** A machine with its own cache and, before everything else on PATH, these programs. */
  function machine(name: string, programs: Record<string, string>): NodeJS.ProcessEnv {
    const home = mkdtempSync(path.join(folder, `${name}-`));
    for (const [tool, script] of Object.entries(programs))
      program(path.relative(folder, path.join(home, tool)), script);
    return {
      ...process.env,
      TEMPORAL_CLI: '',
      CONVEYOR_CACHE: path.join(home, 'cache'),
      PATH: `${home}:${process.env.PATH}`,
    };
  }

  function program(name: string, script: string): string {
    const file = path.join(folder, name);
    writeFileSync(file, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    return file;
  }

  /** Stands in for a download: notes that it ran, takes a moment, and writes the archive where curl should. */
  const curl = `echo got >>"$0.log"; sleep 0.3; while [ "$1" != -o ]; do shift; done; cp ${archive} "$2"`;
  const old = 'echo "temporal version 1.3.2 (Server 1.27.0)"';

  const run = (env: NodeJS.ProcessEnv, ...args: string[]): ReturnType<typeof spawnSync> =>
    spawnSync('bash', [path.join(ROOT, 'temporal-dev.sh'), ...args], { env, encoding: 'utf8' });

  test('uses the binary that TEMPORAL_CLI names', () => {
    const ended = run({ ...machine('named', {}), TEMPORAL_CLI: binary }, '--install-only');
    expect(ended).toMatchObject({ status: 0, stdout: `${binary}\n` });
  });

  test('refuses a TEMPORAL_CLI that cannot be run instead of taking another', () => {
    const ended = run({ ...machine('wrong', {}), TEMPORAL_CLI: archive }, '--install-only');
    expect(ended).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringContaining('hint: correct it, or unset it') as string,
    });
  });

  test('uses temporal on PATH from 1.4 on', () => {
    const env = machine('recent', { temporal: 'echo "temporal version 1.4.0 (Server 1.28.0)"' });
    expect(run(env, '--print-path').stdout).toMatch(/recent-.*\/temporal\n$/);
  });

  test('passes over an older one on PATH, downloads, and finds its download the next time', () => {
    const env: NodeJS.ProcessEnv = { ...machine('older', { curl, temporal: old }), CONVEYOR_TEMPORAL_SHA256: digest };
    const cached = path.join(env.CONVEYOR_CACHE!, 'bin/temporal-1.8.2');
    expect(run(env, '--install-only')).toMatchObject({
      status: 0,
      stdout: `${cached}\n`,
      stderr: expect.stringContaining('1.4 is needed') as string,
    });
    expect(run(env, '--print-path')).toMatchObject({ status: 0, stdout: `${cached}\n` });
    expect(spawnSync(cached, { encoding: 'utf8' }).stdout).toBe('temporal version 9.9.9\n');
  });

  /** A machine with a download in its cache. */
  function withDownload(name: string): { env: NodeJS.ProcessEnv; cached: string } {
    const env: NodeJS.ProcessEnv = { ...machine(name, { curl, temporal: old }), CONVEYOR_TEMPORAL_SHA256: digest };
    expect(run(env, '--install-only').status).toBe(0);
    return { env, cached: path.join(env.CONVEYOR_CACHE!, 'bin/temporal-1.8.2') };
  }

  test('refuses a server in its cache that is not what it put there', () => {
    const { env, cached } = withDownload('changed');
    writeFileSync(cached, '#!/bin/sh\necho "temporal version 1.8.2"\n');
    for (const how of ['--install-only', '--print-path'])
      expect(run(env, how)).toMatchObject({
        status: 1,
        stdout: '',
        stderr: expect.stringMatching(
          /has the SHA-256 [0-9a-f]{64}, not the [^]*hint: do not run it; remove /,
        ) as string,
      });
  });

  test.each([
    ['the file', (cached: string) => cached],
    ['its folder', (cached: string) => path.dirname(cached)],
    ['the cache', (cached: string) => path.dirname(path.dirname(cached))],
  ])('refuses a server in its cache when others may write %s', (_, placeOf) => {
    const { env, cached } = withDownload('open');
    chmodSync(placeOf(cached), 0o777);
    expect(run(env, '--install-only')).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringContaining(`error: others may write ${placeOf(cached)}, `) as string,
    });
  });

  test('continues with a server that was cached before there were records, and records it', () => {
    const { env, cached } = withDownload('before');
    rmSync(`${cached}.sha256`);
    expect(run(env, '--print-path')).toMatchObject({ status: 0, stdout: `${cached}\n` });
    expect(readFileSync(`${cached}.sha256`, 'utf8')).toContain(
      createHash('sha256').update(readFileSync(cached)).digest('hex'),
    );
  });

  test('passes over a temporal on PATH that others may write, without running it', () => {
    const env = machine('planted', { temporal: 'touch "$0.ran"; echo "temporal version 1.4.0"' });
    const home = env.PATH!.split(':')[0]!;
    chmodSync(home, 0o777);
    const ended = run(env, '--print-path');
    expect(ended).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(`not using the temporal on PATH: others may write ${home}\n`) as string,
    });
    expect(existsSync(path.join(home, 'temporal.ran'))).toBe(false);
  });

  test('never keeps a download whose digest is not the pinned one', () => {
    const env = machine('tampered', { curl, temporal: old });
    const ended = run(env, '--install-only');
    expect(ended).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringContaining(`has the SHA-256 ${digest}, not the pinned`) as string,
    });
    expect(existsSync(path.join(env.CONVEYOR_CACHE!, 'bin/temporal-1.8.2'))).toBe(false);
  });

  test('says what to install when there is neither a download nor Go', () => {
    const env = machine('bare', { temporal: old, curl: 'echo "curl: (6) no network" >&2; exit 6', go: 'exit 1' });
    const ended = run(env, '--install-only');
    expect(ended).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(/no network[^]*hint: install the Temporal CLI 1\.4 or newer .* or Go/) as string,
    });
  });

  test('gets the server once when two start at the same time', async () => {
    const env: NodeJS.ProcessEnv = { ...machine('two', { curl, temporal: old }), CONVEYOR_TEMPORAL_SHA256: digest };
    const both = [0, 1].map(() =>
      spawn('bash', [path.join(ROOT, 'temporal-dev.sh'), '--install-only'], { env, stdio: 'ignore' }),
    );
    const codes = await Promise.all(both.map((child) => new Promise((resolve) => child.once('exit', resolve))));
    expect(codes).toEqual([0, 0]);
    expect(readFileSync(path.join(env.PATH!.split(':')[0]!, 'curl.log'), 'utf8')).toBe('got\n');
  });

  test('takes over the lock of a process that died', () => {
    const env: NodeJS.ProcessEnv = { ...machine('died', { curl, temporal: old }), CONVEYOR_TEMPORAL_SHA256: digest };
    const dead = spawnSync('true').pid;
    spawnSync('sh', ['-c', `mkdir -p "$CONVEYOR_CACHE" && ln -s ${dead} "$CONVEYOR_CACHE/temporal-1.8.2.lock"`], {
      env,
    });
    expect(run(env, '--install-only').status).toBe(0);
  });

  test('says at once that a port is taken, before it gets a server', async () => {
    const holder = createServer();
    await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve));
    const { port } = holder.address() as AddressInfo;
    const ended = run(machine('taken', { temporal: old, curl: 'exit 1', go: 'exit 1' }), '--port', String(port));
    expect(ended).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringContaining(`error: port-in-use: port ${port} is taken`) as string,
    });
    await new Promise((resolve) => holder.close(resolve));
  });

  test.each(['--ports', '--port', '--port many', '--port 70000', '--retention long'])(
    'refuses %s as wrong usage',
    (line) => {
      const wrong = { status: 2, stdout: '', stderr: expect.stringContaining('error: usage: ') as string };
      expect(run(machine('usage', {}), ...line.split(' '))).toMatchObject(wrong);
    },
  );
});

describe('a night of chaos', () => {
  const DAY_MS = 86_400_000;

  test('plays seeds that no other night plays, and a quarter as many with configuration and with offers', () => {
    const [today, tomorrow] = [firstSeed(20_000 * DAY_MS + 5), firstSeed(20_001 * DAY_MS)];
    const portions = planPortions(120, today);
    expect(portions).toEqual([
      { from: today, seeds: 50, past: true },
      { from: today + 50, seeds: 50 },
      { from: today + 100, seeds: 20 },
      { from: today, seeds: 30, kind: 'configuration' },
      { from: today, seeds: 30, kind: 'offers' },
    ]);
    const last = planPortions(10_000, today).at(199);
    expect(last).toEqual({ from: tomorrow - 50, seeds: 50 });
  });

  test('says how to play again each story that failed, and the portion that ended without a word on it', () => {
    const output = '  ✕ nothing unsafe happens: seed 7 (5 ms)\n  ✕ a story that went wrong once goes well: a-b.json\n';
    expect(parseFailures(`${output}${output}`)).toEqual(['7', 'a-b.json']);
    const portion = { from: 5, seeds: 50, kind: 'configuration' };
    expect(listFindings(portion, { failed: ['7'], isWhole: false })).toEqual([
      'npm run chaos -- --seeds 1 --from 7 --configuration',
    ]);
    expect(listFindings(portion, { failed: [], isWhole: false })).toEqual([
      'npm run chaos -- --seeds 50 --from 5 --configuration',
    ]);
    expect(listFindings(portion, { failed: [], isWhole: true })).toEqual([]);
    expect(listFindings({ from: 5, seeds: 50, past: true }, { failed: ['7', 'a-b.json'], isWhole: false })).toEqual([
      'npm run chaos -- --seeds 1 --from 5 --past # a-b.json',
      'npm run chaos -- --seeds 1 --from 7',
    ]);
  });
});

describe('defects that are planted to see whether chaos finds them', () => {
  test.each(readDefects())('have their place: $name', (defect) => {
    expect(plantDefect(defect)).toContain(defect.replace);
  });

  test('are all planted, or those whose name has the words that were given', () => {
    expect(chooseDefects('')).toEqual(readDefects());
    expect(chooseDefects('past a hotfix').map(({ file }) => file)).toEqual(['domain/pipeline/rollback.ts']);
    expect(() => chooseDefects('none of that name')).toThrow('no defect is called "none of that name"; tests/chaos/');
  });

  test('are refused where the code has changed since', () => {
    const defect = { name: 'n', file: 'f', find: 'a', replace: 'b' };
    expect(() => plantDefect(defect, () => 'aa')).toThrow('f has 2 places');
    expect(() => plantDefect(defect, () => '')).toThrow('f has 0 places');
  });
});

test('the tests are set up also where Node gives its own modules as getters, as it does since 22', () => {
  const script = `const hooks = require('node:async_hooks');
    const { AsyncLocalStorage } = hooks;
    Object.defineProperty(hooks, 'AsyncLocalStorage', { get: () => AsyncLocalStorage, configurable: true });
    require('./tests/setup/tidyEnvironment.js');
    if (hooks.AsyncLocalStorage === AsyncLocalStorage) throw new Error('what is left behind is not known');`;
  const { status, stderr } = spawnSync(process.execPath, ['-e', script], { cwd: ROOT, encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

describe('temporal-cluster.sh', () => {
  const run = (...args: string[]) =>
    spawnSync('bash', [path.join(ROOT, 'temporal-cluster.sh'), ...args], { encoding: 'utf8' });

  test.each([
    ['its server', 0, 'the Temporal server'],
    ['PostgreSQL', 200, 'PostgreSQL'],
  ])('refuses a port that is taken where %s would listen, before it uses it', async (_what, above, who) => {
    // The highest that it takes is 32500.
    const port = Math.min(...(await freePorts(5)));
    const holder = createServer().listen(port, '127.0.0.1');
    await new Promise((resolve) => holder.once('listening', resolve));
    const ended = run('--port', String(port - above));
    expect([ended.status, ended.stderr]).toEqual([
      1,
      expect.stringContaining(`error: port-in-use: port ${port} is taken, so ${who} cannot listen on it`),
    ]);
    await new Promise((resolve) => holder.close(resolve));
  });

  test.each(['--ports', '--port', '--port 32501', '--servers 0', '--shards many', '--retention long'])(
    'refuses %s as wrong usage, with the script to ask for help',
    (line) => {
      const { status, stderr } = run(...line.split(' '));
      expect([status, stderr]).toEqual([2, expect.stringContaining('hint: ./temporal-cluster.sh --help')]);
    },
  );
});

describe('config-store.sh', () => {
  const run = (...args: string[]) =>
    spawnSync('bash', [path.join(ROOT, 'config-store.sh'), ...args], { encoding: 'utf8' });

  test.each([
    ['its clients', 0],
    ['its peers', 1],
  ])('refuses a port that is taken where %s would come in, before it makes anything', async (_who, above) => {
    const port = Math.min(...(await freePorts(5)));
    const holder = createServer().listen(port, '127.0.0.1');
    await new Promise((resolve) => holder.once('listening', resolve));
    const ended = run('--port', String(port - above));
    expect([ended.status, ended.stderr]).toEqual([
      1,
      `error: port-in-use: port ${port} is taken, so etcd cannot listen on it\nhint: stop what listens there, or choose another with --port\n`,
    ]);
    await new Promise((resolve) => holder.close(resolve));
  });

  test.each(['--ports', '--port', '--port 65535', '--port low'])(
    'refuses %s as wrong usage, with the script to ask for help',
    (line) => {
      const { status, stderr } = run(...line.split(' '));
      expect([status, stderr]).toEqual([2, expect.stringContaining('hint: ./config-store.sh --help')]);
    },
  );
});
