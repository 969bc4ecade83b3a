import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePorts } from '../../cli/stack/ports';
import type { DeployStatus } from '../../domain/views';
import { packTar } from '../builders/fakeHosts';
import { listMissing, Machines, type Machine } from './machines';
import { cleanEnv, Processes, type Running } from './process';
import { Stack } from './stack';
import { eventually } from './waiting';

/** Three real hosts, each systemd with sshd in a network namespace, behind a real haproxy under load. */

const missing = [...listMissing(), ...(spawnSync('haproxy', ['-v']).status === 0 ? [] : ['haproxy'])];
if (missing.length > 0)
  process.stderr.write(
    `\nSKIPPED: tests/system/hosts.long.test.ts needs real hosts, and this machine lacks ${missing.join(', ')}. Nothing proves here that a deploy over SSH loses no request.\n\n`,
  );
const withHosts = missing.length === 0 ? describe : describe.skip;

const SERVER = `const { createServer } = require('node:http');
const version = require('node:fs').readFileSync(__dirname + '/VERSION', 'utf8').trim();
const server = createServer((request, answer) => {
  const isBad = version.startsWith('bad') && request.url === '/healthz';
  answer.writeHead(isBad ? 503 : 200, { connection: 'close' });
  answer.end(JSON.stringify({ version, host: process.env.DEPLOYED_HOST }));
});
server.listen(8080);
process.on('SIGTERM', () => server.close(() => process.exit(0)));
`;

withHosts('hosts over SSH behind a load balancer under load', () => {
  const machines = new Machines();
  const processes = new Processes();
  let hosts: readonly Machine[];
  let stack: Stack;
  let pushType: Running;
  let load: Load;
  let [port, frontend]: number[] = [];
  const startPushType = async (): Promise<void> => {
    const args = [
      '--inventory',
      join(machines.home, 'hosts.yaml'),
      '--port',
      String(port),
      '--home',
      join(machines.home, 'home'),
    ];
    pushType = processes.node('dist/push-types/hosts/main.js', args, cleanEnv(machines.home));
    await pushType.said(/^hosts ready/m);
  };
  const deploy = (number: number): Promise<DeployStatus> =>
    stack.client.status(`web/${number}/deploy`) as Promise<DeployStatus>;
  const served = async (): Promise<string[]> =>
    Promise.all(
      hosts.map(
        async ({ address }) => ((await (await fetch(`http://${address}:8080/`)).json()) as { version: string }).version,
      ),
    );

  beforeAll(async () => {
    [port, frontend] = await freePorts(2);
    const start = Date.now();
    hosts = await machines.open(3);
    process.stderr.write(`three hosts booted in ${Date.now() - start} ms\n`);
    for (const version of ['v1', 'v2', 'bad']) addPackage(machines.home, version);
    writeFileSync(join(machines.home, 'hosts.yaml'), inventory(machines));
    writeFileSync(join(machines.home, 'haproxy.cfg'), haproxyConfig(machines, frontend ?? 0));
    processes.start('haproxy', ['-f', join(machines.home, 'haproxy.cfg')], cleanEnv(machines.home));
    await startPushType();
    stack = await Stack.open({ urls: { hosts: `http://127.0.0.1:${port}` } });
    const applied = await stack.conveyor(['apply', stack.file('pipeline.yaml', PIPELINE)]);
    if (applied.code !== 0) throw new Error(applied.stderr);
    load = new Load(`http://127.0.0.1:${frontend}/`);
  });
  afterAll(async () => {
    await load?.stop();
    await stack?.close();
    await processes.reap();
    await machines.close();
  });

  test('the first deploy brings the application to hosts that have nothing', async () => {
    const start = Date.now();
    expect(await stack.conveyor(['release', 'web', '-a', 'app=v1', '--wait'])).toMatchObject({ code: 0 });
    process.stderr.write(`first deploy: ${Date.now() - start} ms\n`);
    expect(await served()).toEqual(['v1', 'v1', 'v1']);
    load.start();
    await eventually('requests are answered', async () => load.answered > 20);
  });

  test('a good version reaches every host, and no request fails', async () => {
    const before = { ...load.counts };
    const start = Date.now();
    expect(await stack.conveyor(['release', 'web', '-a', 'app=v2', '--wait'])).toMatchObject({ code: 0 });
    process.stderr.write(
      `good deploy: ${Date.now() - start} ms, ${load.counts.ok - before.ok} requests answered, ${load.counts.failed - before.failed} failed\n`,
    );
    expect(await served()).toEqual(['v2', 'v2', 'v2']);
    expect(load.failures).toEqual([]);
    expect(load.counts.ok).toBeGreaterThan(before.ok + 20);
  });

  test('a bad version is reverted on the one host that it reached, and no request fails', async () => {
    const before = { ...load.counts };
    const start = Date.now();
    expect(await stack.conveyor(['release', 'web', '-a', 'app=bad', '--wait'])).toMatchObject({ code: 3 });
    process.stderr.write(
      `bad deploy and its revert: ${Date.now() - start} ms, ${load.counts.ok - before.ok} requests answered, ${load.counts.failed - before.failed} failed\n`,
    );
    const { outcome, revert } = await deploy(3);
    expect([outcome, revert?.units.map(({ live }) => live)]).toEqual(['reverted', [1]]);
    expect(revert?.reason).toMatch(/bad did not come up on h\d: not live within .*the health URL answers 503|not live/);
    expect(await served()).toEqual(['v2', 'v2', 'v2']);
    expect(load.failures).toEqual([]);
  });

  test('a push type that was killed and lost its memory answers from the hosts', async () => {
    pushType.kill('SIGKILL');
    await pushType.ended;
    spawnSync('rm', ['-rf', join(machines.home, 'home')]);
    await startPushType();
    const seen = await eventually('all hosts have answered', async () => {
      const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
      const live = [
        ...text.matchAll(
          /^conveyor_host_task_live\{task="(h\d)@[0-9a-f]{32}",unit="web",host="h\d",version="v2"\} 1$/gm,
        ),
      ];
      return live.length === 3 && live;
    });
    expect(seen.map(([, host]) => host)).toEqual(['h1', 'h2', 'h3']);
    expect(load.failures).toEqual([]);
  });
});

