import { acceptUpdate, progressOf } from '../../sdk/updates';
import { HostsWorld } from '../builders/hostsFleet';

/** Hosts that come back, and hosts that move, while the push type works on them. */

const UNIT = 'kv';
const UPDATE = 'deploy/kv/1/deploy/1/0/1';

const worlds: HostsWorld[] = [];
afterAll(() => worlds.forEach((world) => world.close()));

async function makeWorld(size: number, options: ConstructorParameters<typeof HostsWorld>[1] = {}): Promise<HostsWorld> {
  const world = new HostsWorld({ [UNIT]: size }, options);
  worlds.push(world);
  await world.settle();
  for (const version of ['new:1', 'new:2']) await world.source.learn(version, undefined);
  return world;
}

function send(world: HostsWorld, version = 'new:1', updateId = UPDATE): void {
  const target = { unit: UNIT, version, artifacts: [] };
  const parts = { state: world.fleet.state, copies: { hasVersion: () => true } };
  acceptUpdate(parts, { updateId, targets: [target], wholeUnit: true, urgency: 'normal' });
  world.fleet.memory.save();
}

const progress = (world: HostsWorld, id = UPDATE) => progressOf(world.fleet.state, UNIT, id);

describe('after an outage of SSH in the middle of an update', () => {
  /** Counts the hosts that are out together. */
  function countingBalancer() {
    const out = new Set<string>();
    const seen = { most: 0 };
    const balancer = {
      drain: (host: string) => Promise.resolve(void (seen.most = Math.max(seen.most, out.add(host).size))),
      undrain: (host: string) => Promise.resolve(void out.delete(host)),
      listOut: () => Promise.resolve(new Set(out)),
    };
    return { out, seen, balancer };
  }

  test('the hosts that served all the time get the new version one after the other, within the budget', async () => {
    const { out, seen, balancer } = countingBalancer();
    const world = await makeWorld(10, { balancer, atOnce: 1, mostOut: 2 });
    send(world);
    await world.fleet.step(UNIT);
    const silence = (isSilent: boolean): void => world.hosts.forEach((host) => (host.isSilent = isSilent));
    silence(true);
    await world.settle();
    expect(progress(world)).toMatchObject({ state: 'done', unreachable: 10 });
    silence(false);
    for (let round = 0; round < 15; round += 1) await world.settle();
    expect(world.versions(UNIT)).toEqual(Array.from({ length: 10 }, () => 'new:1'));
    expect([seen.most, out.size]).toEqual([1, 0]);
  });

  test('hosts whose service is down start on it at once: they cost nothing', async () => {
    const { balancer } = countingBalancer();
    const world = await makeWorld(6, { balancer, atOnce: 1, mostOut: 2 });
    send(world);
    for (const host of world.hosts.values()) Object.assign(host, { isSilent: true });
    await world.settle();
    for (const host of world.hosts.values()) Object.assign(host, { isSilent: false, isActive: false });
    await world.settle();
    expect(world.versions(UNIT)).toEqual(Array.from({ length: 6 }, () => 'new:1'));
  });
});

describe('a host whose line in the inventory changes while it is updated', () => {
  test('is not given up: the update ends, and so does the next one', async () => {
    const world = await makeWorld(2, { atOnce: 1, mostOut: 1 });
    let isMoved = false;
    world.onStep = (host, step) => {
      if (host === 'kv-1' && step === 'restart' && !isMoved) {
        isMoved = true;
        world.move('kv-1');
      }
    };
    send(world);
    await world.settle();
    expect(progress(world)).toMatchObject({ state: 'done', live: 2 });
    const next = 'deploy/kv/2/deploy/1/0/1';
    send(world, 'new:2', next);
    await world.settle();
    expect(progress(world, next)).toMatchObject({ state: 'done', live: 2 });
  });

  test('is judged by answers of its new address alone', async () => {
    const world = await makeWorld(2);
    const old = world.host('kv-1');
    let answer = (): void => undefined;
    const gate = new Promise<void>((resolve) => (answer = resolve));
    const run = old.run.bind(old);
    old.run = async (...args) => (await gate, run(...args));
    world.now += 60_000;
    await world.fleet.look(UNIT);
    world.move('kv-1');
    answer();
    await new Promise((resolve) => setImmediate(resolve));
    expect(world.fleet.lastLook('kv-1')).toBeUndefined();
  });
});

describe('an old release that cannot be deleted', () => {
  test('fails no deploy, and no revert: the host serves the new one', async () => {
    const world = await makeWorld(1);
    world.host('kv-1').onVerb = (verb) => {
      if (verb === 'prune') throw new Error('rm: cannot remove: Permission denied');
    };
    send(world);
    await world.settle();
    expect(progress(world)).toMatchObject({ state: 'done', live: 1 });
    expect(world.logged.join('\n')).toContain('kv-1: old releases stay: rm: cannot remove');
  });
});

describe('a clock that is set back by a day', () => {
  test('keeps no host unreachable, and no update waiting', async () => {
    const world = await makeWorld(2);
    world.host('kv-1').isSilent = true;
    await world.settle();
    world.clockError = -24 * 60 * 60_000;
    world.host('kv-1').isSilent = false;
    send(world);
    await world.settle();
    expect(progress(world)).toMatchObject({ state: 'done', live: 2, unreachable: 0 });
  });
});

describe('a host that has left the inventory', () => {
  test('is no reason to stop the others, although the load balancer does not know it', async () => {
    const asked: string[][] = [];
    const balancer = {
      drain: () => Promise.resolve(),
      undrain: () => Promise.resolve(),
      listOut: (hosts: readonly string[]) => Promise.resolve((asked.push([...hosts]), new Set<string>())),
    };
    const world = await makeWorld(3, { balancer });
    world.units.set(UNIT, ['kv-1', 'kv-3']);
    world.list();
    send(world);
    await world.settle();
    expect(progress(world)).toMatchObject({ state: 'done', live: 2 });
    expect(asked.at(-1)).toEqual(['kv-1', 'kv-3']);
  });
});
