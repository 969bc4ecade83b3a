import type { ActionSpec } from '../../domain/spec/pipeline';
import { awaitRuleApproval } from './protection';
import type { ReleaseSession } from './session';

type PickAction = Extract<ActionSpec, { type: 'manual-pick' }>;

/** Waits for a person, for days at no cost. A rejection or a timeout fails the action. */
export async function runPickAction(run: ReleaseSession, name: string, action: PickAction): Promise<void> {
  const { principals, timeout } = action.with;
  const decision = await awaitRuleApproval(run, {
    action: name,
    artifacts: [],
    pick: { principals, timeoutMs: timeout },
  });
  if (decision.approved) run.close(name, 'succeeded', decision.why);
  else decision.close();
}
