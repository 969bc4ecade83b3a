import fc from 'fast-check';
import { compileProject, evaluateProject } from '../../../../configerator/domain/gatekeeper/evaluate';
import { computeBucket, PARTS, sampleKey } from '../../../../configerator/domain/gatekeeper/hash';
import { mixOf } from '../../../../configerator/domain/gatekeeper/mix';
import { parseProject } from '../../../../configerator/domain/gatekeeper/parse';
import type { GateUser, Project } from '../../../../configerator/domain/gatekeeper/project';
import { findSliceTask } from '../../../../configerator/domain/gatekeeper/slices';
import { ANY_USER, NOW, PROJECT_WITHOUT_LASER } from './any';

const SLICES = 10;
const NAMES = ['a', 'b', 'c'];
/** Versions with some of three rules, in their order. */
const version = fc.tuple(PROJECT_WITHOUT_LASER, fc.subarray(NAMES)).map(([{ rules }, names]): Project => ({
  rules: names.flatMap((name, at) => (rules[at] ? [{ ...rules[at], name }] : [])),
}));
const versions = fc.tuple(version, version, version).map(([x, y, z]) => ({ x, y, z: sameConditions(y, z) }));
/** As most changes are: nothing but `pass` differs. */
const sameConditions = (like: Project, other: Project): Project => ({
  rules: like.rules.map((rule, at) => ({ ...rule, pass: other.rules[at]?.pass ?? rule.pass })),
});
const slices = fc.record(
  Object.fromEntries(
    NAMES.map((name) => [name, fc.array(fc.constantFrom('x', 'y', 'z'), { minLength: SLICES, maxLength: SLICES })]),
  ),
) as fc.Arbitrary<Record<string, string[]>>;

const passes = (project: Project, user: GateUser): boolean =>
  evaluateProject(compileProject(project, { project: 'p', now: () => NOW, laser: () => undefined }), user).pass;

type Known = Readonly<Record<'x' | 'y' | 'z', Project>>;
/** The rules that hold where each name has one version. */
const rulesIn = (known: Known, versionOf: (name: string) => string): Project => ({
  rules: NAMES.flatMap((name) => known[versionOf(name) as 'x'].rules.find((rule) => rule.name === name) ?? []),
});
const IDENTIFIED = ANY_USER.filter(({ id }) => id !== '');

test('in a mixture every user with an id falls under the first rule that is about them in the version of their slice', () => {
  fc.assert(
    fc.property(versions, slices, IDENTIFIED, (known, of, user) => {
      const mixed = mixOf({ rules: NAMES, slices: of, versions: known });
      const slice = Math.floor((computeBucket(sampleKey('p', user.id)) * SLICES) / PARTS);
      expect(parseProject(mixed)).toEqual({ project: mixed });
      expect(passes(mixed, user)).toBe(
        passes(
          rulesIn(known, (name) => of[name]![slice]!),
          user,
        ),
      );
    }),
    { numRuns: 1000 },
  );
});

test('in a mixture a user without an id passes only where the version of some slice lets them', () => {
  fc.assert(
    fc.property(versions, slices, ANY_USER, (known, of, { id: _id, ...rest }) => {
      const user = { ...rest, id: '' };
      const [first = [], second = [], third = []] = NAMES.map((name) => [...new Set(of[name])]);
      const possible = first.flatMap((a) =>
        second.flatMap((b) =>
          third.map((c) =>
            passes(
              rulesIn(known, (name) => ({ a, b, c })[name as 'a']),
              user,
            ),
          ),
        ),
      );
      expect(possible).toContain(passes(mixOf({ rules: NAMES, slices: of, versions: known }), user));
    }),
    { numRuns: 1000 },
  );
});

test('a user without an id passes once every slice of a rule lets all pass, and counts for no slice', () => {
  const ruleWith = (pass: number): Project => ({ rules: [{ name: 'a', if: [], pass }] });
  const passed = Array.from({ length: SLICES + 1 }, (_, done) => {
    const slicesOfA = Array.from({ length: SLICES }, (__, slice) => (slice < done ? 'z' : 'y'));
    const mixed = mixOf({ rules: ['a'], slices: { a: slicesOfA }, versions: { y: ruleWith(0), z: ruleWith(1) } });
    return passes(mixed, { id: '' });
  });
  expect(passed).toEqual([...Array.from({ length: SLICES }, () => false), true]);
  const whole = compileProject(ruleWith(1), { project: 'p', now: () => NOW, laser: () => undefined });
  expect(findSliceTask(whole, { id: '' })).toBeUndefined();
});

test('where all slices are on one version, the mixture is that version', () => {
  fc.assert(
    fc.property(versions, (known) => {
      const all = Object.fromEntries(NAMES.map((name) => [name, Array.from({ length: SLICES }, () => 'y')]));
      expect(mixOf({ rules: NAMES, slices: all, versions: known })).toBe(known.y);
    }),
  );
});
