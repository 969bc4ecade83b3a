import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deployHost, type HostWorld } from '../../push-types/hosts/hostDeploy';
import type { HostStep } from '../../push-types/hosts/hostPlan';
import type { HostStamp } from '../../push-types/hosts/hostScript';
import { Packages } from '../../push-types/hosts/packages';
import { FakePackages, packTar } from '../builders/fakeHosts';
import { LocalHost } from '../builders/localHost';

/** The script of hosts on a real file system that is full, with room for each number of blocks. */

const PAGE = 4096;
const disk = mkdtempSync(join(tmpdir(), 'conveyor-hosts-disk-'));
const isMounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=3m,mode=755', 'none', disk]).status === 0;
if (!isMounted)
  process.stderr.write(
    '\nSKIPPED: tests/hosts/fullDisk.long.test.ts has to mount a tmpfs, for which it must be root. Nothing proves here that hosts survive a full disk.\n\n',
  );
const onDisk = isMounted ? test : test.skip;

const noise = (seed: string, size: number): string =>
  Array.from({ length: Math.ceil(size / 64) }, (_, n) =>
    createHash('sha256')
      .update(seed + n)
      .digest('hex'),
  ).join('');

const packages = new FakePackages([]);
const source = new Packages({ from: packages.from, folder: packages.cache, timeoutMs: 1000, digests: {} });
const host = new LocalHost(join(disk, 'srv'));
afterAll(() => {
  packages.close();
  host.close();
  if (isMounted) spawnSync('umount', [disk]);
  rmSync(disk, { recursive: true, force: true });
});

const out = new Set<string>();
const logged: string[] = [];
const world = (onStep: (step: HostStep | null) => void): HostWorld => ({
  ...{ name: 'web-1', port: host, elapsed: () => performance.now(), log: (line) => void logged.push(line), onStep },
  balancer: {
    drain: (name) => Promise.resolve(void out.add(name)),
    undrain: (name) => Promise.resolve(void out.delete(name)),
    listOut: () => Promise.resolve(out),
  },
  app: {
    ...{ root: host.root, service: 'app.service', sudo: true, keep: 2, shared: ['config/app.env'], drainMs: 0 },
    health: { url: 'http://127.0.0.1:1/healthz', settleMs: 0, timeoutMs: 200 },
  },
  getPackage: (version) => source.get(version),
  digest: (version) => source.digest(version) ?? '',
});

let updates = 0;
async function bring(version: string, onStep: (step: HostStep | null) => void = () => undefined): Promise<unknown> {
  updates += 1;
  const updateId = `deploy/web/1/deploy/${updates}/0/1`;
  const stamp: HostStamp = {
    ...{ updateId, version, unit: 'web', sequence: updates, hosts: ['web-1'], unitVersion: 'v1', unitUpdate: null },
  };
  return deployHost(world(onStep), { version, updateId }, stamp).catch((error: unknown) => error);
}

const ballast = join(disk, 'ballast');

beforeEach(() => rmSync(ballast, { force: true }));

/** Fills the disk but for so many pages. */
function leave(pages: number): void {
  rmSync(ballast, { force: true });
  try {
    writeFileSync(ballast, Buffer.alloc(4 << 20));
  } catch {
    // It is full now.
  }
  truncateSync(ballast, Math.max(0, statSync(ballast).size - pages * PAGE));
}

const starts = (): number => host.read('starts').split('\n').length;
const names = (folder: string): readonly string[] => readdirSync(join(host.root, folder)).sort();

async function addVersion(version: string): Promise<void> {
  packages.add(
    version,
    packTar([
      { path: 'VERSION', text: version },
      { path: 'data', text: noise(version, 60_000) },
    ]),
  );
  await source.learn(version, undefined);
}

onDisk(
  'a host whose disk has room for any number of blocks serves a whole version, is never left out, and goes back without a restart that it does not need',
  async () => {
    await addVersion('v1');
    expect(await bring('v1')).not.toBeInstanceOf(Error);
    const ends = { installed: 0, refused: 0 };
    for (let pages = 0; pages <= 48; pages += 2) {
      const version = `n${pages}`;
      await addVersion(version);
      const before = starts();
      leave(pages);
      const end = await bring(version);
      if (end instanceof Error) {
        ends.refused += 1;
        expect(end.message).toContain('the disk of the host is full');
        expect([host.read('serving'), starts(), [...out]]).toEqual(['v1', before, []]);
        expect(
          [...names('.conveyor'), ...names('releases')].filter((name) => /incoming|part$|^\.new/.test(name)),
        ).toEqual([]);
      } else ends.installed += 1;
      const isNew = !(end instanceof Error);
      expect(await bring('v1')).not.toBeInstanceOf(Error);
      expect([host.read('serving'), starts() - before, [...out]]).toEqual(['v1', isNew ? 2 : 0, []]);
      rmSync(ballast, { force: true });
    }
    expect([ends.installed > 0, ends.refused > 5]).toEqual([true, true]);
  },
);

onDisk.each<HostStep>(['drain', 'switch', 'restart', 'check', 'undrain', 'prune'])(
  'a disk that becomes full just before %s keeps no host from the new version, and none from the revert',
  async (full) => {
    const version = `full-${full}`;
    await addVersion(version);
    await bring('v1');
    expect(await bring(version, (step) => step === full && leave(0))).not.toBeInstanceOf(Error);
    expect([host.read('serving'), [...out]]).toEqual([version, []]);
    expect(await bring('v1')).not.toBeInstanceOf(Error);
    expect([host.read('serving'), [...out]]).toEqual(['v1', []]);
    rmSync(ballast, { force: true });
  },
);
