import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { reportPackageSchema, type ManifestEntry, type TroubleCause } from '../../push-types/slowroll/protocol';
import { countCohorts } from '../../push-types/slowroll/server/cohorts';
import { describePlace } from '../../push-types/slowroll/server/countHosts';
import { findUnitPlace } from '../../push-types/slowroll/server/acceptDecision';
import { bringVersion } from '../builders/bringVersion';
import { nameToken, PollingWorld, type PollingOptions } from '../builders/pollingHosts';

const EARLIER = 'deploy/kvstore/1/deploy/1/0/1';
const nameUpdate = (phase: number | string, release = 2): string => `deploy/kvstore/${release}/deploy/1/${phase}/1`;
const HOUR = 60 * 60_000;

const worlds: PollingWorld[] = [];
afterEach(() => Promise.all(worlds.splice(0).map((world) => world.close())));

/** Hosts of one unit, kv/x, which run kv:1. */
async function openWorld(size: number, more: Partial<PollingOptions> = {}): Promise<PollingWorld> {
  const world = await PollingWorld.open({ sizes: { x: size }, ...more });
  worlds.push(world);
  await bringVersion(world.app, { updateId: EARLIER, version: 'kv:1', units: ['kv/x'] });
  await world.settle();
  return world;
}

const bring = (world: PollingWorld, phase: number | string, version: string, more: object = {}) =>
  bringVersion(world.app, { updateId: nameUpdate(phase), version, units: ['kv/x'], release: 2, ...more });

const revert = (world: PollingWorld, updatedBy: readonly string[], version = 'kv:1') =>
  bring(world, 'revert', version, { updatedBy, urgency: 'revert', wholeUnit: false });

async function track(world: PollingWorld, updateId: string) {
  const context = { pipeline: 'kvstore', release: 2, deployId: 'd', actor: 'user:alice', config: { units: ['kv/x'] } };
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ updateId, context });
  const answer = await world.app.request('/trackUpdates', { method: 'POST', headers, body });
  return ((await answer.json()) as { units: Record<string, unknown>[] }).units[0];
}

const listOn = (world: PollingWorld, version: string): string[] =>
  world.hosts.filter((host) => host.version === version).map(({ name }) => name);

describe('a release over hosts that poll', () => {
  test('widens from phase to phase: no host is taken out, and each phase has its share', async () => {
    const world = await openWorld(20);
    let before: string[] = [];
    for (const [phase, percent] of [10, 25, 60].entries()) {
      await bring(world, phase, 'new:1', { amount: { percent }, wholeUnit: false });
      await world.settle();
      const now = listOn(world, 'new:1');
      expect(now).toHaveLength((20 * percent) / 100);
      expect(now).toEqual(expect.arrayContaining(before));
      before = now;
    }
  });

  test('takes other hosts first in the next release, and the same ones if the package is sticky', async () => {
    const firsts = async (isSticky: boolean): Promise<string[][]> => {
      const world = await openWorld(40, { isSticky });
      const found: string[][] = [];
      for (const [release, version] of [
        [2, 'new:1'],
        [3, 'new:2'],
      ] as const) {
        await bringVersion(world.app, {
          ...{
            updateId: nameUpdate(0, release),
            version,
            units: ['kv/x'],
            release,
            amount: { count: 8 },
            wholeUnit: false,
          },
        });
        await world.settle();
        found.push(listOn(world, version));
      }
      return found;
    };
    const [one, next] = await firsts(false);
    expect(next).not.toEqual(one);
    const [sticky, again] = await firsts(true);
    // Those of the first release run new:1, and the second one takes its eight by place again.
    expect(again).toEqual(sticky);
  });

  test('gives exactly the hosts of an update their old version back, and says that it may be older', async () => {
    const world = await openWorld(10);
    await bring(world, 0, 'new:1', { amount: { count: 3 }, wholeUnit: false });
    await world.settle();
    const updated = listOn(world, 'new:1');
    const seen = new Map(world.hosts.map((host) => [host.name, host.manifests.length]));
    await revert(world, [nameUpdate(0)]);
    await world.settle();
    expect(listOn(world, 'kv:1')).toHaveLength(10);
    const told = world.hosts.filter((host) => host.manifests.slice(seen.get(host.name)).some(hasRevert));
    expect(told.map(({ name }) => name)).toEqual(updated);
    expect(await track(world, nameUpdate('revert'))).toMatchObject({ state: 'done', targeted: 3, live: 3 });
  });

  test('ends with the failures that it permits, and not with fewer', async () => {
    const strict = await openWorld(10);
    await bring(strict, 0, 'dead:1', { amount: { count: 4 }, wholeUnit: false });
    await strict.settle();
    expect(await track(strict, nameUpdate(0))).toMatchObject({ state: 'failed', failed: 1, live: 0 });
    const patient = await openWorld(10, { failures: 0.5 });
    await bring(patient, 0, 'dead:1', { amount: { count: 4 }, wholeUnit: false });
    await patient.settle();
    const end = await track(patient, nameUpdate(0));
    expect(end).toMatchObject({ state: 'failed', failed: 3, live: 0 });
    expect(end?.['reason']).toMatch(/dead:1 did not come up on x-\d+: its health check failed/);
  });
});

