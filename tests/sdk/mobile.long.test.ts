import { mobileService } from '../../examples/mobile-config/service';
import type { MobileSchema, Translation } from '../../configerator/domain/mobileConfig/translate';
import { MOBILE_LIMITS } from '../../domain/limits';
import {
  createMobileConfig,
  mobileHash,
  viaApp,
  type MobileContext,
  type MobileOptions,
  type PullAnswer,
} from '../../sdk';

const HOUR = 3_600_000;
const NO_NEWS = '{"configs":[],"unknownSchemas":[]}';
const VOIP: MobileContext = {
  echo: { type: 'boolean', default: false },
  bitrate: { type: 'integer', default: 16 },
  greeting: { type: 'text', default: 'hi' },
};
const TRANSLATION: Translation = {
  voip: {
    echo: { gate: 'voip-echo' },
    bitrate: { config: 'voip', field: 'limits.bitrate' },
    greeting: { constant: 'hello' },
  },
};

/** A service with its backends, and clients of it, on one clock that the test moves. */
function givenMobile(translation: unknown = TRANSLATION) {
  const world = {
    ...{
      now: 0,
      open: new Set(['alice']),
      configs: { voip: { limits: { bitrate: 32 } } } as Record<string, unknown>,
    },
    ...{ isAway: false, bytes: 0, pulls: 0, pushed: 0, logged: [] as string[] },
    change: (_: unknown): void => undefined,
    answer: undefined as unknown,
  };
  const service = mobileService({
    subscribe: (onValue) => {
      world.change = onValue;
      onValue(translation);
    },
    backends: (user) => ({
      config: (path) => world.configs[path],
      gate: (project) => (project === 'voip-echo' ? world.open.has(user.id) : undefined),
    }),
    push: async () => void (world.pushed += 1),
    token: 'emergency-token',
    log: (message) => void world.logged.push(message),
  });
  const timers: { at: number; run: () => void }[] = [];
  const client = (id: string, options: Partial<MobileOptions> = {}) => {
    const cache = { text: undefined as string | undefined };
    const made = createMobileConfig({
      ...{ url: 'http://mobile/v1/mobile/pull', user: { id }, contexts: { voip: VOIP }, random: () => 0.5 },
      cache: { load: () => cache.text, save: (text) => void (cache.text = text) },
      clock: {
        now: () => world.now,
        after: (ms, run) => {
          const timer = { at: world.now + ms, run };
          timers.push(timer);
          return () => void timers.splice(timers.indexOf(timer) >>> 0, timers.includes(timer) ? 1 : 0);
        },
      },
      fetch: async (request) => {
        world.pulls += 1;
        if (world.isAway) throw new Error('no network');
        if (world.answer !== undefined) return Response.json(world.answer);
        const response = await viaApp(service)(request);
        world.bytes = (await response.clone().text()).length;
        return response;
      },
      ...options,
    });
    return Object.assign(made, { cache });
  };
  return { world, service, client, timers };
}
const valuesOf = (it: { get(config: string, field: string): unknown }) =>
  Object.keys(VOIP).map((field) => it.get('voip', field));

test('an app has its defaults until a service answers, and then what the service says of its user', async () => {
  const { client } = givenMobile();
  const [alice, bob] = [client('alice'), client('bob')];
  expect(valuesOf(alice)).toEqual([false, 16, 'hi']);
  expect(alice.age('voip', 'echo')).toBeUndefined();
  await Promise.all([alice.pull(), bob.pull()]);
  expect(valuesOf(alice)).toEqual([true, 32, 'hello']);
  expect(valuesOf(bob)).toEqual([false, 32, 'hello']);
});

test('only what changed comes back: a pull without news brings no values', async () => {
  const { client, world } = givenMobile();
  const alice = client('alice');
  await alice.pull();
  await alice.pull();
  expect(world.bytes).toBe(NO_NEWS.length);
  world.configs['voip'] = { limits: { bitrate: 64 } };
  await alice.pull();
  expect(valuesOf(alice)).toEqual([true, 64, 'hello']);
});

test('an old version of an app gets the fields that it knows, in its types, and only once', async () => {
  const { client, world } = givenMobile();
  const old = client('alice', {
    contexts: { voip: { bitrate: { type: 'text', default: 'low' }, echo: { type: 'boolean', default: false } } },
  });
  await old.pull();
  const known = (): unknown[] => [old.get('voip', 'echo'), old.get('voip', 'bitrate')];
  expect(known()).toEqual([true, 'low']);
  world.now += HOUR;
  await old.pull();
  expect([known(), world.bytes]).toEqual([[true, 'low'], NO_NEWS.length]);
  expect(old.age('voip', 'echo')).toBe(0);
  world.open.clear();
  await old.pull();
  expect(known()).toEqual([false, 'low']);
});

