import { join } from 'node:path';
import { checkoutPage, gatesIn } from '../../examples/gatekeeper/shop';
import { createGatekeeper, type GatekeeperOptions } from '../../sdk/gatekeeper/gatekeeper';
import type { GateUser } from '../../configerator/domain/gatekeeper/project';
import { toContext } from '../../configerator/domain/gatekeeper/flagd';
import { GATE_LIMITS } from '../../domain/limits';

const everybody = { rules: [{ name: 'all', if: [], pass: 1 }] };
const nobody = { rules: [{ name: 'all', if: [], pass: 0 }] };
const byLaser = { rules: [{ name: 'trend', if: [{ restraint: 'laser', above: 2 }], pass: 1 }] };
const user = { id: 'alice' };

function givenGates(values: Record<string, unknown>, options: Partial<GatekeeperOptions> = {}) {
  const listeners = new Map<string, (value: unknown) => string | undefined>();
  const logged: string[] = [];
  const gates = createGatekeeper({
    subscribe: (path, onValue) => {
      listeners.set(path, onValue);
      if (path in values) onValue(values[path]);
      return () => void listeners.delete(path);
    },
    log: (message) => void logged.push(message),
    ...options,
  });
  return { gates, logged, listeners, change: (path: string, value: unknown) => listeners.get(path)?.(value) };
}
const AT = 'gates/checkout';

test('a project without a value is closed, and opens as soon as one comes', () => {
  const { gates, change, listeners } = givenGates({});
  expect(gates.check('checkout', user)).toBe(false);
  expect(gates.counts).toMatchObject({ checks: 1, unknown: 1 });
  change(AT, everybody);
  expect(gates.check('checkout', user)).toBe(true);
  change(AT, nobody);
  expect(gates.check('checkout', user)).toBe(false);
  change(AT, everybody);
  change(AT, undefined);
  expect(gates.check('checkout', user)).toBe(false);
  gates.close();
  expect(listeners.size).toBe(0);
});

test('a bad project leaves the one before it as it was, and says what is wrong', () => {
  const { gates, change, logged } = givenGates({ [AT]: everybody });
  expect(gates.check('checkout', user)).toBe(true);
  change(AT, { rules: [{ if: [{ restraint: 'zodiac' }], pass: 2 }] });
  expect(gates.check('checkout', user)).toBe(true);
  expect(gates.counts.refused).toBe(1);
  expect(logged).toEqual([
    'the project checkout is refused, the one before it stays: rules[0].pass: expected a number from 0 to 1, got 2 (and 1 more)',
  ]);
});

test('a laser store that is gone closes the gates that need it, is counted, and logged once until it is back', () => {
  let isGone = true;
  const laser = {
    get: (key: string): number => {
      if (isGone) throw new Error('connection refused');
      return key === 'checkout-alice' ? 3 : 0;
    },
  };
  const { gates, logged } = givenGates({ [AT]: byLaser, 'gates/search': everybody }, { laser });
  for (let n = 0; n < 3; n += 1) expect(gates.check('checkout', user)).toBe(false);
  expect(gates.check('search', user)).toBe(true);
  expect(gates.counts).toMatchObject({ laserFailed: 3, undecided: 3 });
  expect(gates.explain('checkout', user)).toEqual({
    ...{ pass: false, rule: 'trend', why: 'trend cannot be decided: the laser store is gone' },
  });
  const gone = 'the laser store is gone, gates that need it are closed until it is back: connection refused';
  expect(logged).toEqual([gone]);
  isGone = false;
  expect(gates.check('checkout', user)).toBe(true);
  expect(logged).toEqual([gone, 'the laser store is back']);
});

test('a laser store that answers nonsense counts as gone', () => {
  const { gates } = givenGates({ [AT]: byLaser }, { laser: { get: () => 'three' as never } });
  expect(gates.check('checkout', user)).toBe(false);
  expect(gates.counts.laserFailed).toBe(1);
});

test('restraints that settle a rule early and cheaply are tried first once that is known', () => {
  let asked = 0;
  const laser = { get: () => ((asked += 1), 5) };
  const rule = {
    if: [
      { restraint: 'laser', above: 2 },
      { restraint: 'country', in: ['AT'] },
    ],
    pass: 1,
  };
  let time = 0;
  const { gates } = givenGates({ [AT]: { rules: [rule] } }, { laser, meter: () => (time += 1) });
  const checks = 20_000;
  for (let n = 0; n < checks; n += 1) gates.check('checkout', { id: `u${n}`, country: n % 100 === 0 ? 'AT' : 'DE' });
  expect(asked).toBeLessThan(checks / 20);
});

