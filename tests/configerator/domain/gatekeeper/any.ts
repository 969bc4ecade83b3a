import fc from 'fast-check';
import { PARTS } from '../../../../configerator/domain/gatekeeper/hash';
import type { GateUser, Project, Restraint, GateRule } from '../../../../configerator/domain/gatekeeper/project';

export const NOW = Date.parse('2026-11-24T12:00:00.000Z');

const DAY_MS = 86_400_000;
const COUNTRIES = ['AT', 'DE', 'JP'];
const LOCALES = ['de', 'de-AT', 'de_AT', 'en', 'den'];
const VERSIONS = ['1', '1.2', '1.2.0', '1.2.1-beta.2', '1.2.1-beta.11', '1.2.1', '2.0.0'];
const WORDS = ['a', 'b', 'c'];
const some = (words: readonly string[]): fc.Arbitrary<string[]> =>
  fc.uniqueArray(fc.constantFrom(...words), { maxLength: 3 });
const share = fc.oneof(
  fc.constantFrom(0, 1, 0.5),
  fc.nat(PARTS).map((parts) => parts / PARTS),
);
const ids = Array.from({ length: 40 }, (_, n) => `user-${n}`);

const listed = (restraint: 'country' | 'region' | 'app' | 'device' | 'locale' | 'id', words: readonly string[]) =>
  some(words).map((list): Restraint => ({ restraint, in: list }));
const range = fc.tuple(share, share).map(([one, other]) => ({ from: Math.min(one, other), to: Math.max(one, other) }));

const plain: readonly fc.Arbitrary<Restraint>[] = [
  fc.constant<Restraint>({ restraint: 'employee' }),
  listed('id', ids),
  listed('country', COUNTRIES),
  listed('region', WORDS),
  listed('app', WORDS),
  listed('device', WORDS),
  listed('locale', LOCALES),
  fc.constantFrom(...VERSIONS).map((min): Restraint => ({ restraint: 'app-version', min })),
  fc.constantFrom(...VERSIONS).map((below): Restraint => ({ restraint: 'app-version', below })),
  fc.integer({ min: 1, max: 60 }).map((days): Restraint => ({ restraint: 'new-user', days })),
  fc
    .tuple(fc.constantFrom('one', 'other'), range)
    .map(([salt, it]): Restraint => ({ restraint: 'bucket', salt, ...it })),
  range.map((it): Restraint => ({ restraint: 'slice', ...it })),
];
const laser = fc.integer({ min: 0, max: 5 }).map((above): Restraint => ({ restraint: 'laser', above }));

const projectOf = (restraints: readonly fc.Arbitrary<Restraint>[]): fc.Arbitrary<Project> => {
  const one = fc
    .tuple(fc.oneof(...restraints), fc.boolean())
    .map(([it, not]): Restraint => (not ? { ...it, not } : it));
  const rule: fc.Arbitrary<GateRule> = fc.record({ if: fc.array(one, { maxLength: 3 }), pass: share });
  return fc.array(rule, { minLength: 1, maxLength: 4 }).map((rules) => ({ rules }));
};
export const ANY_PROJECT = projectOf([...plain, laser]);
/** The subset that flagd can express as well. */
export const PROJECT_WITHOUT_LASER = projectOf(plain);

const maybe = <T>(it: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(it, { nil: undefined });
export const ANY_USER: fc.Arbitrary<GateUser> = fc.record({
  id: fc.oneof(fc.constantFrom(...ids, ''), fc.string({ minLength: 1, unit: 'grapheme-ascii' })),
  employee: maybe(fc.boolean()),
  country: maybe(fc.constantFrom(...COUNTRIES)),
  region: maybe(fc.constantFrom(...WORDS)),
  app: maybe(fc.constantFrom(...WORDS)),
  device: maybe(fc.constantFrom(...WORDS)),
  locale: maybe(fc.constantFrom(...LOCALES, 'fr')),
  appVersion: maybe(fc.constantFrom(...VERSIONS, 'newest', '1.2.1.4', 'v1.2.0.9-beta.1', '1.2.3.4.5')),
  createdAt: maybe(fc.integer({ min: -70 * DAY_MS, max: DAY_MS }).map((ago) => NOW + ago)),
});
