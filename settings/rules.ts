import { z } from 'zod';
import { matches } from '../domain/pattern';
import { USE_KINDS, type PlatformFacts, type PlatformPolicy, type ReadSigners } from '../domain/access/platform';
import { NAME } from '../domain/ids';
import { ACCESS_LIMITS } from '../domain/limits';
import { duration, listOf, principal } from '../domain/spec/scalars';
import { parsePublicKey, findSigners, type SigningKey } from './attestation';

/** Access rules, on which domain/access bases its decisions: `platform` of conveyor.config.yaml. */

const pattern = (of: RegExp, expected: string) =>
  z
    .string()
    .max(ACCESS_LIMITS.pattern.max)
    .regex(of, { error: expected })
    .refine((text) => text.split('*').length - 1 <= ACCESS_LIMITS.stars.max, {
      error: `expected at most ${ACCESS_LIMITS.stars.max} of *`,
    });

const namePattern = pattern(
  /^[a-z0-9*-]+$/,
  'expected a name or a pattern such as storage-*: lower-case letters, digits, - and *',
);
/** The names of units depend on their push type. */
const unit = pattern(
  /^[^\s,?[\]{}]+$/,
  'expected the name of a unit, or a pattern such as kvstore-*; only * is special',
);

const pushTypeName = z.string().regex(NAME, { error: 'expected the name of a push type' });

const patternList = (item: typeof namePattern) =>
  listOf(item, ACCESS_LIMITS.patterns).min(1, { error: 'expected at least one name' });
const principals = () => listOf(principal, ACCESS_LIMITS.principals);
const somebody = () =>
  principals().min(1, { error: 'expected at least one principal; without any, leave the rule out' });
const rules = <T extends z.ZodType>(rule: T) => listOf(rule, ACCESS_LIMITS.rules).default([]);
const approvalCount = z.number().int().min(1).max(20);

const keyName = z.string().regex(NAME, { error: 'expected the name of a key: lower-case letters, digits and -' });
const signers = listOf(keyName, ACCESS_LIMITS.keys).min(1, { error: 'expected at least one key' });

const publicKey = z
  .string()
  .max(ACCESS_LIMITS.key.max)
  .transform((pem, context) => {
    const key = parsePublicKey(pem);
    if (typeof key !== 'string') return key;
    context.addIssue({ code: 'custom', message: key });
    return z.NEVER;
  });
const keys = z
  .record(keyName, publicKey)
  .default({})
  .refine((all) => Object.keys(all).length <= ACCESS_LIMITS.keys.max, {
    error: `expected at most ${ACCESS_LIMITS.keys.max} keys`,
  });
type Keys = z.output<typeof keys>;

/** One key under two names would count as two people. */
function sameKeys(known: Keys): readonly (readonly [name: string, why: string])[] {
  const all = Object.entries(known);
  return all.flatMap(([name, key], at) => {
    const first = all.slice(0, at).find(([, other]) => key.equals(other));
    return first === undefined ? [] : [[name, `it is the same key as ${first[0]}`] as const];
  });
}

/** The key of conveyor.config.yaml that this file handles. */
export const platformFields = {
  platform: z
    .strictObject({
      admins: somebody(),
      pipelines: rules(
        z.strictObject({
          names: patternList(namePattern),
          creators: principals().default([]),
          parents: listOf(namePattern, ACCESS_LIMITS.patterns).default([]),
        }),
      ),
      services: rules(
        z.strictObject({
          pushType: pushTypeName,
          units: patternList(unit),
          owners: somebody(),
        }),
      ),
      uses: rules(z.strictObject({ kind: z.enum(USE_KINDS), names: patternList(namePattern), by: somebody() })),
      scripts: z.strictObject({ by: principals() }).default({ by: [] }),
      bugs: z.strictObject({ by: principals() }).default({ by: [] }),
      protection: rules(
        z.strictObject({
          pipelines: listOf(namePattern, ACCESS_LIMITS.patterns).default([]),
          services: rules(z.strictObject({ pushType: pushTypeName, units: patternList(unit) })),
          approvals: z.strictObject({ count: approvalCount, by: somebody() }).optional(),
          emergency: z
            .union([z.literal(false), z.strictObject({ approvals: approvalCount })], {
              error: 'expected false or { approvals: 2 }',
            })
            .optional(),
          requires: z
            .strictObject({
              checks: listOf(z.string().max(ACCESS_LIMITS.pattern.max), ACCESS_LIMITS.checks).default([]),
              soak: duration.default(0),
              windows: z.boolean().default(false),
            })
            .default({ checks: [], soak: 0, windows: false }),
          signed: z.strictObject({ by: signers, count: approvalCount.default(1) }).optional(),
        }),
      ),
      keys,
    })
    .superRefine(({ keys: known, protection }, context) => {
      const issue = (path: (string | number)[], message: string): void =>
        context.addIssue({ code: 'custom', path, message });
      for (const [name, why] of sameKeys(known)) issue(['keys', name], why);
      for (const [at, { pipelines, services }] of protection.entries())
        if (pipelines.length + services.length === 0)
          issue(['protection', at], 'expected pipelines or services: it protects nothing');
      for (const [at, { signed }] of protection.entries()) {
        const unknown = signed?.by.find((one) => !Object.hasOwn(known, one));
        if (unknown !== undefined)
          issue(['protection', at, 'signed', 'by'], `there is no key ${unknown} under platform.keys`);
        if (signed && signed.count > new Set(signed.by).size)
          issue(['protection', at, 'signed', 'count'], `nothing is signed with ${signed.count} of ${signed.by.length}`);
      }
    })
    .optional(),
};