test('explains which rule decided', () => {
  const { gates } = givenGates({ [AT]: { rules: [{ if: [{ restraint: 'employee' }], pass: 1 }] } });
  expect(gates.explain('checkout', user)).toEqual({ pass: false, why: 'no rule is about this user' });
  expect(gates.explain('checkout', { ...user, employee: true })).toEqual({
    ...{ pass: true, rule: 'rules[0]', why: 'rules[0] lets 100% pass, and this user is among them' },
  });
  expect(gates.explain('other', user).why).toBe('there is no project other');
});

test('a time of creation that is no number closes the gates that ask for it, is counted, and explained', () => {
  const old = { name: 'old', if: [{ restraint: 'new-user', days: 7, not: true }], pass: 1 };
  const { gates } = givenGates({ [AT]: { rules: [old] } });
  const wrong = { ...user, createdAt: '2026-11-01T00:00:00Z' as never };
  expect([gates.check('checkout', wrong), gates.counts.undecided]).toEqual([false, 1]);
  expect(gates.explain('checkout', wrong).why).toBe(
    'old cannot be decided: createdAt of the user is not a number of ms since the epoch',
  );
  expect(() => toContext(wrong)).toThrow('createdAt of a user is ms since the epoch, got "2026-11-01T00:00:00Z"');
});

test('names the task of a user by the rule that they fall under, in and outside of what is deployed', () => {
  const rules = (to: number) => ({
    rules: [
      { name: 'employees', if: [{ restraint: 'employee' }, { restraint: 'slice', from: 0, to }], pass: 1 },
      { name: 'all', if: [], pass: 0 },
    ],
  });
  const { gates, change } = givenGates({ [AT]: rules(0) });
  const tasks = () => [true, false].map((employee) => gates.taskOf('checkout', { id: 'alice', employee }));
  const before = tasks();
  expect(before.map((task) => task?.split('/')[0])).toEqual(['checkout.employees', 'checkout.all']);
  change(AT, rules(1));
  expect(tasks()).toEqual(before);
});

test('names that are none, and more projects than it watches, stay closed and are logged once', () => {
  const { gates, logged, listeners } = givenGates({});
  for (let n = 0; n < 2; n += 1) expect(gates.check('../secrets', user)).toBe(false);
  expect(logged).toEqual(['../secrets is not the name of a project']);
  for (let n = 0; n < GATE_LIMITS.projects.max + 2; n += 1) gates.check(`p${n}`, user);
  expect(listeners.size).toBe(GATE_LIMITS.projects.max);
  expect(logged).toHaveLength(2);
});

test('the example: who develops a feature has it, and one employee in ten', () => {
  const gates = gatesIn(join(__dirname, '../../examples/gatekeeper'));
  expect(checkoutPage(gates, { id: 'alice' })).toBe('one page');
  const employees = Array.from({ length: 2000 }, (_, n) => ({ id: `employee-${n}`, employee: true }));
  const inside = employees.filter((employee) => checkoutPage(gates, employee) === 'one page').length;
  expect(Math.abs(inside / employees.length - 0.1)).toBeLessThan(0.03);
  expect(checkoutPage(gates, { id: 'carol', country: 'DE' })).toBe('four steps');
  gates.close();
});

test.each<[string, unknown]>([
  ['nobody at all', undefined],
  ['a locale that is a number', { id: 'alice', locale: 7 }],
  ['a version that is a number', { id: 'alice', appVersion: 3 }],
  ['an id that is not text', { id: Symbol('alice') }],
])('a check never throws, and closes the gate: %s', (_what, odd) => {
  const rule = {
    if: [
      { restraint: 'locale', in: ['de'] },
      { restraint: 'app-version', min: '1.0' },
    ],
    pass: 1,
  };
  const { gates, logged } = givenGates({
    [AT]: { rules: [rule, { if: [{ restraint: 'id', in: ['bob'] }], pass: 0.5 }, { if: [], pass: 0.5 }] },
  });
  expect([1, 2].map(() => gates.check('checkout', odd as GateUser))).toEqual([false, false]);
  expect(logged.length).toBeLessThanOrEqual(1);
});

test('a project that could not be watched is watched at a later check', () => {
  let isThere = false;
  const { gates, logged } = givenGates(
    {},
    {
      subscribe: (_path, onValue) => {
        if (!isThere) throw new Error('no proxy');
        onValue(everybody);
        return () => undefined;
      },
    },
  );
  expect(gates.check('checkout', user)).toBe(false);
  expect(logged).toEqual(['a check of checkout failed, and its gate is closed: no proxy']);
  isThere = true;
  expect(gates.check('checkout', user)).toBe(true);
});
