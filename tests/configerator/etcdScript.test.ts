import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../setup/sources';

const home = mkdtempSync(join(tmpdir(), 'conveyor-etcd-script-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** A machine with little more than a shell, and these programs. */
function run(programs: Readonly<Record<string, string>>, env: Readonly<Record<string, string>>, ...args: string[]) {
  const bin = mkdtempSync(join(home, 'bin-'));
  for (const name of [
    ...['bash', 'dirname', 'mkdir', 'ln', 'rm', 'readlink', 'mktemp', 'tail', 'mv', 'cat', 'chmod'],
    ...['find', 'id', 'cut', 'sha256sum'],
  ])
    symlinkSync(spawnSync('bash', ['-c', `command -v ${name}`], { encoding: 'utf8' }).stdout.trim(), join(bin, name));
  for (const [name, text] of Object.entries(programs)) {
    writeFileSync(join(bin, name), `#!${join(bin, 'bash')}\n${text}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  const { status, stdout, stderr } = spawnSync(join(bin, 'bash'), [join(ROOT, 'scripts/etcd.sh'), ...args], {
    encoding: 'utf8',
    env: { PATH: bin, HOME: home, CONVEYOR_CACHE: mkdtempSync(join(home, 'cache-')), ...env },
  });
  return { status, stdout, stderr };
}

test('a named etcd is used, and one that cannot be run is refused in words', () => {
  expect(run({ etcd: '' }, { CONVEYOR_ETCD: '/bin/sh' })).toMatchObject({ status: 0, stdout: '/bin/sh\n' });
  const { status, stderr } = run({}, { CONVEYOR_ETCD: '/nowhere/etcd' });
  expect({ status, stderr }).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/^error: CONVEYOR_ETCD is \/nowhere\/etcd, which cannot be run\nhint: /),
  });
});

test('the etcd on PATH is taken', () => {
  const { status, stdout } = run({ etcd: '' }, {});
  expect({ status, stdout }).toMatchObject({ status: 0, stdout: expect.stringMatching(/\/etcd\n$/) });
});

test('it becomes the etcd that it finds, with the arguments that are given', () => {
  const etcd = 'printf "%s " "$@"; exit 7';
  expect(run({ etcd }, {}, '--run', '--name', 'a b')).toMatchObject({ status: 7, stdout: '--name a b ' });
  expect(run({}, {}, '--run', '--name', 'x')).toMatchObject({
    ...{ status: 1, stdout: '' },
    stderr: expect.stringMatching(/^error: there is no etcd here.*\nhint: install etcd 3\.4/m),
  });
});

test('where there is none, and none can be got, it says how to get it', () => {
  expect(run({}, {}, '--print-path')).toEqual({ status: 1, stdout: '', stderr: '' });
  const { status, stderr } = run({}, {});
  expect({ status, stderr }).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/^error: there is no etcd here, and no apt-get .*\nhint: install etcd 3\.4/m),
  });
});

test('the package of the machine is kept in the cache; without lists it fetches some of its own', () => {
  const dpkg = 'mkdir -p "$3/usr/bin"; echo etcd >"$3/usr/bin/etcd"; chmod +x "$3/usr/bin/etcd"';
  const apt = 'case "$*" in *lists*download*) : >etcd-server_3_amd64.deb ;; *lists*update*) : ;; *) exit 100 ;; esac';
  const { status, stdout } = run({ 'apt-get': apt, dpkg }, {});
  expect({ status, stdout }).toMatchObject({ status: 0, stdout: expect.stringMatching(/cache-\w+\/bin\/etcd\n$/) });
  const failed = run({ 'apt-get': 'echo no network >&2; exit 100', dpkg }, {});
  expect(failed).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/no network\nerror: the etcd package could not/),
  });
});
