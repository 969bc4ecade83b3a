import { generateKeyPairSync } from 'node:crypto';
import { setMaxListeners } from 'node:events';
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

/** Real agents that poll the real manifest server over HTTP, and deploys by its push type. */

const UNIT = 'shop/eu';
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const HOME = '../../../../..';
const COMMANDS = {
  // A bad version fails at once: its health would be asked for until the time is over, which is long for a busy machine.
  // A picky version fails on weak hosts alone.
  restart: ['sh', '-c', `cp VERSION ${HOME}/serving && test ! -e bad && ! test -e picky -a -e ${HOME}/weak`],
  health: ['test', '-e', 'VERSION'],
  stop: ['rm', '-f', `${HOME}/serving`],
  timeoutSeconds: 30,
};

// All agents share one thread, so each may wait for the others.
const TIMES = { requestMs: 30_000, sliceMs: 60_000, stallMs: 60_000, spreadMs: 500 };

/** The manifest server as a process would run it: its memory is its folder alone. */
class JoinedServer {
  service!: SlowrollService;
  url = '';
  readonly publicKey = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  readonly folder = mkdtempSync(join(tmpdir(), 'conveyor-joined-'));
  private http: Server | undefined;
  private ending = new AbortController();
  private running = Promise.resolve();

  async start(): Promise<void> {
    this.service = await openSlowrollService({
      ...{ settings: join(this.folder, 'slowroll.yaml'), home: join(this.folder, 'home'), prometheus: undefined },
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

/** A server with so many agents. */
class JoinedFleet {
  readonly server = new JoinedServer();
  hosts: AgentHost[] = [];
  private readonly stopping = new AbortController();
  private readonly agents: Promise<unknown>[] = [];

  constructor(readonly size: number) {}

  async open(): Promise<void> {
    const { folder } = this.server;
    const pack = (version: string, files: readonly { readonly path: string }[] = []): void =>
      writeFileSync(
        join(folder, `shop-${version}.tar.gz`),
        gzipSync(packTar([{ path: 'VERSION', text: version }, ...files])),
      );
    for (const version of ['1.0', '2.0']) pack(version);
    pack('3.0', [{ path: 'bad' }]);
    pack('4.0', [{ path: 'picky' }]);
    writeFileSync(join(folder, 'key.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
    const names = Array.from({ length: this.size }, (_, nth) => `web-${nth + 1}`);
    const tokens = names.map((name) => `${name} ${nameToken(name)}\n`).join('');
    writeFileSync(join(folder, 'tokens'), tokens, { mode: 0o600 });
    const packages = { shop: { from: './shop-{version}.tar.gz', commands: COMMANDS } };
    const settings = { regions: ['eu'], packages, pollAfter: '1s', silence: '1h', tokens: './tokens' };
    writeFileSync(join(folder, 'slowroll.yaml'), stringify({ ...settings, signingKey: './key.pem' }));
    await this.server.start();
    setMaxListeners(0, this.stopping.signal);
    this.hosts = names.map((name) => new AgentHost(this.server, name));
    for (const host of this.hosts) {
      host.write('token', `${nameToken(host.name)}\n`);
      this.agents.push(host.agent({ signal: this.stopping.signal, times: TIMES, chance: Math.random }).run());
    }
  }

  async close(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.agents);
    await this.server.stop();
    for (const host of this.hosts) host.close();
    rmSync(this.server.folder, { recursive: true });
  }

  untilJoined(): Promise<unknown> {
    const { table } = this.server.service.fleet.hosts;
    return eventually('all hosts have joined', () => Promise.resolve(table.count === this.size));
  }

  bring(update: Omit<BroughtVersion, 'units'>): Promise<void> {
    return bringVersion(this.server.service.pushType, { ...update, units: [UNIT] });
  }

  /** Calls a method of the push type as a deploy does. */
  async call(method: string, updateId: string, more: object = {}): Promise<unknown> {
    const context = { pipeline: 'kvstore', release: 3, deployId: 'd', actor: 'user:alice', config: { units: [UNIT] } };
    const answer = await this.server.service.pushType.request(`/${method}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': updateId },
      body: JSON.stringify({ updateId, context, ...more }),
    });
    const body: unknown = await answer.json();
    if (!answer.ok) throw new Error(`${method}: ${JSON.stringify(body)}`);
    return body;
  }

  async track(updateId: string): Promise<Progress> {
    const { units } = (await this.call('trackUpdates', updateId)) as { readonly units: readonly Progress[] };
    return units[0] ?? {};
  }

  /** The end of an update. A test that waited for another one sees the reason. */
  async untilState(updateId: string, state: 'done' | 'failed'): Promise<Progress> {
    const progress = await eventually(`${updateId} is ${state}`, async () => {
      const now = await this.track(updateId);
      return ['done', 'failed'].includes(String(now['state'])) && now;
    });
    if (progress['state'] !== state) throw new Error(`${updateId} is not ${state}: ${JSON.stringify(progress)}`);
    return progress;
  }

  /** How many hosts serve each version; each serves the one to which `current` leads. */
  countServing(): Readonly<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const host of this.hosts) {
      expect(host.serving()).toBe(host.current());
      counts[host.serving()] = (counts[host.serving()] ?? 0) + 1;
    }
    return counts;
  }
}

type Progress = Readonly<Record<string, unknown>>;

const nameUpdate = (release: number, phase: number | string): string => `deploy/kvstore/${release}/deploy/1/${phase}/1`;

/** The fleet of the tests of one group. */
function useFleet(size: number): JoinedFleet {
  const fleet = new JoinedFleet(size);
  beforeAll(() => fleet.open());
  afterAll(() => fleet.close());
  return fleet;
}

/** The first unfinished test makes the later ones meaningless: each begins where the one before ended. */
describe('ten agents and their server', () => {
  const SIZE = 10;
  const fleet = useFleet(SIZE);

  test('install the first version on every host that has joined', async () => {
    await fleet.untilJoined();
    await fleet.bring({ updateId: nameUpdate(1, 0), version: '1.0', release: 1 });
    expect(await fleet.untilState(nameUpdate(1, 0), 'done')).toMatchObject({ targeted: SIZE, live: SIZE });
    expect(fleet.countServing()).toEqual({ '1.0': SIZE });
  });

  test('bring a version in three phases, over a restart of the server that makes hosts unknown until they poll', async () => {
    const phase = { version: '2.0', release: 2, wholeUnit: false };
    await fleet.bring({ ...phase, updateId: nameUpdate(2, 0), amount: { count: 2 } });
    await fleet.untilState(nameUpdate(2, 0), 'done');
    expect(fleet.countServing()).toEqual({ '1.0': 8, '2.0': 2 });
    await fleet.bring({ ...phase, updateId: nameUpdate(2, 1), amount: { percent: 50 } });
    await fleet.server.stop();
    await fleet.server.start();
    // Both calls happen before any host can poll.
    const after = await fleet.track(nameUpdate(2, 0));
    expect(after).toMatchObject({ state: 'updating', live: 0 });
    expect(after['reason']).toMatch(/^unknown: \d+ hosts have not polled since the server started$/);
    await fleet.untilState(nameUpdate(2, 1), 'done');
    expect(await fleet.untilState(nameUpdate(2, 0), 'done')).toMatchObject({ targeted: 2, live: 2 });
    expect(fleet.countServing()).toEqual({ '1.0': 5, '2.0': 5 });
    await fleet.bring({ ...phase, updateId: nameUpdate(2, 2), amount: { all: true }, wholeUnit: true });
    await fleet.untilState(nameUpdate(2, 2), 'done');
    expect(fleet.countServing()).toEqual({ '2.0': SIZE });
  });

  test('go back by themselves from a bad version, and a revert is done on exactly the hosts that had got it', async () => {
    const bad = nameUpdate(3, 0);
    await fleet.bring({ updateId: bad, version: '3.0', release: 3, amount: { count: 3 }, wholeUnit: false });
    const ended = await fleet.untilState(bad, 'failed');
    expect(ended['reason']).toMatch(/^3\.0 did not come up on web-\d+: restart: sh -c .* ended with 1$/);
    const revert = { version: '2.0', release: 3, updatedBy: [bad], urgency: 'revert', wholeUnit: false } as const;
    await fleet.bring({ ...revert, updateId: nameUpdate(3, 'revert') });
    const reverted = await fleet.untilState(nameUpdate(3, 'revert'), 'done');
    // The first failure ends the update, so some hosts may never have been offered the version.
    expect(reverted['live']).toBe(reverted['targeted']);
    expect(reverted['targeted']).toBeGreaterThan(0);
    expect(reverted['targeted']).toBeLessThanOrEqual(3);
    expect(fleet.countServing()).toEqual({ '2.0': SIZE });
    const wentBack = fleet.hosts.filter(({ lines }) => lines.some((line) => line.includes('3.0 was rolled back')));
    expect(wentBack).toHaveLength(Number(reverted['targeted']));
  });

  test('remove the package from every host, and install it again with the next release', async () => {
    const removal = 'deploy/kvstore/4/remove/1';
    await fleet.call('removeUnits', removal, { units: [UNIT] });
    expect(await fleet.untilState(removal, 'done')).toMatchObject({ targeted: SIZE, gone: SIZE });
    expect(fleet.countServing()).toEqual({ '': SIZE });
    await fleet.bring({ updateId: nameUpdate(5, 0), version: '2.0', release: 5 });
    await fleet.untilState(nameUpdate(5, 0), 'done');
    expect(fleet.countServing()).toEqual({ '2.0': SIZE });
  });
});

describe('fifty agents and their server', () => {
  const SIZE = 50;
  const fleet = useFleet(SIZE);

  test('bring a version in three phases, of which the second meets hosts on which it does not come up, and none keeps it', async () => {
    await fleet.untilJoined();
    await fleet.bring({ updateId: nameUpdate(1, 0), version: '1.0', release: 1 });
    await fleet.untilState(nameUpdate(1, 0), 'done');
    const phase = { version: '4.0', release: 2, wholeUnit: false };
    const [first, second] = [nameUpdate(2, 0), nameUpdate(2, 1)];
    await fleet.bring({ ...phase, updateId: first, amount: { count: 5 } });
    expect(await fleet.untilState(first, 'done')).toMatchObject({ targeted: 5, live: 5 });
    for (const host of fleet.hosts) if (host.serving() === '1.0') writeFileSync(join(host.folder, 'weak'), '');
    await fleet.bring({ ...phase, updateId: second, amount: { percent: 40 } });
    expect((await fleet.untilState(second, 'failed'))['reason']).toMatch(/^4\.0 did not come up on web-\d+: restart: /);
    const back = nameUpdate(2, 'revert');
    await fleet.bring({
      ...{
        updateId: back,
        version: '1.0',
        release: 2,
        updatedBy: [first, second],
        urgency: 'revert',
        wholeUnit: false,
      },
    });
    const reverted = await fleet.untilState(back, 'done');
    expect(reverted['live']).toBe(reverted['targeted']);
    expect(reverted['targeted']).toBeGreaterThan(5);
    expect(reverted['targeted']).toBeLessThanOrEqual(20);
    expect(fleet.countServing()).toEqual({ '1.0': SIZE });

    for (const [nth, amount] of [{ count: 5 }, { percent: 40 }, { all: true }].entries()) {
      const updateId = nameUpdate(3, nth);
      await fleet.bring({ updateId, version: '2.0', release: 3, amount, wholeUnit: nth === 2 });
      await fleet.untilState(updateId, 'done');
      expect(fleet.countServing()['2.0']).toBe([5, 20, SIZE][nth]);
    }
  });
});
