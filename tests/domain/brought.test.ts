import fc from 'fast-check';
import {
  broughtSince,
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
        const since = broughtSince(known, { pipeline: 'a', action: 'deploy' });
        expect(since.every(({ pipeline }) => pipeline !== 'a')).toBe(true);
        expect(known.length).toBeLessThanOrEqual(SERVICE_LIMITS.bringers.max);
        expect(jsonBytes(known)).toBeLessThan(SERVICE_LIMITS.brought.max);
      }),
    );
  });
});