test('a field whose source is gone does not bring the others again at every pull, and comes back with its source', async () => {
  const { client, world } = givenMobile();
  const alice = client('alice');
  await alice.pull();
  const { voip } = world.configs;
  delete world.configs['voip'];
  for (const isNews of [true, false, false]) {
    world.now += HOUR;
    await alice.pull();
    expect([valuesOf(alice), world.bytes > NO_NEWS.length]).toEqual([[true, 32, 'hello'], isNews]);
  }
  expect([alice.age('voip', 'bitrate'), alice.age('voip', 'greeting')]).toEqual([3 * HOUR, 0]);
  const { cache } = alice;
  const again = client('alice', { cache: { load: () => cache.text, save: () => undefined } });
  await again.pull();
  expect(world.bytes).toBe(NO_NEWS.length);
  world.configs['voip'] = voip;
  await alice.pull();
  expect([valuesOf(alice), alice.age('voip', 'bitrate')]).toEqual([[true, 32, 'hello'], 0]);
});

test('a cache of an earlier version of the library is used, and completed by one pull', async () => {
  const { client, world } = givenMobile();
  const alice = client('alice');
  await alice.pull();
  const kept = JSON.parse(alice.cache.text ?? '') as { voip: { at?: number } };
  delete kept.voip.at;
  world.now += HOUR;
  const again = client('alice', { cache: { load: () => JSON.stringify(kept), save: () => undefined } });
  expect(valuesOf(again)).toEqual([true, 32, 'hello']);
  await again.pull();
  expect(again.age('voip', 'echo')).toBe(0);
  await again.pull();
  expect(world.bytes).toBe(NO_NEWS.length);
});

test('a field is remapped from a gate to a constant without any client', async () => {
  const { client, world } = givenMobile();
  const bob = client('bob');
  await bob.pull();
  world.change({ voip: { ...TRANSLATION['voip'], echo: { constant: true } } });
  await bob.pull();
  expect(bob.get('voip', 'echo')).toBe(true);
});

test('a field that cannot be translated any more stays as it was, and gets older; the rest continues', async () => {
  const { client, world } = givenMobile();
  const alice = client('alice');
  await alice.pull();
  world.now += HOUR;
  delete world.configs['voip'];
  world.change({ voip: { ...TRANSLATION['voip'], greeting: { constant: 'moin' } } });
  await alice.pull();
  expect(valuesOf(alice)).toEqual([true, 32, 'moin']);
  expect([alice.age('voip', 'bitrate'), alice.age('voip', 'greeting')]).toEqual([HOUR, 0]);
  world.change({ voip: {} });
  await alice.pull();
  expect(valuesOf(alice)).toEqual([true, 32, 'moin']);
});

test('a translation that is none leaves the one before it, and says why', async () => {
  const { client, world } = givenMobile();
  world.change({ voip: { echo: { gates: 'voip-echo' } } });
  expect(world.logged).toEqual([
    'the translation is refused, the one before it stays: voip.echo: expected { constant }, { config, field? } or { gate, on?, off? }',
  ]);
  const alice = client('alice');
  await alice.pull();
  expect(valuesOf(alice)).toEqual([true, 32, 'hello']);
});

test('while the service is away, or lies, an app has what it had, also after a start of its own', async () => {
  const { client, world } = givenMobile();
  const alice = client('alice');
  await alice.pull();
  world.now += HOUR;
  world.isAway = true;
  expect(await alice.pull()).toBe('failed');
  const { cache } = alice;
  const again = client('alice', { cache: { load: () => cache.text, save: () => undefined } });
  expect(valuesOf(again)).toEqual([true, 32, 'hello']);
  expect(again.age('voip', 'echo')).toBe(HOUR);
  world.isAway = false;
  for (const answer of [
    null,
    7,
    {},
    { configs: [{ config: 'voip', values: { echo: 'yes', bitrate: 1.5, greeting: null } }], unknownSchemas: [] },
  ]) {
    world.answer = answer;
    await again.pull();
    expect(valuesOf(again)).toEqual([true, 32, 'hello']);
  }
  expect(valuesOf(client('alice', { cache: { load: () => '{broken', save: () => undefined } }))).toEqual([
    false,
    16,
    'hi',
  ]);
});

