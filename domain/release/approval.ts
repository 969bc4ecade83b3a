import { shortList } from '../access/members';
import { identityOf, type Artifact } from '../artifact';
import { ACCESS_LIMITS } from '../limits';
import { mayCommand, principalsOf, type Policy } from '../principals';
import type { PipelineSpec } from '../spec/pipeline';
import { plural } from '../text';
import { UNKNOWN_ACTOR, type CommandInput } from '../verbs';
import type { ApprovalRuleView, ApprovalView, Trigger } from '../views';
import { withAction, type Picked, type ReleaseControl, type ReleaseInput, type ReleaseRecord } from './state';
import { ancestors, dependencies } from './graph';

/** The people who have to approve a release before it deploys: as its pipeline demands of an emergency (docs/design/deploy.md#emergency-push), and as the platform's rules do. */

/** How many other owners have to approve a release before it deploys: `emergency: { approvals: 1 }`. */
export const approvalsNeeded = (
  { emergency }: Pick<PipelineSpec, 'emergency'>,
  { kind }: Pick<Trigger, 'kind'>,
): number => (kind === 'emergency' ? (emergency?.approvals ?? 0) : 0);

/** Why a person's approval does not count; a rejection does from any owner. */
export function whyNotApprove({ by, notBy, rules }: ApprovalView, { actor = UNKNOWN_ACTOR, approve }: CommandInput) {
  if (approve !== true) return undefined;
  if (actor === notBy)
    return rules ? `${actor} asked for it: others have to approve` : `${actor} pushed it: another owner has to approve`;
  if (by.includes(actor)) return `${actor} has approved it already`;
  const { max } = ACCESS_LIMITS.approvals;
  return by.length >= max ? `${max} people have approved it, and more are not counted` : undefined;
}

/** What is waited for, of whom, and who has approved. */
export function approvalWords(view: ApprovalView): string {
  const { needed, by, notBy, rules, uncounted = [] } = view;
  if (rules === undefined) return `waiting for ${plural(needed - by.length, 'approval')} by owners other than ${notBy}`;
  const open = rules.filter((rule) => rule.by.length < rule.needed);
  const counted = [...new Set(rules.flatMap((rule) => rule.by))];
  return [
    open.length === 0
      ? `waiting for approval by others than ${notBy}`
      : `waiting for ${open.map(ruleWords).join(' and ')}, not by ${notBy}`,
    ...(counted.length > 0 ? [`approved by ${shortList(counted)}`] : []),
    ...uncounted.map((actor) => `the approval of ${actor} does not count, who is in none of these`),
  ].join('; ');
}

/** `1 approval by group:sre (user:sue)`: whoever may still give it. */
function ruleWords({ place, needed, by, from, others }: ApprovalRuleView): string {
  const people = others.length > 0 && !others.every((one) => from.includes(one)) ? ` (${shortList(others)})` : '';
  return `${plural(needed - by.length, 'approval')} by ${shortList(from)}${people} for ${place}`;
}

/** Why there will never be enough; undefined when there are owners who may. */
export function whyNeverApproved(spec: PipelineSpec, policy: Policy, { kind, actor }: Trigger): string | undefined {
  const needed = approvalsNeeded(spec, { kind });
  const others = principalsOf(policy).filter((other) => other !== actor && mayCommand(policy, other));
  if (others.length >= needed) return undefined;
  return `it needs ${plural(needed, 'approval')} by owners other than ${actor}, and there are ${others.length} of them`;
}

/** What a release has by now, by identity: an approval is of that. An emergency has what it deploys from the start. */
export function approvable({ artifacts, trigger }: ReleaseInput, { actions }: ReleaseRecord): string[] | undefined {
  if (trigger.kind === 'emergency') return undefined;
  return [...artifacts, ...Object.values(actions).flatMap(({ outputs }) => outputs)].map(identityOf);
}

/** Takes a pick into what is shown at once, so that nobody approves twice before it is decided on. */
export function withApprover(
  record: ReleaseRecord,
  { action = '', actor = UNKNOWN_ACTOR, approve }: CommandInput,
): ReleaseRecord {
  const approval = record.actions[action]?.approval;
  if (!approval?.rules || approve !== true) return record;
  return withAction(record, action, { approval: { ...approval, by: [...approval.by, actor] } });
}

/**
 * Who approved what an action would deploy: at it, at another deploy or canary of its release, or at a pick that it needs. A version
 * that was made since is another, which they have not seen.
 */
export function approvalsOf(
  { approvals }: Pick<ReleaseControl, 'approvals'>,
  { actions }: Pick<PipelineSpec, 'actions'>,
  name: string,
  artifacts: readonly Artifact[],
): readonly Picked[] {
  if (actions[name]?.type === 'manual-pick') return approvals[name] ?? [];
  const before = ancestors(dependencies(actions), name);
  const isAbout = (other: string): boolean => {
    const type = actions[other]?.type;
    return other === name || type === 'deploy' || type === 'canary' || (type === 'manual-pick' && before.has(other));
  };
  const wanted = artifacts.map(identityOf);
  return Object.entries(approvals).flatMap(([other, all]) =>
    isAbout(other) ? all.filter(({ of }) => of === undefined || wanted.every((one) => of.includes(one))) : [],
  );
}
