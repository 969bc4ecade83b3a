import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { serve } from '@hono/node-server';
import { stringify } from 'yaml';
import { openSlowrollService, type SlowrollService } from '../../push-types/slowroll/server/slowrollService';
import { AgentHost } from '../builders/agentHost';
import { bringVersion, type BroughtVersion } from '../builders/bringVersion';
import { packTar } from '../builders/fakeHosts';
import { nameToken } from '../builders/pollingHosts';
import { eventually } from '../system/waiting';

/** Ten real agents that poll the real manifest server over HTTP, and deploys by its push type. */

const SIZE = 10;
const UNIT = 'shop/eu';
const folder = mkdtempSync(join(tmpdir(), 'conveyor-joined-'));
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const HOME = '../../../../..';
const COMMANDS = {
  // A bad version fails at once: its health would be asked for until the time is over, which is long for a busy machine.
  restart: ['sh', '-c', `cp VERSION ${HOME}/serving && test ! -e bad`],
  health: ['test', '-e', 'VERSION'],
  stop: ['rm', '-f', `${HOME}/serving`],
  timeoutSeconds: 30,
};

// Ten agents share one thread, so each may wait for the others.
const TIMES = { requestMs: 30_000, sliceMs: 60_000, stallMs: 60_000, spreadMs: 500 };

/** The manifest server as a process would run it: its memory is its folder alone. */
class JoinedServer {
  service!: SlowrollService;
  url = '';
  readonly publicKey = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  private http: Server | undefined;
  private ending = new AbortController();
  private running = Promise.resolve();

  async start(): Promise<void> {
    this.service = await openSlowrollService({
      ...{ settings: join(folder, 'slowroll.yaml'), home: join(folder, 'home'), prometheus: undefined },
      ...{ token: undefined, env: {}, log: () => undefined },
    });
    this.ending = new AbortController();
    this.running = this.service.run(this.ending.signal);
    const { fetch } = this.service.manifests;
    const port = Number(this.url === '' ? 0 : new URL(this.url).port);
    const http = serve({ fetch, port, hostname: '127.0.0.1' }) as Server;
    await new Promise((resolve) => http.once('listening', resolve));
    this.http = http;
    this.url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.http?.closeAllConnections();
    await new Promise((resolve) => this.http?.close(resolve));
    this.ending.abort();
    await this.running;
  }
}

const server = new JoinedServer();
const stopping = new AbortController();
const agents: Promise<unknown>[] = [];
let hosts: AgentHost[] = [];

