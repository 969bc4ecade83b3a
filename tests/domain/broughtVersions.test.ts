import fc from 'fast-check';
import {
  listBroughtSince,
  onUnits,
  findKeeper,
  buildKeptUnits,
  learnBrought,
  findReplacement,
  withBrought,
  type BroughtVersion,
} from '../../domain/broughtVersions';
import { isBrought, isReplacedNotice } from '../../domain/broughtVersionShapes';
import { FLEET_LIMITS } from '../../domain/fleet/limits';
import { markUnits } from '../../domain/unitMarks';
import { describeKeptUnits } from '../../domain/deploy/keptUnitsText';
import { SERVICE_LIMITS } from '../../domain/limits';
import { jsonBytes } from '../../domain/size';
import { artifact } from '../builders/pipelineWorld';

const one = (
  pipeline: string,
  release: number,
  version: string,
  more: Partial<BroughtVersion> = {},
): BroughtVersion => ({
  ...{ pipeline, release, action: 'deploy', version, artifacts: [artifact(version)], at: '2026-11-27T09:00:00.000Z' },
  ...{ config: 1, units: ['x', 'y'], ...more },
});
const all = (...brought: readonly BroughtVersion[]) =>
  brought.reduce<readonly BroughtVersion[]>((known, next) => withBrought(known, next), []);
const runs = (list: readonly BroughtVersion[]) => list.map(({ pipeline, release }) => `${pipeline}/${release}`);
const unit = (id: string, version: string, mixed = false) => ({
  id,
  version,
  mixed,
  labels: {},
  size: 1,
  available: true,
});

