import type { HostStep } from '../../push-types/hosts/hostPlan';
import { UnreachableHostError } from '../../push-types/hosts/port';
import { acceptRemoval, acceptUpdate, commandUpdate, describeUnit, progressOf } from '../../sdk/updates';
import { HostsWorld } from '../builders/hostsFleet';

/** The push type `hosts` on bad days: the hosts are in memory, the rest is real. */

const UNIT = 'kv';
const UPDATE = 'deploy/kv/1/deploy/1/0/1';
const NEXT = 'deploy/kv/1/deploy/1/1/1';
const REVERT = 'deploy/kv/1/deploy/1/revert/1';

const worlds: HostsWorld[] = [];
afterAll(() => worlds.forEach((world) => world.close()));

async function makeWorld(size = 4, options: ConstructorParameters<typeof HostsWorld>[1] = {}): Promise<HostsWorld> {
  const world = new HostsWorld({ [UNIT]: size }, options);
  worlds.push(world);
  await world.settle();
  for (const version of ['new:1', 'new:2', 'dead:1']) await world.source.learn(version, undefined);
  return world;
}

interface Wanted {
  readonly id?: string;
  readonly version?: string;
  readonly count?: number;
  readonly wholeUnit?: boolean;
  readonly updatedBy?: string[];
}

function send(
  world: HostsWorld,
  { id = UPDATE, version = 'new:1', count, wholeUnit = false, updatedBy }: Wanted = {},
): void {
  const target = {
    unit: UNIT,
    version,
    artifacts: [],
    ...(count && { amount: { count } }),
    ...(updatedBy && { updatedBy }),
  };
  const copies = { hasVersion: () => true };
  const urgency = updatedBy ? 'revert' : 'normal';
  acceptUpdate({ state: world.fleet.state, copies }, { updateId: id, targets: [target], wholeUnit, urgency });
  world.fleet.memory.save();
}

const progress = (world: HostsWorld, id = UPDATE) => progressOf(world.fleet.state, UNIT, id);

describe('a host that fails in the middle', () => {
  const steps: readonly HostStep[] = ['bring', 'drain', 'switch', 'restart', 'check', 'undrain', 'prune'];

  test.each(steps)(
    'is continued by a push type that was killed before %s, and restarts once for the version',
    async (killedAt) => {
      const world = await makeWorld(1);
      const host = world.host('kv-1');
      const starts = host.starts;
      world.onStep = (_, step) => {
        if (step === killedAt) throw new Killed();
      };
      send(world);
      await expect(killIn(world)).resolves.toBe(true);
      world.onStep = () => undefined;
      world.open();
      await world.settle();
      expect(progress(world)).toMatchObject({ state: 'done', live: 1 });
      expect([host.current, host.serving, host.starts - starts]).toEqual(['new:1', 'new:1', 1]);
    },
  );

  /** As kill -9 does, nothing that follows the step is done or remembered: the files are those of that moment. */
  class Killed extends Error {}
  async function killIn(world: HostsWorld): Promise<boolean> {
    const { fleet } = world;
    const save = fleet.memory.save.bind(fleet.memory);
    let isDead = false;
    fleet.memory.save = () => (isDead ? undefined : save());
    const before = world.onStep;
    world.onStep = (host, step) => {
      try {
        before(host, step);
      } catch (error) {
        isDead = true;
        throw error;
      }
    };
    await fleet.step(UNIT);
    return isDead;
  }

  test.each(['find', 'prepare', 'unpack', 'switch', 'restart', 'look', 'prune'])(
    'and loses its connection before %s fails no update, and is continued when it answers',
    async (verb) => {
      const world = await makeWorld(2);
      const host = world.host('kv-1');
      let isCut = false;
      host.onVerb = (one) => {
        if (one !== verb || isCut || !host.verbs.includes('find')) return;
        isCut = true;
        host.isSilent = true;
        throw new UnreachableHostError('the connection was lost');
      };
      send(world);
      await world.fleet.step(UNIT);
      expect(isCut).toBe(true);
      expect(progress(world).state).not.toBe('failed');
      host.isSilent = false;
      await world.settle();
      expect(progress(world)).toMatchObject({ state: 'done', live: 2, unreachable: 0 });
      expect(world.versions(UNIT)).toEqual(['new:1', 'new:1']);
    },
  );

  test.each([
    ['whose disk is full', (world: HostsWorld): boolean => (world.host('kv-1').hasFullDisk = true), /No space left/],
    [
      'whose sudo asks for a password',
      (world: HostsWorld): boolean => (world.host('kv-1').doesSudoAsk = true),
      /sudo asks for a password/,
    ],
  ] as const)('%s fails its update with that reason, and no other host is begun', async (_, spoil, reason) => {
    const world = await makeWorld(4, { atOnce: 1, mostOut: 1 });
    spoil(world);
    send(world);
    await world.settle();
    expect(progress(world)).toMatchObject({
      state: 'failed',
      live: 0,
      reason: expect.stringMatching(reason) as string,
    });
    expect(world.versions(UNIT).slice(1)).toEqual(['kv:1', 'kv:1', 'kv:1']);
    expect(world.host('kv-1').serving).toBe('kv:1');
  });
});

