import * as fc from 'fast-check';
import { isAimedAt, pickOverride, type Aim } from '../../../configerator/domain/overrides';
import { NOTHING, withCommitted } from '../../../configerator/domain/heldValue';

const HOSTS = Array.from({ length: 10_000 }, (_, at) => `host-${at}`);
const means = (override: Aim, host: string, labels = {}): boolean => isAimedAt(override, { name: host, labels });
const aim = (more: Partial<Aim>) => ({
  ...{ id: 'deploy/kv/1/deploy/1', revision: '7@abc' },
  ...more,
});

test('a larger share has every host of a smaller one, and as many as it says', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true }), (a, b) => {
      const [small, large] = [Math.min(a, b), Math.max(a, b)];
      const inSmall = HOSTS.filter((host) => means(aim({ below: small }), host));
      const inLarge = new Set(HOSTS.filter((host) => means(aim({ below: large }), host)));
      expect(inSmall.every((host) => inLarge.has(host))).toBe(true);
      expect(Math.abs(inSmall.length / HOSTS.length - small)).toBeLessThan(0.025);
    }),
    { numRuns: 30 },
  );
});

test('no host is in a share of 0, and every host in one of 1', () => {
  expect(HOSTS.some((host) => means(aim({ below: 0 }), host))).toBe(false);
  expect(HOSTS.some((host) => means(aim({}), host))).toBe(false);
  expect(HOSTS.every((host) => means(aim({ below: 1 }), host))).toBe(true);
});

test('other deploys begin with other hosts', () => {
  const firstOf = (id: string) => HOSTS.filter((host) => means(aim({ id, below: 0.01 }), host));
  const [one, two] = [firstOf('deploy/kv/1/deploy/1'), firstOf('deploy/kv/2/deploy/1')];
  expect(one.filter((host) => two.includes(host)).length).toBeLessThan(one.length / 4);
});

test('updates of one deploy widen the same share, of the hosts with its labels alone', () => {
  const hostsOf = (more: Partial<Aim>, region = 'eu') =>
    HOSTS.filter((host) => means(aim({ seed: 'deploy/kv/1', labels: { region: 'eu' }, ...more }), host, { region }));
  const wider = new Set(hostsOf({ id: 'second', below: 0.2 }));
  expect(hostsOf({ id: 'first', below: 0.1 }).every((host) => wider.has(host))).toBe(true);
  expect(hostsOf({ below: 1 }, 'us')).toEqual([]);
  expect(hostsOf({ below: 1, labels: {} }, 'us')).toEqual(HOSTS);
});

test('where a host is does not change from one release of Conveyor to the next', () => {
  expect(HOSTS.filter((host) => means(aim({ below: 0.001 }), host))).toMatchInlineSnapshot(`
   [
     "host-3304",
     "host-3462",
     "host-5912",
     "host-5976",
     "host-6786",
     "host-7458",
   ]
  `);
});

test.each([
  ['a list, by name', [aim({ hosts: ['h1'] })], '7@abc'],
  ['a list of others', [aim({ hosts: ['h2'] })], undefined],
  ['a share of nobody and a list', [aim({ hosts: ['h1'], below: 0 })], '7@abc'],
  ['two changes: the newer', [aim({ below: 1 }), aim({ below: 1, revision: '12@def', id: 'a' })], '12@def'],
  [
    'two changes, of which the newer is for others',
    [aim({ below: 1 }), aim({ hosts: ['h2'], revision: '12@d' })],
    '7@abc',
  ],
])('a host has the override of %s', (_, overrides, expected) => {
  expect(pickOverride(overrides, { name: 'h1' })?.revision).toBe(expected);
});

test('a host that has seen a commit takes no older one, in whichever order they come', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 50 })), (sequences) => {
      let held = NOTHING;
      for (const sequence of sequences)
        held = withCommitted(held, { value: `${sequence}`, version: 'v', commit: 'c', sequence });
      expect(held.committed?.sequence ?? 0).toBe(Math.max(0, ...sequences));
    }),
  );
});
