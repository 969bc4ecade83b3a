import { shortList } from '../access/members';
import { formatIdentity, type Artifact } from '../artifact';
import { ACCESS_LIMITS } from '../limits';
import { mayCommand, expandOwners, type Policy } from '../principals';
import type { PipelineSpec } from '../spec/pipeline';
import { plural } from '../text';
import { UNKNOWN_ACTOR, type CommandInput } from '../verbs';
import type { ApprovalRuleView, ApprovalView, Trigger } from '../views';
import { withAction, type PickRecord, type ReleaseControl, type ReleaseInput, type ReleaseRecord } from './state';
import { ancestors, dependencies } from './graph';

/**
 * The people who have to approve a release before it deploys: the approvers that its pipeline demands for an emergency
 * (docs/design/deploy.md#emergency-push), and those that the platform's rules demand.
 */

/** The number of other owners who have to approve a release before it deploys: `emergency: { approvals: 1 }`. */
export const approvalsNeeded = (
  { emergency }: Pick<PipelineSpec, 'emergency'>,
  { kind }: Pick<Trigger, 'kind'>,
): number => (kind === 'emergency' ? (emergency?.approvals ?? 0) : 0);

/** The reason why a person's approval does not count. A rejection counts from any owner. */
export function whyNotApprove({ by, notBy, rules }: ApprovalView, { actor = UNKNOWN_ACTOR, approve }: CommandInput) {
  if (approve !== true) return undefined;
  if (actor === notBy)
    return rules ? `${actor} asked for it: others have to approve` : `${actor} pushed it: another owner has to approve`;
  if (by.includes(actor)) return `${actor} has already approved it`;
  const { max } = ACCESS_LIMITS.approvals;
  return by.length >= max ? `${max} people have approved it, and more are not counted` : undefined;
}

/** The missing approvals with their possible approvers, and the approvals so far, in words. */
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

/** `1 approval by group:sre (user:sue)`: the principals that may still give it. */
function ruleWords({ place, needed, by, from, others }: ApprovalRuleView): string {
  const people = others.length > 0 && !others.every((one) => from.includes(one)) ? ` (${shortList(others)})` : '';
  return `${plural(needed - by.length, 'approval')} by ${shortList(from)}${people} for ${place}`;
}

/** The reason why there will never be enough approvals; undefined if enough owners may give them. */
export function whyNeverApproved(spec: PipelineSpec, policy: Policy, { kind, actor }: Trigger): string | undefined {
  const needed = approvalsNeeded(spec, { kind });
  const others = expandOwners(policy).filter((other) => other !== actor && mayCommand(policy, other));
  if (others.length >= needed) return undefined;
  return `it needs ${plural(needed, 'approval')} by owners other than ${actor}, and there are ${others.length} of them`;
}

/**
 * The present artifacts of a release, by identity: an approval covers exactly these. An emergency has all that it
 * deploys from the start.
 */
export function approvable({ artifacts, trigger }: ReleaseInput, { actions }: ReleaseRecord): string[] | undefined {
  if (trigger.kind === 'emergency') return undefined;
  return [...artifacts, ...Object.values(actions).flatMap(({ outputs }) => outputs)].map(formatIdentity);
}

/** Shows a pick at once, so that no person approves twice before the decision. */
export function withApprover(
  record: ReleaseRecord,
  { action = '', actor = UNKNOWN_ACTOR, approve }: CommandInput,
): ReleaseRecord {
  const approval = record.actions[action]?.approval;
  if (!approval?.rules || approve !== true) return record;
  return withAction(record, action, { approval: { ...approval, by: [...approval.by, actor] } });
}

/**
 * The approvers of the artifacts that an action would deploy: at this action, at another deploy or canary of its release, or at a pick that
 * it needs. An approval does not cover a version that was made after it.
 */
export function listApprovals(
  { approvals }: Pick<ReleaseControl, 'approvals'>,
  { actions }: Pick<PipelineSpec, 'actions'>,
  name: string,
  artifacts: readonly Artifact[],
): readonly PickRecord[] {
  if (actions[name]?.type === 'manual-pick') return approvals[name] ?? [];
  const before = ancestors(dependencies(actions), name);
  const isAbout = (other: string): boolean => {
    const type = actions[other]?.type;
    return other === name || type === 'deploy' || type === 'canary' || (type === 'manual-pick' && before.has(other));
  };
  const wanted = artifacts.map(formatIdentity);
  return Object.entries(approvals).flatMap(([other, all]) =>
    isAbout(other) ? all.filter(({ of }) => of === undefined || wanted.every((one) => of.includes(one))) : [],
  );
}
