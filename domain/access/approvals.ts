import { ACCESS_LIMITS } from '../limits';
import { plural } from '../text';
import { isByAdmin, type Principal } from '../principals';
import type { ApprovalRuleView, Trigger } from '../views';
import { grantAccess, denyAccess, type AccessDecision } from './decision';
import { membership, expandPrincipals, shortList } from './members';
import type { Units } from './request';
import type { PlatformFacts } from './platform';
import {
  emergencyApprovals,
  findActionGap,
  lacksImported,
  findProtectingRules,
  findRemovalGap,
  unitsUnder,
  whyNoEmergency,
  type ProtectingRule,
  type Safeguards,
} from './protection';

/** A person's approval of a release. */
export interface Approval {
  readonly actor: Principal;
  /** The person's groups at the identity provider at the time of approval, which cannot be queried later. */
  readonly vouched?: readonly Principal[] | undefined;
}

/** A release that is about to deploy, with its approvals. */
export interface ApprovalAsk {
  readonly pipeline: string;
  /** The units that it would deploy to; missing if no rule concerns units, and at a pick. */
  readonly holds?: Units;
  readonly kind: Trigger['kind'];
  /** Set for a rollback to a version that is good only according to an import. */
  readonly imported?: true;
  /** The requesters, none of whom counts as a second person. */
  readonly askedBy: readonly Principal[];
  readonly approvals: readonly Approval[];
  /** The action to run, and the approvals that its pipeline requires for an emergency; missing at a pick. */
  readonly action?: Safeguards & { readonly emergencyApprovals: number; readonly skipsBake?: true };
  /** The rule by which the server permitted its release; missing without a server. */
  readonly permitted?: string | undefined;
}

/** The state of a release under the rules that protect its pipeline. */
export interface ApprovalStatus {
  /** A requirement of a rule that its pipeline lacks: then no approval can let it continue. */
  readonly lacks: string | null;
  readonly met: boolean;
  /** The rules, unmet ones first; only the first of many. */
  readonly rules: readonly ApprovalRuleView[];
  /** Approvers who count for no rule, because they are in none of the groups, or no longer. */
  readonly uncounted: readonly Principal[];
}

/** The most rules, and people in them, in the view of a release. */
const MAX_SHOWN_RULES = 10;

export const UNPROTECTED: ApprovalStatus = { lacks: null, met: true, rules: [], uncounted: [] };

/** The requesters of a release, directly or through its parent. */
export const listRequesters = ({ actor, startedBy }: Pick<Trigger, 'actor' | 'startedBy'>): readonly Principal[] =>
  startedBy === undefined ? [actor] : [startedBy, actor];

/**
 * A rollback to a version that a worker saw needs no approval; neither does the rest of another release's rollout. An undeploy does: it brings no
 * version, and takes away what others have approved.
 */
export const waitsForApprovals = ({ kind, imported }: Pick<Trigger, 'kind' | 'imported'>): boolean =>
  imported === true || (kind !== 'rollback' && kind !== 'follow-on');

/** What a person does about a release that a rule refuses, once its file has what the rule requires. */
export const howToRepeat = ({ kind }: Pick<Trigger, 'kind'>): string =>
  kind === 'undeploy' ? 'undeploy again' : 'release again';

/**
 * Whether enough different people have approved a release for each rule, by the present rules and groups: people who
 * have left a group no longer count, and requesters never do.
 */
export function approvalStatus(facts: PlatformFacts, ask: ApprovalAsk): ApprovalStatus {
  if (facts.policy === null || !waitsForApprovals(ask)) return UNPROTECTED;
  const all = findProtectingRules(facts.policy, ask);
  const rules = all.flatMap((one) => ruleApprovals(facts, one, ask));
  const isMet = ({ needed, by }: ApprovalRuleView): boolean => by.length >= needed;
  const counted = new Set(rules.flatMap(({ by }) => by));
  const uncounted = distinct(ask.approvals).filter((actor) => !counted.has(actor));
  const lacks = whatLacks(all, ask);
  return {
    lacks,
    met: lacks === null && rules.every(isMet),
    rules: [...rules.filter((rule) => !isMet(rule)), ...rules.filter(isMet)].slice(0, MAX_SHOWN_RULES),
    uncounted: rules.length === 0 ? [] : uncounted.slice(0, MAX_SHOWN_RULES),
  };
}

