import type { Principal } from '../principals';
import { plural } from '../text';
import type { Request, RequestFacts } from './request';
import { isListed, formatPrincipals, membership, expandPrincipals } from './members';
import { OPERATIONS } from './operations';
import type { PlatformFacts } from './platform';
import {
  emergencyApprovals,
  findSpecGap,
  findProtectingRules,
  whyNoEmergency,
  type ProtectingRule,
} from './protection';

/**
 * Why a protection rule forbids an otherwise permitted operation; undefined if none does. Admins bypass the rules
 * except that of the second person: requesters never approve their own requests.
 */
export function whyProtected(
  facts: PlatformFacts,
  request: Request,
  who: Principal,
  isAdmin: boolean,
): string | undefined {
  if (facts.policy === null) return undefined;
  const rules = findProtectingRules(facts.policy, { ...request.what, places: request.what.pick?.places });
  if (OPERATIONS[request.verb].protection === 'approval')
    return whyNotApprover(facts, rules, request.what, who, isAdmin);
  for (const one of rules) {
    const why = whyNotByRule(facts, one, request, who, isAdmin);
    if (why !== undefined) return why;
  }
  return undefined;
}

function whyNotByRule(
  facts: PlatformFacts,
  one: ProtectingRule,
  { verb, what }: Request,
  who: Principal,
  isAdmin: boolean,
) {
  const { rule, place } = one;
  const gate = OPERATIONS[verb].protection;
  // Approvals are counted by all rules together.
  if (isAdmin || gate === undefined || gate === 'approval') return undefined;
  switch (gate) {
    case 'spec':
      if (verb === 'import')
        return `${place} protects ${what.pipeline}, and records say what ran: ${verb} is for admins`;
      return what.spec && findSpecGap(one, what.spec);
    case 'emergency':
      return whyNotPushed(facts, one, what, who);
    case 'checks':
      return rule.requires.checks.length > 0
        ? `${place} requires the checks of ${what.pipeline}, so ${verb} is for admins`
        : undefined;
    case 'window':
      return rule.requires.windows || rule.requires.soak > 0
        ? `${place} requires the windows or soaks of ${what.pipeline}, so ${verb} is for admins`
        : undefined;
  }
}

/** Each rule counts its own people: a person of any of them may approve. */
function whyNotApprover(
  { groups }: PlatformFacts,
  rules: readonly ProtectingRule[],
  { pick }: RequestFacts,
  who: Principal,
  isAdmin: boolean,
) {
  const wanting = rules.filter(({ rule }) => rule.approvals !== null);
  if (wanting.length === 0 || pick?.approves !== true) return undefined;
  const places = wanting.map(({ place }) => place).join(', ');
  const by = wanting.flatMap(({ rule }) => rule.approvals?.by ?? []);
  if (pick.askedBy.includes(who)) return `${places} wants a second person: ${who} started it`;
  if (isAdmin || membership(by, who, groups)) return undefined;
  return `${places} lets only these approve: ${formatPrincipals(by, groups)}`;
}

function whyNotPushed(
  { groups, configured = groups }: PlatformFacts,
  one: ProtectingRule,
  { pipeline, spec, skipBake }: RequestFacts,
  who: Principal,
) {
  const { rule, place } = one;
  const not = whyNoEmergency(one, pipeline, skipBake === true);
  if (not !== undefined) return not;
  const needed = emergencyApprovals(rule);
  const by = rule.approvals?.by ?? spec?.owners ?? [];
  const others = expandPrincipals(by, configured).filter((other) => other !== who);
  if (others.length < needed && by.every((one) => isListed(one, configured)))
    return `${place} wants ${plural(needed, 'approval')}, and besides ${who} there are ${others.length} who may give one`;
  return spec && findSpecGap(one, spec);
}