describe('hosts that do not answer', () => {
  test('do not block the others, count as unreachable, and catch up when they return, straight to the last version', async () => {
    const world = await makeWorld(4);
    world.host('kv-4').isSilent = true;
    await world.settle();
    send(world, { wholeUnit: true });
    await world.settle();
    expect(progress(world)).toMatchObject({ state: 'done', targeted: 4, live: 3, unreachable: 1 });
    send(world, { id: NEXT, version: 'new:2', wholeUnit: true });
    await world.settle();
    expect(world.versions(UNIT)).toEqual(['new:2', 'new:2', 'new:2', 'kv:1']);
    world.host('kv-4').isSilent = false;
    await world.settle();
    await world.settle();
    expect(world.versions(UNIT)).toEqual(['new:2', 'new:2', 'new:2', 'new:2']);
    expect(world.host('kv-4').verbs.filter((verb) => verb === 'restart')).toHaveLength(1);
    expect(progress(world, NEXT)).toMatchObject({ live: 4, unreachable: 0 });
  });

  test('never start on a version that failed on others meanwhile', async () => {
    const world = await makeWorld(4);
    world.host('kv-4').isSilent = true;
    await world.settle();
    send(world, { version: 'dead:1' });
    await world.settle();
    world.host('kv-4').isSilent = false;
    await world.settle();
    expect(progress(world).state).toBe('failed');
    expect([world.host('kv-4').current, world.host('kv-4').serving]).toEqual(['kv:1', 'kv:1']);
  });

  test('are chosen last for a part of the unit', async () => {
    const world = await makeWorld(4);
    world.host('kv-1').isSilent = true;
    await world.settle();
    send(world, { count: 2 });
    await world.settle();
    expect(world.versions(UNIT)).toEqual(['kv:1', 'new:1', 'new:1', 'kv:1']);
    expect(progress(world)).toMatchObject({ state: 'done', live: 2, unreachable: 0 });
  });

  test('stop the update when half of the fleet is away: no more are out than may be, and the update gives the reason', async () => {
    const world = await makeWorld(4);
    for (const name of ['kv-3', 'kv-4']) world.host(name).isSilent = true;
    await world.settle();
    send(world);
    await world.settle(5);
    expect(world.versions(UNIT)).toEqual(['kv:1', 'kv:1', 'kv:1', 'kv:1']);
    expect(progress(world)).toMatchObject({ reason: 'waits: kv-3, kv-4 are out of service, and at most 2 may be' });
    world.host('kv-3').isSilent = false;
    await world.settle();
    expect(world.versions(UNIT)).toEqual(['new:1', 'new:1', 'new:1', 'kv:1']);
  });

  test('because sshd hangs hold up no round: the others are updated meanwhile', async () => {
    const world = await makeWorld(3);
    world.host('kv-3').doesHang = true;
    world.now += 60_000;
    send(world, { count: 2 });
    const start = Date.now();
    await world.fleet.step(UNIT);
    expect(Date.now() - start).toBeLessThan(1_500);
    expect(world.versions(UNIT)).toEqual(['new:1', 'new:1', 'kv:1']);
  });

  test('because the host key has changed get no command', async () => {
    const world = await makeWorld(3);
    const host = world.host('kv-3');
    host.keyChanged = true;
    await world.settle();
    host.verbs.length = 0;
    send(world);
    await world.settle();
    expect(host.verbs).toEqual([]);
    expect(world.fleet.lastLook('kv-3')).toEqual({ unreachable: 'its host key is not the one in known_hosts' });
    expect(progress(world)).toMatchObject({ state: 'done', live: 2, unreachable: 1 });
  });
});

describe('a push type that lost its memory', () => {
  test('answers for a finished update from the records on the hosts, and reverts to the version of before', async () => {
    const world = await makeWorld(4);
    send(world, { count: 2 });
    await world.settle();
    world.lose();
    await world.settle();
    expect(progress(world)).toMatchObject({ state: 'done', targeted: 2, updated: 2, live: 2 });
    expect(describeUnit(world.fleet.state, UNIT)).toEqual({ size: 4, version: 'kv:1', mixed: true });
    send(world, { id: REVERT, version: 'kv:1', updatedBy: [UPDATE] });
    await world.settle();
    expect(world.versions(UNIT)).toEqual(['kv:1', 'kv:1', 'kv:1', 'kv:1']);
    expect(progress(world, REVERT)).toMatchObject({ state: 'done', targeted: 2, live: 2 });
  });

  test('in the middle of an update begins no host by itself, and says what it knows', async () => {
    const world = await makeWorld(4);
    send(world);
    await world.fleet.step(UNIT);
    world.lose();
    await world.settle();
    const reason = 'the push type lost its memory while it brought new:1 to kv: 2 of 4 hosts have it';
    expect(progress(world)).toMatchObject({ state: 'failed', targeted: 4, live: 2, reason });
    expect(world.versions(UNIT)).toEqual(['new:1', 'new:1', 'kv:1', 'kv:1']);
  });

  test('knows the version of a whole unit, also where the last update touched no host', async () => {
    const world = await makeWorld(2);
    send(world);
    await world.settle();
    send(world, { id: NEXT, wholeUnit: true });
    await world.settle();
    world.lose();
    await world.settle();
    expect(describeUnit(world.fleet.state, UNIT)).toEqual({ size: 2, version: 'new:1', mixed: false });
  });

  test('restarts no host on its account', async () => {
    const world = await makeWorld(3);
    send(world);
    await world.settle();
    const starts = [...world.hosts.values()].map((host) => host.starts);
    world.lose();
    await world.settle();
    expect([...world.hosts.values()].map((host) => host.starts)).toEqual(starts);
  });
});

