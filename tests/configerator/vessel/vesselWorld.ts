import { serve, type ServerType } from '@hono/node-server';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createProxyApp } from '../../../configerator/proxy/app';
import { ConfigProxy } from '../../../configerator/proxy/proxy';
import { filesIn } from '../../../configerator/proxy/files';
import { MemoryStore } from '../../../configerator/store/memory';
import { createPeerClient } from '../../../configerator/vessel/peerClient';
import { pieceDiskIn, type PieceDisk } from '../../../configerator/vessel/disk';
import { listenForPeers } from '../../../configerator/vessel/listen';
import type { PieceProvider } from '../../../configerator/vessel/peerApp';
import { describePackage, PieceSource } from '../../../configerator/vessel/source';
import type { Throttle } from '../../../configerator/vessel/throttle';
import { Vessel } from '../../../configerator/vessel/vessel';
import type { Package } from '../../../configerator/domain/vessel/package';
import { modelPackageKey } from '../../../sdk/modelKey';
import { eventually } from '../../system/waiting';
import { commitOf, overrideOf } from '../storeSuite';

export const R = 'flags';
export const FEED = 'models/feed';
export const PIECE = 1000;
const HERE = { host: '127.0.0.1', port: 0 };

export interface Host {
  readonly name: string;
  readonly proxy: ConfigProxy;
  readonly vessel: Vessel;
  close(): Promise<void>;
}

interface HostOptions {
  readonly labels?: Readonly<Record<string, string>>;
  readonly disk?: (disk: PieceDisk) => PieceDisk;
  readonly mostBytes?: number;
  readonly throttle?: Throttle;
  readonly recheckMs?: number;
}

/** Proxies with packages that speak to each other over HTTP, a store in memory, and files on the disk. */
export class VesselWorld {
  readonly store = new MemoryStore(() => 0);
  readonly notes: string[] = [];
  /** The lead of the clock over that of the machine. */
  aheadMs = 0;
  readonly home = mkdtempSync(join(tmpdir(), 'conveyor-vessel-'));
  private readonly closing: (() => unknown)[] = [];
  private sequence = 0;
  private files = 0;

  now = (): number => Date.now() + this.aheadMs;

  /** A file of random bytes, or of these, as a package whose source serves it. */
  async published(bytes: number | Buffer, version = 1, throttle?: Throttle) {
    const data = typeof bytes === 'number' ? randomBytes(bytes) : bytes;
    const file = join(this.home, `model-${(this.files += 1)}`);
    writeFileSync(file, data);
    const later: { source?: PieceSource } = {};
    const giver: PieceProvider = {
      getBits: (digest) => later.source?.getBits(digest),
      read: async (digest, piece) => later.source?.read(digest, piece),
    };
    const door = await listenForPeers(giver, HERE, throttle);
    this.closing.push(() => door.close());
    const pack = await describePackage(file, { path: FEED, version, source: door.address, pieceBytes: PIECE });
    const source = new PieceSource(file, pack, this.now);
    later.source = source;
    return { pack, source, file, data, stop: () => door.close() };
  }

  /** Where a file is served as this package, whatever it says. */
  async sourceOf(pack: Package, file: string): Promise<string> {
    const door = await listenForPeers(new PieceSource(file, pack, this.now), HERE);
    this.closing.push(() => door.close());
    return door.address;
  }

  /** The configuration names this package. */
  async commit(pack: Package | null, path = FEED): Promise<void> {
    this.sequence += 1;
    await this.store.apply(R, commitOf(this.sequence, { [path]: pack && JSON.stringify(pack) }));
  }

  expose(pack: Package, hosts: readonly string[]): Promise<void> {
    return this.store.putOverrides(R, [overrideOf('deploy/feed/1', FEED, JSON.stringify(pack), { hosts: [...hosts] })]);
  }

  withdraw = (): Promise<void> => this.store.removeOverrides(R, 'deploy/feed/1');

  async host(
    name: string,
    { labels, disk = (it) => it, mostBytes = 2 ** 30, throttle, recheckMs = 60_000 }: HostOptions = {},
  ): Promise<Host> {
    const log = (line: string): void => void this.notes.push(`${name}: ${line}`);
    const common = { host: name, repository: R, store: this.store, now: this.now, log, ...(labels && { labels }) };
    const folder = join(this.home, name);
    const vessel = new Vessel({
      ...{ ...common, mostBytes, asking: createPeerClient(), retryDiskMs: 20, recheckMs },
      disk: disk(pieceDiskIn(join(folder, 'packages'))),
      onChange: (path) => proxy.acknowledge(path),
    });
    const proxy: ConfigProxy = new ConfigProxy({ ...common, files: filesIn(folder), packages: vessel });
    await vessel.start();
    const door = await listenForPeers(vessel, HERE, throttle);
    vessel.address = door.address;
    await proxy.start();
    const close = async (): Promise<void> => {
      door.close();
      vessel.close();
      await proxy.close();
    };
    this.closing.push(close);
    return { name, proxy, vessel, close };
  }

  /** The door of a host for its applications. */
  async door({ proxy, vessel }: Host, port = 0) {
    const app = createProxyApp(proxy, { vessel });
    const server = await new Promise<ServerType>((resolve) => {
      const one = serve({ fetch: app.fetch, port, hostname: HERE.host }, () => resolve(one));
    });
    const close = (): void => {
      app.end();
      server.close();
      if ('closeAllConnections' in server) server.closeAllConnections();
    };
    this.closing.push(close);
    const at = (server.address() as AddressInfo).port;
    return { port: at, url: `http://${HERE.host}:${at}`, close };
  }

  /** A peer that claims to have a package of the configuration, and sends anything. */
  async peer(name: string, version: string, giver: PieceProvider, throttle?: Throttle): Promise<string> {
    const door = await listenForPeers(giver, HERE, throttle);
    this.closing.push(() => door.close());
    await this.store.acknowledge(
      R,
      { host: name, path: FEED, version, revision: null, commit: 'c1', peer: door.address, at: 0 },
      60,
    );
    return door.address;
  }

  /** Resolves once all of a package is there, and is what was published. */
  async whole(host: Host, wanted: Package, path = FEED): Promise<void> {
    const { digest } = wanted;
    await eventually(`${host.name} has all of it`, async () => {
      const { state, package: pack, trouble } = host.vessel.status(path);
      if (state === 'whole' && pack?.digest === digest) return true;
      throw new Error(JSON.stringify(trouble ?? host.vessel.status(path)));
    });
    const whole = createHash('sha256');
    for await (const bytes of host.vessel.stream({ digest, key: modelPackageKey(path, wanted) }, 0, () => undefined))
      whole.update(bytes);
    expect(whole.digest('hex')).toBe(digest);
  }

  /** Resolves once hosts say this of the package: `live`, `loading: …` or `refused: …`. */
  acknowledgedAs(expected: Readonly<Record<string, string>>, path = FEED): Promise<unknown> {
    return eventually(`hosts acknowledge ${JSON.stringify(expected)}`, async () => {
      const said = (await this.store.subscribers(R, path)).map(({ host, loading, refused }) => [
        host,
        refused ? `refused: ${refused}` : loading ? `loading: ${loading}` : 'live',
      ]);
      if (JSON.stringify(Object.fromEntries(said)) === JSON.stringify(expected)) return true;
      throw new Error(JSON.stringify(said));
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.closing.map((close) => close()));
    rmSync(this.home, { recursive: true, force: true });
  }
}
