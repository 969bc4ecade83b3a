import type { Principal } from '../principals';
import { grantAccess, denyAccess, type AccessDecision } from './decision';
import type { Units, RequestFacts } from './request';
import { formatPrincipals, membership, shortList } from './members';
import type { OperationName } from './operations';
import { matchesAny } from '../pattern';
import type { PlatformFacts, PlatformPolicy } from './platform';
import { placeOfPath, findPathRule } from './paths';
import { findProtectingRules } from './protection';

export function decideOwner(
  { groups }: PlatformFacts,
  { pipeline, owners }: RequestFacts,
  who: Principal,
): AccessDecision {
  const member = membership(owners ?? [], who, groups);
  if (member) return grantAccess(`owners of ${pipeline}`, `${who} is an owner of ${pipeline}`, member.through);
  return denyAccess(`${who} is not an owner of ${pipeline}: ${formatPrincipals(owners ?? [], groups)}`);
}

/** Proposals reach no host until they are released, so without any restriction every known caller may make them. */
export function decideProposer(
  { policy, groups }: PlatformFacts,
  { repository = '', owners, paths = [] }: RequestFacts,
  who: Principal,
): AccessDecision {
  const place = `config.repositories.${repository}.owners`;
  const member = membership(owners ?? [], who, groups);
  if (member) return grantAccess(place, `${who} is an owner of the repository ${repository}`, member.through);
  const rule = findPathRule({ paths }, who, groups);
  if (rule !== undefined)
    return grantAccess(
      `${placeOfPath(repository, rule.at)}.by`,
      `${who} may change ${shortList(rule.names)} of ${repository}`,
      rule.through,
    );
  const nor = paths.length === 0 ? '' : `, and no rule of config.repositories.${repository}.paths names them`;
  if (owners !== null)
    return denyAccess(
      `${who} is not an owner of the repository ${repository}: ${place} are ${formatPrincipals(owners, groups)}${nor}`,
    );
  if (policy === null)
    return grantAccess(
      'no platform section',
      `${repository} lists no owners, and without a platform section anybody may propose`,
    );
  return denyAccess(
    `${repository} lists no owners, so changes of it are for admins: ${describeAdmins(policy, { policy, groups })}${nor}`,
  );
}

/** Decides about the audit of one pipeline, or of all if none is named. */
export function decideAuditor(facts: PlatformFacts, what: RequestFacts, who: Principal): AccessDecision {
  const { pipeline } = what;
  if (pipeline === '')
    return denyAccess('all of the audit is for platform.admins; owners see what concerns a pipeline: --pipeline NAME');
  const owner = decideOwner(facts, what, who);
  return owner.allowed ? owner : denyAccess(`the audit of ${pipeline} is for its owners and for platform.admins`);
}

/** Names belong to creators, and pipelines to owners. Changing a pipeline needs both rights, and its actor has to stay an owner. */
export function decideCreator(
  facts: PlatformFacts,
  what: RequestFacts,
  who: Principal,
  verb: OperationName,
): AccessDecision {
  const owners = what.owners ?? what.spec?.owners ?? [];
  const owner = decideOwner(facts, { ...what, owners }, who);
  if (facts.policy === null || !owner.allowed) return owner;
  const { pipeline } = what;
  const given = verb === 'apply' || verb === 'import' ? whyGivenAway(facts, what, who) : undefined;
  if (given !== undefined) return denyAccess(given);
  const about = facts.policy.pipelines.flatMap((rule, at) =>
    matchesAny(rule.names, pipeline) ? [{ ...rule, place: `platform.pipelines.${at}` }] : [],
  );
  for (const { creators, place, names } of about) {
    const member = membership(creators, who, facts.groups);
    if (member)
      return grantAccess(`${place}.creators`, `${who} may have pipelines called ${shortList(names)}`, member.through);
  }
  const [first] = about;
  const rule = first
    ? `${first.place} (${shortList(first.names)}) lets ${formatPrincipals(
        about.flatMap(({ creators }) => creators),
        facts.groups,
      )}`
    : `no rule of platform.pipelines is about that name; ${describeAdmins(facts.policy, facts)}`;
  return denyAccess(`${who} may not ${verb} ${pipeline}: ${rule}`);
}

