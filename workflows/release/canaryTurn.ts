import type { LastLook } from '../../domain/release/lastLook';
import type { CanaryAction } from '../../domain/spec/pipeline';
import { actionArtifacts, runCanaryAction } from './canaryAction';
import { guardAction } from './guards';
import { awaitRuleApproval, asksRules, lastLook } from './protection';
import type { ReleaseSession } from './session';
import { awaitSoak } from './soak';

/** Waits until a canary may begin, then runs it. */
export async function runCanary(run: ReleaseSession, name: string, action: CanaryAction): Promise<void> {
  const artifacts = actionArtifacts(run, name);
  if (action.soak && !(await awaitSoak(run, name, action.soak, artifacts))) return;
  const gate = { action: name, artifacts };
  let givesUp: (() => boolean) | undefined;
  for (let look: LastLook = 'lapsed'; look !== 'go';) {
    const decision = look === 'lapsed' && asksRules(run) ? await awaitRuleApproval(run, gate) : undefined;
    if (decision?.approved === false) return decision.close();
    look = 'go';
    await guardAction(run, name, action, async () => {
      // An approver who has left a group while it waited no longer counts. The canary then gives up what it holds, and waits for
      // other approvals.
      look = await lastLook(run, gate, givesUp);
      // A canary makes way for no other release.
      if (look === 'late') givesUp = () => run.control.ending !== null;
      if (look === 'go') await runCanaryAction(run, name, action);
    });
  }
}
