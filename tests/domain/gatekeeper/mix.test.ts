import fc from 'fast-check';
import { compileProject, evaluateProject } from '../../../domain/gatekeeper/evaluate';
import { bucketOf, PARTS, sampleKey } from '../../../domain/gatekeeper/hash';
import { mixOf } from '../../../domain/gatekeeper/mix';
import { parseProject } from '../../../domain/gatekeeper/parse';
import type { GateUser, Project } from '../../../domain/gatekeeper/project';
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

test('in a mixture every user falls under the first rule that is about them in the version of their slice', () => {
  fc.assert(
    fc.property(versions, slices, ANY_USER, (known, of, user) => {
      const mixed = mixOf({ rules: NAMES, slices: of, versions: known });
      const slice = Math.floor((bucketOf(sampleKey('p', user.id)) * SLICES) / PARTS);
      const own = NAMES.flatMap((name) => {
        const rule = known[of[name]![slice] as 'x'].rules.find((it) => it.name === name);
        return rule ? [rule] : [];
      });
      expect(parseProject(mixed)).toEqual({ project: mixed });
      expect(passes(mixed, user)).toBe(passes({ rules: own }, user));
    }),
    { numRuns: 1000 },
  );
});

test('where all slices are on one version, the mixture is that version', () => {
  fc.assert(
    fc.property(versions, (known) => {
      const all = Object.fromEntries(NAMES.map((name) => [name, Array.from({ length: SLICES }, () => 'y')]));
      expect(mixOf({ rules: NAMES, slices: all, versions: known })).toBe(known.y);
    }),
  );
});
