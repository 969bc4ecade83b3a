import fc from 'fast-check';
import { compileProject, evaluateProject, type GateContext } from '../../../../configerator/domain/gatekeeper/evaluate';
import { murmur3, computeBucket, PARTS } from '../../../../configerator/domain/gatekeeper/hash';
import {
  learn,
  cheapestOrder,
  createTriedRestraint,
  type TriedRestraint,
} from '../../../../configerator/domain/gatekeeper/order';
import { parseProject } from '../../../../configerator/domain/gatekeeper/parse';
import type { GateUser, Project, Restraint } from '../../../../configerator/domain/gatekeeper/project';
import { compareVersions, parseVersion } from '../../../../configerator/domain/gatekeeper/version';
import { GATE_LIMITS } from '../../../../domain/limits';
import { ANY_PROJECT, ANY_USER, NOW } from './any';

const context = (over: Partial<GateContext> = {}): GateContext => ({
  ...{ project: 'checkout', now: () => NOW, laser: () => undefined },
  ...over,
});
const passes = (project: Project, user: GateUser, over: Partial<GateContext> = {}): boolean =>
  evaluateProject(compileProject(project, context(over)), user).pass;
const holds = (restraint: Restraint, user: Partial<GateUser>, over: Partial<GateContext> = {}): boolean =>
  passes({ rules: [{ if: [restraint], pass: 1 }] }, { id: 'u1', ...user }, over);

describe('a restraint', () => {
  const day = 86_400_000;
  test.each<[Restraint, Partial<GateUser>, boolean]>([
    [{ restraint: 'employee' }, { employee: true }, true],
    [{ restraint: 'employee' }, {}, false],
    [{ restraint: 'employee', not: true }, {}, true],
    [{ restraint: 'id', in: ['u1', 'u2'] }, {}, true],
    [{ restraint: 'id', in: ['u2'] }, {}, false],
    [{ restraint: 'country', in: ['AT', 'DE'] }, { country: 'AT' }, true],
    [{ restraint: 'country', in: ['AT'] }, {}, false],
    [{ restraint: 'region', in: ['emea'] }, { region: 'apac' }, false],
    [{ restraint: 'locale', in: ['de'] }, { locale: 'de-AT' }, true],
    [{ restraint: 'locale', in: ['de'] }, { locale: 'de_AT' }, true],
    [{ restraint: 'locale', in: ['de_AT'] }, { locale: 'de-AT' }, true],
    [{ restraint: 'locale', in: ['de-AT'] }, { locale: 'de' }, false],
    [{ restraint: 'locale', in: ['de'] }, { locale: 'den' }, false],
    [{ restraint: 'app', in: ['shop'] }, { app: 'shop' }, true],
    [{ restraint: 'device', in: ['tablet'] }, { device: 'phone' }, false],
    [{ restraint: 'app-version', min: '1.2' }, { appVersion: '1.10.0' }, true],
    [{ restraint: 'app-version', min: '1.2.0' }, { appVersion: '1.2.0-beta.1' }, false],
    [{ restraint: 'app-version', min: '1.2', below: '2' }, { appVersion: '2.0.0' }, false],
    [{ restraint: 'app-version', min: '1.2', below: '1.3' }, { appVersion: '1.2.3.4' }, true],
    [{ restraint: 'app-version', below: '1.2.3' }, { appVersion: '1.2.3.4' }, false],
    [{ restraint: 'app-version', min: '1.2' }, { appVersion: '1.2.3.4.5' }, false],
    [{ restraint: 'app-version', min: '1.2' }, { appVersion: 'newest' }, false],
    [{ restraint: 'bucket', salt: 's', from: 0, to: 1 }, { id: '' }, false],
    [{ restraint: 'bucket', salt: 's', from: 0, to: 1 }, {}, true],
    [{ restraint: 'new-user', days: 7 }, { createdAt: NOW - 7 * day + 1000 }, true],
    [{ restraint: 'new-user', days: 7 }, { createdAt: NOW - 7 * day }, false],
    [{ restraint: 'new-user', days: 7 }, {}, false],
    [{ restraint: 'new-user', days: 7, not: true }, {}, true],
    ...['2026-11-01T00:00:00Z', '1', '', NaN, Infinity, true, {}, new Date(NOW)].flatMap(
      (createdAt): [Restraint, Partial<GateUser>, boolean][] => [
        [{ restraint: 'new-user', days: 7 }, { createdAt: createdAt as number }, false],
        [{ restraint: 'new-user', days: 7, not: true }, { createdAt: createdAt as number }, false],
      ],
    ),
    [{ restraint: 'bucket', salt: 'a', from: 0, to: 1 }, {}, true],
    [{ restraint: 'bucket', salt: 'a', from: 0.5, to: 0.5 }, {}, false],
  ])('%j of %j holds: %s', (restraint, user, expected) => {
    expect(holds(restraint, user)).toBe(expected);
  });

  test('laser asks its store for the project and the user, and wants more than its threshold', () => {
    const laser = (key: string): number | undefined => (key === 'checkout-u1' ? 3 : undefined);
    expect(holds({ restraint: 'laser', above: 2 }, {}, { laser })).toBe(true);
    expect(holds({ restraint: 'laser', above: 3 }, {}, { laser })).toBe(false);
    expect(holds({ restraint: 'laser', above: 2 }, { id: 'u2' }, { laser })).toBe(false);
  });

  test('a rule on a version orders versions as semver does', () => {
    const ordered = [
      '1.0.0-1',
      '1.0.0-2',
      '1.0.0-10',
      '1.0.0-alpha',
      '1.0.0-alpha.1',
      '1.0.0-beta',
      '1',
      '1.0.1',
      '1.1',
    ];
    const sorted = [...ordered].reverse().sort((a, b) => compareVersions(parseVersion(a)!, parseVersion(b)!));
    expect(sorted).toEqual(ordered);
    for (const wrong of ['', 'a', '1.2.3.4', '01.2.3', '1.2-beta', '1.0.0-01'])
      expect(parseVersion(wrong)).toBeUndefined();
  });
});

