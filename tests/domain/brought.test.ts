import fc from 'fast-check';
import {
  broughtSince,
  isBrought,
  isReplacedNotice,
  keeperOf,
  keptUnits,
  noticesOf,
  replacedBy,
  withBrought,
  type Brought,
} from '../../domain/brought';
import { keptWords } from '../../domain/deploy/keptWords';
import { SERVICE_LIMITS } from '../../domain/limits';
import { jsonBytes } from '../../domain/size';
import { artifact } from '../builders/pipelineWorld';

const one = (pipeline: string, release: number, version: string, more: Partial<Brought> = {}): Brought => ({
  ...{ pipeline, release, action: 'deploy', version, artifacts: [artifact(version)], at: '2026-11-27T09:00:00.000Z' },
  ...{ config: 1, units: ['x', 'y'], ...more },
});
const all = (...brought: readonly Brought[]) => brought.reduce<readonly Brought[]>(withBrought, []);
const runs = (list: readonly Brought[]) => list.map(({ pipeline, release }) => `${pipeline}/${release}`);
const unit = (id: string, version: string, mixed = false) => ({
  id,
  version,
  mixed,
  labels: {},
  size: 1,
  available: true,
});

describe('what is known of a service', () => {
  const own = one('web', 1, 'v:2');
  const hotfix = one('fix', 1, 'v:9');

  test('is the newest of each deploy action, in order', () =>
    expect(runs(all(own, hotfix, one('web', 2, 'v:3')))).toEqual(['fix/1', 'web/2']));

  test.each<[string, Partial<Brought>, object | null]>([
    ['on the same units', { config: 2 }, { by: 'fix/1', version: 'v:9' }],
    ['with the same configuration, on units too many to name', { units: undefined } as never, { by: 'fix/1' }],
    ['on some of its units', { config: 2, units: ['x'] }, { by: 'fix/1', on: 'x' }],
    ['on other units', { config: 2, units: ['z'] }, null],
    ['on units of which nobody knows whether they are the same', { config: 2, units: undefined } as never, null],
  ])('a deploy of another pipeline replaces what was there: %s', (_, more, by) => {
    const list = all(own, one('fix', 1, 'v:9', more));
    expect(replacedBy(list, own)).toEqual(by === null ? null : expect.objectContaining(by));
  });

  test('going back to the version of another pipeline leaves that in its place, and both pipelines learn of it', () => {
    const before = all(own, hotfix);
    const after = withBrought(before, one('fix', 2, 'v:2', { back: true }));
    expect(runs(after)).toEqual(['fix/2', 'web/1']);
    expect(noticesOf(before, after)).toEqual([
      { pipeline: 'fix', action: 'deploy', release: 2, by: expect.objectContaining({ by: 'web/1' }) as object },
      { pipeline: 'web', action: 'deploy', release: 1, by: null },
    ]);
  });

  test('a unit is kept by whoever has brought since what all of it runs', () => {
    const since = broughtSince(all(own, hotfix), own);
    expect(keeperOf(unit('x', 'v:9'), since)).toMatchObject({ pipeline: 'fix' });
    for (const other of [unit('x', 'v:2'), unit('x', 'v:9', true), unit('z', 'v:9')])
      expect(keeperOf(other, since)).toBeUndefined();
    const kept = keptUnits([unit('x', 'v:9'), unit('y', 'v:2')], since);
    expect(kept && keptWords(kept)).toBe('x keeps v:9, which fix/1 has brought there since');
  });

  test('units are not kept by a pipeline of another configuration whose units are too many to name', () => {
    const us = one('us', 7, 'web:7', { units: undefined } as never);
    const eu = one('eu', 7, 'web:7', { units: undefined, config: 2 } as never);
    expect(broughtSince(all(us, eu), us)).toEqual([]);
    expect(broughtSince(all(us, { ...eu, config: 1 }), us)).toHaveLength(1);
  });

  test.each([
    ['few units', ['x', 'y']],
    ['units too many to name', undefined],
  ])(
    'a rollback that left a unit to a hotfix stands before it, so that the next one leaves it too: of %s',
    (_, units) => {
      const mine = { units } as Partial<Brought>;
      const before = all(one('web', 3, 'v:3', mine), one('fix', 1, 'v:9', { units: ['y'], config: 2 }));
      const after = withBrought(before, { ...one('web', 4, 'v:2', { ...mine, back: true }), kept: ['y'] });
      expect(runs(after)).toEqual(['web/4', 'fix/1']);
      expect(broughtSince(after, own)).toMatchObject([{ pipeline: 'fix' }]);
      expect(after.every((entry) => !('kept' in entry))).toBe(true);
      const notices = noticesOf(before, after).map(({ pipeline, release, by }) => [pipeline, release, by?.by, by?.on]);
      expect(notices).toEqual(units ? [['web', 4, 'fix/1', 'y']] : []);
    },
  );

  test('a deploy with a new name finds what it brought under the old one', () => {
    const known = all(hotfix, one('web', 5, 'v:5'));
    expect(broughtSince(known, { pipeline: 'web', action: 'ship', config: 1 })).toEqual([]);
  });

  test('a message without a time, or with more than is kept, says nothing', () => {
    const notice = { pipeline: 'web', action: 'deploy', release: 1, by: { by: 'fix/1', ...hotfix, artifacts: [] } };
    expect([isBrought(own), isReplacedNotice(notice)]).toEqual([true, true]);
    for (const wrong of [{ at: 'soon' }, { version: 'v'.repeat(SERVICE_LIMITS.brought.max) }]) {
      expect(isBrought({ ...own, ...wrong })).toBe(false);
      expect(isReplacedNotice({ ...notice, by: { ...notice.by, ...wrong } })).toBe(false);
    }
  });

  test("is nobody's where nothing is known", () => {
    expect([broughtSince([], own), keeperOf(unit('x', 'v:9'), []), keptUnits([unit('x', 'v:9')], [])]).toEqual([
      [],
      undefined,
      undefined,
    ]);
  });

  test('nothing of the own pipeline keeps a unit from going back, whatever else was brought, and all fits its limits', () => {
    const brought = fc.record({ pipeline: fc.constantFrom('a', 'b', 'c'), version: fc.constantFrom('1', '2', '3') });
    fc.assert(
      fc.property(fc.array(brought, { maxLength: 40 }), (list) => {
        const known = all(...list.map(({ pipeline, version }, nth) => one(pipeline, nth + 1, version)));
        const since = broughtSince(known, { pipeline: 'a', action: 'deploy', config: 1 });
        expect(since.every(({ pipeline }) => pipeline !== 'a')).toBe(true);
        expect(known.length).toBeLessThanOrEqual(SERVICE_LIMITS.bringers.max);
        expect(jsonBytes(known)).toBeLessThan(SERVICE_LIMITS.brought.max);
      }),
    );
  });
});