describe('a late command', () => {
  test('is refused by the host if it belongs to an older change, so that it cannot bring back an old version', async () => {
    const world = await makeWorld(1);
    const host = world.host('kv-1');
    send(world);
    await world.settle();
    const late = await host.run(['sh', '-c', '', '', 'switch', '/srv/app', '1', 'kv:1', '', 'app.service'], {
      timeoutMs: 1,
    });
    expect(late).toMatchObject({ code: 76 });
    expect(host.current).toBe('new:1');
  });
});

describe('the budget', () => {
  test('counts hosts that others took out of the load balancer, and leaves them there', async () => {
    const out = new Set<string>(['kv-2']);
    const drained: string[] = [];
    const balancer = {
      drain: (host: string) => Promise.resolve(void drained.push(host)),
      undrain: () => Promise.resolve(),
      listOut: () => Promise.resolve(out),
    };
    const world = await makeWorld(3, { balancer, atOnce: 1, mostOut: 1 });
    send(world, { count: 1 });
    await world.settle(5);
    expect(world.versions(UNIT)).toEqual(['kv:1', 'kv:1', 'kv:1']);
    expect(progress(world).reason).toBe('waits: kv-2 is out of service, and at most 1 may be');
    out.clear();
    await world.settle();
    expect(drained).toEqual(['kv-1']);
    expect(progress(world)).toMatchObject({ state: 'done', live: 1 });
  });

  test('is kept while the load balancer does not answer: no host is taken out', async () => {
    let isAway = false;
    const balancer = {
      drain: () => Promise.resolve(),
      undrain: () => Promise.resolve(),
      listOut: () => (isAway ? Promise.reject(new Error('connect ECONNREFUSED')) : Promise.resolve(new Set<string>())),
    };
    const world = await makeWorld(3, { balancer });
    isAway = true;
    send(world);
    await world.settle(3);
    expect(world.versions(UNIT)).toEqual(['kv:1', 'kv:1', 'kv:1']);
    isAway = false;
    await world.settle();
    expect(progress(world)).toMatchObject({ state: 'done', live: 3 });
  });
});

describe('a service that ends by itself', () => {
  test('is left to systemd, and counts as the same updated host under the identifier of its new start', async () => {
    const world = await makeWorld(2);
    send(world);
    await world.settle();
    const host = world.host('kv-1');
    const task = world.fleet.state.units[UNIT]?.slots[0]?.task;
    host.isActive = false;
    await world.settle(3);
    expect(host.verbs.filter((verb) => verb === 'restart')).toHaveLength(1);
    host.start();
    await world.settle();
    const slot = world.fleet.state.units[UNIT]?.slots[0];
    expect(slot).toMatchObject({ state: 'live', version: 'new:1', update: UPDATE, task: `kv-1@${host.invocation}` });
    expect(slot?.past[0]).toMatchObject({ task, update: UPDATE });
  });
});

describe('a removal', () => {
  test('is done once a host that did not answer has stopped, too', async () => {
    const world = await makeWorld(3);
    world.host('kv-2').isSilent = true;
    await world.settle();
    acceptRemoval(world.fleet, { updateId: 'deploy/kv/2/deploy/1/remove/1', units: [UNIT] });
    await world.settle(3);
    const id = 'deploy/kv/2/deploy/1/remove/1';
    expect(progress(world, id)).toMatchObject({ state: 'updating', targeted: 3, gone: 2, unreachable: 1 });
    world.host('kv-2').isSilent = false;
    await world.settle();
    expect(progress(world, id)).toMatchObject({ state: 'done', targeted: 3, gone: 3 });
    expect([...world.hosts.values()].map(({ isActive }) => isActive)).toEqual([false, false, false]);
  });
});

describe('a pause', () => {
  test('leaves hosts that have not begun as they are, also when one of them comes back meanwhile', async () => {
    const world = await makeWorld(4, { atOnce: 1, mostOut: 2 });
    world.host('kv-4').isSilent = true;
    await world.settle();
    send(world);
    await world.fleet.step(UNIT);
    commandUpdate(world.fleet, 'pause', { updateId: UPDATE });
    world.host('kv-4').isSilent = false;
    await world.settle(3);
    expect(world.versions(UNIT)).toEqual(['new:1', 'kv:1', 'kv:1', 'kv:1']);
    commandUpdate(world.fleet, 'resume', { updateId: UPDATE });
    await world.settle();
    expect(world.versions(UNIT)).toEqual(['new:1', 'new:1', 'new:1', 'new:1']);
  });
});
