import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleAgent } from '../../builders/agentBundle';
import { AgentHost } from '../../builders/agentHost';
import { FakeManifestServer } from '../../builders/manifestServer';
import { eventually } from '../../system/waiting';

/** install.sh into a folder instead of a machine, and the unit that it writes. */

const SCRIPT = join(__dirname, '../../../push-types/slowroll/agent/install.sh');
const folder = mkdtempSync(join(tmpdir(), 'conveyor-install-'));
const bundle = join(folder, 'conveyor-agent.js');
const server = new FakeManifestServer();
let host: AgentHost;
let digest = '';
let root = '';

beforeAll(async () => {
  bundleAgent(bundle);
  digest = createHash('sha256').update(readFileSync(bundle)).digest('hex');
  await server.start();
  host = new AgentHost(server);
});
beforeEach(() => {
  root = mkdtempSync(join(folder, 'root-'));
});
afterAll(async () => {
  await server.stop();
  host.close();
  rmSync(folder, { recursive: true, force: true });
});

const install = (change: Readonly<Record<string, string | undefined>> = {}, path = process.env['PATH'] ?? '') => {
  const flags = {
    bundle,
    sha256: digest,
    manifests: server.url,
    'token-file': host.file('token'),
    keys: host.file('keys.pem'),
    root,
    ...change,
  };
  const args = Object.entries(flags).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, value]));
  return spawnSync('/bin/sh', [SCRIPT, ...args, '--host', 'web-1', '--label', 'region=eu'], {
    encoding: 'utf8',
    env: { PATH: path },
  });
};

/** A PATH with some programs of this machine, and a `node` of our own if its text is given. */
function makePath(node?: string): string {
  const bin = mkdtempSync(join(folder, 'bin-'));
  for (const name of ['sh', 'cut', 'sha256sum', 'mkdir', 'install', 'mv', 'ln', 'cat', 'chmod', 'sed', 'dirname']) {
    const place = spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).stdout.trim();
    symlinkSync(place, join(bin, name));
  }
  if (node !== undefined) writeFileSync(join(bin, 'node'), node, { mode: 0o755 });
  return bin;
}

test('it installs an agent that polls as its unit starts it, and may run again', async () => {
  expect(install()).toMatchObject({ status: 0 });
  expect(statSync(join(root, 'etc/conveyor-agent/token')).mode & 0o777).toBe(0o600);
  expect(readlinkSync(join(root, 'var/lib/conveyor-agent/conveyor-agent.js'))).toBe('bundled/conveyor-agent.js');
  const unit = readFileSync(join(root, 'etc/systemd/system/conveyor-agent.service'), 'utf8');
  expect(unit).not.toContain('@');
  const [, command = ''] = /^ExecStart=(.*)$/m.exec(unit) ?? [];
  const [, options = ''] =
    /^CONVEYOR_AGENT_OPTIONS=(.*)$/m.exec(readFileSync(join(root, 'etc/conveyor-agent/options'), 'utf8')) ?? [];
  const words = command
    .replace('$CONVEYOR_AGENT_OPTIONS', options)
    .replace(/ (\/etc|\/var)/g, ` ${root}$1`)
    .trim()
    .split(/\s+/);
  server.want([server.offer('1.0', 1)]);
  const running = spawn(words[0] ?? '', [...words.slice(1), '--spread', '0'], { stdio: 'ignore' });
  const ended = new Promise((resolve) => running.once('exit', resolve));
  await eventually('the agent reports', () => Promise.resolve(server.state()?.version === '1.0'));
  expect(server.seen[0]?.query.get('labels')).toBe('{"region":"eu"}');
  running.kill('SIGTERM');
  await ended;
  expect(install()).toMatchObject({ status: 0 });
});

test('a host with a certificate needs no token, and its key is for the agent alone', () => {
  const [cert, key] = [join(folder, 'host.pem'), join(folder, 'host.key')];
  writeFileSync(cert, 'certificate');
  writeFileSync(key, 'key');
  expect(install({ 'token-file': undefined, cert, key })).toMatchObject({ status: 0 });
  const options = readFileSync(join(root, 'etc/conveyor-agent/options'), 'utf8');
  expect(options).toContain('--cert /etc/conveyor-agent/host.pem --key /etc/conveyor-agent/host.key');
  expect(options).not.toContain('--token-file');
  expect(statSync(join(root, 'etc/conveyor-agent/host.key')).mode & 0o777).toBe(0o600);
  expect(install({ 'token-file': undefined }).status).toBe(2);
});

test('an agent that replaced itself stays in charge', () => {
  const home = join(root, 'var/lib/conveyor-agent');
  mkdirSync(join(home, 'packages'), { recursive: true });
  writeFileSync(join(home, 'packages/own.js'), '');
  symlinkSync('packages/own.js', join(home, 'conveyor-agent.js'));
  expect(install()).toMatchObject({ status: 0 });
  expect(readlinkSync(join(home, 'conveyor-agent.js'))).toBe('packages/own.js');
});

const addFlock = (bin: string): string => {
  symlinkSync('/usr/bin/flock', join(bin, 'flock'));
  return bin;
};
test.each<[string, Readonly<Record<string, string>>, () => string, string]>([
  ['the bundle has another digest', { sha256: '0'.repeat(64) }, () => process.env['PATH'] ?? '', 'has the digest'],
  ['a certificate has no key', { cert: '/dev/null' }, () => process.env['PATH'] ?? '', 'are needed together'],
  ['the bundle is not there', { bundle: '/nowhere' }, () => process.env['PATH'] ?? '', '/nowhere cannot be read'],
  ['a value would need a shell', { manifests: 'http://x/$(id)' }, () => process.env['PATH'] ?? '', 'expected letters'],
  ['the machine has no Node', {}, () => makePath(), 'there is no node in PATH'],
  [
    'its Node is too old',
    {},
    () => addFlock(makePath('#!/bin/sh\n[ "$1" = --version ] && echo v18.20.0 && exit 0\nexit 1\n')),
    'v18.20.0, and Node 20.19 or newer is needed',
  ],
  ['it has no flock', {}, () => makePath(`#!/bin/sh\nexec ${process.execPath} "$@"\n`), 'there is no flock in PATH'],
])('it installs nothing if %s', (_, change, path, reason) => {
  const { status, stderr } = install(change, path());
  expect(status).toBe(1);
  expect(stderr).toContain(reason);
  expect(() => statSync(join(root, 'etc'))).toThrow();
});
