import { parseAdvisory } from '../../../../features/bugs/sdk/advisory';
import { ConveyorError } from '../../../../domain/errors';
import { BUG_LIMITS } from '../../../../domain/limits';

const AFFECTED = {
  package: { ecosystem: 'npm', name: 'esbuild' },
  ranges: [{ type: 'SEMVER', events: [{ introduced: '0' }, { fixed: '0.25.0' }] }],
};
const RECORD = { id: 'X-1', modified: '2025-02-10T17:48:07Z', affected: [AFFECTED], details: 'x'.repeat(50_000) };
const parse = (value: unknown) => parseAdvisory(typeof value === 'string' ? value : JSON.stringify(value), 'x.json');

function refusalOf(value: unknown): string {
  try {
    parse(value);
  } catch (error) {
    if (error instanceof ConveyorError) return `${error.code}: ${error.message}`;
    throw error;
  }
  throw new Error('it was taken');
}

test('keeps the parts of a record that state affected versions, as a valid record', () => {
  const kept = parse(RECORD);
  expect(kept).toEqual({ id: 'X-1', affected: [{ ...AFFECTED, versions: [] }] });
  expect(parse(kept)).toEqual(kept);
});

test('an advisory may be as large as the limit, and not larger', () => {
  const withVersions = (count: number) => ({
    ...RECORD,
    affected: [{ ...AFFECTED, versions: Array(count).fill('1.0.0') }],
  });
  const room = BUG_LIMITS.advisory.max - JSON.stringify(parse(RECORD)).length;
  expect(parse(withVersions(Math.floor(room / 8))).affected).toHaveLength(1);
  expect(refusalOf(withVersions(Math.ceil(room / 8) + 1))).toMatch(/take \d+ bytes; the limit is 6144/);
});

test.each<[string, unknown, RegExp]>([
  ['no JSON', '{', /^advisory-invalid: x.json: it is not JSON/],
  ['far too large', `"${'x'.repeat(2_000_000)}"`, /it is larger than any advisory/],
  ['something else', { components: [] }, /x.json: id: /],
  ['without packages', { id: 'X-1' }, /x.json: affected: /],
  ['about nothing', { id: 'X-1', affected: [] }, /affected: it names no package/],
  ['withdrawn', { ...RECORD, withdrawn: '2026-01-01T00:00:00Z' }, /X-1 was withdrawn at 2026-01-01/],
  ['without ranges', { id: 'X-1', affected: [{ package: AFFECTED.package }] }, /affected.0: no range and no version/],
  ['with a number for a version', { id: 'X-1', affected: [{ ...AFFECTED, versions: [1] }] }, /affected.0.versions.0: /],
])('a file that is %s is refused, and says what is wrong', (_, value, why) => {
  expect(refusalOf(value)).toMatch(why);
});

test('takes the packages of a record that SBOMs can be compared with, and names the others', () => {
  const ruby = {
    package: { ecosystem: 'RubyGems', name: 'tool' },
    ranges: [{ type: 'ECOSYSTEM', events: [{ introduced: '0' }, { fixed: '2' }] }],
  };
  const git = { ranges: [{ type: 'GIT', repo: 'https://example.org/tool', events: [{ introduced: '0' }] }] };
  const kept = parse({ ...RECORD, affected: [ruby, AFFECTED, git] });
  expect(kept.affected).toEqual([{ ...AFFECTED, versions: [] }]);
  expect(kept.unheld).toEqual([
    expect.stringMatching(/^affected.0: no range and no version says what is affected of tool/),
    expect.stringMatching(/^affected.2.package: it names no package, such as one that is a repository alone/),
  ]);
  expect(parse(kept)).toEqual(kept);
  expect(refusalOf({ ...RECORD, affected: [git] })).toMatch(/affected.0.package: it names no package/);
  const many = parse({ ...RECORD, affected: [AFFECTED, ...Array<unknown>(200).fill(git)] });
  expect(many.unheld?.slice(-2)).toEqual([expect.stringContaining('affected.5.'), 'and 195 more']);
});

test('a byte order mark is no part of a record', () => {
  expect(parse(`\uFEFF${JSON.stringify(RECORD)}`).id).toBe('X-1');
});
