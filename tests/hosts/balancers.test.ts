import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHaproxy } from '../../push-types/hosts/haproxy';
import { createHook } from '../../push-types/hosts/hook';
import { weighHosts } from '../../push-types/hosts/traffic';
import { newSlot } from '../../sdk/updates';

const folder = mkdtempSync(join(tmpdir(), 'conveyor-balancer-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Answers on a socket as haproxy does: one command a connection. */
class FakeHaproxy {
  readonly commands: string[] = [];
  readonly servers = new Map<string, { status: string; sessions: number }>();
  private server: Server | undefined;

  constructor(readonly socket: string) {}

  listen(): Promise<void> {
    this.server = createServer((connection) => {
      connection.on('data', (data) => connection.end(this.answer(data.toString().trim())));
    });
    return new Promise((resolve) => this.server?.listen(this.socket, resolve));
  }

  close(): void {
    this.server?.close();
  }

  private answer(command: string): string {
    if (command.startsWith('show stat')) {
      const rows = [...this.servers].map(([name, { status, sessions }]) => `web,${name},0,${sessions},${status}`);
      // By a name it takes the first proxy that has it, which may be a frontend, and a frontend has no servers.
      const isOfAll = command === 'show stat -1 4 -1';
      return `# pxname,svname,qcur,scur,status\n${isOfAll ? rows.join('\n') : ''}\n\n`;
    }
    this.commands.push(command);
    const [, name = '', state] = /^set server web\/(\S+) state (\S+)$/.exec(command) ?? [];
    const server = this.servers.get(name);
    if (state && !server) return 'No such server.\n';
    if (server && state) server.status = state === 'drain' ? 'DRAIN' : 'UP';
    return '\n';
  }
}

describe('haproxy', () => {
  const [one, other] = ['a.sock', 'b.sock'].map((name) => new FakeHaproxy(join(folder, name))) as [
    FakeHaproxy,
    FakeHaproxy,
  ];
  const both = [one, other];
  const balancer = createHaproxy({
    sockets: both.map(({ socket }) => socket),
    backend: 'web',
    server: (host) => `s-${host}`,
  });
  beforeAll(() => Promise.all(both.map((fake) => fake.listen())));
  beforeEach(() =>
    both.forEach((fake) => ['s-h1', 's-h2'].forEach((name) => fake.servers.set(name, { status: 'UP', sessions: 0 }))),
  );
  afterAll(() => both.forEach((fake) => fake.close()));

  test('drains a host at every process, and waits until its last request is over', async () => {
    other.servers.set('s-h1', { status: 'UP', sessions: 1 });
    let isOver = false;
    const draining = balancer.drain('h1', 5_000).then(() => (isOver = true));
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect([isOver, one.servers.get('s-h1')?.status, other.servers.get('s-h1')?.status]).toEqual([
      false,
      'DRAIN',
      'DRAIN',
    ]);
    other.servers.set('s-h1', { status: 'DRAIN', sessions: 0 });
    await draining;
    expect(await balancer.listOut(['h1', 'h2'])).toEqual(new Set(['h1']));
    await balancer.undrain('h1', 5_000);
    expect(await balancer.listOut(['h1', 'h2'])).toEqual(new Set());
  });

  test('gives up waiting in time, whatever the clock of this machine says', async () => {
    one.servers.set('s-h1', { status: 'UP', sessions: 1 });
    const clock = jest.spyOn(Date, 'now').mockReturnValue(0);
    try {
      await balancer.drain('h1', 100);
    } finally {
      clock.mockRestore();
    }
    expect(one.servers.get('s-h1')).toEqual({ status: 'DRAIN', sessions: 1 });
    await balancer.undrain('h1', 5_000);
  });

  test('has its servers also where a frontend has the name of their backend', async () => {
    expect(await balancer.listOut(['h1', 'h2'])).toEqual(new Set());
  });

  test('counts a host as out if one process has it down, or does not have it', async () => {
    one.servers.set('s-h2', { status: 'DOWN', sessions: 0 });
    expect(await balancer.listOut(['h1', 'h2', 'h3'])).toEqual(new Set(['h2', 'h3']));
  });

  test('is an error for a host without a server, and while a process is away', async () => {
    await expect(balancer.drain('h9', 100)).rejects.toThrow(
      'haproxy refuses set server web/s-h9 state drain: No such server.',
    );
    const away = createHaproxy({ sockets: [join(folder, 'none.sock')], backend: 'web', server: String });
    await expect(away.listOut(['h1'])).rejects.toThrow('ENOENT');
  });

  test('gets a weight for each host', async () => {
    await balancer.setWeights?.(new Map([['h1', 256]]));
    expect(one.commands).toContain('set server web/s-h1 weight 256');
  });
});

test.each([
  [50, [256, 256, 256, 256]],
  [10, [28, 28, 256, 256]],
  [0, [0, 0, 256, 256]],
  [100, [256, 256, 0, 0]],
])('%s percent of the requests for a version are weights of its hosts', (percent, expected) => {
  const slots = ['new', 'new', 'old', 'old'].map((version) => ({ ...newSlot(version), state: 'live' as const }));
  const weights = weighHosts(slots, ['a', 'b', 'c', 'd'], { version: 'new', percent, deploy: 'd' });
  expect([...weights.values()]).toEqual(expected);
});

describe('a hook', () => {
  const hook = join(folder, 'hook.sh');
  const write = (text: string): void => writeFileSync(hook, `#!/bin/sh\n${text}\n`, { mode: 0o755 });

  test('gets the verb and the host as arguments, and prints the hosts that are out', async () => {
    write(`echo "$@" >> ${folder}/calls; [ "$2" = out ] && echo h2; true`);
    const balancer = createHook([hook, 'pool one'], 30_000);
    await balancer.drain('h1', 1);
    expect(await balancer.listOut(['h1', 'h2'])).toEqual(new Set(['h2']));
    expect(readFileSync(join(folder, 'calls'), 'utf8')).toBe('pool one drain h1\npool one out h1 h2\n');
  });

  test('that fails or does not end is an error', async () => {
    write('echo no such pool >&2; exit 4');
    await expect(createHook([hook], 30_000).drain('h1', 1)).rejects.toThrow(
      'drain ended with the code 4: no such pool',
    );
    write('sleep 60');
    await expect(createHook([hook], 300).undrain('h1', 1)).rejects.toThrow('did not end within 300 ms');
  });
});
