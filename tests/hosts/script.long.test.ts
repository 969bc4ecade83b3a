import { mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HOSTS_LIMITS } from '../../domain/limits';
import { deployHost, lookAtHost, removeFromHost, stampHost, type HostWorld } from '../../push-types/hosts/hostDeploy';
import type { HostStep } from '../../push-types/hosts/hostPlan';
import { locateIncoming, runVerb, type HostStamp } from '../../push-types/hosts/hostScript';
import { Packages } from '../../push-types/hosts/packages';
import { FakePackages } from '../builders/fakeHosts';
import { LocalHost } from '../builders/localHost';

/** The script that runs on hosts, in a real shell with real files. */

const VERSIONS = ['v1', 'v2', 'v3', 'v4', 'v5', 'v6', 'v7'];
let [packages, host, source]: [FakePackages, LocalHost, Packages] = [] as never;
let sequence = 0;
const logged: string[] = [];
beforeEach(() => {
  packages = new FakePackages(VERSIONS);
  host = new LocalHost();
  source = new Packages({ from: packages.from, folder: packages.cache, timeoutMs: 1000, digests: {} });
});
afterEach(() => {
  packages.close();
  host.close();
});

const world = (onStep: (step: HostStep | null) => void = () => undefined): HostWorld => ({
  ...{
    name: 'web-1',
    port: host,
    balancer: null,
    elapsed: () => performance.now(),
    log: (line) => void logged.push(line),
    onStep,
  },
  app: {
    ...{
      root: host.root,
      service: 'app.service',
      sudo: true,
      keep: 5,
      shared: ['config/app.env', 'uploads'],
      drainMs: 0,
    },
    health: { url: 'http://127.0.0.1:1/healthz', settleMs: 0, timeoutMs: 200 },
  },
  getPackage: (version) => source.get(version),
  digest: (version) => source.digest(version) ?? '',
});
const stampFor = (version: string): HostStamp => ({
  ...{
    updateId: `deploy/web/1/deploy/1/${version}/1`,
    version,
    unit: "we'b; $(touch x)",
    sequence: (sequence += 1),
    hosts: ['web-1'],
  },
  ...{ unitVersion: 'v1', unitUpdate: null },
});
async function deploy(version: string, onStep?: (step: HostStep | null) => void) {
  await source.learn(version, undefined);
  const stamp = stampFor(version);
  return deployHost(world(onStep), { version, updateId: stamp.updateId }, stamp);
}
const releases = (): string[] => readdirSync(join(host.root, 'releases')).sort();

test('a deploy unpacks beside, links the shared paths, switches the link, and leaves a record that a look returns', async () => {
  const facts = await deploy('v1');
  expect(readlinkSync(join(host.root, 'current'))).toBe('releases/v1');
  expect(host.read('srv/current/VERSION')).toBe('v1');
  expect(readlinkSync(join(host.root, 'current/config/app.env'))).toBe(`${host.root}/shared/config/app.env`);
  expect(host.read('srv/.conveyor/environment').split('\n')).toContain('DEPLOYED_VERSION=v1');
  expect(facts).toMatchObject({
    current: 'v1',
    isActive: true,
    service: 'active/running',
    answer: { status: 200, body: '{"version":"v1"}' },
  });
  expect(facts.stamp).toEqual({ ...stampFor('v1'), sequence: facts.stamp?.sequence, hosts: [] });
  expect((await lookAtHost(world(), 'whole')).stamp?.hosts).toEqual(['web-1']);
  expect(await lookAtHost(world())).toMatchObject({ current: 'v1', invocation: facts.invocation, before: 'none' });
});

test('a deploy of a unit with as many hosts as a group may have, with the longest names, leaves a record of all of them', async () => {
  const hosts = Array.from({ length: HOSTS_LIMITS.hosts.max }, (_, n) =>
    String(n).padStart(HOSTS_LIMITS.name.max, "it's-$(x)"),
  );
  await source.learn('v1', undefined);
  const stamp = { ...stampFor('v1'), hosts };
  await deployHost(world(), { version: 'v1', updateId: stamp.updateId }, stamp);
  await stampHost(world(), { ...stamp, sequence: (sequence += 1), unitVersion: 'v1' });
  expect((await lookAtHost(world(), 'whole')).stamp).toMatchObject({ hosts, unitVersion: 'v1' });
  expect((await lookAtHost(world())).stamp?.hosts).toEqual([]);
});

test('a record of an earlier version of the push type, with its hosts on the first line, is understood', async () => {
  await deploy('v1');
  const { hosts, ...rest } = stampFor('v1');
  writeFileSync(join(host.root, '.conveyor/update.json'), `${JSON.stringify({ ...rest, hosts })}\n`);
  expect((await lookAtHost(world(), 'whole')).stamp?.hosts).toEqual(['web-1']);
});

