import { bucketKey, computeBucket, toParts, sampleKey } from './hash';
import type { GateUser, Project, Restraint, GateRule } from './project';
import { compareVersions, parseVersion, withoutBuildNumber } from './version';

/** The inputs of a gate, in addition to the project and the user. */
export interface GateContext {
  /** The name of the project, which determines the sampling of users. */
  readonly project: string;
  /** ms since the epoch. */
  readonly now: () => number;
  /** The value of a key; undefined if there is none, null if the store is unavailable. */
  readonly laser: (key: string) => number | undefined | null;
}

/** Undefined if it cannot be decided now. */
export type Test = (user: GateUser) => boolean | undefined;

export interface CompiledRule {
  readonly rule: GateRule;
  /** One for each restraint, in the order of the rule. */
  readonly tests: readonly Test[];
  /** The order in which they are tried. */
  order: readonly number[];
}

export interface CompiledProject {
  readonly name: string;
  readonly rules: readonly CompiledRule[];
}

export interface Decision {
  readonly pass: boolean;
  /** The place of the deciding rule; undefined if there was none. */
  readonly rule?: number;
  /** A restraint could not be decided, so that the gate is closed. */
  readonly undecided?: true;
}

export function compileProject(project: Project, context: GateContext): CompiledProject {
  const rules = project.rules.map((rule) => ({
    rule,
    tests: rule.if.map((restraint) => applyNot(restraint, compileRestraint(restraint, context))),
    order: rule.if.map((_, index) => index),
  }));
  return { name: context.project, rules };
}

/**
 * Whether a user passes. The order in which the restraints of a rule are tried never changes the answer. One restraint that does not hold
 * settles the rule, even if others are undecided. A rule that stays undecided closes the gate, since a later rule must not open a gate that an
 * earlier one might have closed.
 */
export function evaluateProject({ name, rules }: CompiledProject, user: GateUser): Decision {
  for (let at = 0; at < rules.length; at += 1) {
    const compiled = rules[at];
    const holds = compiled && ruleHolds(compiled, user);
    if (holds === undefined) return { pass: false, rule: at, undecided: true };
    if (compiled && holds) return { pass: isDrawn(name, user, compiled.rule.pass), rule: at };
  }
  return { pass: false };
}

/** Undefined if no restraint fails but one is undecided. */
export function ruleHolds({ tests, order }: CompiledRule, user: GateUser): boolean | undefined {
  let holds: true | undefined = true;
  for (const at of order) {
    const held = tests[at]?.(user);
    if (held === false) return false;
    if (held === undefined) holds = undefined;
  }
  return holds;
}

/** The users of a smaller share are among those of a larger one. */
function isDrawn(project: string, user: GateUser, share: number): boolean {
  if (share === 0) return false;
  return share === 1 || (hasId(user) && computeBucket(sampleKey(project, user.id)) < toParts(share));
}

/** All users without an id would share one bucket, and be in or out together by chance. */
export const hasId = ({ id }: GateUser): boolean => Boolean(id);

const applyNot = ({ not = false }: Restraint, test: Test): Test => {
  if (!not) return test;
  return (user) => {
    const held = test(user);
    return held === undefined ? undefined : !held;
  };
};

function compileRestraint(restraint: Restraint, context: GateContext): Test {
  switch (restraint.restraint) {
    case 'employee':
      return ({ employee }) => employee === true;
    case 'locale':
      return localeTest(restraint.in);
    case 'app-version':
      return versionTest(restraint);
    case 'new-user':
      return newUserTest(restraint.days, context.now);
    case 'bucket': {
      const test = partTest(restraint, ({ id }) => bucketKey(restraint.salt, id));
      return (user) => hasId(user) && test(user);
    }
    case 'slice':
      return partTest(restraint, ({ id }) => sampleKey(context.project, id));
    case 'laser':
      return laserTest(restraint.above, context);
    default: {
      const listed = new Set(restraint.in);
      const field = restraint.restraint;
      return (user) => listed.has(user[field] ?? NOT_LISTED);
    }
  }
}

/** No list contains an empty text. */
const NOT_LISTED = '';

/** `de_AT`, the notation of Java and POSIX, becomes `de-AT`. */
export const hyphenateLocale = (locale: string): string => locale.replaceAll('_', '-');

/** `de` matches any locale such as `de-AT`. */
function localeTest(listed: readonly string[]): Test {
  const wanted = listed.map(hyphenateLocale);
  return (user) => {
    const locale = user.locale === undefined ? undefined : hyphenateLocale(user.locale);
    return locale !== undefined && wanted.some((one) => locale === one || locale.startsWith(`${one}-`));
  };
}

function versionTest({ min, below }: { readonly min?: string; readonly below?: string }): Test {
  const [least, end] = [min, below].map((text) => (text === undefined ? undefined : parseVersion(text)));
  return ({ appVersion }) => {
    const version = appVersion === undefined ? undefined : parseVersion(withoutBuildNumber(appVersion));
    if (!version) return false;
    return (!least || compareVersions(version, least) >= 0) && (!end || compareVersions(version, end) < 0);
  };
}

export const SECONDS_A_DAY = 86_400;

/**
 * In whole seconds, as flagd counts. An application may pass a text as `createdAt`, which is not a time, and `not` must not open a gate because of
 * it.
 */
function newUserTest(days: number, now: () => number): Test {
  const seconds = (ms: number): number => Math.floor(ms / 1000);
  return ({ createdAt }) => {
    if (createdAt === undefined || createdAt === null) return false;
    if (!isTime(createdAt)) return undefined;
    return seconds(now()) - seconds(createdAt) < days * SECONDS_A_DAY;
  };
}

export const isTime = (createdAt: unknown): createdAt is number => Number.isFinite(createdAt);

function partTest(
  { from, to }: { readonly from: number; readonly to: number },
  keyOf: (user: GateUser) => string,
): Test {
  const [first, end] = [toParts(from), toParts(to)];
  return (user) => {
    const part = computeBucket(keyOf(user));
    return part >= first && part < end;
  };
}

function laserTest(above: number, { project, laser }: GateContext): Test {
  return ({ id }) => {
    const value = laser(`${project}-${id}`);
    return value === null ? undefined : value !== undefined && value > above;
  };
}