/** A pipeline has the rights of its owners, so they may not add owners with rights that they lack. */
function whyGivenAway(
  { groups }: PlatformFacts,
  { pipeline, owners, spec }: RequestFacts,
  who: Principal,
): string | undefined {
  if (owners === null || spec === undefined || membership(spec.owners, who, groups)) return undefined;
  return (
    `${who} would be none of the new owners of ${pipeline}: ${formatPrincipals(spec.owners, groups)}; a pipeline may do what its owners may. ` +
    `Name ${who} as well, and one of them takes it over by applying it without ${who}`
  );
}

const describeAdmins = ({ admins }: PlatformPolicy, { groups }: PlatformFacts): string =>
  `platform.admins are ${formatPrincipals(admins, groups)}`;

/** Owners of a service may evict others from their units. */
export function decideEvictor(facts: PlatformFacts, what: RequestFacts, who: Principal): AccessDecision {
  const owner = decideOwner(facts, what, who);
  if (owner.allowed || facts.policy === null || what.holds === undefined) return owner;
  const { pushType, units } = what.holds;
  const rules = findServiceRules(facts.policy, what.holds);
  for (const { rule, place } of rules) {
    const member = membership(rule.owners, who, facts.groups);
    const unit = units.find((one) => matchesAny(rule.units, one));
    if (member)
      return grantAccess(`${place}.owners`, `${who} owns ${pushType}/${unit}, which it holds`, member.through);
  }
  const of =
    rules.length > 0
      ? `, nor of what it holds: ${formatPrincipals(
          rules.flatMap(({ rule }) => rule.owners),
          facts.groups,
        )}`
      : '';
  return denyAccess(`${owner.why}${of}`);
}

/** Rules about a push type's units, at least one of these. */
const findServiceRules = ({ services }: PlatformPolicy, { pushType, units }: Units) =>
  services.flatMap((rule, at) =>
    rule.pushType === pushType && units.some((unit) => matchesAny(rule.units, unit))
      ? [{ rule, place: `platform.services.${at}` }]
      : [],
  );

/** People named for approvals by a protection rule may pick even if they do not own the pipeline. */
export function decidePicker(facts: PlatformFacts, what: RequestFacts, who: Principal): AccessDecision {
  for (const { rule, place } of facts.policy === null
    ? []
    : findProtectingRules(facts.policy, { ...what, places: what.pick?.places })) {
    const member = membership(rule.approvals?.by ?? [], who, facts.groups);
    if (member) return grantAccess(`${place}.approvals.by`, `${place} lets ${who} approve`, member.through);
  }
  const named = what.pick?.principals ?? [];
  if (named.length === 0) return decideOwner(facts, what, who);
  const member = membership(named, who, facts.groups);
  if (member) return grantAccess('whom the pick names', `the pick names ${who}`, member.through);
  return denyAccess(`${who} may not pick that: the pick names ${formatPrincipals(named, facts.groups)}`);
}

/** A bug stops releases of all pipelines, so a platform lists who may report one. */
export function decideReporter(facts: PlatformFacts, who: Principal): AccessDecision {
  const { policy, groups } = facts;
  if (policy === null) return grantAccess('everybody who is known', 'there is no platform section');
  const member = membership(policy.bugs, who, groups);
  if (member) return grantAccess('platform.bugs.by', `platform.bugs lets ${who} report bugs`, member.through);
  const named = policy.bugs.length === 0 ? 'lists nobody' : `lists ${formatPrincipals(policy.bugs, groups)}`;
  return denyAccess(`${who} may not report bugs: platform.bugs ${named}`);
}