test('pulls come once an hour in the mean, never together, and sooner after one that failed', async () => {
  const { client, world, timers } = givenMobile();
  const dice = [0, 0.25, 0.999];
  for (const at of dice) client(`user-${at}`, { random: () => at });
  expect(timers.map(({ at }) => at)).toEqual([0, 0, 0]);
  timers.length = 0;
  const clients = dice.map((at) => client(`user-${at}`, { random: () => at }));
  timers.length = 0;
  await Promise.all(clients.map((it) => it.pull()));
  expect(timers.map(({ at }) => at / HOUR)).toEqual([0.5, 0.75, 1.499].map((it) => expect.closeTo(it, 3)));
  timers.length = 0;
  world.isAway = true;
  await clients[0]!.pull();
  expect(timers[0]!.at).toBeLessThan(HOUR / 6);
  clients[0]!.close();
  expect(timers).toEqual([]);
});

test('a push message brings an emergency at once, and one that is lost comes with the next pull', async () => {
  const { client, world, service } = givenMobile();
  const [reached, missed] = [client('alice'), client('alice')];
  await Promise.all([reached.pull(), missed.pull()]);
  world.change({ voip: { ...TRANSLATION['voip'], echo: { constant: false } } });
  const post = (token: string) =>
    viaApp(service)(
      new Request('http://mobile/v1/mobile/push', { method: 'POST', headers: { authorization: `Bearer ${token}` } }),
    );
  expect([(await post('guess')).status, world.pushed]).toEqual([401, 0]);
  expect([(await post('emergency-token')).status, world.pushed]).toEqual([202, 1]);
  await reached.pull();
  expect([reached.get('voip', 'echo'), missed.get('voip', 'echo')]).toEqual([false, true]);
  await missed.pull();
  expect(missed.get('voip', 'echo')).toBe(false);
});

test('a push that comes during a pull makes another one after it', async () => {
  const { client, world } = givenMobile();
  const alice = client('alice');
  await alice.pull();
  const before = world.pulls;
  await Promise.all([alice.pull(), alice.pull(), alice.pull()]);
  expect(world.pulls - before).toBe(2);
});

test('a service believes no schema that is not what its hash says, and takes nothing that is too large', async () => {
  const { service } = givenMobile();
  const pull = async (body: unknown) => {
    const response = await viaApp(service)(
      new Request('http://mobile/v1/mobile/pull', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    );
    return { status: response.status, body: (await response.json()) as unknown };
  };
  const of = mobileHash({ echo: 'boolean' });
  const configs = [{ config: 'voip', schema: of, values: '' }];
  const user = { id: 'alice' };
  expect((await pull({ user, configs, schemas: { [of]: { greeting: 'text' } } })).body).toEqual({
    configs: [],
    unknownSchemas: [of],
  });
  expect((await pull({ user, configs, schemas: { [of]: { echo: 'boolean' } } })).body).toEqual({
    ...{ configs: [{ config: 'voip', values: { echo: true } }], unknownSchemas: [] },
  });
  expect(
    (await pull({ user, configs: Array.from({ length: MOBILE_LIMITS.configs.max + 1 }, () => configs[0]) })).status,
  ).toBe(400);
  expect((await pull({ user: { id: 'x'.repeat(MOBILE_LIMITS.request.max) }, configs })).status).toBe(413);
  expect((await pull(undefined)).status).toBe(400);
});

test('a flood of schemas pushes out none that apps use, and none is learned that its pull does not ask for', async () => {
  const { service } = givenMobile();
  const pull = async (own: MobileSchema, schemas: Readonly<Record<string, MobileSchema>> = {}) => {
    const headers = { 'content-type': 'application/json' };
    const configs = [{ config: 'voip', schema: mobileHash(own), values: '' }];
    const body = JSON.stringify({ user: { id: 'alice' }, configs, schemas });
    const response = await viaApp(service)(
      new Request('http://mobile/v1/mobile/pull', { method: 'POST', headers, body }),
    );
    return ((await response.json()) as PullAnswer).unknownSchemas;
  };
  const used: MobileSchema = { echo: 'boolean' };
  const other: MobileSchema = { bitrate: 'integer' };
  expect(await pull(used, { [mobileHash(used)]: used, [mobileHash(other)]: other })).toEqual([]);
  expect(await pull(other)).toEqual([mobileHash(other)]);
  for (let n = 0; n <= MOBILE_LIMITS.schemas.max; n += 1) {
    const strange: MobileSchema = { [`x${n}`]: 'text' };
    await pull(strange, { [mobileHash(strange)]: strange });
    if (n % 1_000 === 0) expect(await pull(used)).toEqual([]);
  }
  expect(await pull(used)).toEqual([]);
});
