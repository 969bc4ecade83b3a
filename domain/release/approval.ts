import { mayCommand, principalsOf, type Policy } from '../principals';
import type { PipelineSpec } from '../spec/pipeline';
import { plural } from '../text';
import { UNKNOWN_ACTOR, type CommandInput } from '../verbs';
import type { ApprovalView, Trigger } from '../views';

/** The second person of an emergency push (DESIGN §9), as the pipeline demands it: `emergency: { approvals: 1 }`. */

/** How many other owners have to approve a release before it deploys. */
export const approvalsNeeded = (
  { emergency }: Pick<PipelineSpec, 'emergency'>,
  { kind }: Pick<Trigger, 'kind'>,
): number => (kind === 'emergency' ? (emergency?.approvals ?? 0) : 0);

/** Why a person's approval does not count; a rejection does from any owner. */
export function whyNotApprove({ by, notBy }: ApprovalView, { actor = UNKNOWN_ACTOR, approve }: CommandInput) {
  if (approve !== true) return undefined;
  if (actor === notBy) return `${actor} pushed it: another owner has to approve`;
  return by.includes(actor) ? `${actor} has approved it already` : undefined;
}

export const approvalWords = ({ needed, by, notBy }: ApprovalView): string =>
  `waiting for ${plural(needed - by.length, 'approval')} by owners other than ${notBy}`;

/** Why there will never be enough; undefined when there are owners who may. */
export function whyNeverApproved(spec: PipelineSpec, policy: Policy, { kind, actor }: Trigger): string | undefined {
  const needed = approvalsNeeded(spec, { kind });
  const others = principalsOf(policy).filter((other) => other !== actor && mayCommand(policy, other));
  if (others.length >= needed) return undefined;
  return `it needs ${plural(needed, 'approval')} by owners other than ${actor}, and there are ${others.length} of them`;
}