beforeAll(async () => {
  const pack = (version: string, files: readonly { readonly path: string }[] = []): void =>
    writeFileSync(
      join(folder, `shop-${version}.tar.gz`),
      gzipSync(packTar([{ path: 'VERSION', text: version }, ...files])),
    );
  for (const version of ['1.0', '2.0']) pack(version);
  pack('3.0', [{ path: 'bad' }]);
  writeFileSync(join(folder, 'key.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  const names = Array.from({ length: SIZE }, (_, nth) => `web-${nth + 1}`);
  const tokens = names.map((name) => `${name} ${nameToken(name)}\n`).join('');
  writeFileSync(join(folder, 'tokens'), tokens, { mode: 0o600 });
  const packages = { shop: { from: './shop-{version}.tar.gz', commands: COMMANDS } };
  const settings = { regions: ['eu'], packages, pollAfter: '1s', silence: '1h', tokens: './tokens' };
  writeFileSync(join(folder, 'slowroll.yaml'), stringify({ ...settings, signingKey: './key.pem' }));
  await server.start();
  hosts = names.map((name) => new AgentHost(server, name));
  for (const host of hosts) {
    host.write('token', `${nameToken(host.name)}\n`);
    agents.push(host.agent({ signal: stopping.signal, times: TIMES, chance: Math.random }).run());
  }
});
afterAll(async () => {
  stopping.abort();
  await Promise.all(agents);
  await server.stop();
  for (const host of hosts) host.close();
  rmSync(folder, { recursive: true });
});

const nameUpdate = (release: number, phase: number | string): string => `deploy/kvstore/${release}/deploy/1/${phase}/1`;
const bring = (update: Omit<BroughtVersion, 'units'>): Promise<void> =>
  bringVersion(server.service.pushType, { ...update, units: [UNIT] });

/** Calls a method of the push type as a deploy does. */
async function call(method: string, updateId: string, more: object = {}): Promise<unknown> {
  const context = { pipeline: 'kvstore', release: 3, deployId: 'd', actor: 'user:alice', config: { units: [UNIT] } };
  const answer = await server.service.pushType.request(`/${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': updateId },
    body: JSON.stringify({ updateId, context, ...more }),
  });
  const body: unknown = await answer.json();
  if (!answer.ok) throw new Error(`${method}: ${JSON.stringify(body)}`);
  return body;
}

type Progress = Readonly<Record<string, unknown>>;

async function track(updateId: string): Promise<Progress> {
  const { units } = (await call('trackUpdates', updateId)) as { readonly units: readonly Progress[] };
  return units[0] ?? {};
}

/** The end of an update. A test that waited for another one sees the reason. */
async function untilState(updateId: string, state: 'done' | 'failed'): Promise<Progress> {
  const progress = await eventually(`${updateId} is ${state}`, async () => {
    const now = await track(updateId);
    return ['done', 'failed'].includes(String(now['state'])) && now;
  });
  if (progress['state'] !== state) throw new Error(`${updateId} is not ${state}: ${JSON.stringify(progress)}`);
  return progress;
}

/** How many hosts serve each version; each serves the one to which `current` leads. */
function countServing(): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const host of hosts) {
    expect(host.serving()).toBe(host.current());
    counts[host.serving()] = (counts[host.serving()] ?? 0) + 1;
  }
  return counts;
}

/** The first unfinished test makes the later ones meaningless: each begins where the one before ended. */
describe('ten agents and their server', () => {
  test('install the first version on every host that has joined', async () => {
    await eventually('all hosts have joined', () => Promise.resolve(server.service.fleet.hosts.table.count === SIZE));
    await bring({ updateId: nameUpdate(1, 0), version: '1.0', release: 1 });
    expect(await untilState(nameUpdate(1, 0), 'done')).toMatchObject({ targeted: SIZE, live: SIZE });
    expect(countServing()).toEqual({ '1.0': SIZE });
  });

  test('bring a version in three phases, over a restart of the server that makes hosts unknown until they poll', async () => {
    const phase = { version: '2.0', release: 2, wholeUnit: false };
    await bring({ ...phase, updateId: nameUpdate(2, 0), amount: { count: 2 } });
    await untilState(nameUpdate(2, 0), 'done');
    expect(countServing()).toEqual({ '1.0': 8, '2.0': 2 });
    await bring({ ...phase, updateId: nameUpdate(2, 1), amount: { percent: 50 } });
    await server.stop();
    await server.start();
    // Both calls happen before any host can poll.
    const after = await track(nameUpdate(2, 0));
    expect(after).toMatchObject({ state: 'updating', live: 0 });
    expect(after['reason']).toMatch(/^unknown: \d+ hosts have not polled since the server started$/);
    await untilState(nameUpdate(2, 1), 'done');
    expect(await untilState(nameUpdate(2, 0), 'done')).toMatchObject({ targeted: 2, live: 2 });
    expect(countServing()).toEqual({ '1.0': 5, '2.0': 5 });
    await bring({ ...phase, updateId: nameUpdate(2, 2), amount: { all: true }, wholeUnit: true });
    await untilState(nameUpdate(2, 2), 'done');
    expect(countServing()).toEqual({ '2.0': SIZE });
  });

  test('go back by themselves from a bad version, and a revert is done on exactly the hosts that had got it', async () => {
    const bad = nameUpdate(3, 0);
    await bring({ updateId: bad, version: '3.0', release: 3, amount: { count: 3 }, wholeUnit: false });
    const ended = await untilState(bad, 'failed');
    expect(ended['reason']).toMatch(/^3\.0 did not come up on web-\d+: restart: sh -c .* ended with 1$/);
    const revert = { version: '2.0', release: 3, updatedBy: [bad], urgency: 'revert', wholeUnit: false } as const;
    await bring({ ...revert, updateId: nameUpdate(3, 'revert') });
    const reverted = await untilState(nameUpdate(3, 'revert'), 'done');
    // The first failure ends the update, so some hosts may never have been offered the version.
    expect(reverted['live']).toBe(reverted['targeted']);
    expect(reverted['targeted']).toBeGreaterThan(0);
    expect(reverted['targeted']).toBeLessThanOrEqual(3);
    expect(countServing()).toEqual({ '2.0': SIZE });
    const wentBack = hosts.filter(({ lines }) => lines.some((line) => line.includes('3.0 was rolled back')));
    expect(wentBack).toHaveLength(Number(reverted['targeted']));
  });

  test('remove the package from every host, and install it again with the next release', async () => {
    const removal = 'deploy/kvstore/4/remove/1';
    await call('removeUnits', removal, { units: [UNIT] });
    expect(await untilState(removal, 'done')).toMatchObject({ targeted: SIZE, gone: SIZE });
    expect(countServing()).toEqual({ '': SIZE });
    await bring({ updateId: nameUpdate(5, 0), version: '2.0', release: 5 });
    await untilState(nameUpdate(5, 0), 'done');
    expect(countServing()).toEqual({ '2.0': SIZE });
  });
});
