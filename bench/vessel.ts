import { fork, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { MemoryStore } from '../configerator/store/memory';
import { createPeerClient } from '../configerator/vessel/peerClient';
import { pieceDiskIn } from '../configerator/vessel/disk';
import { listenForPeers } from '../configerator/vessel/listen';
import type { PieceProvider } from '../configerator/vessel/peerApp';
import { describePackage, PieceSource } from '../configerator/vessel/source';
import { Throttle } from '../configerator/vessel/throttle';
import { Vessel } from '../configerator/vessel/vessel';
import { noBits } from '../configerator/domain/vessel/bits';
import type { Package } from '../configerator/domain/vessel/package';
import { print } from './stack';

/**
 * `npx jiti bench/vessel.ts [hosts] [megabytes] [upload]`: the time from the naming of a model until the last of that
 * many hosts has all of it, each with its own door and disk, in four processes. The upload is the limit of every host
 * and of the source, in megabytes a second. First as packages normally travel, then from a single server, which gives
 * every piece to hosts that know no other peer. The store is in memory.
 */
const HOSTS = Number(process.argv[2] ?? 20);
const MEGABYTES = Number(process.argv[3] ?? 64);
const UPLOAD = Number(process.argv[4] ?? 32);
const PROCESSES = 4;

const MB = 1024 * 1024;
const R = 'bench';
const PATH = 'models/feed';
const HERE = { host: '127.0.0.1', port: 0 };

interface Start {
  readonly home: string;
  readonly names: readonly string[];
  readonly pack: Package;
}

/** Messages between processes: the addresses of hosts, or that a host has the whole package. */
type Message = { readonly peers: Readonly<Record<string, string>> } | { readonly whole: string };

async function main(): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'conveyor-bench-vessel-'));
  try {
    const file = join(home, 'model');
    writeFileSync(file, randomBytes(MEGABYTES * MB));
    const swarm = await measured(home, file, true);
    const server = await measured(home, file, false);
    const ideal = MEGABYTES / UPLOAD;
    print([
      ['hosts, megabytes, megabytes a second each', `${HOSTS}, ${MEGABYTES}, ${UPLOAD}`],
      ['one copy takes', `${ideal.toFixed(1)} s`],
      ['from each other: until the median host, the last', `${swarm.median.toFixed(1)} s, ${swarm.last.toFixed(1)} s`],
      [
        'from a server alone: until the median host, the last',
        `${server.median.toFixed(1)} s, ${server.last.toFixed(1)} s`,
      ],
      ['ratio', (server.last / swarm.last).toFixed(1)],
      ['a piece was served by the source: mean, most', `${swarm.mean.toFixed(2)}, ${swarm.most} times`],
      ['by the server alone: mean, most', `${server.mean.toFixed(2)}, ${server.most} times`],
    ]);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

async function measured(home: string, file: string, isSwarm: boolean) {
  const later: { giver?: PieceProvider } = {};
  const door = await listenForPeers(
    { getBits: (digest) => later.giver?.getBits(digest), read: async (...args) => later.giver?.read(...args) },
    HERE,
    new Throttle(UPLOAD * MB),
  );
  const pack = await describePackage(file, { path: PATH, version: 1, source: door.address });
  const source = new PieceSource(file, pack, () => Date.now());
  const counts = isSwarm ? source.counts : pack.pieces.map(() => 0);
  later.giver = isSwarm ? source : serverOf(file, pack, counts);
  const names = Array.from({ length: HOSTS }, (_, at) => `${isSwarm ? 'h' : 'c'}${at}`);
  const children = Array.from({ length: PROCESSES }, (_, at) => {
    const child = fork(__filename, ['hosts'], { execArgv: ['--import', 'jiti/register'] });
    const start: Start = { home, names: names.filter((_name, index) => index % PROCESSES === at), pack };
    child.send(start);
    return child;
  });
  try {
    const peers = Object.assign({}, ...(await Promise.all(children.map(addressesOf)))) as Record<string, string>;
    const began = Date.now();
    const times = await wholeOf(children, isSwarm ? peers : {}, began);
    const mean = counts.reduce((sum, it) => sum + it, 0) / counts.length;
    return {
      median: times[Math.floor(times.length / 2)] ?? 0,
      last: times.at(-1) ?? 0,
      mean,
      most: Math.max(...counts),
    };
  } finally {
    for (const child of children) child.kill('SIGKILL');
    door.close();
  }
}

/** Gives every piece to every host, at every request. */
function serverOf(file: string, pack: Package, counts: number[]): PieceProvider {
  const all = noBits(pack.pieces.length).fill(255);
  return {
    getBits: () => ({ pieces: pack.pieces.length, have: all }),
    read: async (digest, piece) => {
      counts[piece] = (counts[piece] ?? 0) + 1;
      return new PieceSource(file, pack, () => 0).read(digest, piece);
    },
  };
}

const addressesOf = (child: ChildProcess): Promise<Readonly<Record<string, string>>> =>
  new Promise((resolve) =>
    child.once('message', (message) => resolve((message as { peers: Readonly<Record<string, string>> }).peers)),
  );

/** Seconds until each host had the whole package. */
function wholeOf(
  children: readonly ChildProcess[],
  peers: Readonly<Record<string, string>>,
  began: number,
): Promise<number[]> {
  const times: number[] = [];
  return new Promise((resolve) => {
    for (const child of children) {
      child.on('message', () => {
        times.push((Date.now() - began) / 1000);
        if (times.length === HOSTS) resolve(times);
      });
      child.send({ peers });
    }
  });
}

/** Some hosts, in their own process. */
async function runHosts({ home, names, pack }: Start): Promise<void> {
  const store = new MemoryStore(() => 0);
  const doors: Record<string, string> = {};
  const hosts = await Promise.all(
    names.map(async (name) => {
      const vessel = new Vessel({
        ...{ host: name, repository: R, store, mostBytes: 2 ** 33, asking: createPeerClient(), now: () => Date.now() },
        ...{ log: (line: string) => console.error(name, line), onChange: () => undefined },
        disk: pieceDiskIn(join(home, name)),
      });
      await vessel.start();
      doors[name] = (await listenForPeers(vessel, HERE, new Throttle(UPLOAD * MB))).address;
      return { name, vessel };
    }),
  );
  process.once('message', (message) => void begin((message as { peers: Readonly<Record<string, string>> }).peers));
  process.send?.({ peers: doors } satisfies Message);

  async function begin(peers: Readonly<Record<string, string>>): Promise<void> {
    const common = { path: PATH, version: 'v1', revision: null, commit: 'c1', at: 0 };
    for (const [host, peer] of Object.entries(peers)) await store.acknowledge(R, { ...common, host, peer }, 600);
    const answer = {
      path: PATH,
      value: JSON.stringify(pack),
      version: 'v1',
      commit: 'c1',
      override: null,
      sequence: 1,
    };
    for (const { vessel } of hosts) vessel.setWanted(answer);
    await Promise.all(
      hosts.map(async ({ name, vessel }) => {
        while (vessel.status(PATH).state !== 'whole') await delay(20);
        process.send?.({ whole: name } satisfies Message);
      }),
    );
  }
}

if (process.argv[2] === 'hosts') process.once('message', (start) => void runHosts(start as Start));
else void main();