const hasRevert = ({ packages }: { readonly packages: readonly ManifestEntry[] }): boolean =>
  packages.some((one) => 'revert' in one && one.revert);

test('a failure that agents still report after a revert is none of the version that they went back to', async () => {
  const world = await openWorld(10);
  await bring(world, 0, 'dead:1', { amount: { count: 1 }, wholeUnit: false });
  await world.settle();
  const countFailed = (): number =>
    countCohorts(world.fleet, findUnitPlace(world.fleet, 'kv/x')).reduce((sum, { failed }) => sum + failed, 0);
  expect(countFailed()).toBe(1);
  await revert(world, [nameUpdate(0)]);
  await world.settle();
  for (const host of world.hosts) host.restart();
  await world.settle();
  expect(countFailed()).toBe(0);
});

describe('a host in trouble that passes', () => {
  const trouble = (world: PollingWorld, nth: number, cause: TroubleCause | undefined): void => {
    const host = world.hosts[nth];
    if (host) host.trouble = cause;
  };

  test('is waited for, neither ends the update nor counts as updated, and is named with its cause and since when', async () => {
    const world = await openWorld(5);
    trouble(world, 0, 'disk-full');
    trouble(world, 3, 'network');
    await bring(world, 0, 'new:1');
    await world.settle();
    const during = await track(world, nameUpdate(0));
    expect(during).toMatchObject({ state: 'updating', targeted: 5, updated: 3, live: 3, failed: 0, unreachable: 0 });
    expect(during?.['reason']).toMatch(
      /^in trouble, and tried again: 2 \(disk-full 1, network 1\), such as x-1 since 2023-11-14T\S+: disk-full here$/,
    );
    trouble(world, 0, undefined);
    await world.settle();
    expect(await track(world, nameUpdate(0))).toMatchObject({ state: 'updating', live: 4 });
    trouble(world, 3, undefined);
    await world.settle();
    const after = await track(world, nameUpdate(0));
    expect(after).toMatchObject({ state: 'done', live: 5 });
    expect(after?.['reason']).toBeUndefined();
  });

  test('counts as none on which the version failed, and as none on which it is healthy', async () => {
    const world = await openWorld(4);
    trouble(world, 0, 'slow');
    await bring(world, 0, 'new:1');
    await world.settle();
    const [cohort, ...others] = countCohorts(world.fleet, findUnitPlace(world.fleet, 'kv/x'));
    expect(others).toEqual([]);
    expect(cohort).toMatchObject({ hosts: 4, live: 3, failed: 0, troubled: 1, causes: { slow: 1 } });
  });

  test('goes back with the others in a revert, and holds it up no longer than its trouble with the new version', async () => {
    const world = await openWorld(4);
    trouble(world, 0, 'disk-full');
    await bring(world, 0, 'new:1');
    await world.settle();
    trouble(world, 0, undefined);
    await revert(world, [nameUpdate(0)]);
    await world.settle();
    expect(world.versions()).toEqual(Array(4).fill('kv:1'));
    expect(await track(world, nameUpdate('revert'))).toMatchObject({ state: 'done', targeted: 4, live: 4 });
  });

  test('is known to a server that begins anew, with the time at which it began', async () => {
    const world = await openWorld(3);
    trouble(world, 0, 'server');
    await bring(world, 0, 'new:1');
    await world.settle();
    const before = await track(world, nameUpdate(0));
    await world.start();
    world.now += HOUR / 2;
    await world.pollAll();
    const after = await track(world, nameUpdate(0));
    expect(after).toMatchObject({ state: 'updating', live: 2, failed: 0 });
    // The words of the agent are gone until it has others.
    expect(after?.['reason']).toBe(String(before?.['reason']).replace('server here', 'server'));
  });

  test('reported by an agent of before as a failure ends the update as before', async () => {
    const world = await openWorld(3);
    await bring(world, 0, 'new:1');
    const [host] = world.hosts;
    await host?.poll(world.app);
    const reason = 'no space left on device';
    const report = {
      name: 'kv',
      version: 'kv:1',
      identifier: 'x-1#1',
      state: 'failed',
      failedVersion: 'new:1',
      reason,
    };
    world.fleet.report(0, [reportPackageSchema.parse(report)], true);
    world.settleUpdates();
    expect(await track(world, nameUpdate(0))).toMatchObject({ state: 'failed', failed: 1 });
  });
});

