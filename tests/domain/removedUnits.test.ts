import fc from 'fast-check';
import {
  findReplacement,
  learnBrought,
  listBroughtSince,
  NO_VERSION,
  onUnits,
  withBrought,
  type BroughtReport,
  type BroughtVersion,
} from '../../domain/broughtVersions';
import { isBrought, isReplacedNotice } from '../../domain/broughtVersionShapes';
import { markUnits } from '../../domain/unitMarks';
import { artifact } from '../builders/pipelineWorld';

const AT = '2026-11-27T09:00:00.000Z';
const brings = (pipeline: string, version: string, units: readonly string[], release = 1): BroughtReport =>
  onUnits(
    {
      ...{ pipeline, release, action: 'deploy', version, artifacts: [artifact(version)], at: AT },
      config: Number.parseInt(units.join(''), 36),
    },
    { ids: units },
  );
const removes = (pipeline: string, units: readonly string[], release = 2): BroughtReport => ({
  ...brings(pipeline, NO_VERSION, units, release),
  ...{ artifacts: [], units: undefined as never, marks: markUnits(units), removed: true },
});
const all = (...reports: readonly BroughtReport[]) =>
  reports.reduce<readonly BroughtVersion[]>((known, next) => withBrought(known, next), []);
const rows = (list: readonly BroughtVersion[]) =>
  list.map(({ pipeline, release, removed }) => `${pipeline}/${release}${removed ? ' removed' : ''}`);
const XY = ['x', 'y'];
const a = brings('a', 'v:2', XY);
const b = brings('b', 'v:9', XY);

test('a removal leaves nothing that its pipeline had brought, and the other pipeline learns that nothing runs', () => {
  const { after, notices } = learnBrought(all(a, b), removes('b', XY));
  expect(rows(after)).toEqual(['a/1', 'b/2 removed']);
  const by = { by: 'b/2', version: 'nothing', at: AT, artifacts: [], removed: true };
  expect(notices).toEqual([{ pipeline: 'a', action: 'deploy', release: 1, by }]);
  expect([isBrought(removes('b', XY)), isReplacedNotice(notices[0])]).toEqual([true, true]);
});

test.each<[string, readonly BroughtReport[], object | null]>([
  ['some of its units are removed', [removes('b', ['x'])], { by: 'b/2', on: 'x', removed: true }],
  ['other units are removed', [removes('b', ['z'])], null],
  ['a third pipeline then brings a version to them', [removes('b', XY), brings('c', 'v:5', XY)], { by: 'c/1' }],
  [
    'a third pipeline then brings a version to one of them',
    [removes('b', XY), brings('c', 'v:5', ['x'])],
    { by: 'c/1', version: 'v:5' },
  ],
  [
    'the other one then deploys to further units alone',
    [removes('b', ['x']), brings('b', 'v:3', ['z'], 3)],
    { by: 'b/2', on: 'x', removed: true },
  ],
  [
    'the other one removes further units, too',
    [removes('b', ['x']), brings('b', 'v:3', ['y'], 3), removes('b', ['y'], 4)],
    { by: 'b/4', removed: true },
  ],
])('a pipeline whose version ran there knows the truth where %s', (_, more, by) => {
  const found = findReplacement(all(a, ...more), a);
  expect(found).toEqual(by === null ? null : expect.objectContaining(by));
  expect(found?.on).toBe((by as { on?: string } | null)?.on);
});

test('a unit that was removed no longer counts as such once a version is brought to it', () => {
  expect(rows(all(a, removes('b', XY), brings('a', 'v:3', XY, 2)))).toEqual(['a/2']);
  expect(rows(all(a, removes('b', XY), brings('c', 'v:3', ['x'])))).toEqual(['a/1', 'b/2 removed', 'c/1']);
});

test('units that a removal did not reach still run what its pipeline had brought', () => {
  const known = all(a, b, removes('b', ['x']));
  expect(known).toMatchObject([{ pipeline: 'a' }, { pipeline: 'b', units: ['y'] }, { removed: true }]);
  expect(findReplacement(known, a)).toMatchObject({ by: 'b/1', version: 'v:9' });
});

test('a removal keeps no unit from a rollback of another pipeline', () =>
  expect(listBroughtSince(all(a, b, removes('b', ['x'])), a).every(({ removed }) => !removed)).toBe(true));

test('the same holds for more units than are named', () => {
  const ids = Array.from({ length: 60 }, (_, nth) => `job-${nth}`);
  const [mine, theirs] = [brings('a', 'v:2', ids), brings('b', 'v:9', ids)];
  expect(findReplacement(all(mine, theirs, removes('b', ids)), mine)).toMatchObject({ by: 'b/2', removed: true });
  const partly = findReplacement(all(mine, brings('b', 'v:9', ids.slice(0, 10)), removes('b', ids.slice(0, 10))), mine);
  expect(partly).toMatchObject({ by: 'b/2', removed: true, on: '10 of its 60 units' });
});

test('after any deploys and undeploys of several pipelines, what each is said to run is true of every unit', () => {
  const UNITS: Readonly<Record<string, readonly string[]>> = {
    a: ['x', 'y', 'z'],
    b: ['x', 'y'],
    c: ['y', 'z'],
    d: ['x'],
  };
  const event = fc.record({ who: fc.constantFrom(...Object.keys(UNITS)), isRemoval: fc.boolean() });
  fc.assert(
    fc.property(fc.array(event, { maxLength: 20 }), (events) => {
      let known: readonly BroughtVersion[] = [];
      const runs = new Map<string, string>();
      for (const [nth, { who, isRemoval }] of events.entries()) {
        const mine = UNITS[who] ?? [];
        const gone = mine.filter((unit) => (runs.get(unit) ?? `${who}:`).startsWith(`${who}:`));
        if (isRemoval && !known.some(({ pipeline, removed }) => pipeline === who && !removed)) continue;
        if (isRemoval && gone.length === 0) continue;
        const version = `${who}:${nth}`;
        for (const unit of isRemoval ? gone : mine) runs.delete(unit);
        if (!isRemoval) for (const unit of mine) runs.set(unit, version);
        known = withBrought(known, isRemoval ? removes(who, gone, nth) : brings(who, version, mine, nth));
      }
      for (const own of known.filter(({ removed }) => !removed)) {
        const found = findReplacement(known, own);
        const on = found?.on?.split(/ and |, /) ?? own.units ?? [];
        const now = on.map((unit) => runs.get(unit));
        if (found === null) expect(new Set(now)).toEqual(new Set([own.version]));
        else if (found.removed) expect(new Set(now)).toEqual(new Set([undefined]));
        else if (found.on === undefined) expect(now).toContain(found.version);
        if (found !== null) expect(now).not.toContain(own.version);
      }
    }),
    { numRuns: 1000 },
  );
});