/** Whether a release may go to these units. Units and rules may differ from those at its approval. */
export function decideApproved(facts: PlatformFacts, ask: ApprovalAsk & { readonly holds: Units }): AccessDecision {
  const { lacks, met, rules } = approvalStatus(facts, ask);
  if (lacks !== null) return denyAccess(`${lacks}; apply that, and ${howToRepeat(ask)}`);
  const [open] = rules;
  if (met || open === undefined) return grantAccess('approvals', 'as many people as the rules want have approved it');
  const { place, needed, by } = open;
  const where = shortList(unitsUnder(facts.policy, place, ask.holds).map((unit) => `${ask.holds.pushType}/${unit}`));
  const [what, again] =
    ask.kind === 'undeploy' ? ['the removal of', 'undeploy again'] : ['what goes to', 'release it again'];
  return denyAccess(
    `${place} wants ${plural(needed, 'approval')} of ${what} ${where || ask.pipeline}, and this release has ${by.length}: ${again}`,
  );
}

/** Admins may bypass requirements that a spec lacks, as at the server. */
function whatLacks(
  all: readonly ProtectingRule[],
  { pipeline, kind, action, permitted, imported }: ApprovalAsk,
): string | null {
  if (action === undefined || isByAdmin({ permitted })) return null;
  for (const one of all) {
    if (kind === 'emergency') {
      const why = whyNoEmergency(one, pipeline, action.skipsBake === true);
      if (why !== undefined) return why;
    }
    const findGap = kind === 'undeploy' ? findRemovalGap : findActionGap;
    const lacks = imported ? lacksImported(one, pipeline) : findGap(one, pipeline, action);
    if (lacks !== undefined) return lacks;
  }
  return null;
}

function ruleApprovals(facts: PlatformFacts, { rule, place }: ProtectingRule, ask: ApprovalAsk): ApprovalRuleView[] {
  // If a rule names no approvers, other owners approve an emergency, and its pipeline counts them.
  if (rule.approvals === null) return [];
  const needed = ask.kind === 'emergency' ? emergencyApprovals(rule) : rule.approvals.count;
  if (needed === 0) return [];
  const from = rule.approvals.by;
  const may = [...from, ...(facts.policy?.admins ?? [])];
  const isCounted = ({ actor, vouched = [] }: Approval): boolean =>
    !ask.askedBy.includes(actor) &&
    (membership(may, actor, facts.groups) !== undefined || may.some((one) => vouched.includes(one)));
  const by = distinct(ask.approvals.filter(isCounted));
  const others = expandPrincipals(from, facts.groups).filter((one) => !ask.askedBy.includes(one) && !by.includes(one));
  return [
    {
      place,
      needed,
      by: by.slice(0, needed),
      from: from.slice(0, MAX_SHOWN_RULES),
      others: others.slice(0, MAX_SHOWN_RULES),
    },
  ];
}

/** The requester's groups at the identity provider that allow them to approve. */
export function pickApproverGroups({ policy, vouched = [] }: PlatformFacts, pipeline: string): readonly Principal[] {
  if (policy === null || vouched.length === 0) return [];
  // Whether a rule about units applies is unknown here, so only the rule's own people count.
  const about = policy.protection.filter(({ services }) => services.length > 0);
  const rules = [...about, ...findProtectingRules(policy, { pipeline }).map(({ rule }) => rule)];
  const named = rules.flatMap((rule) => rule.approvals?.by ?? []);
  const may = new Set([...named, ...policy.admins]);
  return vouched.filter((group) => may.has(group)).slice(0, ACCESS_LIMITS.principals.max);
}

const distinct = (approvals: readonly Approval[]): Principal[] => [...new Set(approvals.map(({ actor }) => actor))];