type PlatformConfig = z.output<(typeof platformFields)['platform']>;

export function toPlatform(given: PlatformConfig): PlatformPolicy | null {
  if (given === undefined) return null;
  const { keys: _keys, ...policy } = given;
  return {
    ...policy,
    scripts: given.scripts.by,
    bugs: given.bugs.by,
    protection: given.protection.map(({ approvals = null, emergency = null, signed = null, ...rule }) => ({
      ...{ ...rule, approvals, emergency, signed },
    })),
  };
}

/** The keys of `platform.keys`. */
export const toSigningKeys = (given: PlatformConfig): readonly SigningKey[] =>
  Object.entries(given?.keys ?? {}).map(([name, key]) => ({ name, key }));

export const toSigners =
  (signingKeys: readonly SigningKey[]): ReadSigners =>
  (artifact, pipeline) =>
    findSigners(signingKeys, artifact, pipeline);

interface KnownNames extends PlatformFacts {
  readonly extensions: readonly { readonly kind: string; readonly name: string }[];
}

/** Probable mistakes in valid rules, each with its place. */
export function lintPlatform({ policy, groups, extensions }: KnownNames): readonly string[] {
  if (policy === null) return [];
  const isKnown = (kind: string, of: string): boolean =>
    extensions.some((extension) => extension.kind === kind && matches(of, extension.name));
  return [
    ...unknownGroups(policy, groups),
    ...policy.pipelines.flatMap(({ creators, parents }, at) =>
      creators.length + parents.length === 0 ? [`platform.pipelines.${at}: it permits nothing`] : [],
    ),
    ...policy.services.flatMap(({ pushType }, at) =>
      isKnown('push-type', pushType) ? [] : [`platform.services.${at}.pushType: there is no push type ${pushType}`],
    ),
    ...policy.uses.flatMap(({ kind, names }, at) =>
      kind === 'mutex'
        ? []
        : names.flatMap((of) => (isKnown(kind, of) ? [] : [`platform.uses.${at}.names: there is no ${kind} ${of}`])),
    ),
    ...policy.protection.flatMap(({ approvals, emergency, signed, requires: { checks, soak, windows } }, at) =>
      [approvals, emergency, signed].every((one) => one === null) && checks.length === 0 && soak === 0 && !windows
        ? [`platform.protection.${at}: it requires nothing`]
        : [],
    ),
    ...policy.protection.flatMap(({ services }, at) =>
      services.flatMap(({ pushType }) =>
        isKnown('push-type', pushType) ? [] : [`platform.protection.${at}.services: there is no push type ${pushType}`],
      ),
    ),
    ...policy.protection.flatMap(({ pipelines, services }, at) =>
      pipelines.length > 0 && services.length === 0 && policy.services.length > 0
        ? [
            `platform.protection.${at}: it lists pipelines (${pipelines.join(', ')}), so another pipeline may deploy to the same units without it; name the services instead`,
          ]
        : [],
    ),
    ...longNames(policy),
  ];
}

/** Finds groups that are not under `groups`, and so have no members. */
function unknownGroups(policy: PlatformPolicy, groups: PlatformFacts['groups']): string[] {
  const lists: [string, readonly string[]][] = [
    ['platform.admins', policy.admins],
    ...policy.pipelines.map(({ creators }, at): [string, readonly string[]] => [
      `platform.pipelines.${at}.creators`,
      creators,
    ]),
    ...policy.services.map(({ owners }, at): [string, readonly string[]] => [`platform.services.${at}.owners`, owners]),
    ...policy.uses.map(({ by }, at): [string, readonly string[]] => [`platform.uses.${at}.by`, by]),
    ['platform.scripts.by', policy.scripts],
    ['platform.bugs.by', policy.bugs],
    ...policy.protection.map(({ approvals }, at): [string, readonly string[]] => [
      `platform.protection.${at}.approvals.by`,
      approvals?.by ?? [],
    ]),
  ];
  return lists.flatMap(([place, list]) =>
    list.flatMap((one) => {
      const group = one.startsWith('group:') ? one.slice('group:'.length) : undefined;
      return group === undefined || Object.hasOwn(groups, group)
        ? []
        : [`${place}: there is no group ${group} under groups`];
    }),
  );
}

/** Finds patterns that are longer than any pipeline name. */
function longNames(policy: PlatformPolicy): string[] {
  const never = (of: string): boolean => of.replaceAll('*', '').length > 63 || (!of.includes('*') && !NAME.test(of));
  const lists: [string, readonly string[]][] = [
    ...policy.pipelines.map(({ names }, at): [string, readonly string[]] => [`platform.pipelines.${at}.names`, names]),
    ...policy.protection.map(({ pipelines }, at): [string, readonly string[]] => [
      `platform.protection.${at}.pipelines`,
      pipelines,
    ]),
  ];
  return lists.flatMap(([place, names]) =>
    names.filter(never).map((of) => `${place}: no pipeline can be called ${of}`),
  );
}
