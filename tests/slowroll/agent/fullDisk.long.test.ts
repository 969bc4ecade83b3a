import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentHost } from '../../builders/agentHost';
import { FakeManifestServer } from '../../builders/manifestServer';

/** An agent on a real file system that is full, with room for each number of blocks. */

const PAGE = 4096;
const disk = mkdtempSync(join(tmpdir(), 'conveyor-disk-'));
const isMounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,mode=755', 'none', disk]).status === 0;
if (!isMounted)
  process.stderr.write(
    '\nSKIPPED: tests/slowroll/agent/fullDisk.long.test.ts has to mount a tmpfs, for which it must be root. Nothing proves here that a full disk is survived.\n\n',
  );
const onDisk = isMounted ? test : test.skip;

const server = new FakeManifestServer();
let host: AgentHost;
beforeAll(async () => {
  await server.start();
  host = new AgentHost(server, 'web-1', join(disk, 'home'));
});
afterAll(async () => {
  await server.stop();
  host.close();
  if (isMounted) spawnSync('umount', [disk]);
  rmSync(disk, { recursive: true, force: true });
});

const ballast = join(disk, 'ballast');

/** Fills the disk but for so many pages. */
function leave(pages: number): void {
  rmSync(ballast, { force: true });
  try {
    writeFileSync(ballast, Buffer.alloc(2 << 20));
  } catch {
    // It is full now.
  }
  truncateSync(ballast, Math.max(0, statSync(ballast).size - pages * PAGE));
}

/** A package that no archive makes much smaller, of about thirty pages unpacked. */
const offer = (version: string, generation: number, change: { files?: { path: string }[] } = {}) => {
  const text = Array.from({ length: 1800 }, (_, n) =>
    createHash('sha256')
      .update(version + n)
      .digest('hex'),
  ).join('');
  const files = [{ path: 'data', text }, ...(change.files ?? [])];
  return server.offer(version, generation, { install: host.service(), files });
};

const state = () =>
  JSON.parse(readFileSync(join(host.home, 'state.json'), 'utf8')) as { packages: { shop: { step?: object } } };

onDisk(
  'with room for any number of blocks, a whole version runs, and the next one does once there is room',
  async () => {
    server.want([offer('1.0', 1)]);
    await host.agent().round();
    let [before, installed, refused] = ['1.0', 0, 0];
    for (let pages = 0; pages < 90; pages += 1) {
      const version = `2.${pages}`;
      leave(pages);
      server.want([offer(version, 2 + pages)]);
      await host.agent().round();
      const now = host.current();
      expect([before, version]).toContain(now);
      expect(host.serving()).toBe(now);
      expect(state().packages.shop).toBeDefined();
      if (now === version) installed += 1;
      else refused += 1;
      if (now !== version)
        expect(server.state()).toMatchObject({ version: before, trouble: { cause: 'disk-full', version } });
      before = now;
    }
    expect({ installed: installed > 0, refused: refused > 20 }).toEqual({ installed: true, refused: true });
    rmSync(ballast);
    server.want([offer('3.0', 200)]);
    await host.agent().round();
    expect([host.current(), host.serving(), server.state()?.state]).toEqual(['3.0', '3.0', 'installed']);
    expect(state().packages.shop.step).toBeUndefined();
  },
);

onDisk(
  'that becomes full in the middle of an installation keeps the new version, or goes back to the old one',
  async () => {
    for (const [index, step] of (['install', 'switch', 'restart', 'health', 'record', 'prune'] as const).entries())
      for (const isBad of [false, true]) {
        rmSync(ballast, { force: true });
        const before = host.serving();
        const version = `${step}-${isBad}`;
        server.want([offer(version, 300 + 2 * index + Number(isBad), isBad ? { files: [{ path: 'bad' }] } : {})]);
        const onStep = (_: string, now: string): void => void (now === step && leave(0));
        const agent = host.agent({ onStep });
        await agent.round();
        expect([before, version]).toContain(host.current());
        expect(host.serving()).toBe(host.current());
        rmSync(ballast, { force: true });
        await agent.round();
        expect(host.serving()).toBe(isBad ? before : version);
        expect(host.current()).toBe(host.serving());
        expect(server.state()?.state).toBe(isBad ? 'rolled-back' : 'installed');
        expect(state().packages.shop.step).toBeUndefined();
      }
  },
);
