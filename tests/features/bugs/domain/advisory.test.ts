import fc from 'fast-check';
import {
  describeAffected,
  isAffected,
  whyNotAdvisory,
  type AffectedPackage,
} from '../../../../features/bugs/domain/advisory';
import { SEMANTIC_ORDER } from '../../../../sdk/versions';

type Ranges = AffectedPackage['ranges'];
const of = (ranges: Ranges, more: Partial<AffectedPackage> = {}): AffectedPackage => ({
  ...{ package: { ecosystem: 'npm', name: 'shop' }, ranges, versions: [] },
  ...more,
});
const semver = (...events: Ranges[number]['events']): AffectedPackage => of([{ type: 'SEMVER', events }]);

/** Those that the specification of the format gives. */
const EVERY = semver({ introduced: '0' });
const FIXED = semver({ introduced: '0' }, { fixed: '1.0.2' });
const TWICE = semver({ introduced: '1.0.0' }, { fixed: '1.0.2' }, { introduced: '3.0.0' }, { fixed: '3.2.5' });
const LAST = of([{ type: 'ECOSYSTEM', events: [{ introduced: '0' }, { last_affected: '2.1.214' }] }]);
const BEFORE = semver({ introduced: '0' }, { fixed: '2.1.214' });

describe('the examples of the OSV specification', () => {
  test.each<[string, AffectedPackage, string[], string[]]>([
    ['a vulnerability without a fix is in every version', EVERY, ['0.0.0-a', '0.0.1', '99.0.0'], []],
    ['a fixed one is in all before the fix', FIXED, ['0.0.0', '1.0.1', '1.0.2-rc.1'], ['1.0.2', '1.0.3', '2.0.0']],
    [
      'two ranges in one are both meant',
      TWICE,
      ['1.0.0', '1.0.1', '3.0.0', '3.2.4'],
      ['0.9.9', '1.0.2', '2.9.9', '3.2.5'],
    ],
    ['last_affected is affected itself', LAST, ['2.1.213', '2.1.214'], ['2.1.215']],
    ['fixed is not', BEFORE, ['2.1.213'], ['2.1.214']],
  ])('%s', (_, affected, yes, no) => {
    expect(yes.filter((version) => !isAffected(affected, version, SEMANTIC_ORDER))).toEqual([]);
    expect(no.filter((version) => isAffected(affected, version, SEMANTIC_ORDER))).toEqual([]);
  });
});

test.each<[string, AffectedPackage, string | undefined, boolean]>([
  ['a version that is listed is affected outside the ranges too', of(FIXED.ranges, { versions: ['1.5.0'] }), '1.5.0', true],
  ['nothing at or after the limit is', semver({ introduced: '0' }, { limit: '2.0.0' }), '2.0.0', false],
  ['everything before it is', semver({ introduced: '0' }, { limit: '2.0.0' }), '1.9.9', true],
  ['one of several limits is enough', semver({ introduced: '0' }, { limit: '2.0.0' }, { limit: '*' }), '7.0.0', true],
  ['events count in the order of their versions, however they are written', semver({ fixed: '3.2.5' }, { introduced: '3.0.0' }, { fixed: '1.0.2' }, { introduced: '1.0.0' }), '2.0.0', false],
  ['what is fixed and introduced again at one version is affected there', semver({ introduced: '1.0.0' }, { fixed: '2.0.0' }, { introduced: '2.0.0' }, { fixed: '3.0.0' }), '2.0.0', true],
  ['a Go version has a v in front', of(FIXED.ranges, { package: { ecosystem: 'Go', name: 'example.com/shop' } }), 'v1.0.1', true],
  ['a version that nobody knows has to be assumed to be', FIXED, undefined, true],
  ['so does one that cannot be compared', FIXED, 'git+ssh://host/shop', true],
  ['of Python only versions that are listed are', of(LAST.ranges, { package: { ecosystem: 'PyPI', name: 'shop' }, versions: ['1.0'] }), '1.1', false],
])('%s', (_, affected, version, is) => {
  expect(isAffected(affected, version, SEMANTIC_ORDER)).toBe(is);
}); // prettier-ignore

test('in a range from one version until before another, exactly those between are affected', () => {
  const version = fc.tuple(fc.nat(3), fc.nat(3), fc.nat(3)).map((parts) => parts.join('.'));
  fc.assert(
    fc.property(version, version, version, (introduced, fixed, at) => {
      const within = SEMANTIC_ORDER.compare(at, introduced) >= 0 && SEMANTIC_ORDER.compare(at, fixed) < 0;
      fc.pre(SEMANTIC_ORDER.compare(introduced, fixed) < 0);
      expect(isAffected(semver({ introduced }, { fixed }), at, SEMANTIC_ORDER)).toBe(within);
    }),
  );
});

test.each<[string, readonly AffectedPackage[], string]>([
  ['about no package', [], 'affected: it names no package'],
  ['without ranges and versions', [of([])], 'affected.0: no range and no version says what is affected of shop; of versions that are not semantic, list each in versions'],
  ['with ranges of commits alone', [FIXED, of([{ type: 'GIT', events: [{ introduced: '0' }] }])], 'affected.1: no range and no version'],
  ['with Python ranges alone', [of(LAST.ranges, { package: { ecosystem: 'PyPI', name: 'shop' } })], 'affected.0: no range and no version'],
  ['with a range that begins nowhere', [semver({ fixed: '1.0.0' })], 'affected.0.ranges.0.events: none says which version introduced it'],
  ['with two things in one event', [semver({ introduced: '1.0.0', fixed: '2.0.0' })], 'affected.0.ranges.0.events: each has to be one of introduced, fixed, last_affected, limit'],
  ['with nothing in an event', [semver({})], 'each has to be one of'],
  ['with both ends in a range', [semver({ introduced: '0' }, { fixed: '2.0.0' }, { last_affected: '1.0.0' })], 'a range has either fixed or last_affected'],
  ['with a version that is none', [semver({ introduced: '0' }, { fixed: 'soon' })], 'affected.0.ranges.0.events: soon is not a semantic version'],
  ['of an ecosystem that SBOMs call nobody knows what', [of(FIXED.ranges, { package: { ecosystem: 'Debian:12', name: 'shop' } })], 'affected.0.package: SBOMs name packages by package URLs, and that of shop of Debian:12 is not known: add purl'],
  ['with a purl that is none', [of(FIXED.ranges, { package: { ecosystem: 'npm', name: 'shop', purl: 'shop' } })], 'affected.0.package.purl: shop is not a package URL'],
])('an advisory %s is refused, and says where', (_, affected, why) => {
  expect(whyNotAdvisory({ id: 'X-1', affected }, SEMANTIC_ORDER)).toContain(why);
}); // prettier-ignore

test('an advisory is named by its packages and their versions', () => {
  expect(describeAffected({ id: 'X-1', affected: [TWICE, of([], { versions: ['7.0.0', '7.0.1'] })] })).toBe(
    'shop from 1.0.0 before 1.0.2 from 3.0.0 before 3.2.5; shop 7.0.0, 7.0.1',
  );
  expect(describeAffected({ id: 'X-1', affected: [LAST] })).toBe('shop from 0 up to 2.1.214');
});