const PIPELINE = `
pipeline: web
owners: [user:alice]
artifacts:
  app: { finder: manual }
actions:
  deploy:
    type: deploy
    inputs: [app]
    with:
      pushType: hosts
      config: { units: [web] }
      phases:
        - { name: first, scope: 'group:web', amount: 1, bake: 1s }
      completion: { bake: 1s }
`;

function addPackage(home: string, version: string): void {
  mkdirSync(join(home, 'packages'), { recursive: true });
  const bytes = packTar([
    { path: 'server.js', text: SERVER },
    { path: 'VERSION', text: version },
  ]);
  writeFileSync(join(home, 'packages', `${version}.tar`), bytes);
  writeFileSync(join(home, 'packages', `${version}.tar.sha256`), createHash('sha256').update(bytes).digest('hex'));
}

const inventory = ({ home, key, knownHosts, machines }: Machines): string => `
service: web
app:
  root: /srv/app
  service: app.service
  sudo: false
  health: { url: 'http://127.0.0.1:8080/healthz', settle: 1s, timeout: 30s }
ssh: { user: root, identity: ${key}, knownHosts: ${knownHosts} }
packages: { from: './packages/{version}.tar' }
balancer: { haproxy: [${join(home, 'haproxy.sock')}], backend: web }
groups:
  web:
    hosts:
${machines.map(({ name, address }) => `      ${name}: { address: ${address} }`).join('\n')}
`;

const haproxyConfig = ({ home, machines }: Machines, port: number): string => `
global
  stats socket ${join(home, 'haproxy.sock')} mode 600 level admin
defaults
  mode http
  timeout connect 1s
  timeout client 10s
  timeout server 10s
  option redispatch
  retries 2
frontend web
  bind 127.0.0.1:${port}
  default_backend web
backend web
  balance roundrobin
  option httpchk GET /healthz
  default-server inter 200ms fall 2 rise 1
${machines.map(({ name, address }) => `  server ${name} ${address}:8080 check weight 100`).join('\n')}
`;

const PAUSE_MS = 20;

/** Four clients, each with a short pause after each answer: other tests share the machine. */
class Load {
  readonly counts = { ok: 0, failed: 0 };
  readonly failures: string[] = [];
  private isOver = false;
  private clients: Promise<void>[] = [];

  constructor(private readonly url: string) {}

  get answered(): number {
    return this.counts.ok;
  }

  start(): void {
    this.clients = Array.from({ length: 4 }, () => this.call());
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.clients);
  }

  private async call(): Promise<void> {
    while (!this.isOver) {
      const failure = await fetch(this.url, { headers: { connection: 'close' } }).then(
        async (answer) => (await answer.text(), answer.ok ? undefined : `${answer.status}`),
        (error: Error) => `${error.message}: ${String(error.cause)}`,
      );
      await delay(PAUSE_MS);
      if (failure === undefined) this.counts.ok += 1;
      else {
        this.counts.failed += 1;
        this.failures.push(failure);
      }
    }
  }
}
