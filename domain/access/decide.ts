import { isGroup, type Principal } from '../principals';
import {
  decideAuditor,
  decideCreator,
  decideEvictor,
  decideOwner,
  decidePicker,
  decideProposer,
  decideReporter,
} from './roles';
import { grantAccess, denyAccess, type AccessDecision } from './decision';
import { membership } from './members';
import { OPERATIONS, type OperationName } from './operations';
import type { PlatformFacts } from './platform';
import { whyProtected } from './protectionRefusal';
import { decideUses } from './usage';
import type { Request, RequestFacts } from './request';

export type { AccessDecision } from './decision';

/**
 * Whether a principal may do something, with the reason and the rule. With a platform section, everything that no rule
 * allows is refused; without one, only owners decide. Groups never act.
 */
export function decideAccess(facts: PlatformFacts, request: Request): AccessDecision {
  const { who, verb, what } = request;
  const { needs, doors } = OPERATIONS[verb];
  if (needs === 'nobody') return grantAccess('everybody', 'anybody may read');
  if (needs === 'key') return grantAccess('its key', 'whoever has the key of the run may say so');
  if (doors.length === 0) return denyAccess(`${verb} is what pipelines do, and no principal`);
  if (!doors.includes(who.door)) return denyAccess(`${verb} does not come in through the door ${who.door}`);
  if (who.principal === null) return denyAccess(`${verb} needs an actor who is known: send a token`);
  if (isGroup(who.principal))
    return denyAccess(`${who.principal} is a group, which never acts: come as one of its members`);
  const admin = facts.policy && membership(facts.policy.admins, who.principal, facts.groups);
  const granted = admin
    ? grantAccess('platform.admins', 'admins may do everything', admin.through)
    : byRole(facts, request, who.principal);
  if (!granted.allowed) return granted;
  const forbidden =
    whyProtected(facts, request, who.principal, Boolean(admin)) ?? (admin ? undefined : whyNotUsed(facts, verb, what));
  return forbidden === undefined ? granted : denyAccess(forbidden);
}

function byRole(facts: PlatformFacts, { who, verb, what }: Request, principal: Principal): AccessDecision {
  switch (OPERATIONS[verb].needs) {
    case 'creator':
      return decideCreator(facts, what, principal, verb);
    case 'auditor':
      return decideAuditor(facts, what, principal);
    case 'evictor':
      return decideEvictor(facts, what, principal);
    case 'picker':
      return decidePicker(facts, what, principal);
    case 'proposer':
      return decideProposer(facts, what, principal);
    case 'reporter':
      return decideReporter(facts, principal);
    case 'delivery':
      return who.door === 'webhook'
        ? grantAccess('its delivery', 'the server believes the delivery')
        : decideOwner(facts, what, principal);
    default:
      return decideOwner(facts, what, principal);
  }
}

/**
 * A pipeline that would use a resource forbidden to its owners is already refused when applied, not only when it runs.
 */
function whyNotUsed(facts: PlatformFacts, verb: OperationName, { spec }: RequestFacts): string | undefined {
  const isApplied = verb === 'create' || verb === 'apply' || verb === 'import';
  return isApplied && spec ? decideUses({ ...facts, groups: facts.configured ?? facts.groups }, spec) : undefined;
}