describe('a host that was silent', () => {
  test('is unreachable, holds up no update, and catches up when it returns', async () => {
    const world = await openWorld(6);
    const [silent] = world.hosts;
    if (silent) silent.isSilent = true;
    world.now += 2 * HOUR;
    await world.pollAll();
    await bring(world, 0, 'new:1');
    await world.settle();
    expect(await track(world, nameUpdate(0))).toMatchObject({ state: 'done', targeted: 6, live: 5, unreachable: 1 });
    if (silent) silent.isSilent = false;
    await world.settle();
    expect(await track(world, nameUpdate(0))).toMatchObject({ state: 'done', live: 6, unreachable: 0 });
    expect(world.versions()).toEqual(Array(6).fill('new:1'));
  });

  test('is not chosen for a part of the hosts while others are there, is named, and gets no update of that time', async () => {
    const world = await openWorld(10);
    const silent = world.hosts.slice(0, 5);
    for (const host of silent) host.isSilent = true;
    world.now += 2 * HOUR;
    await world.pollAll();
    await bring(world, 0, 'new:1', { amount: { percent: 50 }, wholeUnit: false });
    const begun = await track(world, nameUpdate(0));
    expect(begun).toMatchObject({ state: 'pending', targeted: 5, unreachable: 0 });
    expect(begun?.['reason']).toBe('silent: x-1, x-2, x-3, x-4, x-5');
    await world.settle();
    expect(await track(world, nameUpdate(0))).toMatchObject({ state: 'done', targeted: 5, live: 5, unreachable: 0 });
    for (const host of silent) host.isSilent = false;
    await world.settle();
    // Half of the hosts stay half of them.
    expect(listOn(world, 'new:1')).toHaveLength(5);
    expect(await track(world, nameUpdate(0))).toMatchObject({ state: 'done', targeted: 5, live: 5 });
    await bring(world, 1, 'new:1', { amount: { percent: 80 }, wholeUnit: false });
    await world.settle();
    expect(listOn(world, 'new:1')).toHaveLength(8);
    expect(await track(world, nameUpdate(1))).toMatchObject({ state: 'done', targeted: 3, live: 3 });
    await bring(world, 2, 'new:1');
    await world.settle();
    expect(world.versions()).toEqual(Array(10).fill('new:1'));
  });

  test('is chosen once all others are, and takes part when it returns, as many as the amount needs', async () => {
    const world = await openWorld(10);
    const silent = world.hosts.slice(0, 7);
    for (const host of silent) host.isSilent = true;
    world.now += 2 * HOUR;
    await world.pollAll();
    await bring(world, 0, 'new:1', { amount: { count: 5 }, wholeUnit: false });
    await world.settle();
    expect(await track(world, nameUpdate(0))).toMatchObject({ state: 'done', targeted: 5, live: 3, unreachable: 2 });
    for (const host of silent) host.isSilent = false;
    await world.settle();
    expect(listOn(world, 'new:1')).toHaveLength(5);
    expect(await track(world, nameUpdate(0))).toMatchObject({ state: 'done', targeted: 5, live: 5, unreachable: 0 });
  });

  test('that fell silent after it was chosen takes part when it returns', async () => {
    const world = await openWorld(4);
    await bring(world, 0, 'new:1', { amount: { count: 2 }, wholeUnit: false });
    const before = new Set(world.versions());
    expect([...before]).toEqual(['kv:1']);
    world.now += 2 * HOUR;
    expect(await track(world, nameUpdate(0))).toMatchObject({ state: 'done', targeted: 2, live: 0, unreachable: 2 });
    await world.settle();
    expect(listOn(world, 'new:1')).toHaveLength(2);
    expect(await track(world, nameUpdate(0))).toMatchObject({ state: 'done', live: 2, unreachable: 0 });
  });

  test('never runs a version that was reverted meanwhile, and goes straight to the one that is good', async () => {
    const world = await openWorld(6);
    const [silent] = world.hosts;
    if (silent) silent.isSilent = true;
    await bring(world, 0, 'new:1');
    await world.settle();
    await revert(world, [nameUpdate(0)]);
    await world.settle();
    await bringVersion(world.app, { updateId: nameUpdate(0, 3), version: 'new:2', units: ['kv/x'], release: 3 });
    await world.settle();
    if (silent) silent.isSilent = false;
    const seen = silent?.manifests.length;
    await world.settle();
    expect(world.versions()).toEqual(Array(6).fill('new:2'));
    const versions = silent?.manifests.slice(seen).flatMap(({ packages }) => packages);
    expect(versions).toEqual(versions?.map(() => expect.objectContaining({ version: 'new:2' }) as object));
    expect(versions).not.toEqual([]);
  });
});

