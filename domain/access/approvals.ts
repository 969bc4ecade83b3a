import { ACCESS_LIMITS } from '../limits';
import { plural } from '../text';
import { isByAdmin, type Principal } from '../principals';
import { skipsTheQueue } from '../release/urgent';
import type { ApprovalRuleView, Trigger } from '../views';
import { allowedBy, denied, type AccessDecision } from './decision';
import { membership, peopleOf, shortList } from './members';
import type { Units } from './request';
import type { PlatformFacts } from './platform';
import {
  emergencyApprovals,
  lackingNow,
  lacksImported,
  protecting,
  unitsUnder,
  whyNoEmergency,
  type Protecting,
  type Safeguards,
} from './protection';

/** The yes of somebody to a release. */
export interface Approval {
  readonly actor: Principal;
  /** Groups that an identity provider said they are in as they approved: nobody can ask it later. */
  readonly vouched?: readonly Principal[] | undefined;
}

/** A release that would deploy, and who said yes to it. */
export interface ApprovalAsk {
  readonly pipeline: string;
  /** The units that it would deploy to; missing if no rule is about units, and at a pick. */
  readonly holds?: Units;
  readonly kind: Trigger['kind'];
  /** Of a rollback to what an import alone calls good. */
  readonly imported?: true;
  /** None of them is a second person. */
  readonly askedBy: readonly Principal[];
  readonly approvals: readonly Approval[];
  /** What it would run, and how many others its pipeline lets approve an emergency; missing at a pick. */
  readonly action?: Safeguards & { readonly emergencyApprovals: number; readonly skipsBake?: true };
  /** By which rule a door let its release in; what came in by no door says none. */
  readonly permitted?: string | undefined;
}

/** How a release stands with the rules that protect its pipeline. */
export interface ApprovalStatus {
  /** What its pipeline lacks that a rule demands: then nobody can let it continue. */
  readonly lacks: string | null;
  readonly met: boolean;
  /** What they want, those that are not met first; of many rules the first. */
  readonly rules: readonly ApprovalRuleView[];
  /** Who has approved and counts in no rule, since they are in none of the groups, or not any more. */
  readonly uncounted: readonly Principal[];
}

/** Of rules and of people in them: the view of a release carries them. */
const MAX_SHOWN_RULES = 10;

export const UNPROTECTED: ApprovalStatus = { lacks: null, met: true, rules: [], uncounted: [] };

/** Whoever asked for a release, in person or through its parent. */
export const askersOf = ({ actor, startedBy }: Pick<Trigger, 'actor' | 'startedBy'>): readonly Principal[] =>
  startedBy === undefined ? [actor] : [startedBy, actor];

/** A rollback to what a worker saw needs no approval, nor does the rest of the rollout of another release. */
export const waitsForApprovals = ({ kind, imported }: Pick<Trigger, 'kind' | 'imported'>): boolean =>
  kind === 'emergency' || imported === true || !skipsTheQueue({ kind });

/**
 * Whether as many different people as each rule wants have approved a release, as the rules and groups are now: whoever has left a group
 * since does not count. Who asked for it never does.
 */
export function approvalStatus(facts: PlatformFacts, ask: ApprovalAsk): ApprovalStatus {
  if (facts.policy === null || !waitsForApprovals(ask)) return UNPROTECTED;
  const all = protecting(facts.policy, ask);
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

/** Whether a release may go to these units. There may be others than at its approval, and other rules. */
export function decideApproved(facts: PlatformFacts, ask: ApprovalAsk & { readonly holds: Units }): AccessDecision {
  const { lacks, met, rules } = approvalStatus(facts, ask);
  if (lacks !== null) return denied(`${lacks}; apply that, and release again`);
  const [open] = rules;
  if (met || open === undefined) return allowedBy('approvals', 'as many people as the rules want have approved it');
  const { place, needed, by } = open;
  const where = shortList(unitsUnder(facts.policy, place, ask.holds).map((unit) => `${ask.holds.pushType}/${unit}`));
  return denied(
    `${place} wants ${plural(needed, 'approval')} of what goes to ${where || ask.pipeline}, and this release has ${by.length}: release it again`,
  );
}

/** Admins go past what a spec lacks, as at the doors. */
function whatLacks(
  all: readonly Protecting[],
  { pipeline, kind, action, permitted, imported }: ApprovalAsk,
): string | null {
  if (action === undefined || isByAdmin({ permitted })) return null;
  for (const one of all) {
    if (kind === 'emergency') {
      const why = whyNoEmergency(one, pipeline, action.skipsBake === true);
      if (why !== undefined) return why;
    }
    const lacks = imported ? lacksImported(one, pipeline) : lackingNow(one, pipeline, action);
    if (lacks !== undefined) return lacks;
  }
  return null;
}

function ruleApprovals(facts: PlatformFacts, { rule, place }: Protecting, ask: ApprovalAsk): ApprovalRuleView[] {
  // Where a rule names nobody, an emergency is for other owners to approve, whom its pipeline counts.
  if (rule.approvals === null) return [];
  const needed = ask.kind === 'emergency' ? emergencyApprovals(rule) : rule.approvals.count;
  if (needed === 0) return [];
  const from = rule.approvals.by;
  const may = [...from, ...(facts.policy?.admins ?? [])];
  const isCounted = ({ actor, vouched = [] }: Approval): boolean =>
    !ask.askedBy.includes(actor) &&
    (membership(may, actor, facts.groups) !== undefined || may.some((one) => vouched.includes(one)));
  const by = distinct(ask.approvals.filter(isCounted));
  const others = peopleOf(from, facts.groups).filter((one) => !ask.askedBy.includes(one) && !by.includes(one));
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

/** Of the groups that an identity provider says whoever asks is in, those by which they may approve. */
export function vouchedFor({ policy, vouched = [] }: PlatformFacts, pipeline: string): readonly Principal[] {
  if (policy === null || vouched.length === 0) return [];
  // It is not known here whether a rule about units applies, so only the rule's own people count.
  const about = policy.protection.filter(({ services }) => services.length > 0);
  const rules = [...about, ...protecting(policy, { pipeline }).map(({ rule }) => rule)];
  const named = rules.flatMap((rule) => rule.approvals?.by ?? []);
  const may = new Set([...named, ...policy.admins]);
  return vouched.filter((group) => may.has(group)).slice(0, ACCESS_LIMITS.principals.max);
}

const distinct = (approvals: readonly Approval[]): Principal[] => [...new Set(approvals.map(({ actor }) => actor))];
