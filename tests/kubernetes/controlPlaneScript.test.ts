import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../setup/sources';

const home = mkdtempSync(join(tmpdir(), 'conveyor-control-plane-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** A machine with little more than a shell, and these programs. */
function openMachine(programs: Readonly<Record<string, string>>) {
  const bin = mkdtempSync(join(home, 'bin-'));
  const cache = mkdtempSync(join(home, 'cache-'));
  for (const name of [
    ...[
      'bash',
      'sh',
      'dirname',
      'mkdir',
      'ln',
      'rm',
      'readlink',
      'tail',
      'mv',
      'cat',
      'chmod',
      'sleep',
      'wc',
      'tr',
      'sed',
    ],
    ...['find', 'id', 'cut', 'sha256sum', 'nice', 'seq', 'basename'],
  ])
    symlinkSync(spawnSync('bash', ['-c', `type -P ${name}`], { encoding: 'utf8' }).stdout.trim(), join(bin, name));
  for (const [name, text] of Object.entries(programs)) {
    writeFileSync(join(bin, name), `#!${join(bin, 'sh')}\n${text}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  const run = (env: Readonly<Record<string, string>>, ...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(join(bin, 'bash'), [join(ROOT, 'scripts/control-plane.sh'), ...args], {
      ...{ encoding: 'utf8', env: { PATH: bin, HOME: home, CONVEYOR_CACHE: cache, ...env } },
    });
    return { status, stdout, stderr };
  };
  return { cache, run };
}

/** A compiler that writes the file after `-o`. */
const GO = `case "$1" in
env) echo go1.26.8 ;;
build) while [ $# -gt 0 ]; do if [ "$1" = -o ]; then echo made >"$2"; fi; shift; done ;;
esac`;

test('a control plane that is named is used, and one that cannot be run is refused in words', () => {
  const { run } = openMachine({});
  expect(run({ CONVEYOR_CONTROL_PLANE: '/bin/sh' })).toMatchObject({ status: 0, stdout: '/bin/sh\n' });
  expect(run({ CONVEYOR_CONTROL_PLANE: '/nowhere' })).toMatchObject({
    ...{
      status: 1,
      stderr: expect.stringMatching(/^error: CONVEYOR_CONTROL_PLANE is \/nowhere, which cannot be run\nhint: /),
    },
  });
});

test('without Go it says how to get one, and a question for its path builds nothing', () => {
  const { run, cache } = openMachine({});
  expect(run({}, '--print-path')).toEqual({ status: 1, stdout: '', stderr: '' });
  expect(run({})).toMatchObject({
    ...{ status: 1, stdout: '' },
    stderr: expect.stringMatching(
      /^error: there is no control plane of Kubernetes here, and no Go .*\nhint: install Go 1\.26/,
    ),
  });
  expect(existsSync(join(cache, 'bin'))).toBe(false);
});

test('it is built once, kept with its digest, and then found', () => {
  const { run, cache } = openMachine({ go: GO });
  const place = join(cache, 'bin/control-plane-1.37.1');
  expect(run({})).toMatchObject({
    status: 0,
    stdout: `${place}\n`,
    stderr: expect.stringContaining('Building the control plane'),
  });
  expect(existsSync(`${place}.sha256`)).toBe(true);
  expect(run({})).toEqual({ status: 0, stdout: `${place}\n`, stderr: '' });
  expect(run({}, '--print-path')).toEqual({ status: 0, stdout: `${place}\n`, stderr: '' });
});

test('a build that fails leaves nothing behind but its log, and shows its end', () => {
  const { run, cache } = openMachine({
    go: `case "$1" in env) echo go1.26.8 ;; build) echo no space left >&2; exit 1 ;; esac`,
  });
  expect(run({})).toMatchObject({
    ...{ status: 1, stdout: '' },
    stderr: expect.stringMatching(
      /no space left\nerror: the control plane could not be built; the whole log is .*\nhint: fix what it says/,
    ),
  });
  expect(existsSync(join(cache, 'bin/control-plane-1.37.1'))).toBe(false);
});