describe('a project', () => {
  test('is decided by the first rule that matches, and by no other', () => {
    const project: Project = {
      rules: [
        { if: [{ restraint: 'country', in: ['AT'] }], pass: 0 },
        { if: [], pass: 1 },
      ],
    };
    expect(passes(project, { id: 'u1', country: 'AT' })).toBe(false);
    expect(passes(project, { id: 'u1' })).toBe(true);
    expect(passes({ rules: [] }, { id: 'u1' })).toBe(false);
  });

  test.each([
    ['', 1, true],
    ['', 0.999999, false],
    ['', 0.05, false],
    ['', 0, false],
  ])('lets users with the id %j pass at %d: %s', (id, pass, expected) => {
    expect(passes({ rules: [{ if: [], pass }] }, { id })).toBe(expected);
  });

  test('lets as many pass as it says, and other users in another project', () => {
    const project: Project = { rules: [{ if: [], pass: 0.05 }] };
    const users = Array.from({ length: 20_000 }, (_, n) => ({ id: `user-${n}` }));
    const inside = (name: string): string[] =>
      users.filter((user) => passes(project, user, { project: name })).map(({ id }) => id);
    const [one, other] = [inside('checkout'), inside('search')];
    for (const { length } of [one, other]) expect(Math.abs(length / users.length - 0.05)).toBeLessThan(0.006);
    const both = one.filter((id) => other.includes(id)).length;
    expect(Math.abs(both / users.length - 0.05 * 0.05)).toBeLessThan(0.002);
  });

  test('loses no user when any of its rules is widened', () => {
    fc.assert(
      fc.property(ANY_PROJECT, ANY_USER, fc.nat(), fc.nat(PARTS), (project, user, which, parts) => {
        const widened = project.rules.map((rule, at) =>
          at === which % project.rules.length ? { ...rule, pass: Math.max(rule.pass, parts / PARTS) } : rule,
        );
        if (passes(project, user)) expect(passes({ rules: widened }, user)).toBe(true);
      }),
    );
  });

  test('is closed to users for whom an applicable rule cannot be decided, whatever a later rule says', () => {
    const undecided: Restraint = { restraint: 'laser', above: 1 };
    const open = { if: [], pass: 1 };
    const gone = { laser: () => null };
    for (const restraint of [undecided, { ...undecided, not: true }]) {
      const project = { rules: [{ if: [restraint], pass: 0.5 }, open] };
      expect(evaluateProject(compileProject(project, context(gone)), { id: 'u1' })).toEqual({
        pass: false,
        rule: 0,
        undecided: true,
      });
    }
    const settled = { rules: [{ if: [undecided, { restraint: 'employee' } as const], pass: 1 }, open] };
    expect(passes(settled, { id: 'u1' }, gone)).toBe(true);
  });
});

