import type { Principal } from '../principals';
import type { PipelineSpec } from '../spec/pipeline';
import type { Units } from './request';
import { grantAccess, denyAccess, type AccessDecision } from './decision';
import { isCovered, formatPrincipals, shortList } from './members';
import { matches } from '../pattern';
import { areAbout, giveWhole } from './units';
import type { PlatformFacts } from './platform';
import { newlyProtected, stopsRollbacks } from './protection';
import { listUses, type Use } from './uses';

/**
 * The rights of pipelines to use shared resources. Every owner has to be allowed, because the author of a file could
 * name others in it.
 */
const UNRESTRICTED: AccessDecision = grantAccess(
  'no platform section',
  'without a platform section every pipeline may use everything',
);

/** Whether pipelines of these owners may deploy to these units. A running revert is never checked. */
export function decideDeploy(
  facts: PlatformFacts,
  owners: readonly Principal[] | undefined,
  held: Units,
): AccessDecision {
  if (facts.policy === null) return UNRESTRICTED;
  const { pushType, units } = held;
  const rules = facts.policy.services.map((rule, at) => ({ rule, place: `platform.services.${at}` }));
  const own = rules.filter(({ rule }) => rule.pushType === pushType && allow(facts, owners, rule.owners));
  const mine = own.flatMap(({ rule }) => rule.units);
  const refused = units.filter((unit) => !giveWhole(mine, unit));
  const [first] = refused;
  if (first === undefined && (units.length > 0 || own.length > 0))
    return grantAccess(
      own[0] ? `${own[0].place}.owners` : 'no units',
      `its owners own ${pushType}/${shortList(units)}`,
    );
  const about = rules.filter(
    ({ rule }) => rule.pushType === pushType && (first === undefined || areAbout(rule.units, first)),
  );
  const whose =
    about.length > 0
      ? `${about.map(({ place }) => place).join(', ')} ${about.length === 1 ? 'is' : 'are'} for pipelines of ${formatPrincipals(
          about.flatMap(({ rule }) => rule.owners),
          facts.groups,
        )}`
      : `no rule of platform.services is about ${first === undefined ? 'it' : 'them'}`;
  const what =
    first === undefined ? `with ${pushType}` : `to ${shortList(refused.map((unit) => `${pushType}/${unit}`))}`;
  return denyAccess(`pipelines of ${ownersText(owners)} may not deploy ${what}: ${whose}`);
}

/**
 * Whether a rollback may go to these units. It may go to units that its pipeline held in the restored release, even if
 * the rules have changed, and to others only if its owners may deploy there and no rule with requirements beyond a
 * signature protects them. `unsigned` checks signatures. @param held the known held units; none if unknown
 */
export function decideRollback(
  facts: PlatformFacts,
  owners: readonly Principal[] | undefined,
  { pipeline, pushType, units }: Units & { readonly pipeline: string },
  held: readonly string[],
): AccessDecision {
  const had = new Set(held);
  const others = units.filter((unit) => !had.has(unit));
  if (others.length === 0) return grantAccess('what it restores', 'it held these units then');
  const decision = decideDeploy(facts, owners, { pushType, units: others });
  const holds = { pushType, units: others };
  const concerned = { pipeline, holds, had: held };
  const protectedNow = facts.policy === null ? undefined : newlyProtected(facts.policy, concerned, stopsRollbacks);
  if (decision.allowed) return protectedNow === undefined ? decision : denyAccess(protectedNow);
  return denyAccess(
    `${decision.why}; nor is it known to have had ${shortList(others)} in the release that it restores`,
  );
}

/** Whether pipelines of these owners may use a service, finder, data source or global mutex. */
export function decideUse(
  facts: PlatformFacts,
  owners: readonly Principal[] | undefined,
  { kind, name }: Use,
): AccessDecision {
  if (facts.policy === null) return UNRESTRICTED;
  if (kind === 'push-type') return decideDeploy(facts, owners, { pushType: name, units: [] });
  if (kind === 'scripts') return decideScripts(facts, owners);
  const about = facts.policy.uses.flatMap((rule, at) =>
    rule.kind === kind && rule.names.some((pattern) => matches(pattern, name))
      ? [{ rule, place: `platform.uses.${at}` }]
      : [],
  );
  const found = about.find(({ rule }) => allow(facts, owners, rule.by));
  if (found) return grantAccess(`${found.place}.by`, `its owners may use the ${kind} ${name}`);
  const whose =
    about.length > 0
      ? `${about.map(({ place }) => place).join(', ')} ${about.length === 1 ? 'is' : 'are'} for pipelines of ${formatPrincipals(
          about.flatMap(({ rule }) => rule.by),
          facts.groups,
        )}`
      : 'no rule of platform.uses is about it';
  return denyAccess(`pipelines of ${ownersText(owners)} may not use the ${kind} ${name}: ${whose}`);
}

export function decideScripts(facts: PlatformFacts, owners: readonly Principal[] | undefined): AccessDecision {
  const { policy, groups } = facts;
  if (policy === null) return UNRESTRICTED;
  if (allow(facts, owners, policy.scripts)) return grantAccess('platform.scripts.by', 'its owners may run scripts');
  return denyAccess(
    `pipelines of ${ownersText(owners)} may not run scripts: platform.scripts lets ${formatPrincipals(policy.scripts, groups)}`,
  );
}

/** Why a pipeline may not use a resource; undefined if it may use all of them. */
export function decideUses(facts: PlatformFacts, spec: PipelineSpec): string | undefined {
  if (facts.policy === null) return undefined;
  for (const use of listUses(spec)) {
    const decision = decideUse(facts, spec.owners, use);
    if (!decision.allowed) return decision.why;
  }
  return undefined;
}

/** Admins are in every list. */
const allow = (
  { policy, groups }: PlatformFacts,
  owners: readonly Principal[] | undefined,
  list: readonly Principal[],
) =>
  owners !== undefined &&
  owners.length > 0 &&
  owners.every((owner) => isCovered(owner, [...list, ...(policy?.admins ?? [])], groups));

const ownersText = (owners: readonly Principal[] | undefined): string =>
  owners === undefined ? 'unknown owners (they began before the platform section)' : shortList(owners);