describe('a removal', () => {
  const REMOVAL = 'deploy/kvstore/2/remove/1';
  const remove = async (world: PollingWorld): Promise<void> => {
    const context = {
      pipeline: 'kvstore',
      release: 2,
      deployId: 'd',
      actor: 'user:alice',
      config: { units: ['kv/x'] },
    };
    const answer = await world.app.request('/removeUnits', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': REMOVAL },
      body: JSON.stringify({ updateId: REMOVAL, units: ['kv/x'], context }),
    });
    expect(answer.status).toBe(200);
  };
  const lastPackages = (world: PollingWorld) => world.hosts.map(({ manifests }) => manifests.at(-1)?.packages);
  const SIGN = { name: 'kv', generation: expect.any(Number) as number, remove: true };

  test('is a sign in manifests, until the host reports that the package is gone', async () => {
    const world = await openWorld(3);
    await remove(world);
    for (const host of world.hosts) await host.poll(world.app);
    expect(lastPackages(world)).toEqual(Array(3).fill([SIGN]));
    expect(await track(world, REMOVAL)).toMatchObject({ state: 'updating', targeted: 3, gone: 0 });
    await world.settle();
    expect(lastPackages(world)).toEqual(Array(3).fill([]));
    expect(await track(world, REMOVAL)).toMatchObject({ state: 'done', targeted: 3, gone: 3 });
  });

  test('is not done on a host whose agent could not finish it, and tries again', async () => {
    const world = await openWorld(2);
    const [host] = world.hosts;
    if (host) host.trouble = 'disk-full';
    await remove(world);
    await world.settle();
    expect(await track(world, REMOVAL)).toMatchObject({ state: 'updating', targeted: 2, gone: 1 });
    // Nothing of it runs, but it is still on the disk.
    const trouble = { cause: 'disk-full', version: 'none', reason: 'no space' } as const;
    const rest = { name: 'kv', version: 'none', identifier: 'none', state: 'removed', trouble } as const;
    world.fleet.report(0, [rest], true);
    const during = await track(world, REMOVAL);
    expect(during).toMatchObject({ state: 'updating', gone: 1 });
    expect(during?.['reason']).toContain('1 (disk-full 1), such as x-1');
    if (host) host.trouble = undefined;
    await world.settle();
    expect(await track(world, REMOVAL)).toMatchObject({ state: 'done', gone: 2 });
  });

  test('is done by a report between two polls, too', async () => {
    const world = await openWorld(1);
    await remove(world);
    await world.hosts[0]?.poll(world.app);
    const headers = { authorization: `Bearer ${nameToken('x-1')}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ packages: [world.hosts[0]?.running] });
    const answer = await world.app.request('/v1/hosts/x-1/report', { method: 'POST', headers, body });
    expect([answer.status, await track(world, REMOVAL)]).toMatchObject([204, { state: 'done', gone: 1 }]);
  });

  test('reaches a host of which a server that begins anew knows nothing, and is not done before', async () => {
    const world = await openWorld(2);
    const [silent] = world.hosts;
    if (silent) silent.isSilent = true;
    await remove(world);
    await world.settle();
    await world.start();
    expect(await track(world, REMOVAL)).toMatchObject({ state: 'pending', targeted: 2, gone: 0 });
    await world.settle();
    expect(await track(world, REMOVAL)).toMatchObject({ state: 'updating', gone: 1 });
    if (silent) [silent.isSilent, silent.etag] = [false, ''];
    await world.settle();
    expect(silent?.manifests.flatMap(({ packages }) => packages)).toContainEqual(SIGN);
    expect([world.versions(), await track(world, REMOVAL)]).toMatchObject([['', ''], { state: 'done', gone: 2 }]);
  });

  test('ends with the next release, which installs the package again', async () => {
    const world = await openWorld(2);
    await remove(world);
    await world.settle();
    await bringVersion(world.app, { updateId: nameUpdate(0, 3), version: 'kv:1', units: ['kv/x'], release: 3 });
    await world.settle();
    expect(world.versions()).toEqual(['kv:1', 'kv:1']);
    expect(await track(world, nameUpdate(0, 3))).toMatchObject({ state: 'done', live: 2 });
  });
});

describe('a server that begins anew', () => {
  test('says that hosts are unknown, and never that they are updated, until they have polled', async () => {
    const world = await openWorld(6);
    await bring(world, 0, 'new:1');
    await world.settle();
    await world.start();
    const after = await track(world, nameUpdate(0));
    expect(after).toMatchObject({ state: 'updating', targeted: 6, live: 0, updated: 0, unreachable: 0 });
    expect(after?.['reason']).toMatch(/^unknown: 6 hosts/);
    expect(describePlace(world.fleet, findUnitPlace(world.fleet, 'kv/x'))).toMatchObject({ size: 6, version: 'new:1' });
    await world.pollAll();
    expect(await track(world, nameUpdate(0))).toMatchObject({ state: 'done', live: 6 });
  });

  test('calls a host unreachable that has not polled for the time of silence', async () => {
    const world = await openWorld(3);
    await world.start();
    world.now += 2 * HOUR;
    expect(await track(world, EARLIER)).toMatchObject({ live: 0, unreachable: 3 });
  });

  test('leaves the hosts alone that a paused update had not reached, and knows those that it had', async () => {
    const world = await openWorld(10);
    await bring(world, 0, 'new:1');
    for (const host of world.hosts.slice(0, 4)) await world.pollHost(host);
    const context = { pipeline: 'kvstore', release: 2, deployId: 'd', actor: 'a', config: { units: ['kv/x'] } };
    await world.app.request('/pauseUpdates', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': 'pause' },
      body: JSON.stringify({ updateId: nameUpdate(0), context }),
    });
    await world.start();
    await world.settle();
    expect(world.versions()).toEqual([...Array<string>(4).fill('new:1'), ...Array<string>(6).fill('kv:1')]);
    await revert(world, [nameUpdate(0)]);
    await world.settle();
    expect(world.versions()).toEqual(Array(10).fill('kv:1'));
    expect(await track(world, nameUpdate('revert'))).toMatchObject({ state: 'done', targeted: 4, live: 4 });
  });

  test('decides the same for a host whose agent has begun anew as well', async () => {
    const world = await openWorld(10);
    await bring(world, 0, 'new:1', { amount: { count: 4 }, wholeUnit: false });
    await world.settle();
    const before = world.versions();
    await world.start();
    for (const host of world.hosts) host.restart();
    await world.settle();
    expect(world.versions()).toEqual(before);
    await revert(world, [nameUpdate(0)]);
    await world.settle();
    expect(world.versions()).toEqual(Array(10).fill('kv:1'));
  });

  test('has higher serials and generations than before, also if it lost its memory', async () => {
    const world = await openWorld(2);
    const before = world.hosts[0]?.serial ?? 0;
    rmSync(join(world.folder, 'state.json'));
    await world.start();
    await bring(world, 0, 'new:1');
    await world.settle();
    // A host refuses a lower number, and throws.
    expect(world.hosts[0]?.serial).toBeGreaterThan(before);
    expect(world.versions()).toEqual(['new:1', 'new:1']);
  });

  test('restores its hosts from their polls if its folder is lost', async () => {
    const world = await openWorld(4);
    for (const file of ['state.json', 'hosts.log']) rmSync(join(world.folder, file));
    await world.start();
    // Until the next decision its serial is lower than the one that hosts have accepted, so they keep what they have.
    for (const host of world.hosts) host.mayRefuse = true;
    await world.settle();
    expect(describePlace(world.fleet, findUnitPlace(world.fleet, 'kv/x'))).toMatchObject({ size: 4, mixed: false });
    expect(world.versions()).toEqual(Array(4).fill('kv:1'));
    await bring(world, 0, 'new:1');
    await world.settle();
    expect(world.versions()).toEqual(Array(4).fill('new:1'));
  });

  test('knows the labels of its hosts, which they send once', async () => {
    const world = await openWorld(3);
    await world.start();
    expect(describePlace(world.fleet, findUnitPlace(world.fleet, 'kv/x')).size).toBe(3);
    expect(world.fleet.hosts.readLabels(0)).toEqual({ region: 'x' });
  });
});