describe('the order in which restraints are tried', () => {
  test('never changes an answer', () => {
    const laser = fc.constantFrom(null, undefined, 0, 5);
    fc.assert(
      fc.property(ANY_PROJECT, ANY_USER, laser, fc.infiniteStream(fc.nat()), (project, user, value, dice) => {
        const naive = compileProject(project, context({ laser: () => value }));
        const ordered = compileProject(project, context({ laser: () => value }));
        for (const rule of ordered.rules)
          rule.order = cheapestOrder(
            rule.tests.map((): TriedRestraint => {
              const [seen = 0, held = 0, cost = 0] = [...dice.take(3)].map((it) => it % 1000);
              return { seen: seen + 1, held: Math.min(held, seen + 1), cost };
            }),
          );
        expect(evaluateProject(ordered, user)).toEqual(evaluateProject(naive, user));
      }),
    );
  });

  test('is the cheapest of all orders, for restraints that do not depend on each other', () => {
    const any = fc.record({
      seen: fc.constant(1000),
      held: fc.integer({ min: 1, max: 999 }),
      cost: fc.integer({ min: 1, max: 1e6 }),
    });
    fc.assert(
      fc.property(fc.array(any, { minLength: 1, maxLength: 5 }), (tried) => {
        const cheapest = Math.min(...permutations(tried.map((_, at) => at)).map((order) => costOf(order, tried)));
        expect(costOf(cheapestOrder(tried), tried)).toBeLessThanOrEqual(cheapest * (1 + 1e-9));
      }),
    );
  });

  test('follows what is learned: conditions that nearly always hold go last, and expensive ones after cheap ones', () => {
    const [employee, laser] = [
      createTriedRestraint({ restraint: 'employee' }),
      createTriedRestraint({ restraint: 'laser', above: 1 }),
    ];
    expect(cheapestOrder([laser, employee])).toEqual([1, 0]);
    for (let n = 0; n < 5000; n += 1) {
      learn(employee, true, 5);
      learn(laser, false, 1000);
    }
    expect(cheapestOrder([employee, laser])).toEqual([1, 0]);
    expect(employee.seen).toBeLessThan(2001);
  });
});

/** The mean cost of a rule, tried in this order. */
function costOf(order: readonly number[], tried: readonly TriedRestraint[]): number {
  let [cost, reached] = [0, 1];
  for (const at of order) {
    const { seen, held, cost: all } = tried[at]!;
    cost += reached * (all / seen);
    reached *= held / seen;
  }
  return cost;
}

const permutations = (all: readonly number[]): number[][] =>
  all.length === 0
    ? [[]]
    : all.flatMap((one) => permutations(all.filter((it) => it !== one)).map((rest) => [one, ...rest]));

describe('the hash that draws users', () => {
  test.each([
    ['', 0],
    ['hello', 0x248bfa47],
    ['hello, world', 0x149bbb7f],
    ['The quick brown fox jumps over the lazy dog', 0x2e4ff723],
  ])('is MurmurHash3: %j', (text, expected) => {
    expect(murmur3(text)).toBe(expected);
  });

  test('counts texts in any writing by their UTF-8', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) =>
        expect(murmur3(text)).toBe(ofBytes(Buffer.from(text, 'utf8'))),
      ),
    );
  });

  test('falls into every part from 0 to 999,999', () => {
    fc.assert(
      fc.property(fc.string(), (text) => expect(computeBucket(text) >= 0 && computeBucket(text) < PARTS).toBe(true)),
    );
  });
});