describe('the known state of a service', () => {
  const own = one('web', 1, 'v:2');
  const hotfix = one('fix', 1, 'v:9');

  test('is the newest of each deploy action, in order', () =>
    expect(runs(all(own, hotfix, one('web', 2, 'v:3')))).toEqual(['fix/1', 'web/2']));

  test.each<[string, Partial<BroughtVersion>, object | null]>([
    ['on the same units', { config: 2 }, { by: 'fix/1', version: 'v:9' }],
    ['with the same configuration, on units too many to name', { units: undefined } as never, { by: 'fix/1' }],
    ['on some of its units', { config: 2, units: ['x'] }, { by: 'fix/1', on: 'x' }],
    ['on other units', { config: 2, units: ['z'] }, null],
    [
      'perhaps on the same units, where an old record does not have them',
      { config: 2, units: undefined } as never,
      { by: 'fix/1', on: 'an unknown part of its units' },
    ],
    [
      'with the same version, on units that are not known',
      { config: 2, units: undefined, version: 'v:2' } as never,
      null,
    ],
  ])('a deploy of another pipeline replaces what was there: %s', (_, more, by) => {
    const list = all(own, one('fix', 1, 'v:9', more));
    expect(findReplacement(list, own)).toEqual(by === null ? null : expect.objectContaining(by));
  });

  test('going back to the version of another pipeline leaves that in its place, and both pipelines learn of it', () => {
    const { after, notices } = learnBrought(all(own, hotfix), one('fix', 2, 'v:2', { back: true }));
    expect(runs(after)).toEqual(['fix/2', 'web/1']);
    expect(notices).toEqual([
      { pipeline: 'fix', action: 'deploy', release: 2, by: expect.objectContaining({ by: 'web/1' }) as object },
      { pipeline: 'web', action: 'deploy', release: 1, by: null },
    ]);
  });

  test('a unit belongs to the latest pipeline to have brought its version, even with an odd task', () => {
    const since = listBroughtSince(all(own, hotfix), own);
    for (const theirs of [unit('x', 'v:9'), unit('x', 'v:9', true)])
      expect(findKeeper(theirs, since)).toMatchObject({ pipeline: 'fix' });
    for (const other of [unit('x', 'v:2'), unit('x', 'v:2', true), unit('z', 'v:9')])
      expect(findKeeper(other, since)).toBeUndefined();
    const kept = buildKeptUnits(new Map([['x', since[0]!]]), since);
    expect(kept && describeKeptUnits(kept)).toBe('x keeps v:9, which fix/1 has brought there since');
  });

  describe('an old record without units counts once another pipeline of the same service has brought it,', () => {
    const us = one('us', 7, 'web:7', { units: undefined } as never);
    const eu = (version: string, config = 2) => one('eu', 7, version, { units: undefined, config } as never);

    test('keeps no unit that runs what the own pipeline has just brought', () => {
      expect(listBroughtSince(all(us, eu('web:7')), us)).toEqual([]);
      expect(listBroughtSince(all(us, eu('web:8'), us), us)).toEqual([]);
      expect(findKeeper(unit('x', 'web:7'), listBroughtSince(all(us, eu('web:8')), us))).toBeUndefined();
    });

    test('keeps what runs another version, and what has the same configuration', () => {
      expect(findKeeper(unit('x', 'web:8'), listBroughtSince(all(us, eu('web:8')), us))).toMatchObject({
        pipeline: 'eu',
      });
      expect(listBroughtSince(all(us, eu('web:7', 1)), us)).toHaveLength(1);
    });
  });

  describe('a record with too many units to name', () => {
    const MOST = FLEET_LIMITS.units;
    const ids = (from: number, count: number) => Array.from({ length: count }, (_, nth) => `job-${from + nth}`);
    const on = (who: string, version: string, units: readonly string[], config: number) =>
      onUnits({ ...one(who, 1, version), config, units: undefined } as never, { ids: units });
    const known = (...list: Parameters<typeof withBrought>[1][]) => all(...list);

    test.each([
      ['the same, in another order', 0, 60, { by: 'fix/1' }],
      ['some of them', 10, 60, { by: 'fix/1', on: '50 of its 60 units' }],
      ['a few, which are known by name', 55, 3, { by: 'fix/1', on: '3 of its 60 units' }],
      ['others', 60, 60, null],
    ])('the common units are known, whatever names them: %s', (_, from, count, by) => {
      const mine = on('web', 'v:2', ids(0, 60), 1);
      const list = known(mine, on('fix', 'v:9', ids(from, count).reverse(), 2));
      const replaced = findReplacement(list, mine);
      expect(replaced && { by: replaced.by, ...(replaced.on === undefined ? {} : { on: replaced.on }) }).toEqual(by);
      const since = listBroughtSince(list, mine);
      expect(ids(0, 120).filter((id) => findKeeper(unit(id, 'v:9'), since))).toEqual(ids(from, count));
    });

    test('that are as many as a deploy may have fits the lock of three pipelines, and takes no long time to compare', () => {
      const [first, second, third] = [0, 5_000, MOST].map((from, nth) =>
        on(`p${nth}`, `v:${nth}`, ids(from, MOST), nth),
      );
      const { after: list, notices } = learnBrought(known(first!, second!), third!);
      expect(list.every(isBrought)).toBe(true);
      expect(jsonBytes(list)).toBeLessThan(SERVICE_LIMITS.brought.max);
      const since = listBroughtSince(list, first!);
      expect(ids(0, 2 * MOST).filter((id) => findKeeper(unit(id, 'v:1'), since))).toEqual(ids(5_000, MOST));
      expect(findReplacement(list, first!)?.on).toBe('5,000 of its 10,000 units');
      expect(notices.map(({ pipeline, by }) => [pipeline, by?.on])).toEqual([['p1', '5,000 of its 10,000 units']]);
    });

    test('with more deploys than fit, the oldest count as any units', () => {
      const many = Array.from({ length: 6 }, (_, nth) => on(`p${nth}`, `v:${nth}`, ids(nth * MOST, MOST), nth));
      const list = known(...many);
      expect(list.map(({ marks }) => marks !== undefined)).toEqual([false, false, false, true, true, true]);
      expect(jsonBytes(list)).toBeLessThan(SERVICE_LIMITS.brought.max);
      expect(findKeeper(unit('x', 'v:1'), listBroughtSince(list, many[0]!))).toMatchObject({ pipeline: 'p1' });
    });

    test('that are more than a deploy may have are refused', () => {
      const marks = markUnits(ids(0, MOST + 1));
      expect([isBrought({ ...own, marks: marks.slice(8) }), isBrought({ ...own, marks })]).toEqual([true, false]);
      for (const wrong of [marks.slice(8, 15), 'UNITS...', 7]) expect(isBrought({ ...own, marks: wrong })).toBe(false);
    });
  });

  test.each([
    ['few units', ['x', 'y']],
    ['units too many to name', undefined],
  ])(
    'a rollback that left a unit to a hotfix stands before it, so that the next one leaves it too: of %s',
    (_, units) => {
      const mine = { units } as Partial<BroughtVersion>;
      const before = all(one('web', 3, 'v:3', mine), one('fix', 1, 'v:9', { units: ['y'], config: 2 }));
      const report = { ...one('web', 4, 'v:2', { ...mine, back: true }), kept: ['y'] };
      const { after, notices } = learnBrought(before, report);
      expect(runs(after)).toEqual(['web/4', 'fix/1']);
      expect(listBroughtSince(after, own)).toMatchObject([{ pipeline: 'fix' }]);
      expect(after.every((entry) => !('kept' in entry))).toBe(true);
      const told = notices.map(({ pipeline, release, by }) => [pipeline, release, by?.by, by?.on]);
      expect(told).toEqual([['web', 4, 'fix/1', units ? 'y' : 'an unknown part of its units']]);
    },
  );

  describe('a deploy that stopped on its way', () => {
    const stopped = one('fix', 2, 'v:9', { units: ['x'], config: 2, stopped: true });

    test('does not take the place of what the same action brought before, and shows as some tasks', () => {
      const before = one('fix', 1, 'v:5', { units: ['y'], config: 2 });
      const { after, notices } = learnBrought(all(before, own), stopped);
      expect(runs(after)).toEqual(['fix/1', 'web/1', 'fix/2']);
      expect(notices.map(({ pipeline, by }) => [pipeline, by?.by, by?.on])).toEqual([
        ['web', 'fix/2', 'some tasks of x'],
      ]);
      expect(runs(withBrought(after, one('fix', 3, 'v:5', { units: ['x'], config: 2 })))).toEqual(['web/1', 'fix/3']);
      expect(runs(withBrought(after, { ...stopped, release: 4 }))).toEqual(['fix/1', 'web/1', 'fix/4']);
    });

    test('does not hide what another has brought everywhere', () => {
      const list = all(own, one('other', 1, 'v:7'), stopped);
      expect(findReplacement(list, own)).toMatchObject({ by: 'other/1', version: 'v:7' });
      expect(findReplacement(list, own)).not.toHaveProperty('on');
    });

    test('where the own action stopped, what others brought before that is still known as later than its last success', () => {
      const list = all(own, hotfix, one('web', 2, 'v:3', { stopped: true }));
      expect(listBroughtSince(list, own)).toMatchObject([{ pipeline: 'fix' }]);
    });

    test.each<[string, { on: number; size: number } | undefined, string, boolean]>([
      ['half of its tasks run the version', { on: 3, size: 6 }, 'v:2', true],
      ['fewer of its tasks do', { on: 2, size: 6 }, 'v:9', false],
      ['none does', { on: 0, size: 0 }, 'v:9', false],
      ['it has the version, and nobody has counted', undefined, 'v:9', true],
      ['it has another version, and nobody has counted', undefined, 'v:2', false],
    ])('keeps a unit where %s', (_, count, version, isKept) => {
      const keeper = findKeeper(unit('x', version, true), listBroughtSince(all(own, stopped), own), () => count);
      expect(keeper !== undefined).toBe(isKept);
    });
  });

  test('large deploys of different configurations replace each other where they share units', () => {
    const large = (who: string, version: string, config: number) =>
      one(who, 1, version, { units: undefined, marks: markUnits(['x', 'y']), config } as never);
    const [mine, fix] = [large('web', 'v:2', 1), large('fix', 'v:9', 2)];
    expect(learnBrought([mine], fix).notices).toMatchObject([{ pipeline: 'web', by: { by: 'fix/1' } }]);
  });

  test('a deploy with a new name finds what it brought under the old one', () => {
    const known = all(hotfix, one('web', 5, 'v:5'));
    expect(listBroughtSince(known, { pipeline: 'web', action: 'ship', config: 1 })).toEqual([]);
  });

  test('a message without a time, or with more than is kept, says nothing', () => {
    const notice = { pipeline: 'web', action: 'deploy', release: 1, by: { by: 'fix/1', ...hotfix, artifacts: [] } };
    expect([isBrought(own), isReplacedNotice(notice)]).toEqual([true, true]);
    for (const wrong of [{ at: 'soon' }, { version: 'v'.repeat(SERVICE_LIMITS.brought.max) }]) {
      expect(isBrought({ ...own, ...wrong })).toBe(false);
      expect(isReplacedNotice({ ...notice, by: { ...notice.by, ...wrong } })).toBe(false);
    }
  });

  test('an unknown unit has no owner', () => {
    expect([listBroughtSince([], own), findKeeper(unit('x', 'v:9'), []), buildKeptUnits(new Map(), [])]).toEqual([
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
        const since = listBroughtSince(known, { pipeline: 'a', action: 'deploy', config: 1 });
        expect(since.every(({ pipeline }) => pipeline !== 'a')).toBe(true);
        expect(known.length).toBeLessThanOrEqual(SERVICE_LIMITS.bringers.max);
        expect(jsonBytes(known)).toBeLessThan(SERVICE_LIMITS.brought.max);
      }),
    );
  });
});
