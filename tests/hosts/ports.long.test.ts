import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../../cli/stack/ports';
import type { Host } from '../../push-types/hosts/inventory';
import { computeFingerprint } from '../../push-types/hosts/knownHosts';
import { UnreachableHostError, type HostPort } from '../../push-types/hosts/port';
import { inventorySchema } from '../../push-types/hosts/settings';
import { openSsh2 } from '../../push-types/hosts/ssh2Port';
import { openSystemSsh } from '../../push-types/hosts/systemSsh';
import { concurrencyGate } from '../../sdk/concurrency';
import { eventually } from '../system/waiting';

/** Both ways to a host, to a real sshd of this machine. */

const SSHD = '/usr/sbin/sshd';
if (!existsSync(SSHD))
  process.stderr.write(
    `\nSKIPPED: tests/hosts/ports.long.test.ts needs sshd, and this machine has none (openssh-server). Nothing proves here that hosts are reached.\n\n`,
  );
const withSshd = existsSync(SSHD) ? describe : describe.skip;

const folder = mkdtempSync('/tmp/cvssh-');
const at = (name: string): string => join(folder, name);
let sshd: ChildProcess | undefined;
let port = 0;
const ports: HostPort[] = [];

const makeKey = (name: string): string => {
  rmSync(at(name), { force: true });
  spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', at(name)]);
  return readFileSync(at(`${name}.pub`), 'utf8')
    .split(' ')
    .slice(0, 2)
    .join(' ');
};

async function startSshd(): Promise<void> {
  spawnSync('mkdir', ['-p', '/run/sshd']);
  const options = {
    HostKey: at('host'),
    AuthorizedKeysFile: at('user.pub'),
    PidFile: 'none',
    UsePAM: 'no',
    StrictModes: 'no',
    PermitRootLogin: 'yes',
    MaxSessions: '3',
  };
  const args = Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  writeFileSync(at('config'), '');
  sshd = spawn(SSHD, ['-D', '-e', '-f', at('config'), '-p', String(port), '-o', 'ListenAddress=127.0.0.1', ...args], {
    stdio: 'ignore',
  });
  await eventually('sshd listens', () =>
    Promise.resolve(spawnSync('ssh-keyscan', ['-p', String(port), '127.0.0.1']).stdout.length > 0),
  );
}

withSshd.each(['ssh2', 'ssh'] as const)('by %s a host', (transport) => {
  const open = (change: Partial<Host> = {}, knownHosts = at('known_hosts')): HostPort => {
    const host = {
      name: 'web-1',
      unit: 'web',
      address: '127.0.0.1',
      port,
      user: userInfo().username,
      fingerprint: undefined,
      labels: {},
      vars: {},
      ...change,
    };
    const { ssh } = inventorySchema.parse({
      ...{ service: 'web', app: { root: '/srv', service: 'x' }, packages: { from: '{version}' }, groups: { web: {} } },
      ssh: { transport, identity: at('user'), knownHosts, connectTimeout: '5s', sessions: 3 },
    });
    const common = { ssh, connecting: concurrencyGate(4) };
    const opened =
      transport === 'ssh2'
        ? openSsh2(host, { ...common, env: {} })
        : openSystemSsh(host, { ...common, sockets: mkdtempSync(at('s')) });
    ports.push(opened);
    return opened;
  };

  beforeAll(async () => {
    [port = 0] = await freePorts(1);
    writeFileSync(at('known_hosts'), `[127.0.0.1]:${port} ${makeKey('host')}\n`);
    writeFileSync(at('other_hosts'), `[127.0.0.1]:${port} ${makeKey('other')}\n`);
    writeFileSync(at('no_hosts'), '');
    makeKey('user');
    await startSshd();
  });
  afterAll(async () => {
    for (const one of ports.splice(0)) one.close();
    const ended = new Promise((resolve) => sshd?.once('close', resolve));
    sshd?.kill('SIGTERM');
    await ended;
  });

  test('gets arguments unchanged and the script by standard input, and returns the code and both outputs', async () => {
    const words = [`it's; $(id) "x" *`, '', '-n', 'ü'];
    const script = 'for word; do printf "<%s>" "$word"; done; echo error >&2; exit 3';
    const result = await open().run(['sh', '-s', '--', ...words], { stdin: script, timeoutMs: 20_000 });
    expect(result).toMatchObject({ code: 3, stdout: words.map((word) => `<${word}>`).join('') });
    expect(result.stderr).toContain('error');
  });

  test('takes a file completely, and more commands at once than it has channels', async () => {
    const bytes = Buffer.alloc(3_000_000, 'abc');
    writeFileSync(at('sent'), bytes);
    const host = open();
    await host.upload(at('sent'), at(`it's there`), { timeoutMs: 60_000 });
    expect(readFileSync(at(`it's there`)).equals(bytes)).toBe(true);
    const echoes = Array.from({ length: 8 }, (_, n) => host.run(['echo', String(n)], { timeoutMs: 60_000 }));
    expect((await Promise.all(echoes)).map(({ stdout }) => stdout.trim())).toEqual([
      '0',
      '1',
      '2',
      '3',
      '4',
      '5',
      '6',
      '7',
    ]);
    await expect(host.upload(at('sent'), '/no/such/folder', { timeoutMs: 60_000 })).rejects.toThrow(
      'the host did not take the package',
    );
  });

  test.each([
    ['whose key has changed', 'other_hosts'],
    ['whose key is unknown', 'no_hosts'],
  ])('%s gets no command', async (_, file) => {
    const marker = at(`touched-${file}-${transport}`);
    await expect(open({}, at(file)).run(['touch', marker], { timeoutMs: 20_000 })).rejects.toThrow(/host key/);
    expect(existsSync(marker)).toBe(false);
  });

  test('that is not there, or takes too long, is unreachable, and is reached again later', async () => {
    await expect(open({ port: 1 }, at('known_hosts')).run(['true'], { timeoutMs: 20_000 })).rejects.toThrow(
      UnreachableHostError,
    );
    const host = open();
    await expect(host.run(['sleep', '60'], { timeoutMs: 1_500 })).rejects.toThrow(UnreachableHostError);
    expect(await host.run(['echo', 'again'], { timeoutMs: 20_000 })).toMatchObject({ code: 0, stdout: 'again\n' });
  });

  if (transport === 'ssh2')
    test('with a pinned fingerprint needs no known_hosts, and with another gets no command', async () => {
      const key = Buffer.from(readFileSync(at('host.pub'), 'utf8').split(' ')[1] ?? '', 'base64');
      const pinned = open({ fingerprint: computeFingerprint(key) }, at('no_hosts'));
      expect(await pinned.run(['echo', 'yes'], { timeoutMs: 20_000 })).toMatchObject({ stdout: 'yes\n' });
      const wrong = open({ fingerprint: `SHA256:${'A'.repeat(43)}` }, at('known_hosts'));
      await expect(wrong.run(['true'], { timeoutMs: 20_000 })).rejects.toThrow(
        /its host key is SHA256:\S+, and the inventory has/,
      );
    });
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));
