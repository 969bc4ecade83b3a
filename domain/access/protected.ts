import type { Principal } from '../principals';
import { plural } from '../text';
import type { Request, What } from './request';
import { listed, membership, peopleOf } from './members';
import { OPERATIONS } from './operations';
import type { PlatformFacts } from './platform';
import { emergencyApprovals, lacking, protecting, type Protecting } from './protection';

/**
 * Why a protection rule keeps whoever may otherwise from doing it; undefined when none does. Admins go past the rules, but not past the
 * second person: nobody approves what they asked for.
 */
export function whyProtected(
  facts: PlatformFacts,
  request: Request,
  who: Principal,
  isAdmin: boolean,
): string | undefined {
  if (facts.policy === null) return undefined;
  for (const one of protecting(facts.policy, request.what.pipeline)) {
    const why = whyNot(facts, one, request, who, isAdmin);
    if (why !== undefined) return why;
  }
  return undefined;
}

function whyNot(facts: PlatformFacts, one: Protecting, { verb, what }: Request, who: Principal, isAdmin: boolean) {
  const { rule, place } = one;
  const gate = OPERATIONS[verb].protection;
  if (gate === 'approval') return whyNotApprove(facts, one, what, who, isAdmin);
  if (isAdmin || gate === undefined) return undefined;
  switch (gate) {
    case 'spec':
      return what.spec && lacking(one, what.spec);
    case 'emergency':
      return whyNoEmergency(facts, one, what, who);
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

function whyNotApprove(
  { groups }: PlatformFacts,
  { rule, place }: Protecting,
  { pick }: What,
  who: Principal,
  isAdmin: boolean,
) {
  if (rule.approvals === null || pick?.approves !== true) return undefined;
  if (pick.askedBy === who) return `${place} wants a second person: ${who} started it`;
  if (isAdmin || membership(rule.approvals.by, who, groups)) return undefined;
  return `${place} lets only these approve: ${listed(rule.approvals.by, groups)}`;
}

function whyNoEmergency(
  { groups }: PlatformFacts,
  one: Protecting,
  { pipeline, spec, skipBake }: What,
  who: Principal,
) {
  const { rule, place } = one;
  if (rule.emergency === false) return `${place} lets nobody push ${pipeline} in an emergency; it is for admins`;
  if (skipBake && rule.requires.checks.length > 0)
    return `${place} requires the checks of ${pipeline}, so an emergency bakes as well`;
  const needed = emergencyApprovals(rule);
  const others = peopleOf(rule.approvals?.by ?? spec?.owners ?? [], groups).filter((other) => other !== who);
  if (others.length < needed)
    return `${place} wants ${plural(needed, 'approval')}, and besides ${who} there are ${others.length} who may give one`;
  return spec && lacking(one, spec);
}