/** MurmurHash3 of bytes, as its specification has it. */
function ofBytes(bytes: Buffer): number {
  const mix = (k: number): number => {
    const m = Math.imul(k, 0xcc9e2d51);
    return Math.imul((m << 15) | (m >>> 17), 0x1b873593);
  };
  let h = 0;
  const end = bytes.length - (bytes.length % 4);
  for (let at = 0; at < end; at += 4) {
    h ^= mix(bytes.readUInt32LE(at) | 0);
    h = Math.imul((h << 13) | (h >>> 19), 5) + 0xe6546b64;
  }
  let k = 0;
  for (let at = bytes.length - 1; at >= end; at -= 1) k = (k << 8) | bytes[at]!;
  h ^= mix(k) ^ bytes.length;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

describe('a value that is not a project is refused in words', () => {
  const rule = (change: object): unknown => ({ rules: [{ if: [], pass: 0.5, ...change }] });
  const restraint = (it: object): unknown => rule({ if: [it] });
  test.each<[unknown, string, string]>([
    [7, '', 'expected { rules: […] }, got 7'],
    [{ rules: [], sampling: 1 }, 'sampling', 'is not a field of it; there are rules'],
    [rule({ pass: 1.5 }), 'rules[0].pass', 'expected a number from 0 to 1, got 1.5'],
    [rule({ pass: -0.1 }), 'rules[0].pass', 'expected a number from 0 to 1, got -0.1'],
    [rule({ pass: NaN }), 'rules[0].pass', 'expected a number from 0 to 1, got null'],
    [rule({ pass: 0.00000012 }), 'rules[0].pass', 'expected at most six decimals, got 1.2e-7'],
    [rule({ name: 'All!' }), 'rules[0].name', 'expected lower-case letters, digits and -, got "All!"'],
    [
      restraint({ restraint: 'zodiac' }),
      'rules[0].if[0].restraint',
      'there is no restraint "zodiac"; there are employee, id, country, region, locale, app, device, app-version, new-user, bucket, slice, laser',
    ],
    [
      restraint({ restraint: '__proto__' }),
      'rules[0].if[0].restraint',
      expect.stringContaining('there is no restraint') as never,
    ],
    [
      restraint({ restraint: 'employee', of: 'us' }),
      'rules[0].if[0].of',
      'is not a field of it; there are restraint, not',
    ],
    [
      restraint({ restraint: 'country', in: ['A\u001b'] }),
      'rules[0].if[0].in[0]',
      'has the control character U+001B at character 2',
    ],
    [restraint({ restraint: 'country' }), 'rules[0].if[0].in', 'expected a list of texts, got nothing'],
    [
      restraint({ restraint: 'bucket', salt: 'a', from: 0.6, to: 0.5 }),
      'rules[0].if[0]',
      'from 0.6 is more than to 0.5',
    ],
    [restraint({ restraint: 'app-version' }), 'rules[0].if[0]', 'expected min, below or both'],
    [
      restraint({ restraint: 'app-version', min: 'new' }),
      'rules[0].if[0].min',
      'expected a version such as 1.2.3, got "new"',
    ],
    [
      restraint({ restraint: 'new-user', days: 0 }),
      'rules[0].if[0].days',
      'expected a number of days up to 3650, got 0',
    ],
    [restraint({ restraint: 'employee', not: 'yes' }), 'rules[0].if[0].not', 'expected true or false, got "yes"'],
    [
      { rules: Array.from({ length: GATE_LIMITS.rules.max + 1 }, () => ({ if: [], pass: 1 })) },
      'rules',
      'the number of rules of a project is 101, more than 100',
    ],
    [
      restraint({ restraint: 'id', in: Array.from({ length: GATE_LIMITS.listed.max + 1 }, (_, n) => `u${n}`) }),
      'rules[0].if[0].in',
      'the number of texts of a list is 10,001, more than 10,000',
    ],
    [{ rules: 'x'.repeat(GATE_LIMITS.project.max) }, '', 'the project is 1,048,588 bytes, more than 1,048,576 bytes'],
  ])('%j', (value, path, why) => {
    expect(parseProject(value)).toEqual({ problems: [{ path, why }] });
  });

  test('every project that is well-formed is taken', () => {
    fc.assert(fc.property(ANY_PROJECT, (project) => expect(parseProject(project)).toEqual({ project })));
  });
});
