import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Processes, type Running } from './process';
import { eventually } from './waiting';

/** Real hosts on this machine: each is systemd in a network namespace of its own, over the files of this machine, with a real sshd. */

/** The reasons why this machine cannot have such hosts; empty if it can. */
export function listMissing(): string[] {
  const missing = process.getuid?.() === 0 ? [] : ['root'];
  const programs = {
    'systemd-nspawn': 'systemd-container',
    '/usr/sbin/sshd': 'openssh-server',
    ip: 'iproute2',
    curl: 'curl',
    flock: 'util-linux',
  };
  for (const [program, name] of Object.entries(programs))
    if (spawnSync('sh', ['-c', 'command -v "$1"', 'sh', program]).status !== 0) missing.push(name);
  if (missing.length === 0 && !canMount()) missing.push('overlay file systems');
  return missing;
}

function canMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'conveyor-overlay-'));
  try {
    mountRoot(folder);
    run('umount', join(folder, 'root'));
    return true;
  } catch {
    return false;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const APP =
  '[Unit]\nDescription=the application\nStartLimitIntervalSec=0\n[Service]\nWorkingDirectory=/srv/app\nEnvironmentFile=-/srv/app/.conveyor/environment\nExecStart=/usr/bin/node /srv/app/current/server.js\nRestart=on-failure\nRestartSec=1\nTimeoutStopSec=5\n';
const SSHD =
  '[Unit]\nDescription=sshd\n[Service]\nRuntimeDirectory=sshd\nExecStart=/usr/sbin/sshd -D -e -p 22 -o UsePAM=no -o PasswordAuthentication=no -o PermitRootLogin=prohibit-password\n';
const TARGET =
  '[Unit]\nDescription=host\nRequires=basic.target conveyor-sshd.service\nAfter=basic.target\nAllowIsolate=yes\n';

export interface Machine {
  readonly name: string;
  readonly address: string;
}

/** Some hosts behind one bridge. `close` leaves nothing behind, whatever failed before. */
export class Machines {
  readonly home = mkdtempSync(join(tmpdir(), 'conveyor-hosts-'));
  readonly key = join(this.home, 'key');
  readonly knownHosts = join(this.home, 'known_hosts');
  readonly machines: Machine[] = [];
  private readonly id = process.pid % 200;
  private readonly bridge = `cvb${this.id}`;
  private readonly running = new Map<string, Running>();
  private readonly processes = new Processes();

  /** @returns them once their sshd answers */
  async open(count: number): Promise<readonly Machine[]> {
    run('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', this.key);
    run('ip', 'link', 'add', this.bridge, 'type', 'bridge');
    run('ip', 'addr', 'add', `10.99.${this.id}.1/24`, 'dev', this.bridge);
    run('ip', 'link', 'set', this.bridge, 'up');
    for (let nth = 1; nth <= count; nth += 1) this.boot(nth);
    for (const { name, address } of this.machines)
      await eventually(`sshd of ${name} answers`, () => answers(address, 22));
    return this.machines;
  }

  /** The files of a host. */
  root({ name }: Machine): string {
    return join(this.home, name, 'root');
  }

  /** Cuts a host off the network, or connects it again. */
  setNetwork({ name }: Machine, isThere: boolean): void {
    run('ip', 'link', 'set', this.device(name), isThere ? 'up' : 'down');
  }

  async close(): Promise<void> {
    for (const one of this.running.values()) one.kill('SIGTERM');
    await this.processes.reap();
    for (const { name } of this.machines) {
      spawnSync('umount', ['-l', join(this.home, name, 'root')]);
      spawnSync('ip', ['netns', 'del', this.space(name)]);
      spawnSync('ip', ['link', 'del', this.device(name)]);
    }
    spawnSync('ip', ['link', 'del', this.bridge]);
    rmSync(this.home, { recursive: true, force: true });
  }

  private boot(nth: number): void {
    const machine = { name: `h${nth}`, address: `10.99.${this.id}.${10 + nth}` };
    this.machines.push(machine);
    const folder = join(this.home, machine.name);
    mkdirSync(folder);
    mountRoot(folder);
    this.prepare(machine);
    const [space, device] = [this.space(machine.name), this.device(machine.name)];
    run('ip', 'netns', 'add', space);
    run('ip', 'link', 'add', device, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', space);
    run('ip', 'link', 'set', device, 'master', this.bridge, 'up');
    run('ip', '-n', space, 'addr', 'add', `${machine.address}/24`, 'dev', 'eth0');
    for (const link of ['eth0', 'lo']) run('ip', '-n', space, 'link', 'set', link, 'up');
    const args = [
      ...[
        '-q',
        '-D',
        this.root(machine),
        '--boot',
        '--register=no',
        '--keep-unit',
        `--network-namespace-path=/run/netns/${space}`,
      ],
      ...[
        `--machine=cv${this.id}${machine.name}`,
        '--link-journal=no',
        '--console=pipe',
        '--',
        '--unit=conveyor.target',
      ],
    ];
    this.running.set(machine.name, this.processes.start('systemd-nspawn', args, { PATH: process.env['PATH'] ?? '' }));
  }

  /** Its own keys and services, in its own layer. */
  private prepare(machine: Machine): void {
    const root = this.root(machine);
    const write = (path: string, text: string, mode = 0o644): void => writeFileSync(join(root, path), text, { mode });
    for (const folder of ['etc/ssh', 'srv/app', 'root/.ssh', 'etc/systemd/system'])
      mkdirSync(join(root, folder), { recursive: true });
    for (const file of [
      'etc/machine-id',
      'root/.bashrc',
      'root/.profile',
      'etc/ssh/ssh_host_ed25519_key',
      'etc/ssh/ssh_host_ed25519_key.pub',
    ])
      rmSync(join(root, file), { force: true });
    write('etc/hostname', `${machine.name}\n`);
    write('etc/ssh/sshd_config', '');
    run('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', join(root, 'etc/ssh/ssh_host_ed25519_key'));
    const [type = '', key = ''] = readFileSync(join(root, 'etc/ssh/ssh_host_ed25519_key.pub'), 'utf8').split(' ');
    writeFileSync(this.knownHosts, `${machine.address} ${type} ${key.trim()}\n`, { flag: 'a' });
    write('root/.ssh/authorized_keys', readFileSync(`${this.key}.pub`, 'utf8'), 0o600);
    write('etc/systemd/system/app.service', APP);
    write('etc/systemd/system/conveyor-sshd.service', SSHD);
    write('etc/systemd/system/conveyor.target', TARGET);
  }

  private space(name: string): string {
    return `cv${this.id}${name}`;
  }

  private device(name: string): string {
    return `cv${this.id}${name}`;
  }
}

function mountRoot(folder: string): void {
  for (const part of ['upper', 'work', 'root']) mkdirSync(join(folder, part), { recursive: true });
  const layers = `lowerdir=/,upperdir=${join(folder, 'upper')},workdir=${join(folder, 'work')}`;
  run('mount', '-t', 'overlay', 'overlay', '-o', layers, join(folder, 'root'));
  if (!existsSync(join(folder, 'root/usr'))) throw new Error('the overlay is empty');
}

function run(program: string, ...args: string[]): void {
  const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${error?.message ?? stderr}`);
}

const answers = (host: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = createConnection({ host, port, timeout: 1_000 });
    const end = (isThere: boolean) => (): void => {
      socket.destroy();
      resolve(isThere);
    };
    socket.on('data', end(true)).on('error', end(false)).on('timeout', end(false));
  });
