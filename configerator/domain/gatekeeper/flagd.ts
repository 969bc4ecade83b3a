import { hyphenateLocale, isTime, SECONDS_A_DAY } from './evaluate';
import { PARTS, toParts } from './hash';
import type { GateUser, ProjectProblem, Project, Restraint, GateRule } from './project';
import { withoutBuildNumber } from './version';

type Logic = string | number | boolean | null | readonly Logic[] | { readonly [operator: string]: Logic };

/** A flag definition of flagd (https://flagd.dev), with one flag. */
export interface FlagdDefinition {
  readonly $schema: string;
  readonly flags: Readonly<Record<string, FlagdFlag>>;
}

interface FlagdFlag {
  readonly state: 'ENABLED';
  readonly variants: { readonly on: true; readonly off: false };
  readonly defaultVariant: 'off';
  readonly targeting: { readonly if: readonly Logic[] };
}

/**
 * The project as a flag that OpenFeature providers evaluate to the same answers, for contexts from `toContext`. A `laser` has no equivalent there.
 */
export function buildFlagdDefinition(
  name: string,
  { rules }: Project,
): { readonly definition: FlagdDefinition } | { readonly problems: readonly ProjectProblem[] } {
  const problems = rules.flatMap((rule, at) =>
    rule.if.flatMap(({ restraint }, index) =>
      restraint === 'laser' ? [{ path: `rules[${at}].if[${index}]`, why: 'flagd has no key-value store' }] : [],
    ),
  );
  if (problems.length > 0) return { problems };
  const targeting = { if: [...rules.flatMap((rule) => [toConditionLogic(rule), toSampleLogic(rule)]), 'off'] };
  const flag: FlagdFlag = {
    ...{ state: 'ENABLED', variants: { on: true, off: false }, defaultVariant: 'off' },
    targeting: rules.length > 0 ? targeting : { if: [true, 'off', 'off'] },
  };
  return { definition: { $schema: 'https://flagd.dev/schema/v0/flags.json', flags: { [name]: flag } } };
}

/**
 * The evaluation context of OpenFeature for a user. There, times are in seconds, and versions have three numbers.
 *
 * @throws Error if `createdAt` is not a finite number: flagd has no undecided state, and would open a gate by `not`
 */
export function toContext({
  id,
  createdAt,
  locale,
  appVersion,
  ...user
}: GateUser): Record<string, string | number | boolean> {
  if (createdAt !== undefined && createdAt !== null && !isTime(createdAt))
    throw new Error(`createdAt of a user is ms since the epoch, got ${JSON.stringify(createdAt) ?? 'no number'}`);
  const known = Object.entries(user).filter((entry): entry is [string, string | boolean] => entry[1] !== undefined);
  return {
    targetingKey: id,
    ...Object.fromEntries(known),
    ...(locale !== undefined && { locale: hyphenateLocale(locale) }),
    ...(appVersion !== undefined && { appVersion: withoutBuildNumber(appVersion) }),
    ...(isTime(createdAt) && { createdAt: Math.floor(createdAt / 1000) }),
  };
}

const variable = (name: string): Logic => ({ var: name });
const toConditionLogic = (rule: GateRule): Logic =>
  rule.if.length === 0 ? true : { and: rule.if.map(toRestraintLogic) };

function toSampleLogic({ pass }: GateRule): Logic {
  if (pass === 0 || pass === 1) return pass === 1 ? 'on' : 'off';
  return { if: [HAS_ID, { fractional: [SAMPLE_KEY, ['on', toParts(pass)], ['off', PARTS - toParts(pass)]] }, 'off'] };
}

const HAS_ID: Logic = { '!!': [variable('targetingKey')] };
/** The same keys that `sampleKey` and `bucketKey` return. */
const SAMPLE_KEY: Logic = { cat: [variable('$flagd.flagKey'), '/', variable('targetingKey')] };
const buildSaltedKey = (salt: string): Logic => ({ cat: [`${salt}:`, variable('targetingKey')] });

function toRestraintLogic(restraint: Restraint): Logic {
  const logic = plainLogic(restraint);
  return restraint.not ? { '!': [logic] } : logic;
}

function plainLogic(restraint: Restraint): Logic {
  switch (restraint.restraint) {
    case 'employee':
      return { '===': [variable('employee'), true] };
    case 'id':
      return { in: [variable('targetingKey'), restraint.in] };
    case 'locale':
      return anyLogic(restraint.in.flatMap((locale) => localeLogic(hyphenateLocale(locale))));
    case 'app-version': {
      const bound = (operator: string, text?: string): Logic[] =>
        text === undefined ? [] : [{ sem_ver: [variable('appVersion'), operator, text] }];
      return { and: [...bound('>=', restraint.min), ...bound('<', restraint.below)] };
    }
    case 'new-user':
      return newUserLogic(restraint.days);
    case 'bucket':
      return { and: [HAS_ID, partLogic(buildSaltedKey(restraint.salt), restraint)] };
    case 'slice':
      return partLogic(SAMPLE_KEY, restraint);
    case 'laser':
      return false; // refused before
    default:
      return { in: [variable(restraint.restraint), restraint.in] };
  }
}

const anyLogic = (all: readonly Logic[]): Logic => (all.length === 0 ? false : { or: all });

const localeLogic = (locale: string): Logic[] => [
  { '===': [variable('locale'), locale] },
  { starts_with: [variable('locale'), `${locale}-`] },
];

function newUserLogic(days: number): Logic {
  const isKnown: Logic = { '!==': [variable('createdAt'), null] };
  const age: Logic = { '-': [variable('$flagd.timestamp'), variable('createdAt')] };
  return { and: [isKnown, { '<': [age, days * SECONDS_A_DAY] }] };
}

function partLogic(key: Logic, { from, to }: { readonly from: number; readonly to: number }): Logic {
  const [first, end] = [toParts(from), toParts(to)];
  const parts: Logic = [key, ['before', first], ['inside', end - first], ['after', PARTS - end]];
  return { '===': [{ fractional: parts }, 'inside'] };
}