test('a host that another tool deployed by an absolute link is adopted, and goes back to its release without an archive', async () => {
  const old = join(host.root, 'releases/20260101120000');
  mkdirSync(old, { recursive: true });
  writeFileSync(join(old, 'VERSION'), '20260101120000');
  symlinkSync(old, join(host.root, 'current'));
  await host.run(['systemctl', 'restart', 'app.service'], {});
  expect(await lookAtHost(world())).toMatchObject({ current: '20260101120000', stamp: null });
  await deploy('v1');
  const stamp = stampFor('20260101120000');
  await deployHost(world(), { version: '20260101120000', updateId: stamp.updateId }, stamp);
  expect(host.read('serving')).toBe('20260101120000');
  expect(releases()).toEqual(['20260101120000', 'v1']);
});

test('five releases stay, the current one always, and going back to one that is there brings nothing', async () => {
  for (const version of VERSIONS) await deploy(version);
  expect(releases()).toEqual(['v3', 'v4', 'v5', 'v6', 'v7']);
  const steps: (HostStep | null)[] = [];
  await deploy('v3', (step) => steps.push(step));
  expect(steps).toEqual(['drain', 'switch', 'restart', 'check', 'undrain', 'prune', null]);
  await deploy('v1');
  expect(releases()).toEqual(['v1', 'v3', 'v5', 'v6', 'v7']);
});

test('an old release that cannot be deleted stays, is named in the log, and keeps no other', async () => {
  for (const version of VERSIONS.slice(0, 5)) await deploy(version);
  host.program('rm', 'case "$*" in *releases/v1) echo "Permission denied" >&2; exit 1 ;; esac; exec /bin/rm "$@"');
  await deploy('v6');
  await deploy('v7');
  expect(releases()).toEqual(['v1', 'v3', 'v4', 'v5', 'v6', 'v7']);
  expect(logged.at(-1)).toBe('web-1: old releases stay: v1 cannot be deleted');
});

test.each<HostStep>(['bring', 'switch', 'restart', 'check', 'prune'])(
  'a shell that is killed at any moment of %s leaves the old version or the new one, and the next try comes to the end',
  async (step) => {
    await deploy('v1');
    for (const ms of [2, 16, 40]) {
      const version = ms % 8 === 0 ? 'v2' : 'v3';
      await deploy(version, (now) => (host.killAfterMs = now === step ? ms : undefined)).catch(() => undefined);
      host.killAfterMs = undefined;
      const link = readlinkSync(join(host.root, 'current'));
      expect(readFileSync(join(host.root, 'current/VERSION'), 'utf8').trim()).toBe(link.replace('releases/', ''));
      await deploy(version);
      expect([host.read('serving'), host.read('srv/current/VERSION')]).toEqual([version, version]);
    }
  },
);

test('a package whose bytes have another digest on the host is not unpacked, and nothing of it stays', async () => {
  await deploy('v1');
  await runVerb(host, 'prepare', [host.root], { timeoutMs: 1000 });
  await host.upload(join(packages.folder, 'v2.tar'), locateIncoming(host.root));
  const wrong = `sha256:${'0'.repeat(64)}`;
  await expect(runVerb(host, 'unpack', [host.root, 'v2', wrong], { timeoutMs: 1000 })).rejects.toThrow(
    `, not ${wrong}`,
  );
  expect(releases()).toEqual(['v1']);
  expect(readdirSync(join(host.root, '.conveyor'))).not.toContain('incoming');
});

test('a command with an older number than one that ran is refused, and changes nothing', async () => {
  await deploy('v1');
  await deploy('v2');
  const late = runVerb(host, 'switch', [host.root, '1', 'v1', 'A=1', 'app.service'], { timeoutMs: 1000 });
  await expect(late).rejects.toThrow('older than one that ran here');
  expect(readlinkSync(join(host.root, 'current'))).toBe('releases/v2');
});

test('sudo that asks for a password is named, with the place that explains the permission', async () => {
  host.program('sudo', 'echo "sudo: a password is required" >&2; exit 1');
  await expect(deploy('v1')).rejects.toThrow(/sudo asks for a password.*docs\/guides\/hosts\.md#permit-one-command/);
});

test('a service that does not come up is reported with the answer of its health URL', async () => {
  host.program('curl', `printf 'cannot reach the database\\n503'`);
  await expect(deploy('v1')).rejects.toThrow('not live within 0.2 s: the health URL answers 503');
});

test('a removal stops the service and takes the link and the record away; releases stay', async () => {
  await deploy('v1');
  await removeFromHost(world(), (sequence += 1));
  expect(await lookAtHost(world())).toMatchObject({ current: '', stamp: null, isActive: false });
  expect(releases()).toEqual(['v1']);
});
